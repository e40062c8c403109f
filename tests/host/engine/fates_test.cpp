// Fates and maps, through the host API. The kernels are those of the stops.

#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rattleback/rattleback.hpp"
#include "rattleback/study/basins.hpp"
#include "testing.hpp"

using namespace rattleback;
using namespace rattleback::tests;

namespace {

using Overrides = std::vector<std::string>;

const std::string labelled_orbits = henon_heiles_orbits + R"toml(
end = 40
samples = 4
[[section]]
surface = "x"
[[observable]]
name = "y"
formula = "sqrt(0.3 - y)"
values = true
[[observable]]
name = "lyapunov"
[[stop]]
name = "late"
section = "0"
count = 6
[[stop]]
name = "out"
when = "x^2 + y^2 - 0.28"
direction = "both"
[[fate]]
name = "below"
where = "y < 0 && q0^2 < 0.05 || v[1] > 100"
[[fate]]
name = "out"
stop = "out"
[[fate]]
name = "soon"
where = "t < 39"
)toml";
const std::string two_axes =
    R"(ensemble.axes=[{name="a", from=-0.2, to=0.3, count=30}, {name="c", values=[1]}, {name="b", from=0.1, to=0.9, count=20}])";
const std::string start = "ensemble.initial.v=[0.35, \"b + 2*a*c\"]";

Study study_of_fates(const Overrides& overrides = {}) { return Study::parse(labelled_orbits, "s.toml", overrides); }
std::span<const std::uint32_t> labels_of(const Result& result, const std::string& path) {
  return std::get<std::vector<std::uint32_t>>(result.dataset(path).values);
}
std::span<const std::uint64_t> counts_of(const Result& result, const std::string& path) {
  return std::get<std::vector<std::uint64_t>>(result.dataset(path).values);
}

TEST(Fates, AreTheFirstConditionsThatHold) {
  const Result result = run(study_of_fates({"ensemble.initial.v=[0.35, \"0.1 + 2*a\"]"}));
  const auto fate = labels_of(result, "/final/fate"), stop = labels_of(result, "/final/stop"),
             status = labels_of(result, "/final/status");
  const auto time = result.array("/final/time");
  const auto q = result.matrix("/final/q"), v = result.matrix("/final/v");
  std::array<std::uint64_t, 4> counts{};
  std::uint64_t all = 0;
  for (Eigen::Index k = 0; k < 700; ++k) {
    const auto i = static_cast<std::size_t>(k);
    const bool below = (q(k, 1) < 0 && q(k, 0) * q(k, 0) < 0.05) || v(k, 1) > 100;
    const std::uint32_t expected = status[i] != 0 ? 0 : below ? 1 : stop[i] == 2 ? 2 : time[i] < 39 ? 3 : 0;
    ASSERT_EQ(fate[i], expected) << k;
    counts[expected] += status[i] == 0;
    all += status[i] == 0;
  }
  for (std::size_t f = 0; f < 4; ++f) {
    EXPECT_GT(counts[f], 5u) << f;
    EXPECT_EQ(counts_of(result, "/fates/count")[f], counts[f]);
    const double share = static_cast<double>(counts[f]) / static_cast<double>(all);
    EXPECT_EQ(result.array("/fates/fraction")[f], share);
    EXPECT_DOUBLE_EQ(result.array("/fates/fraction_error")[f],
                     std::sqrt(share * (1 - share) / static_cast<double>(all - 1)));
  }
  EXPECT_EQ(std::get<std::string>(*result.attribute("/final/fate", "fate 3")), "soon");
}

