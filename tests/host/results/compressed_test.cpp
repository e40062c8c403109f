// Compressed series of single trajectories.

#include "rattleback/results/compressed.hpp"
#include "rattleback/base/hdf5.hpp"
#include "testing.hpp"

using namespace rattleback;

namespace {

Study study_with(const std::string& output) {
  return Study::parse(tests::henon_heiles_orbits + R"toml(
steps = 60
[[observable]]
name = "energy"
values = true
[output]
trajectories = "all"
)toml" + output);
}

/// A run into a file, read back.
Result through_a_file(const Study& study, std::filesystem::path& file) {
  file = std::filesystem::temp_directory_path() / fmt::format("compressed-{}.h5", getpid());
  Session(RunOptions{}).run(study, file);
  return Result::load(file);
}

TEST(Compressed, SeriesAreThoseOfSingleTrajectories) {
  EXPECT_TRUE(is_series("/trajectories/q"));
  EXPECT_TRUE(is_series("/observables/energy/values"));
  EXPECT_FALSE(is_series("/trajectories/index"));
  EXPECT_FALSE(is_series("/observables/energy/mean"));
  EXPECT_FALSE(is_series("/groups/observables/energy/mean"));
  EXPECT_FALSE(is_series("/final/q"));
}

TEST(Compressed, DatasetsHaveTheSameNumbersInLessSpace) {
  const Result plain = run(study_with(""));
  std::filesystem::path file;
  const Result result = through_a_file(study_with("compression = 6"), file);
  EXPECT_EQ(tests::differences(plain, result), "");
  EXPECT_EQ(plain.fingerprint(), result.fingerprint());
  {
    const auto use = hdf5::lock();
    const hdf5::Handle opened = hdf5::open_for_reading(file);
    for (const std::string& path : result.paths()) {
      const hdf5::Handle dataset(H5Dopen2(opened.get(), path.c_str(), H5P_DEFAULT), H5Dclose);
      EXPECT_EQ(hdf5::is_contiguous(dataset), !is_series(path)) << path;
      const std::uint64_t numbers =
          std::visit([](const auto& x) { return x.size() * sizeof(x[0]); }, result.dataset(path).values);
      if (is_series(path)) {
        EXPECT_LT(H5Dget_storage_size(dataset.get()), numbers) << path;
      }
    }
  }
  EXPECT_EQ(ResultFile(file).fingerprint(), result.fingerprint());
  for (const char* beside : {".part", ".compressed", ".checkpoint"})
    EXPECT_FALSE(std::filesystem::exists(file.string() + beside)) << beside;
  std::filesystem::remove(file);
}

TEST(Compressed, LevelsAreThoseOfDeflate) {
  for (const char* level : {"0", "10", "-1", "1.5"})
    EXPECT_THROW(study_with(fmt::format("compression = {}", level)), Error) << level;
}

TEST(Compressed, ARunInTwoPiecesIsCompressedAtItsEnd) {
  EXPECT_EQ(tests::differences(run(study_with("")), tests::in_two_pieces(study_with("compression = 1"))), "");
}

}  // namespace
