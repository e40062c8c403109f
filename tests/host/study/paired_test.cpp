// Paired differences of two results.

#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "rattleback/rattleback.hpp"
#include "testing.hpp"

using namespace rattleback;
using namespace rattleback::tests;
namespace fs = std::filesystem;

namespace paired_test {

using Type = ResultSink::Type;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

/// A result made by hand: `values` is [sample][trajectory].
struct Synthetic {
  std::vector<double> times = {}, values = {};
  std::string reference = "0.0", method = "lobatto", formula = {};
  std::function<double(std::uint64_t, int)> q = [](std::uint64_t k, int i) { return static_cast<double>(k) + 0.5 * i; };
  std::function<double(std::uint64_t, int)> v = [](std::uint64_t k, int i) {
    return 1.0 + 0.01 * static_cast<double>(k) + i;
  };
  std::function<double(std::uint64_t, int)> p = v;
  bool initial = true;

  [[nodiscard]] std::uint64_t size() const { return values.size() / times.size(); }
};

class Paired : public testing::Test {
 protected:
  Paired() {
    std::string name = (fs::temp_directory_path() / "rattleback-paired-XXXXXX").string();
    directory = mkdtemp(name.data());
  }
  ~Paired() override { fs::remove_all(directory); }

  ResultFile write(const std::string& name, const Synthetic& made) const {
    const auto sink = make_file_sink(directory / name);
    const std::uint64_t samples = made.times.size(), size = made.size();
    sink->create("/time", Type::f64, {samples});
    sink->write("/time", {0}, {samples}, made.times.data());
    const std::vector<std::uint32_t> status(size);
    sink->create("/final/status", Type::u32, {size});
    sink->write("/final/status", {0}, {size}, status.data());
    for (const auto& [part, of] : {std::pair{"q", &made.q}, {"v", &made.v}, {"p", &made.p}}) {
      if (!made.initial) continue;
      std::vector<double> rows;
      for (std::uint64_t k = 0; k < size; ++k)
        for (int i = 0; i < 2; ++i) rows.push_back((*of)(k, i));
      sink->create(std::string("/initial/") + part, Type::f64, {size, 2});
      sink->write(std::string("/initial/") + part, {0, 0}, {size, 2}, rows.data());
    }
    sink->create("/observables/x/values", Type::f64, {samples, size});
    sink->write("/observables/x/values", {0, 0}, {samples, size}, made.values.data());
    sink->attribute("/", "study",
                    fmt::format("[system]\nname = \"henon-heiles\"\n[method]\nname = \"{}\"\n[time]\nstep = 1\nsteps = "
                                "1\n[[observable]]\nname = \"x\"\n{}values = true\nreference = {}\n",
                                made.method, made.formula, made.reference));
    sink->commit();
    return ResultFile(directory / name);
  }
  ResultFile saved(const std::string& name, const Result& result) const {
    result.save(directory / name);
    return ResultFile(directory / name);
  }
  std::string refusal(const ResultFile& a, const ResultFile& b,
                      const std::vector<std::string>& observables = {}) const {
    try {
      (void)paired_differences(a, b, observables);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), Error::Kind::input);
      return error.what();
    }
    return "accepted";
  }

  fs::path directory;
};

/// Mean and standard error by two passes of long double.
struct Plain {
  long double mean = 0, error = 0;
  explicit Plain(const std::vector<long double>& x) {
    const auto count = static_cast<long double>(x.size());
    for (const long double value : x) mean += value / count;
    for (const long double value : x) error += (value - mean) * (value - mean);
    error = std::sqrt(error / (count * (count - 1)));
  }
};

/// `rounding` is that of the numbers which the mean is of, as doubles.
void expect_near(ValueWithError found, const Plain& plain, const std::string& what, long double rounding = 0) {
  const auto near = [&](double x, long double y, long double scale) {
    EXPECT_LE(std::abs(static_cast<long double>(x) - y), 1e-11L * scale + rounding) << what << ' ' << x;
  };
  near(found.value, plain.mean, std::max(std::abs(plain.mean), plain.error));
  near(found.error, plain.error, plain.error);
}

