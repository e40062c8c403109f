// Several devices as one backend.

#include <cstring>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rattleback/engine/backend.hpp"
#include "rattleback/rattleback.hpp"
#include "testing.hpp"

using namespace rattleback;
using namespace rattleback::tests;

namespace {

/// All that a result may hold.
const std::string everything = henon_heiles_orbits + R"toml(
end = 10
samples = 4
[[observable]]
name = "energy"
statistics = ["mse", "mean", "std", "min", "max"]
quantiles = [0.1, 0.5]
histogram = { from = 0.05, to = 0.2, bins = 7 }
correlation = ["q[1]"]
values = true
[[observable]]
name = "spin"
formula = "x p[1] - y p[0] + t atan2(y, 1.5)"
statistics = ["mean", "max"]
values = true
[[observable]]
name = "lyapunov"
statistics = ["mean"]
[[section]]
surface = "q[0]"
direction = "both"
[output]
trajectories = [0, 255, 256, 300, 699]
covariance = ["q", "v"]
)toml";

std::unique_ptr<Backend> processors(int count) {
  std::vector<std::unique_ptr<Backend>> backends;
  for (int i = 0; i < count; ++i) backends.push_back(make_cpu_backend(i % 2 ? Isa::scalar : best_isa(), 1));
  return make_split_backend(std::move(backends));
}

Result run_split(const Problem& problem, int count, std::uint64_t tile, std::vector<Progress>* progress = nullptr) {
  RunOptions options{.tile = tile};
  if (progress) options.progress = [&](const Progress& p) { progress->push_back(p); };
  Result result;
  MemorySink sink(result);
  result.summary = run_on(*processors(count), problem, sink, options);
  return result;
}

TEST(SplitBackend, GivesTheSameBitsAsOneDevice) {
  for (const std::vector<std::string>& overrides :
       {std::vector<std::string>{},
        std::vector<std::string>{"time.step=\"0.05*(1+(a>0))\"", "output.trajectories=\"all\""}}) {
    const Study study = Study::parse(everything, "study", overrides);
    const Result one = run(study, {.backend = "cpu", .threads = 1});
    EXPECT_GT(one.dataset("/sections/0/trajectory").shape[0], 700u);
    for (const int count : {2, 3, 5})  // there are three chunks
      for (const std::uint64_t tile : {std::uint64_t{0}, std::uint64_t{512}}) {
        std::vector<Progress> progress;
        const Result split = run_split(study, count, tile, &progress);
        EXPECT_EQ(differences(one, split), "") << count << " devices, tile " << tile;
        EXPECT_EQ(split.summary.trajectory_steps, one.summary.trajectory_steps);
        ASSERT_FALSE(progress.empty());
        EXPECT_EQ(progress.back().trajectory_steps, progress.back().total);
        for (std::size_t i = 1; i < progress.size(); ++i)
          EXPECT_GE(progress[i].trajectory_steps, progress[i - 1].trajectory_steps);
      }
  }
}

TEST(SplitBackend, SpeaksOfItsDevices) {
  const auto one = make_cpu_backend(Isa::scalar, 1), two = make_cpu_backend(Isa::scalar, 2);
  std::vector<std::unique_ptr<Backend>> backends;
  for (const unsigned threads : {1u, 2u}) backends.push_back(make_cpu_backend(Isa::scalar, threads));
  const auto split = make_split_backend(std::move(backends));
  EXPECT_EQ(split->name(), "cpu");
  EXPECT_EQ(split->threads(), 3u);
  EXPECT_EQ(split->device(), "2 x " + one->device());
  EXPECT_EQ(split->tile_bytes(), 2 * one->tile_bytes());
}

TEST(SplitBackend, PassesOnWhatADeviceThrows) {
  class Broken final : public Backend {
   public:
    std::string name() const override { return "broken"; }
    std::string device() const override { return "none"; }
    unsigned threads() const override { return 1; }
    std::uint64_t tile_bytes() const override { return 1 << 20; }
    void begin(const Plan&, Tile&) override {}
    void run(const Round&, RoundOutput&, Control&) override { throw Error(Error::Kind::runtime, "it is broken"); }
    void fetch(Tile&) override {}
    double measure_peak_flops() override { return 0; }
    double measure_copy_rate() override { return 0; }
  };
  std::vector<std::unique_ptr<Backend>> backends;
  backends.push_back(make_cpu_backend(Isa::scalar, 1));
  backends.push_back(std::make_unique<Broken>());
  Study study = Study::parse(everything);
  study.validate();
  Result result;
  MemorySink sink(result);
  EXPECT_THROW(run_on(*make_split_backend(std::move(backends)), study, sink, {}), Error);
}