TEST(Fates, MapsHaveTheLabelsOfBothAxes) {
  const Result result =
      run(study_of_fates({two_axes, start, "ensemble.where=\"a + b < 1.1\"",
                          R"(map=[{name="m", axes=["a", "b"]}, {name="n", of="stop", axes=["b", "a"]}])"}));
  const auto fate = labels_of(result, "/final/fate"), stop = labels_of(result, "/final/stop"),
             status = labels_of(result, "/final/status"), m = labels_of(result, "/maps/m/labels"),
             n = labels_of(result, "/maps/n/labels");
  ASSERT_EQ(result.dataset("/maps/n/labels").shape, (Shape{20, 30}));
  std::uint64_t absent = 0;
  for (std::size_t a = 0; a < 30; ++a)
    for (std::size_t b = 0; b < 20; ++b) {
      const std::size_t k = a * 20 + b;
      EXPECT_EQ(m[k], status[k] == 0 ? fate[k] : no_label);
      EXPECT_EQ(n[b * 30 + a], status[k] == 0 ? stop[k] : no_label);
      EXPECT_EQ(result.array("/maps/m/row")[a], result.array("/axes/a")[k]);
      EXPECT_EQ(result.array("/maps/n/row")[b], result.array("/axes/b")[k]);
      absent += status[k] != 0;
    }
  EXPECT_GT(absent, 5u);
  const LabelMap map{30, 20, m};
  const auto boundary = boundary_of(map);
  const auto rows = counts_of(result, "/maps/m/boundary");
  ASSERT_EQ(rows.size(), 3 * boundary.size());
  EXPECT_EQ(rows[3], 2u);
  EXPECT_EQ(rows[4], boundary[1].mixed);
  EXPECT_LT(boundary[0].all, 29u * 19u);  // without boxes with a point that is left out
  EXPECT_EQ(std::isnan(result.array("/maps/m/uncertainty_exponent")[0]), std::isnan(slope_of(uncertain_of(map))));
  EXPECT_EQ(result.array("/maps/m/basin_entropy")[0], entropy_of(map).all);
}

TEST(Fates, DoNotDependOnHowTheyAreRun) {
  const Study study =
      study_of_fates({two_axes, start, R"(map=[{name="m", axes=["a", "b"]}, {name="n", of="stop", axes=["b", "a"]}])",
                      "output.final_state=false"});
  const Result reference = run(study, {.threads = 1});
  EXPECT_EQ(differences(reference, in_two_pieces(study)), "");
  EXPECT_EQ(differences(reference, run(study, {.threads = 2, .tile = 256})), "");
  EXPECT_FALSE(reference.has("/final/q"));
}

TEST(Fates, SayWhatIsWrong) {
  const std::pair<const char*, const char*> rows[] = {
      {R"(fate=[{name="a"}])", "fate 'a' has no condition; give `where` or `stop`"},
      {R"(fate=[{where="x > 0"}])", "name is missing"},
      {R"(fate=[{name="a", where="x > 0", stop="out"}])", "both given"},
      {R"(fate=[{name="a", where="x"}])", "fate[0].where is not a condition (got 'x')"},
      {R"(fate=[{name="a", where="xx > 0"}])", "unknown name 'xx'"},
      {R"(fate=[{name="a", where="1 > 0"}])", "fate[0].where is not a condition"},
      {R"(fate=[{name="a", stop="oute"}])", "did you mean 'out'"},
      {R"(fate=[{name="a", stop="out"}, {name="a", stop="late"}])", "fate 'a' appears twice"},
      {R"(map=[{name="m", axes=["a"]}])", "needs two different axes (got a)"},
      {R"(map=[{name="m", axes=["a", "c"]}])", "names 'c', which is not an axis with given values (there are: a)"},
      {R"(map=[{name="m", of="time", axes=["a", "b"]}])", "unknown map[0].of 'time' (known: fate, stop)"},
  };
  for (const auto& [override, message] : rows) {
    SCOPED_TRACE(override);
    try {
      (void)study_of_fates({override});
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), Error::Kind::input);
      EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    }
  }
  EXPECT_THROW((void)study_of_fates({"fate=[]", R"(map=[{name="m", axes=["a", "a"]}])"}), Error);
  EXPECT_THROW(
      (void)study_of_fates({two_axes, start, "ensemble.axes[1].values=[1, 2]", R"(map=[{name="m", axes=["a", "b"]}])"}),
      Error);
}

}  // namespace