/// Compares one sample with sums that are taken here.
void expect_plain(const PairedSample& sample, const double* a, const double* b, std::uint64_t size,
                  const std::function<double(std::uint64_t)>& a_reference,
                  const std::function<double(std::uint64_t)>& b_reference) {
  std::vector<long double> x, y, d, xx, yy, dd;
  std::uint64_t failed_a = 0, failed_b = 0, missing_a = 0, missing_b = 0;
  for (std::uint64_t k = 0; k < size; ++k) {
    failed_a += std::isnan(a[k]);
    failed_b += std::isnan(b[k]);
    missing_a += std::isinf(a[k]);
    missing_b += std::isinf(b[k]);
    if (!std::isfinite(a[k]) || !std::isfinite(b[k])) continue;
    const long double ea = static_cast<long double>(a[k]) - a_reference(k),
                      eb = static_cast<long double>(b[k]) - b_reference(k);
    x.push_back(a[k]);
    y.push_back(b[k]);
    d.push_back(x.back() - y.back());
    xx.push_back(ea * ea);
    yy.push_back(eb * eb);
    dd.push_back(ea * ea - eb * eb);
  }
  EXPECT_EQ(sample.pairs, x.size());
  EXPECT_EQ(sample.failed_first, failed_a);
  EXPECT_EQ(sample.failed_second, failed_b);
  EXPECT_EQ(sample.missing_first, missing_a);
  EXPECT_EQ(sample.missing_second, missing_b);
  expect_near(sample.mean.first, Plain(x), "mean of A");
  expect_near(sample.mean.second, Plain(y), "mean of B");
  expect_near(sample.mean.difference, Plain(d), "difference of means");
  expect_near(sample.mse.first, Plain(xx), "mse of A");
  expect_near(sample.mse.second, Plain(yy), "mse of B");
  expect_near(sample.mse.difference, Plain(dd), "difference of mses", 1e-16L * Plain(xx).mean);
  EXPECT_DOUBLE_EQ(sample.mean.unpaired_error(), std::hypot(sample.mean.first.error, sample.mean.second.error));
}

