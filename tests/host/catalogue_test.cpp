// The property suite: every method on every system instance it takes, for all compiled combinations of its options.

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rattleback/backend.hpp"
#include "rattleback/method_options.hpp"
#include "rattleback/rattleback.hpp"
#include "testing.hpp"

using namespace rattleback;
using namespace rattleback::tests;

namespace {

struct Case {
  const SystemEntry* system;
  const MethodEntry* method;
  PairKey key;

  /// The method with its options, as keys of a study.
  [[nodiscard]] std::string toml() const {
    std::string text = fmt::format("[method]\nname = \"{}\"\n", method->name);
    for_options([&](const OptionInfo& option, int value) {
      text += option.kind == OptionKind::choice
                  ? fmt::format("{} = \"{}\"\n", option.name, option.choices[static_cast<std::size_t>(value)])
                  : fmt::format("{} = {}\n", option.name, value);
    });
    return text;
  }
  /// 0 for methods without stages.
  [[nodiscard]] int stages() const {
    int stages = 0;
    for_options([&](const OptionInfo& option, int value) {
      if (option.name == std::string_view("stages")) stages = value;
    });
    return stages;
  }
  /// The most stages that are compiled.
  [[nodiscard]] int most_stages() const {
    int most = 0;
    for (const PairKey& compiled : Catalogue::instance().keys(*system, *method))
      most = std::max(most, Case{system, method, compiled}.stages());
    return most;
  }
  [[nodiscard]] Case with_stages(int stages) const {
    Case other = *this;
    int i = 0;
    for_options([&](const OptionInfo& option, int) {
      if (option.name == std::string_view("stages")) other.key.value[i] = stages;
      ++i;
    });
    return other;
  }
  /// Of q.
  [[nodiscard]] int order() const {
    if (method->order_of == nullptr) return 2 * stages() - 2;
    std::vector<OptionValue> values;
    const int* next = key.value;
    for (const OptionInfo& option : method->options)
      values.push_back({option.compiled ? *next++ : option.standard, option.standard_numbers});
    return method->order_of(values, *system);
  }
  /// Calls f with each compiled option and its value.
  template <class F>
  void for_options(F&& f) const {
    const int* next = key.value;
    for (const OptionInfo& option : method->options)
      if (option.compiled) f(option, *next++);
  }
};

std::string name_of(const Case& c) {
  std::string name = fmt::format("{}_{}", c.system->name, c.system->variant);
  for (const StructureInfo& s : c.system->structure) name += fmt::format("_{}{}", s.name, s.value);
  name += fmt::format("_{}", c.method->name);
  c.for_options([&](const OptionInfo& option, int value) {
    if (!has_effect(option, *c.system)) return;
    name += option.kind == OptionKind::choice ? fmt::format("_{}", option.choices[static_cast<std::size_t>(value)])
                                              : fmt::format("_{}{}", option.name[0], value);
  });
  for (char& letter : name)
    if (!std::isalnum(static_cast<unsigned char>(letter))) letter = '_';
  return name;
}

void PrintTo(const Case& c, std::ostream* out) { *out << name_of(c); }

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const SystemEntry* system : Catalogue::instance().systems())
    for (const MethodEntry* method : Catalogue::instance().methods())
      for (const PairKey& key : Catalogue::instance().keys(*system, *method)) cases.push_back({system, method, key});
  return cases;
}

/// Random starts around the default state, put on the constraint; the step in units of the system's time scale.
std::string study_of(const Case& c, double step, int steps, int draws) {
  step *= c.system->time_scale;
  double width = 0.1;
  if (c.system->constraint == ConstraintKind::holonomic && c.system->time_scale < 1.0) {
    draws = std::min(draws, 64);  // Newton's method over dual numbers takes its time
    width = 0.005;                // such systems are small as well as fast
  }
  std::string toml = fmt::format("[system]\nname = \"{}\"\n", c.system->name);
  if (*c.system->variant) toml += fmt::format("variant = \"{}\"\n", c.system->variant);
  toml += "parameters = {";
  for (const StructureInfo& s : c.system->structure) toml += fmt::format(" {} = {}", s.name, s.value);
  toml += fmt::format(" }}\n{}[time]\nstep = {}\nsteps = {}\nsamples = 5\n", c.toml(), step, steps);
  toml += fmt::format("[ensemble]\nproject = true\ndraws = {}\naxes = [", draws);
  for (int i = 0; i < c.system->elements + c.system->n; ++i)
    toml += fmt::format("{{ name = \"x{}\", distribution = \"uniform\", from = {}, to = {}, seed = 7 }}, ", i, -width,
                        width);
  toml += "]\n[ensemble.initial]\nq = [";
  const int N = c.system->elements;
  for (int i = 0; i < N; ++i) toml += fmt::format("\"{} + x{}\", ", c.system->default_q[i], i);
  toml += "]\nv = [";
  for (int i = 0; i < c.system->n; ++i) toml += fmt::format("\"{} + x{}\", ", c.system->default_v[i], N + i);
  toml += "]\n";
  for (const ObservableInfo& o : c.system->observables)
    toml += fmt::format(
        "[[observable]]\nname = \"{}\"\nstatistics = [\"mean\", \"std\", \"mse\", \"rms\", \"min\", \"max\", "
        "\"maxabs\"]\nquantiles = [0.1, 0.5]\n",
        o.name);
  toml += "correlation = [\"q[0]\"]\nhistogram = { from = -1, to = 1, bins = 5 }\n";  // of the last observable
  toml += fmt::format("[[section]]\nsurface = \"q[0] + v[0] - {} - p[0]^2/9\"\ndirection = \"both\"\n",
                      c.system->default_q[0]);
  toml += "[[section]]\nname = \"nowhere\"\nsurface = \"cos(q[0]) - 2\"\n";
  return toml + "[output]\ntrajectories = [0, 3]\ncovariance = [\"q\", \"p\"]\n";
}

