// Dimension scales of result files.

#include <hdf5_hl.h>

#include "rattleback/base/hdf5.hpp"
#include "rattleback/results/result_file.hpp"
#include "rattleback/results/scales.hpp"
#include "testing.hpp"

using namespace rattleback;

namespace {

using Names = std::vector<std::string>;

TEST(Scales, NameTheDimensionsOfADataset) {
  EXPECT_EQ(scales_of("/time", 1), Names{"/time"});
  EXPECT_EQ(scales_of("/observables/energy/mse_error", 1), Names{"/time"});
  EXPECT_EQ(scales_of("/observables/energy/values", 2), (Names{"/time", "/trajectory"}));
  EXPECT_EQ(scales_of("/observables/a b/histogram", 2), (Names{"/time", "/observables/a b/bin"}));
  EXPECT_EQ(scales_of("/final/q", 2), (Names{"/trajectory", "/q_component"}));
  EXPECT_EQ(scales_of("/final/status", 1), Names{"/trajectory"});
  EXPECT_EQ(scales_of("/trajectories/lambda", 3), (Names{"/time", "/trajectories/index", "/lambda_component"}));
  EXPECT_EQ(scales_of("/sections/0/p", 2), (Names{"/sections/0/crossing", "/p_component"}));
  EXPECT_EQ(scales_of("/groups/observables/e/mse", 3), (Names{"/groups/group_0", "/groups/group_1", "/time"}));
  EXPECT_EQ(scales_of("/groups/fits/growth/slope", 1), Names{"/groups/group_0"});
  EXPECT_EQ(scales_of("/axes/q", 1), Names{"/trajectory"});  // an axis may have the name of a part of the state
  EXPECT_TRUE(scales_of("/final/q", 3).empty());
  EXPECT_TRUE(scales_of("/reduction/values", 2).empty());
}

/// Every dataset of a result file has a scale of the right size at each dimension, and readers see no other dataset.
TEST(Scales, AreOnAllDatasetsOfAResult) {
  Study study = Study::parse(tests::henon_heiles_orbits + R"toml(
steps = 8
sample_every = 2
[[observable]]
name = "energy"
values = true
histogram = { from = 0, to = 1, bins = 5 }
[[section]]
surface = "q[0]"
[[fit]]
name = "growth"
observable = "energy"
statistic = "mean"
[output]
trajectories = [0, 3]
covariance = ["q"]
)toml");
  const auto file = std::filesystem::temp_directory_path() / fmt::format("scales-{}.h5", getpid());
  const Result result = run(study);
  result.save(file);
  {
    const auto use = hdf5::lock();
    const hdf5::Handle opened = hdf5::open_for_reading(file);
    for (const std::string& path : result.paths()) {
      const hdf5::Handle dataset(H5Dopen2(opened.get(), path.c_str(), H5P_DEFAULT), H5Dclose);
      const Shape& shape = result.dataset(path).shape;
      for (unsigned i = 0; i < shape.size(); ++i) {
        if (scales_of(path, shape.size()).at(i) == path) {
          EXPECT_GT(H5DSis_scale(dataset.get()), 0) << path;
          continue;
        }
        ASSERT_EQ(H5DSget_num_scales(dataset.get(), i), 1) << path << " " << i;
        std::uint64_t size = 0;
        H5DSiterate_scales(
            dataset.get(), i, nullptr,
            [](hid_t, unsigned, hid_t scale, void* out) -> herr_t {
              const hdf5::Handle space(H5Dget_space(scale), H5Sclose);
              const auto length = static_cast<std::uint64_t>(H5Sget_simple_extent_npoints(space.get()));
              *static_cast<std::uint64_t*>(out) = length;
              // A scale without numbers has the name that netCDF-4 gives it; readers know it by the whole text.
              char name[128] = "";
              H5DSget_scale_name(scale, name, sizeof name);
              if (std::string_view(name) != "time" && std::string_view(name) != "index") {
                EXPECT_EQ(name, fmt::format("This is a netCDF dimension but not a netCDF variable.{:10}", length));
              }
              return 1;
            },
            &size);
        EXPECT_EQ(size, shape[i]) << path << " " << i;
      }
    }
  }
  const Result again = Result::load(file);
  EXPECT_EQ(again.paths(), result.paths());
  EXPECT_EQ(again.attributes("/time").size(), 0u);
  again.save(file);
  EXPECT_EQ(tests::differences(Result::load(file), result), "");
  std::filesystem::remove(file);
}

}  // namespace
