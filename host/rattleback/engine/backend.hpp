#pragma once
// A backend advances one tile of trajectories at a time and reduces the observables chunk by chunk.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rattleback/engine/device_kernels.hpp"
#include "rattleback/kernels/isa.hpp"
#include "rattleback/kernels/kernels.hpp"
#include "rattleback/loop/lanes.hpp"
#include "rattleback/loop/reduction.hpp"
#include "rattleback/study/catalogue.hpp"

namespace rattleback {

struct Problem;
struct RunOptions;
struct Summary;
struct StartProgram;
struct FoundPoints;
struct TileStart;
struct Range;
class ResultSink;

/// Trajectories [first, first + count) in host memory. `data` has the shape [chunk][row][lane], with rows of row_size numbers.
struct Tile {
  std::uint64_t first = 0, count = 0;
  int rows = 0;
  std::vector<double> data;
  std::vector<std::uint32_t> recorded;  ///< trajectories of the tile whose state is kept at every sample

  [[nodiscard]] std::uint64_t chunks() const { return (count + chunk_size - 1) / chunk_size; }
  [[nodiscard]] double* chunk(std::uint64_t c) { return data.data() + c * rows * row_size; }
  [[nodiscard]] const double* chunk(std::uint64_t c) const { return data.data() + c * rows * row_size; }
  /// Returns row `row` of trajectory k of the tile.
  [[nodiscard]] double& at(std::uint64_t k, int row) { return chunk(k / chunk_size)[row * row_size + k % chunk_size]; }
  [[nodiscard]] double at(std::uint64_t k, int row) const {
    return chunk(k / chunk_size)[row * row_size + k % chunk_size];
  }
};

/// The running sums of a fit of a line, one pair of rows of a chunk from `row` on.
struct LineFit {
  int observable;
  bool squared;  ///< a fit to (x - r)^2, otherwise to x
  std::vector<double>
      weight;  ///< per sample: the time minus the mean time of the fit; NaN for a sample outside the fit
  int row;
};

/// The data that all tiles of a run share.
struct Plan {
  const SystemEntry* system = nullptr;
  const MethodEntry* method = nullptr;
  PairKey key{};
  StudyCode code;
  KernelArguments arguments{};
  std::vector<ObservableCode> codes;
  std::vector<double> references;  ///< per observable; NaN stands for the trajectory's own initial value
  /// The derivative of an observable of the study.
  struct Derivative {
    std::size_t observable, by;
    int code;                   ///< its place among the codes
    int error_code = -1;        ///< that of the derivative of the squared error; -1 without
    int pair = -1;              ///< its joint moments with the observable; -1 without
    bool of_statistics = true;  ///< statistics have derivatives, and not the values of trajectories alone
  };
  std::vector<Derivative> derivatives;
  std::vector<std::pair<int, int>> pairs;  ///< observables whose joint moments are wanted
  std::vector<LineFit> line_fits;
  bool frame = false;        ///< the loop is that with several tangent vectors (loop/frame.hpp)
  bool keep_values = false;  ///< quantiles, histograms, groups and the result need the values
  int state_rows = 0;        ///< rows of q, p and lambda; a chunk begins with these rows
  int stops = 0;             ///< the last surfaces, which end a trajectory
  int averages = 0;          ///< their number
  int beyond = -1;           ///< row of the stops beyond whose surface a trajectory starts, as bits; -1 without stops
  int step_rows = 0;         ///< with the numbers that the method carries besides, all that a step goes on from
  std::vector<int> components;       ///< observables of the covariance
  std::size_t first_covariance = 0;  ///< first pair of the covariance, (0, 0); then (1, 0), (1, 1), (2, 0), ..
  /// Whether steps follow a density. Crossings then have a place of three numbers (loop/clock.hpp) in place of one.
  [[nodiscard]] bool by_density() const { return arguments.layout.clock >= 0; }
  /// Whether the loop carries tangent vectors or derivatives along.
  [[nodiscard]] bool carries() const { return arguments.layout.tangent >= 0 || arguments.layout.variation >= 0; }
  [[nodiscard]] int place_numbers() const { return by_density() ? 3 : 1; }
  /// The count of numbers in q, v, p and lambda.
  [[nodiscard]] int shown_numbers() const { return state_rows + system->n; }
  /// The count of the rows with all derivatives of a trajectory.
  [[nodiscard]] int variation_rows() const { return arguments.layout.variations * arguments.layout.variation_rows; }
  [[nodiscard]] int crossing_size() const { return 2 + place_numbers() + step_rows + variation_rows(); }
};

/// Number of steps per call into a compiled loop. Progress is reported after each call. The number does not change the
/// result.
inline constexpr std::int64_t steps_per_call = 1024;

/// Steps `from` to `to` of one interval between samples, for all trajectories. A sample follows where `observe` is
/// true.
struct Stretch {
  std::int64_t interval;  ///< number of intervals before this one
  std::int64_t before;    ///< number of steps before this interval, where the step size is uniform
  std::int64_t from, to;
  bool observe;
  /// Of steps that follow a density, `from` and `to` count calls. A stretch with a sample has as many as are needed to reach its time.
  double time = 0.0;