constexpr const char* with_lyapunov =
    "[[observable]]\nname = \"lyapunov\"\nstatistics = [\"mean\", \"std\", \"min\", \"max\"]\nquantiles = [0.5]\n";

/// Step sizes from small to hopeless side by side: lanes end at different steps, and some fail.
std::string uneven_study_of(const Case& c) {
  const double scale = c.system->time_scale;
  std::string toml = study_of(c, 0.05, 40, 3);
  const std::string step = fmt::format("step = {}", 0.05 * scale);
  toml.replace(toml.find(step), step.size(), fmt::format("step = \"{} * h\"", scale));
  toml.replace(toml.find("steps = 40"), 10, fmt::format("end = {}", 40.0 * scale));
  toml.replace(toml.find("axes = ["), 8, "axes = [{ name = \"h\", values = [0.05, 8.0, 0.1, 2.0, 0.025, 4.0] }, ");
  return toml;
}

class EveryPair : public testing::TestWithParam<Case> {};

TEST_P(EveryPair, GivesTheSameBitsOnEveryInstructionSetThreadCountAndTileSize) {
  const Study study = Study::parse(study_of(GetParam(), 0.05, 40, 300));
  const Result reference = run(study, {.backend = "cpu:scalar", .threads = 1});
  EXPECT_EQ(reference.summary.failed, 0u);
  for (const Isa isa : {Isa::scalar, Isa::avx2, Isa::avx512}) {
    if (!has_isa(isa)) continue;
    const std::string backend = std::string("cpu:") + to_string(isa);
    EXPECT_EQ(differences(reference, run(study, {.backend = backend, .threads = 1})), "") << backend;
    EXPECT_EQ(differences(reference, run(study, {.backend = backend, .threads = 2, .tile = 256})), "") << backend;
  }
}

TEST_P(EveryPair, LetsNoTrajectoryDisturbItsNeighboursInAPack) {
  const Study study = Study::parse(uneven_study_of(GetParam()));
  const Result reference = run(study, {.backend = "cpu:scalar"});
  for (const Isa isa : {Isa::avx2, Isa::avx512}) {
    if (has_isa(isa)) {
      EXPECT_EQ(differences(reference, run(study, {.backend = std::string("cpu:") + to_string(isa)})), "")
          << to_string(isa);
    }
  }
  // two stages without an iteration cannot fail to converge, nor can a planet that the first long step has thrown far out
  if (GetParam().stages() > 2 && GetParam().system->name != std::string_view("kepler")) {
    EXPECT_GT(reference.summary.failed, 0u);
  }
}

TEST_P(EveryPair, CarriesATangentVectorAlongWithTheSameTrajectory) {
  for (const std::string& toml : {study_of(GetParam(), 0.05, 15, 300), uneven_study_of(GetParam())}) {
    const Result plain = run(Study::parse(toml), {.backend = "cpu:scalar", .threads = 1});
    const Study study = Study::parse(toml + with_lyapunov);
    const Result reference = run(study, {.backend = "cpu:scalar", .threads = 1});
    EXPECT_EQ(differences(plain, reference, "lyapunov"), "");
    // the exponent is known wherever the trajectory is; with steps far beyond any use the dual step may fail
    const auto& known = std::get<std::vector<std::uint64_t>>(reference.dataset("/observables/lyapunov/count").values);
    auto there = std::get<std::vector<std::uint64_t>>(plain.dataset("/observables/energy/count").values);
    const auto& missing = std::get<std::vector<std::uint64_t>>(plain.dataset("/observables/energy/missing").values);
    for (std::size_t i = 0; i < there.size(); ++i)
      there[i] += missing[i];  // an energy may overflow where q and p do not
    if (toml.find("step = \"") != std::string::npos) {
      for (std::size_t i = 0; i < known.size(); ++i) EXPECT_LE(known[i], there[i]);
    } else {
      EXPECT_EQ(known, there);
    }
    EXPECT_EQ(reference.statistic("lyapunov", "max").front(), 0.0);
    EXPECT_TRUE(std::isfinite(reference.statistic("lyapunov", "mean").back()));
    for (const Isa isa : {Isa::scalar, Isa::avx2, Isa::avx512}) {
      if (!has_isa(isa)) continue;
      const std::string backend = std::string("cpu:") + to_string(isa);
      EXPECT_EQ(differences(reference, run(study, {.backend = backend, .threads = 2, .tile = 256})), "") << backend;
    }
  }
}