/// A device with memory for tiles of one chunk.
class Small final : public Backend {
 public:
  std::string name() const override { return "small"; }
  std::string device() const override { return "small"; }
  unsigned threads() const override { return 1; }
  std::uint64_t tile_bytes() const override { return 1 << 30; }
  void begin(const Plan& plan, Tile& tile) override {
    if (tile.chunks() > 2) throw OutOfMemory("too large");
    cpu_->begin(plan, tile);
    chunks_ = tile.chunks();
  }
  void run(const Round& round, RoundOutput& output, Control& control) override {
    if (chunks_ > 1) throw OutOfMemory("too large for its output");
    cpu_->run(round, output, control);
  }
  void fetch(Tile& tile) override { cpu_->fetch(tile); }
  double measure_peak_flops() override { return 0; }
  double measure_copy_rate() override { return 0; }

 private:
  std::unique_ptr<Backend> cpu_ = make_cpu_backend(Isa::scalar, 1);
  std::uint64_t chunks_ = 0;
};

TEST(Backend, WithLittleMemoryTakesSmallerTilesAndSaysSoOnce) {
  Study study = Study::parse(everything);
  study.validate();
  Small small;
  Result result;
  MemorySink sink(result);
  std::vector<std::string> warnings;
  run_on(small, study, sink, {.warn = [&](const std::string& text) { warnings.push_back(text); }});
  EXPECT_EQ(differences(run(study, {.backend = "cpu:scalar"}), result), "");
  EXPECT_EQ(warnings, std::vector<std::string>{"the device has too little memory for a tile; it is halved"});
}

TEST(Sinks, WriteOneNanForAll) {
  const std::uint64_t strange[] = {0x7fffffffdeadbeef, 0xfff8000000000000, 0x3ff0000000000000, 0x7ff0000000000000};
  const std::uint64_t expected[] = {0x7ff8000000000000, 0x7ff8000000000000, 0x3ff0000000000000, 0x7ff0000000000000};
  Result result;
  MemorySink memory(result);
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / fmt::format("rattleback-nan-{}.h5", getpid());
  const auto disk = make_file_sink(file);
  for (ResultSink* sink : {static_cast<ResultSink*>(&memory), disk.get()}) {
    sink->create("/x", ResultSink::Type::f64, {4});
    sink->write("/x", {0}, {4}, strange);
    sink->attribute("/", "study", std::string("none"));
    sink->commit();
  }
  const auto expect_canonical = [&](const Dataset& dataset) {
    const auto& x = std::get<std::vector<double>>(dataset.values);
    EXPECT_EQ(std::memcmp(x.data(), expected, sizeof expected), 0);
  };
  expect_canonical(result.dataset("/x"));
  expect_canonical(ResultFile(file).read("/x"));
  std::filesystem::remove(file);
}

TEST(Session, GoesOnWithTheSameBits) {
  const Study study = Study::parse(everything, "s.toml", std::vector<std::string>{"output.checkpoint=20"});
  EXPECT_EQ(differences(run(study), in_two_pieces(study)), "");
}

TEST(CudaBackend, OfADeviceThatIsNotThereIsNone) {
  std::string reason;
  EXPECT_EQ(make_cuda_backend(reason, 1000), nullptr);
  EXPECT_FALSE(reason.empty());
  Study study = Study::parse(everything);
  study.validate();
  for (const char* unknown : {"cuda:", "cuda:x", "cuda:0,1", "cuda0", "cuda:-"})
    EXPECT_THROW((void)make_backend(unknown, 0), Error) << unknown;
}

TEST(CudaBackend, OfAllDevicesGivesTheSameBitsAsOfEach) {
  std::string reason;
  if (!make_cuda_backend(reason, 1)) GTEST_SKIP() << reason;
  const Study study = Study::parse(everything);
  const Result one = run(study, {.backend = "cuda:0"});
  EXPECT_EQ(differences(one, run(study, {.backend = "cuda:1"})), "");
  EXPECT_EQ(differences(one, run(study, {.backend = "cuda"})), "");
}

}  // namespace
