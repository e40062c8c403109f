#pragma once
// A backend advances one tile of trajectories at a time and reduces its observables chunk by chunk.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rattleback/backend/device_kernels.hpp"
#include "rattleback/catalogue/catalogue.hpp"
#include "rattleback/loop/reduction.hpp"

namespace rattleback {

struct Problem;
struct RunOptions;
struct Summary;
class ResultSink;

/// Trajectories [first, first + count) in host memory, chunk by chunk: data[chunk][row][lane].
struct Tile {
  std::uint64_t first = 0, count = 0;
  int rows = 0;
  std::vector<double> data;
  std::vector<std::uint32_t> recorded;  ///< trajectories of the tile whose state is kept at every sample

  [[nodiscard]] std::uint64_t chunks() const { return (count + chunk_size - 1) / chunk_size; }
  [[nodiscard]] double* chunk(std::uint64_t c) { return data.data() + c * rows * chunk_size; }
  [[nodiscard]] const double* chunk(std::uint64_t c) const { return data.data() + c * rows * chunk_size; }
  /// Row `row` of trajectory k of the tile.
  [[nodiscard]] double& at(std::uint64_t k, int row) {
    return chunk(k / chunk_size)[row * chunk_size + k % chunk_size];
  }
  [[nodiscard]] double at(std::uint64_t k, int row) const {
    return chunk(k / chunk_size)[row * chunk_size + k % chunk_size];
  }
};

/// What all tiles of a run share.
struct Plan {
  const SystemEntry* system = nullptr;
  const MethodEntry* method = nullptr;
  PairKey key{};
  KernelArguments arguments{};
  std::vector<ObservableCode> codes;
  std::vector<double> references;          ///< per observable; NaN stands for the trajectory's own initial value
  std::vector<std::pair<int, int>> pairs;  ///< observables whose joint moments are wanted
  bool keep_values = false;                ///< quantiles and histograms need the values themselves
  int state_rows = 0;                      ///< rows of q, p, lambda, the first of a chunk
  std::vector<int> components;             ///< observables that the covariance is of
  std::size_t first_covariance = 0;        ///< its first pair, (0, 0); then (1, 0), (1, 1), (2, 0), ..
  [[nodiscard]] int crossing_size() const { return 3 + state_rows; }
};

/// Steps `from` to `to` of one interval between samples, all trajectories alike; then a sample where `observe` says so.
struct Stretch {
  std::int64_t interval;  ///< intervals completed before
  std::int64_t before;    ///< steps completed before the interval, where the step size is uniform
  std::int64_t from, to;
  bool observe;
};

/// Consecutive stretches between two points at which a run may be interrupted.
struct Segment {
  bool starts_at_initial = false;  ///< the first stretch is the initial sample
  std::vector<Stretch> stretches;
  [[nodiscard]] std::uint64_t samples() const {
    return static_cast<std::uint64_t>(std::ranges::count_if(stretches, &Stretch::observe));
  }
};

struct SegmentOutput {
  std::vector<Moments> moments;       ///< [sample][observable][chunk]
  std::vector<CoMoments> co_moments;  ///< [sample][pair][chunk]
  std::vector<double> values;         ///< [sample][chunk][observable][lane], when kept
  std::vector<double> records;        ///< [sample][recorded][state row]
  /// Crossings in no order, each of Plan::crossing_size numbers: trajectory of the tile, surfaces crossed (bits), steps
  /// before, state before.
  std::vector<double> crossings;

  /// Adds the output of the next segment.
  void append(const SegmentOutput& next) {
    const auto add = [&](auto SegmentOutput::* field) {
      (this->*field).insert((this->*field).end(), (next.*field).begin(), (next.*field).end());
    };
    add(&SegmentOutput::moments);
    add(&SegmentOutput::co_moments);
    add(&SegmentOutput::values);
    add(&SegmentOutput::records);
    add(&SegmentOutput::crossings);
  }
};

/// Shared by a run and whoever watches it.
struct Control {
  std::atomic<std::uint64_t> trajectory_steps{0};
  std::function<void()> tick;
};

class Backend {
 public:
  virtual ~Backend() = default;
  [[nodiscard]] virtual std::string name() const = 0;    ///< "cpu" or "cuda"
  [[nodiscard]] virtual std::string device() const = 0;  ///< what it runs on, in words
  /// Versions of what drives the device, in words; empty where nothing does.
  [[nodiscard]] virtual std::string driver() const { return {}; }
  [[nodiscard]] virtual unsigned threads() const = 0;
  /// Whether the problem's system and method are compiled for it.
  [[nodiscard]] virtual bool treats(const Problem& problem) const = 0;
  /// Bytes a tile's state may take.
  [[nodiscard]] virtual std::uint64_t tile_bytes() const = 0;

  virtual void begin(const Plan& plan, Tile& tile) = 0;
  virtual void run(const Segment& segment, SegmentOutput& output, Control& control) = 0;
  /// Brings the tile's state home.
  virtual void fetch(Tile& tile) = 0;

  /// Floating-point operations per second of independent chains of fused multiply-adds (each counts 2) in the instruction set
  /// and on all threads of this backend; the best of a few runs of some 20 ms. The problem must be one that it treats.
  virtual double measure_peak_flops(const Problem& problem) = 0;
  /// Bytes per second, read and written, of a copy too large for caches within its memory, on all its threads; the best
  /// of a few.
  virtual double measure_copy_rate() = 0;
  /// The kernels of the problem's method, and the threads that a multiprocessor can hold; none where there are no kernels.
  virtual DeviceKernels kernels(const Problem&) { return {}; }
};

/// Steps per call into a compiled loop: how often progress is seen. Not part of the result.
inline constexpr std::int64_t steps_per_call = 1024;

/// From a specification: auto | cpu | cuda (all devices), cuda:K (the K-th, from 0), and cpu:scalar, cpu:avx2,
/// cpu:avx512 with an optional ,threads=N.
/// Throws Error(input) for one that is unknown or not there. With auto `warn` is told why a GPU that is there is not used.
std::unique_ptr<Backend> make_backend(const std::string& specification, unsigned threads, const Problem& problem,
                                      const std::function<void(const std::string&)>& warn = {});

/// The processor's own name, as far as the system tells it.
std::string processor_name();

/// Runs a study on a given backend.
Summary run_on(Backend& backend, const Problem& problem, ResultSink& sink, const RunOptions& options);

std::unique_ptr<Backend> make_cpu_backend(Isa isa, unsigned threads);
/// All CUDA devices that can be used, or one of them; nullptr, with a reason, when there is none or no CUDA backend in this
/// build. `unusable` is set where the reason is of a device that is there.
std::unique_ptr<Backend> make_cuda_backend(std::string& reason, std::optional<int> device = {},
                                           bool* unusable = nullptr);
/// Several as one: they share out the chunks of each tile.
std::unique_ptr<Backend> make_split_backend(std::vector<std::unique_ptr<Backend>> backends);

}  // namespace rattleback