  /// Where a call that begins at step `at` ends.
  [[nodiscard]] std::int64_t end_of_call(std::int64_t at, bool guarded) const {
    return guarded ? std::min(to, (at / steps_per_guard + 1) * steps_per_guard) : std::min(to, at + steps_per_call);
  }
  /// Whether the multiplier is looked at after this step, before any sample.
  [[nodiscard]] bool guards(std::int64_t step) const { return step % steps_per_guard == 0 && !(observe && step == to); }
};

/// Consecutive stretches between two points where a run may stop.
struct Round {
  bool starts_at_initial = false;  ///< the first stretch is the initial sample
  std::uint64_t first_sample = 0;  ///< index of the first sample of the round
  std::vector<Stretch> stretches;
  [[nodiscard]] std::uint64_t samples() const {
    return static_cast<std::uint64_t>(std::ranges::count_if(stretches, &Stretch::observe));
  }
};

struct RoundOutput {
  std::vector<Moments> moments;       ///< [sample][observable][chunk]
  std::vector<CoMoments> co_moments;  ///< [sample][pair][chunk]
  std::vector<double> values;         ///< [sample][chunk][observable][lane], when kept
  std::vector<double> records;        ///< [sample][recorded][state row]
  /// Crossings in no order. Each has Plan::crossing_size numbers: trajectory of the tile, surfaces crossed (bits),
  /// place of the step with the crossing, state before the crossing, its derivatives as in their rows.
  std::vector<double> crossings;
  /// Of steps that follow a density: the most calls that a trajectory took in a stretch, and whether one has not yet reached the time
  /// of the last stretch.
  std::int64_t calls = 0;
  bool waiting = false;
  /// Of such steps: those that trajectories took, and those that they might have taken while others of their pack or warp took steps.
  std::uint64_t taken = 0, possible = 0;

  /// Forgets what a round adds to.
  void clear() {
    crossings.clear();
    calls = 0;
    waiting = false;
    taken = possible = 0;
  }
  /// Appends the output of the next round.
  void append(const RoundOutput& next) {
    const auto add = [&](auto RoundOutput::* field) {
      (this->*field).insert((this->*field).end(), (next.*field).begin(), (next.*field).end());
    };
    add(&RoundOutput::moments);
    add(&RoundOutput::co_moments);
    add(&RoundOutput::values);
    add(&RoundOutput::records);
    add(&RoundOutput::crossings);
  }
};

/// Data that a run shares with its caller.
struct Control {
  std::atomic<std::uint64_t> trajectory_steps{0};
  std::function<void()> tick;
};

class Backend {
 public:
  virtual ~Backend() = default;
  [[nodiscard]] virtual std::string name() const = 0;    ///< "cpu" or "cuda"
  [[nodiscard]] virtual std::string device() const = 0;  ///< name of the device, in words
  /// Returns the versions of the device's driver and runtime, in words; empty for the CPU.
  [[nodiscard]] virtual std::string driver() const { return {}; }
  [[nodiscard]] virtual unsigned threads() const = 0;
  /// Loads the kernels that a run of the problem needs, and compiles missing ones. Throws Error(input).
  virtual void prepare(std::span<const Problem>) {}
  double compile_seconds = 0.0;  ///< that the last prepare_on took
  /// Returns what is known of these kernels, and `with_start` of those that make initial states.
  [[nodiscard]] virtual std::vector<KernelRecord> records(const Problem&, [[maybe_unused]] bool with_start) {
    return {};
  }
  /// Returns the largest number of bytes for the state of a tile.
  [[nodiscard]] virtual std::uint64_t tile_bytes() const = 0;

