// Stops, through the host API.

#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rattleback/kernels/isa.hpp"
#include "rattleback/rattleback.hpp"
#include "testing.hpp"

using namespace rattleback;
using namespace rattleback::tests;

namespace {

using Overrides = std::vector<std::string>;

/// Orbits of which some escape, and some fail then, because the surface of the stop lies before some of the exits only.
const std::string escaping_orbits = henon_heiles_orbits + R"toml(
end = 40
sample_every = 37
[[section]]
surface = "x"
[[observable]]
name = "y"
formula = "sqrt(0.3 - y)"
values = true
[[observable]]
name = "lyapunov"
)toml";
const std::string both_stops =
    R"(stop=[{name="late", section="0", count=6}, {name="out", when="x^2 + y^2 - 0.28", direction="both", quantiles=[0.25, 0.5]}])";
const std::string wide_start = "ensemble.initial.v=[0.35, \"0.1 + 2*a\"]";

Study study_of_stops(const Overrides& overrides) { return Study::parse(escaping_orbits, "s.toml", overrides); }

std::span<const std::uint32_t> stops_of(const Result& result, const std::string& path) {
  return std::get<std::vector<std::uint32_t>>(result.dataset(path).values);
}
std::span<const std::uint64_t> counts_at(const Result& result, const std::string& path) {
  return std::get<std::vector<std::uint64_t>>(result.dataset(path).values);
}

TEST(Stops, EndEachTrajectoryAtItsFirstCrossing) {
  const Result result = run(study_of_stops({both_stops, wide_start}));
  // The same surfaces as sections of trajectories that go on.
  const Result free =
      run(study_of_stops({wide_start, R"(section=[{surface="x"}, {surface="x^2 + y^2 - 0.28", direction="both"}])"}));
  struct End {
    double time = INFINITY;
    std::uint32_t stop = 0;
    std::size_t row = 0;
  };
  std::vector<End> ends(700);
  for (const auto& [section, count, stop] : {std::tuple{"0", 6, 1u}, {"1", 1, 2u}}) {
    const auto trajectory = counts_at(free, fmt::format("/sections/{}/trajectory", section));
    const auto time = free.array(fmt::format("/sections/{}/time", section));
    std::vector<int> seen(700);
    for (std::size_t i = 0; i < trajectory.size(); ++i)
      if (++seen[trajectory[i]] == count && time[i] < ends[trajectory[i]].time)
        ends[trajectory[i]] = {time[i], stop, i};
  }
  const auto stop = stops_of(result, "/final/stop"), status = stops_of(result, "/final/status");
  const auto time = result.array("/final/time");
  std::array<int, 3> found{};
  for (std::size_t k = 0; k < 700; ++k) {
    ASSERT_EQ(stop[k], ends[k].stop) << k;
    EXPECT_EQ(status[k], 0u);
    EXPECT_EQ(time[k], ends[k].stop == 0 ? 40.0 : ends[k].time) << k;
    ++found[stop[k]];
    if (stop[k] == 0) continue;
    const std::string section = stop[k] == 1 ? "/sections/0/" : "/sections/1/";
    for (const char* part : {"q", "v", "p"})
      EXPECT_TRUE(result.matrix(fmt::format("/final/{}", part)).row(k) ==
                  free.matrix(section + part).row(static_cast<Eigen::Index>(ends[k].row)))
          << k << part;
    EXPECT_EQ(counts_at(result, "/final/steps")[k], static_cast<std::uint64_t>(time[k] / 0.05)) << k;
  }
  EXPECT_GT(found[0], 10);
  EXPECT_GT(found[1], 10);
  EXPECT_GT(found[2], 10);
}