TEST_P(EveryPair, GivesTheSameBitsOnTheGpu) {
  std::string reason;
  if (!make_cuda_backend(reason)) GTEST_SKIP() << reason;
  const std::string toml = study_of(GetParam(), 0.05, 40, 300);
  for (const Study& study : {Study::parse(toml), Study::parse(toml + with_lyapunov)}) {
    const Result cpu = run(study, {.backend = "cpu"}), gpu = run(study, {.backend = "cuda"});
    EXPECT_EQ(differences(cpu, gpu), "");
    const Result tiled = run(study, {.backend = "cuda", .tile = 256});
    EXPECT_EQ(differences(cpu, tiled), "");
  }
}

TEST_P(EveryPair, StaysOnTheConstraintAndKeepsWhatTheSystemConserves) {
  const Case& c = GetParam();
  const Result result = run(Study::parse(study_of(c, 0.02, 100, 64)));
  EXPECT_EQ(result.summary.failed, 0u);
  // truncation error over two time units at h = 0.02
  const double bound = c.order() <= 2 ? 2e-2 : c.order() <= 4 ? 2e-5 : 2e-8;
  double size = 1.0, speed = 1.0;
  for (const double x : c.system->default_q) size = std::max(size, std::abs(x));
  for (const double x : c.system->default_v) speed = std::max(speed, std::abs(x));
  const double exact = 1e-14 * size * size;
  const auto largest = [&](const char* name) { return result.statistic(name, "max").back(); };
  if (c.system->constraint == ConstraintKind::holonomic) {
    EXPECT_LT(largest("constraint"), c.method->exact_constraint ? exact : bound);
    EXPECT_LT(largest("hidden_constraint"), speed * (c.method->exact_hidden_constraint ? exact : 2e-2));
  } else if (c.system->m > 0) {
    EXPECT_LT(largest("constraint"), exact);
  }
  for (const ObservableInfo& o : c.system->observables) {
    if (o.conserved) {
      EXPECT_LT(result.statistic(o.name, "maxabs").back(), bound) << o.name;
    }
  }
}

TEST_P(EveryPair, ReachesItsOrder) {
  const Case& c = GetParam();
  const int order = c.order(), s = c.stages();
  const double end = order >= 8 ? 12.0 : order >= 6 ? 6.0 : 1.0;
  const auto final_q = [&](const Case& of, int steps) {
    const Result r = run(Study::parse(study_of(of, end / steps, steps, 4)));
    return Eigen::MatrixXd(r.matrix("/final/q"));
  };
  // the errors are those against many stages, or for methods without stages against half the step
  Eigen::MatrixXd exact;
  double floor = 0.0;
  if (s > 0) {
    const int fine = order >= 6 ? 480 : 160;
    exact = final_q(c.with_stages(c.most_stages()), 2 * fine);
    // the finest halving whose errors stand well above the round-off of the reference
    floor = 30.0 * (final_q(c.with_stages(c.most_stages()), fine) - exact).norm();
  } else {
    floor = 1e-12 * (1.0 + final_q(c, 320).norm());
  }
  double error = 0.0, slope = 0.0;
  for (int steps = order <= 2 ? 80 : order < 8 ? 10 : 5; steps <= 320; steps *= 2) {
    const double coarser = error;
    error = (final_q(c, steps) - (s > 0 ? exact : final_q(c, 2 * steps))).norm();
    if (error < floor) break;
    slope = std::log2(coarser / error);
  }
  // with five stages round-off comes before the slope has settled from above; and errors of order one may be small ones
  EXPECT_GT(slope, order - 0.2);
  if (s < 5 && order > 1) {
    EXPECT_LT(slope, order + 0.2);
  }
}

INSTANTIATE_TEST_SUITE_P(Catalogue, EveryPair, testing::ValuesIn(all_cases()),
                         [](const auto& test) { return name_of(test.param); });

}  // namespace