  virtual void begin(const Plan& plan, Tile& tile) = 0;

  /// Returns whether the backend makes the initial states of a problem by itself, which is prepared: whether find_points and begin_at_start
  /// may be called.
  [[nodiscard]] virtual bool starts(const Problem&) { return false; }
  /// Returns what the points of a range are. The search ends early where more than `most` are to be prepared by themselves.
  virtual FoundPoints find_points(const StartProgram& program, const Range& range, std::uint64_t most);
  /// Like begin(), with a tile that the backend fills itself. In host memory, where the tile has its size, it sets the fixed rows
  /// (ChunkLayout) and the arrays of `start`.
  virtual void begin_at_start(const Plan& plan, Tile& tile, const TileStart& start);

  virtual void run(const Round& round, RoundOutput& output, Control& control) = 0;
  /// Copies the tile's state into host memory. It leaves the fixed rows (ChunkLayout) alone: another thread may read them, while it
  /// writes output of the tile.
  virtual void fetch(Tile& tile) = 0;
  /// The same at the end of a tile whose states are not wanted: the other rows that the result and its statistics need.
  virtual void fetch_counts(Tile& tile) { fetch(tile); }

  /// Returns floating-point operations per second of independent chains of fused multiply-adds. Each multiply-add
  /// counts 2. The chains use the instruction set and all threads of this backend. The result is the best of a few runs
  /// of about 20 ms.
  virtual double measure_peak_flops() = 0;
  /// Returns bytes per second, read plus written, of a copy within the backend's memory. The copy is too large for
  /// caches and uses all threads. The result is the best of a few runs.
  virtual double measure_copy_rate() = 0;
  /// Returns the kernels of the problem's method and the threads that a multiprocessor can hold; empty for the CPU.
  virtual DeviceKernels kernels(const Problem&) { return {}; }
};

/// Makes a backend from a specification: auto, cpu, cuda (all devices), cuda:K (device K, from 0), or cpu:scalar,
/// cpu:neon, cpu:avx2, cpu:avx512 with an optional `,threads=N`. Throws Error(input) for an unknown specification or a missing
/// device. `warn` receives the reason when `auto` does not use an installed GPU, or when a GPU is left out.
std::unique_ptr<Backend> make_backend(const std::string& specification, unsigned threads,
                                      const std::function<void(const std::string&)>& warn = {});

/// Returns the processor's model name, or "unknown processor".
std::string processor_name();

/// Loads all kernels of a run of the problem on the backend, compiles missing ones, and verifies those of a header of the
/// user (engine/verify.hpp). Throws Error(input).
void prepare_on(Backend& backend, const Problem& problem);

/// Runs a study on the given backend.
Summary run_on(Backend& backend, const Problem& problem, ResultSink& sink, const RunOptions& options);

std::unique_ptr<Backend> make_cpu_backend(Isa isa, unsigned threads);
/// Makes a backend of CUDA device `device`, or of all usable CUDA devices. Returns nullptr when no device is usable or
/// the build has no CUDA backend. `reason` then says why. Where a device is installed but cannot be used, `reason` says
/// why and `unusable` becomes true, even if another device is usable.
std::unique_ptr<Backend> make_cuda_backend(std::string& reason, std::optional<int> device = {},
                                           bool* unusable = nullptr);
/// Makes one backend of several. Each backend takes a part of the chunks of every tile.
std::unique_ptr<Backend> make_split_backend(std::vector<std::unique_ptr<Backend>> backends);

}  // namespace rattleback