TEST(Stops, CountAllTrajectories) {
  const Result result = run(study_of_stops({both_stops, wide_start, "output.trajectories=\"all\""}));
  const auto stop = stops_of(result, "/final/stop");
  const auto steps = counts_at(result, "/final/steps");
  const auto late = counts_at(result, "/stops/late/count"), out = counts_at(result, "/stops/out/count");
  const auto count = counts_at(result, "/observables/y/count"), missing = counts_at(result, "/observables/y/missing");
  const auto survival = result.array("/stops/survival"), error = result.array("/stops/survival_error"),
             values = result.array("/observables/y/values");
  double sum = 0.0;
  for (std::size_t s = 0; s < late.size(); ++s) {
    std::uint64_t of[3] = {};
    for (std::size_t k = 0; k < 700; ++k) {
      const bool ended = stop[k] > 0 && steps[k] < std::min<std::uint64_t>(37 * s, 800);
      of[ended ? stop[k] : 0] += 1;
      EXPECT_EQ(std::isnan(values[s * 700 + k]), ended) << s << ' ' << k;
    }
    EXPECT_EQ(late[s], of[1]) << s;
    EXPECT_EQ(out[s], of[2]) << s;
    EXPECT_EQ(count[s] + missing[s] + late[s] + out[s], 700u) << s;
    const double share = static_cast<double>(of[0]) / 700;
    EXPECT_EQ(survival[s], share);
    if (of[0] == 700 || of[0] == 0)
      EXPECT_TRUE(std::isnan(error[s]));
    else
      EXPECT_DOUBLE_EQ(error[s], std::sqrt(share * (1 - share) / 699));
  }
  std::vector<double> times;
  for (std::size_t k = 0; k < 700; ++k)
    if (stop[k] == 2) times.push_back(result.array("/final/time")[k]);
  for (const double t : times) sum += t;
  EXPECT_NEAR(result.array("/stops/out/time_mean")[0], sum / static_cast<double>(times.size()), 1e-13);
  EXPECT_EQ(result.array("/stops/out/time_quantile_0.25").size(), 1u);
  EXPECT_FALSE(result.has("/stops/late/time_quantile_0.25"));
}

TEST(Stops, DoNotDependOnHowTheyAreRun) {
  for (const char* step : {"time.samples=16", "time.step=\"0.05*(1+(a>0))\""}) {
    Overrides overrides{both_stops, wide_start, step};
    if (std::string(step).starts_with("time.step")) overrides.insert(overrides.end(), {"time.samples=8"});
    std::string text = escaping_orbits;
    text.erase(text.find("sample_every = 37\n"), 18);
    const Study study = Study::parse(text, "s.toml", overrides);
    const Result reference = run(study, {.backend = "cpu:scalar", .threads = 1});
    EXPECT_EQ(differences(reference, in_two_pieces(study)), "");
    for (const Isa isa : all_isas()) {
      if (!has_isa(isa)) continue;
      const std::string backend = std::string("cpu:") + to_string(isa);
      for (const std::uint64_t tile : {0u, 256u})
        EXPECT_EQ(differences(reference, run(study, {.backend = backend, .threads = 3, .tile = tile})), "") << backend;
    }
  }
}

TEST(Stops, SayWhatIsWrong) {
  const std::pair<const char*, const char*> rows[] = {
      {"{}", "stop '1' has no condition; give `when`, or `section` and `count`"},
      {"{when=\"x\", section=\"0\", count=1}", "both given"},
      {"{section=\"0\"}", "has no `count`"},
      {"{when=\"x\", count=2}", "has `count` and no `section`"},
      {"{section=\"o\", count=2}", "names the section 'o', which the study does not have (it has: 0)"},
      {"{section=\"0\", count=0}", "at least 1"},
      {"{section=\"0\", count=1, direction=\"-\"}", "has a `direction`, which is that of its section"},
      {"{when=\"1\"}", "neither on the state nor on the time"},
      {"{when=\"xx - 1\"}", "unknown name 'xx'"},
      {"{when=\"x\", quantiles=[1.5]}", "quantiles[0] = 1.5 is out of range"},
      {"{name=\"survival\", when=\"x\"}", "has the name of a dataset"},
      {"{name=\"2\", when=\"x\"}, {when=\"y\"}", "appears twice"},
  };
  for (const auto& [stop, message] : rows) {
    SCOPED_TRACE(stop);
    try {
      (void)study_of_stops({fmt::format("stop=[{}]", stop)});
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), Error::Kind::input);
      EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    }
  }
}

}  // namespace