TEST_F(Paired, AgreesWithPlainSums) {
  // The last size has more trajectories than are in memory at a time.
  for (const std::uint64_t size : {std::uint64_t{2}, std::uint64_t{1000}, std::uint64_t{140'000}}) {
    std::mt19937_64 random(size);
    std::normal_distribution<double> normal;
    Synthetic a{.times = {0, 1, 2}}, b{.times = {0, 1, 2}, .reference = "\"initial\""};
    for (std::uint64_t i = 0; i < 3 * size; ++i) {
      const double x = 2.0 + normal(random);
      a.values.push_back(x);
      b.values.push_back(x + 0.1 + 0.01 * normal(random));
    }
    a.reference = "0.25";
    if (size > 2) {
      a.values[size + 3] = nan;
      b.values[size + 3] = nan;
      b.values[size + 700] = nan;
      a.values[2 * size + 1] = infinity;
      b.values[2 * size + 5] = -infinity;
    }
    const PairedReport report = paired_differences(write("a.h5", a), write("b.h5", b));
    EXPECT_EQ(report.trajectories, size);
    ASSERT_EQ(report.observables.size(), 1u);
    EXPECT_EQ(report.observables[0].first_reference, ErrorReference(0.25));
    EXPECT_EQ(report.observables[0].second_reference, ErrorReference::initial());
    ASSERT_EQ(report.observables[0].samples.size(), 3u);
    for (std::size_t s = 1; s < 3; ++s)  // at sample 0 the errors of B are 0
      expect_plain(
          report.observables[0].samples[s], a.values.data() + s * size, b.values.data() + s * size, size,
          [](std::uint64_t) { return 0.25; }, [&](std::uint64_t k) { return b.values[k]; });
    EXPECT_EQ(report.observables[0].samples[0].mse.second.value, 0.0);
  }
}

/// Each sample is a repetition of its own. B is A and a shift and a little noise.
TEST_F(Paired, ErrorsCoverTheTruth) {
  constexpr std::uint64_t size = 512, repetitions = 3000;
  constexpr double shift = 0.02, noise = 0.1;
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  Synthetic a, b;
  for (std::uint64_t s = 0; s < repetitions; ++s) a.times.push_back(static_cast<double>(s));
  b.times = a.times;
  for (std::uint64_t i = 0; i < size * repetitions; ++i) {
    const double x = normal(random);
    a.values.push_back(x);
    b.values.push_back(x + shift + noise * normal(random));
  }
  const PairedReport report = paired_differences(write("a.h5", a), write("b.h5", b));
  const double mse = -(shift * shift + noise * noise);  // E x^2 - E (x + shift + noise)^2
  int mean_one = 0, mean_two = 0, mse_one = 0, mse_two = 0, unpaired_one = 0;
  double gain = infinity;
  for (const PairedSample& sample : report.observables[0].samples) {
    const double of_mean = std::abs(sample.mean.difference.value + shift) / sample.mean.difference.error;
    const double of_mse = std::abs(sample.mse.difference.value - mse) / sample.mse.difference.error;
    mean_one += of_mean <= 1.0;
    mean_two += of_mean <= 1.959964;
    mse_one += of_mse <= 1.0;
    mse_two += of_mse <= 1.959964;
    unpaired_one += std::abs(sample.mean.difference.value + shift) <= sample.mean.unpaired_error();
    gain = std::min(gain, sample.mean.unpaired_error() / sample.mean.difference.error);
  }
  const auto percent = [](int count) { return 100.0 * count / repetitions; };
  for (const double share : {percent(mean_one), percent(mse_one)}) {
    EXPECT_GE(share, 66.0);
    EXPECT_LE(share, 70.5);
  }
  for (const double share : {percent(mean_two), percent(mse_two)}) {
    EXPECT_GE(share, 93.5);
    EXPECT_LE(share, 96.5);
  }
  // The control: without pairing the error is sqrt(2) / noise = 14 times as large, and covers always.
  EXPECT_GT(gain, 10.0);
  EXPECT_EQ(percent(unpaired_one), 100.0);
}

const std::string orbits = henon_heiles_orbits + R"toml(
end = 12
samples = 6
[[observable]]
name = "energy"
statistics = ["mean", "mse"]
values = true
[[observable]]
name = "q[1]"
statistics = ["mean", "mse"]
reference = 0.1
values = true
[output]
trajectories = "all"
)toml";

TEST_F(Paired, ComparesTwoStepSizes) {
  const Result coarse = run(Study::parse(orbits)),
               fine =
                   run(Study::parse(orbits, "study", std::vector<std::string>{"time.step=0.025", "method.stages=2"}));
  const PairedReport report = paired_differences(saved("a.h5", coarse), saved("b.h5", fine));
  ASSERT_EQ(report.observables.size(), 2u);
  EXPECT_EQ(report.observables[0].name, "energy");
  // The values of q[1] come from the states here.
  const auto column = [](const Result& result) {
    const auto q = result.array("/trajectories/q");
    std::vector<double> y;
    for (std::size_t i = 1; i < q.size(); i += 2) y.push_back(q[i]);
    return y;
  };
  const std::vector<double> a = column(coarse), b = column(fine);
  const auto a_energy = coarse.array("/observables/energy/values"), b_energy = fine.array("/observables/energy/values");
  for (std::size_t s = 0; s < 7; ++s) {
    const PairedSample &energy = report.observables[0].samples[s], &y = report.observables[1].samples[s];
    EXPECT_EQ(y.time, coarse.time()[s]);
    EXPECT_EQ(y.pairs, 700u);
    // All trajectories are pairs, so the reduction is that of the results, to the bit.
    EXPECT_EQ(y.mean.first.value, coarse.statistic("q[1]", "mean")[s]);
    EXPECT_EQ(y.mse.second.value, fine.statistic("q[1]", "mse")[s]);
    EXPECT_EQ(y.mse.second.error, fine.statistic("q[1]", "mse_error")[s]);
    EXPECT_EQ(energy.mse.first.value, coarse.statistic("energy", "mse")[s]);
    if (s == 0) {
      EXPECT_EQ(y.mean.difference.value, 0.0);
      EXPECT_EQ(y.mean.difference.error, 0.0);
      continue;
    }
    const auto tenth = [](std::uint64_t) { return 0.1; };
    expect_plain(y, a.data() + s * 700, b.data() + s * 700, 700, tenth, tenth);
    expect_plain(
        energy, a_energy.data() + s * 700, b_energy.data() + s * 700, 700, [&](std::uint64_t k) { return a_energy[k]; },
        [&](std::uint64_t k) { return b_energy[k]; });
    EXPECT_GT(y.mean.unpaired_error(), 20.0 * y.mean.difference.error);
  }
}

TEST_F(Paired, LeavesFailedTrajectoriesOut) {
  const std::vector<std::string> axes{"ensemble.axes=[{name=\"a\", from=-0.2, to=2.5, count=700}]"};
  std::vector<std::string> finer = axes;
  finer.push_back("time.step=0.02");
  const Result coarse = run(Study::parse(orbits, "study", axes)), fine = run(Study::parse(orbits, "study", finer));
  const PairedReport report =
      paired_differences(saved("a.h5", coarse), saved("b.h5", fine), std::vector<std::string>{"q[1]"});
  ASSERT_EQ(report.observables.size(), 1u);
  const auto a = coarse.array("/observables/q[1]/values"), b = fine.array("/observables/q[1]/values");
  const auto tenth = [](std::uint64_t) { return 0.1; };
  for (std::size_t s = 1; s < 7; ++s)
    expect_plain(report.observables[0].samples[s], a.data() + s * 700, b.data() + s * 700, 700, tenth, tenth);
  const PairedSample& last = report.observables[0].samples.back();
  EXPECT_EQ(last.failed_first, coarse.summary.failed);
  EXPECT_EQ(last.failed_second, fine.summary.failed);
  EXPECT_GT(coarse.summary.failed, 50u);
  EXPECT_LT(last.pairs, 700u - std::min(coarse.summary.failed, fine.summary.failed) + 1);
  EXPECT_GT(last.pairs, 250u);
}

TEST_F(Paired, HasNoErrorOfOnePairAndNoNumberBeyondTheLargest) {
  Synthetic a{.times = {0, 1}, .values = {1, 2, 3, nan}}, b{.times = {0, 1}, .values = {1, 2, 5, 6}};
  const PairedSample one = paired_differences(write("a.h5", a), write("b.h5", b)).observables[0].samples[1];
  EXPECT_EQ(one.pairs, 1u);
  EXPECT_EQ(one.mean.difference.value, -2.0);
  EXPECT_EQ(one.mse.difference.value, 9.0 - 25.0);
  EXPECT_TRUE(std::isnan(one.mean.difference.error) && std::isnan(one.mean.first.error));
  a.values = {1, 2, 1e300, nan};
  b.values = {1, 2, nan, 1};
  const PairedSample none = paired_differences(write("a.h5", a), write("b.h5", b)).observables[0].samples[1];
  EXPECT_EQ(none.pairs, 0u);
  EXPECT_TRUE(std::isnan(none.mean.difference.value) && std::isnan(none.mean.first.value));
  a.values = {1, 2, 1e300, 1};
  b.values = {1, 2, 1, 1};
  const PairedSample large = paired_differences(write("a.h5", a), write("b.h5", b)).observables[0].samples[1];
  EXPECT_EQ(large.pairs, 2u);
  EXPECT_EQ(large.mean.difference.value, 5e299);
  EXPECT_EQ(large.mse.first.value, infinity);
  EXPECT_TRUE(std::isnan(large.mse.difference.value));
}

TEST_F(Paired, PairsTheTimesThatBothHave) {
  Synthetic a, b;
  for (int s = 0; s <= 10; ++s) {
    a.times.push_back(s * 0.3);  // 0.8999999999999999, 1.7999999999999998
    a.values.insert(a.values.end(), {1.0 * s, 2.0 * s});
  }
  for (int s = 0; s <= 5; ++s) {
    b.times.push_back(s * 9 * 0.1);
    b.values.insert(b.values.end(), {10.0 * s, 10.0 * s});
  }
  const PairedReport report = paired_differences(write("a.h5", a), write("b.h5", b));
  EXPECT_EQ(report.first_samples, 11u);
  EXPECT_EQ(report.second_samples, 6u);
  const std::vector<PairedSample>& samples = report.observables[0].samples;
  ASSERT_EQ(samples.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    const double s = static_cast<double>(i);
    EXPECT_EQ(samples[i].time, a.times[3 * i]);
    EXPECT_EQ(samples[i].mean.first.value, 4.5 * s);
    EXPECT_EQ(samples[i].mean.second.value, 10.0 * s);
  }
  for (double& time : b.times) time += time > 0 ? 0.1 : 0.0;
  EXPECT_NE(refusal(write("a.h5", a), write("b.h5", b)).find("has no sample time but the first in common with"),
            std::string::npos);
  for (double& time : b.times) time += 0.05;
  const std::string message = refusal(write("a.h5", a), write("b.h5", b));
  EXPECT_NE(message.find("has no sample time in common with"), std::string::npos) << message;
  EXPECT_NE(message.find("a.h5: 11 samples from 0 to 3; "), std::string::npos) << message;
  // Runs may go back in time.
  for (std::vector<double>* times : {&a.times, &b.times})
    for (std::size_t s = 0; s < times->size(); ++s) (*times)[s] = -static_cast<double>(s);
  const PairedReport back = paired_differences(write("a.h5", a), write("b.h5", b));
  ASSERT_EQ(back.observables[0].samples.size(), 6u);
  EXPECT_EQ(back.observables[0].samples[5].time, -5.0);
}

TEST_F(Paired, RefusesOtherInitialStates) {
  const Synthetic a{.times = {0, 1}, .values = std::vector<double>(2000, 1.0)};
  const ResultFile file = write("a.h5", a);
  const auto says = [&](const Synthetic& other, const std::string& message) {
    const std::string found = refusal(file, write("b.h5", other));
    EXPECT_NE(found.find(message), std::string::npos) << found;
  };
  Synthetic b = a;
  b.q = [&](std::uint64_t k, int i) { return a.q(k, i) + (k >= 700 && i == 1 ? 1e-3 : 0.0); };
  says(b, "b.h5: trajectory 700 starts elsewhere than that of ");
  says(b, "(q[1] is 700.501 and 700.5); run both studies with the same initial states");
  b = a;
  b.v = [&](std::uint64_t k, int i) { return k == 999 ? 0.0 : a.v(k, i); };
  b.p = [&](std::uint64_t k, int i) { return k > 20 ? 0.5 : a.p(k, i); };
  says(b, "trajectory 999 starts elsewhere");
  // The same velocities with other momenta: another mass. The last bits do not count.
  b.v = [&](std::uint64_t k, int i) { return a.v(k, i) * (1.0 + 1e-15); };
  says(b, "accepted");
  b = a;
  b.v = [&](std::uint64_t k, int i) { return a.v(k, i) + 1.0; };
  says(b, "accepted");
  b.p = b.v;
  says(b, "trajectory 0 starts elsewhere");
  b = a;
  b.values.resize(1998);
  says(b, "b.h5: has 999 trajectories, and ");
  b = a;
  b.initial = false;
  says(b, "accepted");  // neither result has axes, and the studies have the same [ensemble]
  says(b, "accepted");
}

TEST_F(Paired, RefusesResultsWithoutPairs) {
  const Synthetic a{.times = {0, 1}, .values = {1, 2, 3, 4}};
  const ResultFile file = write("a.h5", a);
  const auto contains = [](const std::string& text, const std::string& message) {
    EXPECT_NE(text.find(message), std::string::npos) << text;
  };
  contains(refusal(file, ResultFile(directory / "a.h5")), "is given twice");
  fs::create_symlink(directory / "a.h5", directory / "link.h5");
  contains(refusal(file, ResultFile(directory / "link.h5")), "link.h5: is given twice");
  const ResultFile other = write("b.h5", a);
  contains(refusal(file, other, {"y"}), "a.h5: has no observable 'y' (it has: x)");
  const std::string short_orbits =
      henon_heiles_orbits + "end = 1\n[[observable]]\nname = \"energy\"\n[[observable]]\nname = \"q[0]\"\nvalues = ";
  const ResultFile without = saved("c.h5", run(Study::parse(short_orbits + "false\n")));
  const ResultFile with = saved("d.h5", run(Study::parse(short_orbits + "true\n")));
  contains(refusal(without, with),
           "c.h5: has no values of observables, which pairs are made of; set `values = true` in its");
  contains(refusal(with, without), "c.h5: has no values of observables");
  contains(refusal(with, without, {"energy"}), "d.h5: has no values of observable 'energy'; set `values = true`");
  contains(refusal(with, without, {"enrgy"}),
           "has no observable 'enrgy' (it has: energy, q[0]); did you mean 'energy'?");
  contains(refusal(with, file), "a.h5: has values of other observables than ");
  // A result whose values have the wrong shape was not written by a run.
  Synthetic damaged = a;
  damaged.times = {0, 1, 2, 3};
  {
    const ResultFile wrong = write("wrong.h5", damaged);
    const auto sink = make_file_sink(directory / "e.h5");
    for (const auto& [path, entry] : wrong.datasets()) {
      const Dataset data = wrong.read(path == "/observables/x/values" ? "/time" : path);
      sink->create(path, entry.type, data.shape);
      std::visit([&](const auto& v) { sink->write(path, Shape(data.shape.size(), 0), data.shape, v.data()); },
                 data.values);
    }
    sink->attribute("/", "study", wrong.attributes("/").at("study"));
    sink->commit();
  }
  contains(refusal(ResultFile(directory / "e.h5"), ResultFile(directory / "wrong.h5")),
           "e.h5: dataset '/observables/x/values' is not of float64 with a row per sample");
  Synthetic text = a;
  text.reference = "[";
  contains(refusal(file, write("f.h5", text)), "f.h5:");
}

TEST_F(Paired, KnowsTheFramesOfMethods) {
  const std::string top = R"toml(
[system]
name = "heavy-top"
[method]
name = "lobatto"
[ensemble]
frame = "body"
axes = [ { name = "w", from = -0.2, to = 0.3, count = 40 } ]
[ensemble.initial]
q = [0.3, -0.4, "w"]
v = ["w", 0.8, -0.6]
[time]
step = 0.05
end = 2
samples = 2
[[observable]]
name = "energy"
values = true
)toml";
  const auto result = [&](const std::string& name, const std::vector<std::string>& overrides) {
    return saved(name, run(Study::parse(top, "study", overrides)));
  };
  const ResultFile body = result("a.h5", {}), space = result("b.h5", {"method.name=vrkmk"});
  for (const auto& [first, second] : {std::pair{&body, &space}, {&space, &body}})
    EXPECT_EQ(paired_differences(*first, *second).observables[0].samples[2].pairs, 40u);
  // The control: the numbers of v and p differ, and a velocity that is given in space is another one.
  EXPECT_NE(std::get<std::vector<double>>(body.read("/initial/v").values),
            std::get<std::vector<double>>(space.read("/initial/v").values));
  const ResultFile other = result("c.h5", {"method.name=vrkmk", "ensemble.frame=space"});
  EXPECT_NE(refusal(body, other).find("trajectory 0 starts elsewhere"), std::string::npos);
}

