#pragma once
// Runs a study.

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>

#include "rattleback/engine/device_kernels.hpp"
#include "rattleback/results/result.hpp"
#include "rattleback/study/initial_data.hpp"
#include "rattleback/study/problem.hpp"

namespace rattleback {

/// The progress of a run.
struct Progress {
  std::uint64_t trajectory_steps = 0, total = 0;
  double seconds = 0.0;
};

struct RunOptions {
  std::string backend = "auto";  ///< auto, cpu, cuda, cuda:K, cpu:scalar, cpu:avx512 and so on; cpu:...,threads=N
  unsigned threads = 0;          ///< number of threads; 0: all cores
  std::uint64_t tile = 0;        ///< trajectories in memory at a time, rounded up to chunks of 256; 0: as many as fit
  std::function<void(const Progress&)> progress = {};  ///< called about ten times a second, from the calling thread
  std::function<void(const std::string&)> warn = {};   ///< receives faults that do not end the run
  /// A requested stop ends the run with Error(runtime), after about a quarter of a second and once the output that is computed is
  /// written. A run into a file then leaves a checkpoint.
  std::stop_token stop = {};
  /// A stopped run in memory leaves a checkpoint for a run into the file that this returns, which Session::resume
  /// continues. Called when the run stops. Without a function, or with an empty path, the run leaves nothing.
  std::function<std::filesystem::path()> rescue = {};
};

/// Runs a study and returns the result in memory. A Study converts to a Problem (study/problem.hpp). Throws Error, at once
/// when the result needs more memory than is free.
Result run(const Problem& problem, const RunOptions& options = {});

/// Runs a study into a sink. Returns the summary, as in Result::summary.
Summary run(const Problem& problem, ResultSink& sink, const RunOptions& options = {});

/// Runs studies one after the other with one backend and one set of buffers.
class Session {
 public:
  explicit Session(RunOptions options = {});
  ~Session();
  Session(Session&&) noexcept;

  Result run(const Problem& problem);
  Summary run(const Problem& problem, ResultSink& sink);
  /// Runs a study into a result file, with checkpoints beside the file. Throws Error(input) when an interrupted run of
  /// this file exists.
  Summary run(const Problem& problem, const std::filesystem::path& result);
  /// Continues an interrupted run into that file from the last checkpoint. The result has the same bits as without the
  /// interruption. Throws Error(input) when there is no such run, when the run is finished, or when the checkpoint is
  /// damaged.
  Summary resume(const std::filesystem::path& result);
  /// Runs the trajectories of a part into a file, or goes on with an interrupted run of the part into that file. The file
  /// has what Runner says of parts. `stop` and `progress` replace those of the session. Throws Error(input) as `resume` does.
  Summary run_part(const Problem& problem, const Range& part, const std::filesystem::path& file, std::stop_token stop,
                   std::function<void(const Progress&)> progress);
  /// Loads the kernels of the problem, and compiles missing ones.
  void prepare(const Problem& problem);
  /// Loads the kernels of many problems. Missing ones are compiled side by side.
  void prepare(std::span<const Problem> problems);
  /// Returns floating-point operations per second of the problem's backend in a loop of fused multiply-adds.
  double measure_peak_flops(const Problem& problem);
  /// Returns bytes per second, read plus written, of a copy within the backend's memory.
  double measure_copy_rate(const Problem& problem);
  /// Returns the kernels of the problem's method on a GPU backend; empty for other backends.
  DeviceKernels kernels(const Problem& problem);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Checks all initial states (constraint, multiplier, finite values) without a run. `run` does the same check first.
void check_initial_states(const Problem& problem, unsigned threads = 0);

/// Returns the bytes that a backend needs per trajectory: state, bookkeeping, swept parameters, references of the
/// observables.
std::uint64_t state_bytes(const Problem& problem);

/// Returns the bytes of a result in memory. Returns 2^64 - 1 for larger numbers.
std::uint64_t memory_bytes_of_result(const Problem& problem);

/// Returns the bytes of the result file and of the files that a run needs besides. The number is accurate enough for a
/// comparison with the free disk space. Returns 2^64 - 1 for larger numbers.
std::uint64_t result_bytes(const Problem& problem);
/// What shall be written: so many results, each as one file or as parts that stay files of their own.
struct SpaceNeeds {
  std::uint64_t results = 1;
  bool in_one_file = true;
};
/// Throws Error(input) when the results of the study do not fit on the disk of `output`, or a result is larger than a file of this
/// process may become (RLIMIT_FSIZE).
void check_space(const Problem& problem, const std::filesystem::path& output, SpaceNeeds needs = {});

}  // namespace rattleback
