// Values of single trajectories in a result.

#include <cmath>
#include <filesystem>
#include <limits>

#include <gtest/gtest.h>

#include "rattleback/rattleback.hpp"
#include "testing.hpp"

using namespace rattleback;
using namespace rattleback::tests;

namespace {

/// Orbits of which those with large a escape and fail. The logarithm is not finite below the axis.
const std::string escaping = henon_heiles_orbits + R"toml(
end = 12
sample_every = 20
[[observable]]
name = "q[1]"
statistics = ["mean"]
values = true
[[observable]]
name = "logarithm"
formula = "log(y)"
statistics = []
values = true
[[observable]]
name = "energy"
statistics = ["mean"]
quantiles = [0.5]
[output]
trajectories = "all"
)toml";

Study study_of(const std::vector<std::string>& more = {}) {
  std::vector<std::string> overrides{"ensemble.axes=[{name=\"a\", from=-0.2, to=2.5, count=700}]"};
  overrides.insert(overrides.end(), more.begin(), more.end());
  return Study::parse(escaping, "study", overrides);
}

TEST(Values, AreThoseOfTheStates) {
  const Result result = run(study_of());
  const Dataset& values = result.dataset("/observables/q[1]/values");
  ASSERT_EQ(values.shape, (Shape{13, 700}));
  EXPECT_FALSE(result.has("/observables/energy/values"));
  const auto y = result.array("/observables/q[1]/values"), logarithm = result.array("/observables/logarithm/values"),
             q = result.array("/trajectories/q");
  const auto& steps = std::get<std::vector<std::uint64_t>>(result.dataset("/final/steps").values);
  std::size_t failed = 0, infinite = 0;
  for (std::size_t s = 0; s < 13; ++s)
    for (std::size_t k = 0; k < 700; ++k) {
      const double value = y[s * 700 + k], state = q[(s * 700 + k) * 2 + 1];
      if (result.status()[k] != 0 && steps[k] < 20 * s) {
        ++failed;
        ASSERT_TRUE(std::isnan(value)) << s << ' ' << k;
        ASSERT_TRUE(std::isnan(logarithm[s * 700 + k]));
        continue;
      }
      ASSERT_EQ(value, state) << s << ' ' << k;
      if (state > 0.0) {
        ASSERT_NEAR(logarithm[s * 700 + k], std::log(state), 1e-14);
      } else {
        ++infinite;
        ASSERT_EQ(logarithm[s * 700 + k], std::numeric_limits<double>::infinity());
      }
    }
  EXPECT_GT(failed, 100u);
  EXPECT_GT(infinite, 100u);
}

TEST(Values, HaveTheSameBitsWhateverTheTileAndTheBackend) {
  const Study study = study_of();
  const Result reference = run(study, {.backend = "cpu:scalar", .threads = 1});
  for (const std::uint64_t tile : {std::uint64_t{256}, std::uint64_t{512}, std::uint64_t{0}})
    for (const unsigned threads : {1u, 2u})
      EXPECT_EQ(differences(reference, run(study, {.backend = "cpu", .threads = threads, .tile = tile})), "");
  EXPECT_EQ(differences(reference, in_two_pieces(study)), "");
}

TEST(Values, CountAmongTheBytesOfTheResult) {
  const Study with = study_of();
  const Study without =
      study_of({"observable[0].values=false", "observable[1].values=false", "observable[1].statistics=[\"mean\"]"});
  // Without values the second observable has two numbers per sample: the mean and its error.
  EXPECT_EQ(result_bytes(with), result_bytes(without) + 8 * 13 * (2 * 700 - 2));
  const auto size_of = [](const Study& study) {
    const auto file = std::filesystem::path(testing::TempDir()) / "rattleback-values.h5";
    run(study).save(file);
    const auto size = std::filesystem::file_size(file);
    std::filesystem::remove(file);
    return static_cast<double>(size);
  };
  EXPECT_NEAR(size_of(with) - size_of(without), 8 * 13 * 2 * 700, 4096);
}

TEST(Values, ALoneRequestNeedsNoStatistic) {
  const Result result = run(study_of());
  EXPECT_FALSE(result.has("/observables/logarithm/mean"));
  Study study = study_of();
  study.observables[1].values = false;
  study.validate();
  EXPECT_EQ(study.observables[1].statistics, std::vector<std::string>{"mean"});
}

}  // namespace