TEST_F(Paired, TakesTheEnsembleWhereThereAreNoStates) {
  const auto result = [&](const std::string& name, std::vector<std::string> overrides) {
    overrides.push_back("output.initial_state=false");
    return saved(name, run(Study::parse(orbits, "study", overrides)));
  };
  const ResultFile a = result("a.h5", {}), finer = result("b.h5", {"time.step=0.025"});
  EXPECT_EQ(paired_differences(a, finer).trajectories, 700u);
  EXPECT_EQ(paired_differences(saved("c.h5", run(Study::parse(orbits))), finer).trajectories, 700u);
  const ResultFile axis = result("d.h5", {"ensemble.axes[0].to=0.31"}),
                   state = result("e.h5", {"ensemble.initial.q=[0, \"2 a\"]"});
  for (const ResultFile* other : {&axis, &state}) {
    const std::string message = refusal(a, *other);
    EXPECT_NE(message.find("run both with output.initial_state = true"), std::string::npos) << message;
  }
}

TEST_F(Paired, KnowsAResultThatWasResumed) {
  const Study study = Study::parse(orbits);
  const Study fine = Study::parse(orbits, "study", std::vector<std::string>{"time.step=0.025"});
  const PairedReport whole = paired_differences(saved("a.h5", run(study)), saved("b.h5", run(fine))),
                     resumed =
                         paired_differences(saved("a.h5", in_two_pieces(study)), saved("b.h5", in_two_pieces(fine)));
  for (std::size_t o = 0; o < 2; ++o)
    for (std::size_t s = 0; s < 7; ++s) {
      const PairedSample &x = whole.observables[o].samples[s], &y = resumed.observables[o].samples[s];
      EXPECT_EQ(x.mean.difference.value, y.mean.difference.value);
      EXPECT_EQ(x.mse.difference.error, y.mse.difference.error);
    }
}

}  // namespace paired_test
