#pragma once
// A backend advances one tile of trajectories at a time and reduces its observables chunk by chunk.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "rattleback/catalogue.hpp"
#include "rattleback/ensemble/reduction.hpp"

namespace rattleback {

struct Study;
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
  int stages = 0;
  KernelArguments arguments{};
  std::vector<ObservableCode> codes;
  std::vector<double> references;  ///< per observable; NaN stands for the trajectory's own initial value
  bool keep_values = false;        ///< quantiles need the values themselves
  int state_rows = 0;              ///< rows of q, p, lambda, the first of a chunk
};

/// Consecutive samples: steps[i] steps (0 for the initial sample), then observe.
struct Segment {
  bool starts_at_initial = false;
  std::vector<std::int64_t> steps;
};

struct SegmentOutput {
  std::vector<Moments> moments;  ///< [sample][observable][chunk]
  std::vector<double> values;    ///< [sample][chunk][observable][lane], when kept
  std::vector<double> records;   ///< [sample][recorded][state row]
};

/// Shared by a run and whoever watches it.
struct Control {
  std::atomic<std::uint64_t> trajectory_steps{0};
  std::stop_token stop;
  std::function<void()> tick;

  [[nodiscard]] bool stopped() const { return stop.stop_requested(); }
};

class Backend {
 public:
  virtual ~Backend() = default;
  [[nodiscard]] virtual std::string name() const = 0;    ///< "cpu" or "cuda"
  [[nodiscard]] virtual std::string device() const = 0;  ///< what it runs on, in words
  [[nodiscard]] virtual unsigned threads() const = 0;
  /// Whether the study's system and method are compiled for it.
  [[nodiscard]] virtual bool treats(const Study& study) const = 0;
  /// Bytes a tile's state may take.
  [[nodiscard]] virtual std::uint64_t tile_bytes() const = 0;

  virtual void begin(const Plan& plan, Tile& tile) = 0;
  /// False when stopped.
  virtual bool run(const Segment& segment, SegmentOutput& output, Control& control) = 0;
  /// Brings the tile's state home.
  virtual void end(Tile& tile) = 0;

  /// Floating-point operations per second of independent chains of fused multiply-adds (each counts 2) in the instruction set
  /// and on all threads of this backend; the best of a few runs of some 20 ms. The study must be one that it treats.
  virtual double measure_peak_flops(const Study& study) = 0;
};

/// Steps per call into a compiled loop: how soon a stop is noticed and progress is seen. Not part of the result.
inline constexpr std::int64_t steps_per_call = 1024;

/// From a specification: auto | cpu | cuda, and cpu:scalar, cpu:avx2, cpu:avx512 with an optional ,threads=N.
/// Throws Error(input) for one that is unknown or not there.
std::unique_ptr<Backend> make_backend(const std::string& specification, unsigned threads, const Study& study);

/// Runs a study on a given backend.
Summary run_on(Backend& backend, const Study& study, ResultSink& sink, const RunOptions& options);

std::unique_ptr<Backend> make_cpu_backend(Isa isa, unsigned threads);
/// nullptr, with a reason, when there is no CUDA device or no CUDA backend in this build.
std::unique_ptr<Backend> make_cuda_backend(std::string& reason);

}  // namespace rattleback
