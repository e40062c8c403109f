#pragma once
// Runs a study.

#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "rattleback/backend/device_kernels.hpp"
#include "rattleback/problem/problem.hpp"
#include "rattleback/result/result.hpp"

namespace rattleback {

/// How far a run is.
struct Progress {
  std::uint64_t trajectory_steps = 0, total = 0;
  double seconds = 0.0;
};

struct RunOptions {
  std::string backend = "auto";  ///< auto, cpu, cuda, cuda:K, cpu:scalar, cpu:avx2, cpu:avx512; cpu:...,threads=N
  unsigned threads = 0;          ///< 0: all cores
  std::uint64_t tile = 0;  ///< trajectories in memory at a time, rounded up to chunks of 256; 0: what fits the backend
  std::function<void(const Progress&)> progress = {};  ///< called about ten times a second, from the calling thread
  std::function<void(const std::string&)> warn = {};   ///< called with what went wrong but does not end the run
  /// A requested stop ends the run with Error(runtime), about a quarter of a second later; a run into a file leaves a
  /// checkpoint.
  std::stop_token stop = {};
};

/// Runs a study (a Study is a Problem, problem/problem.hpp) and keeps the result in memory. Throws Error.
Result run(const Problem& problem, const RunOptions& options = {});

/// Runs a study into a sink; the summary is what Result::summary would be.
Summary run(const Problem& problem, ResultSink& sink, const RunOptions& options = {});

/// Runs studies one after the other with one backend and one set of buffers.
class Session {
 public:
  explicit Session(RunOptions options = {});
  ~Session();
  Session(Session&&) noexcept;

  Result run(const Problem& problem);
  Summary run(const Problem& problem, ResultSink& sink);
  /// Runs into a result file, with checkpoints beside it. Throws Error(input) where an interrupted run waits.
  Summary run(const Problem& problem, const std::filesystem::path& result);
  /// Goes on with an interrupted run into that file, from its last checkpoint; the result has the bits of an uninterrupted
  /// run. Throws Error(input) when there is none, when it is finished, or when the checkpoint is damaged.
  Summary resume(const std::filesystem::path& result);
  /// Floating-point operations per second that the backend of a problem reaches in a loop of fused multiply-adds alone.
  double measure_peak_flops(const Problem& problem);
  /// Bytes per second, read and written, of a copy within the memory of that backend.
  double measure_copy_rate(const Problem& problem);
  /// The kernels of the problem's method where the backend is a GPU; otherwise none.
  DeviceKernels kernels(const Problem& problem);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Checks all initial states (constraint, multiplier, finite values) without running; what `run` does first.
void check_initial_states(const Problem& problem, unsigned threads = 0);

/// Bytes that a backend holds of one trajectory: state, bookkeeping, swept parameters, references of the observables.
std::uint64_t state_bytes(const Problem& problem);

/// Bytes of the result file and of the files it needs while it is being made, near enough to compare with the space on a disk;
/// 2^64 - 1 where they are more.
std::uint64_t result_bytes(const Problem& problem);

}  // namespace rattleback
