#include "rattleback/engine/run.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <sys/resource.h>

#include "rattleback/base/mark.hpp"
#include "rattleback/base/message.hpp"
#include "rattleback/base/parallel.hpp"
#include "rattleback/engine/backend.hpp"
#include "rattleback/engine/plan.hpp"
#include "rattleback/engine/runner.hpp"
#include "rattleback/engine/verify.hpp"
#include "rattleback/kernels/kernels.hpp"
#include "rattleback/results/checkpoint.hpp"
#include "rattleback/study/points.hpp"

namespace rattleback {
namespace {

/// Returns the bytes of memory that this process can still get.
double free_memory() {
  double bytes = 0.0;
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);)
    for (const std::string_view name : {"MemAvailable:", "SwapFree:"})
      if (line.starts_with(name)) bytes += 1024.0 * std::strtod(line.c_str() + name.size(), nullptr);
  if (bytes == 0.0) bytes = std::numeric_limits<double>::infinity();
  double limit = 0.0;
  if (std::ifstream("/sys/fs/cgroup/memory.max") >> limit) bytes = std::min(bytes, limit);  // "max" is no number
  rlimit addresses{};
  if (getrlimit(RLIMIT_AS, &addresses) == 0 && addresses.rlim_cur != RLIM_INFINITY)
    bytes = std::min(bytes, static_cast<double>(addresses.rlim_cur));
  return bytes;
}

/// Throws Error(input) when the result of the problem does not fit into the free memory. To find that out on the way can take
/// longer than anybody waits.
void require_memory(const Problem& problem) {
  const double needed = static_cast<double>(memory_bytes_of_result(problem)), free = free_memory();
  if (needed > free)
    input_error(
        "", fmt::format("the result needs {:.4g} MiB of memory and {:.4g} MiB are free; run into a file, keep fewer "
                        "trajectories, or set [output] initial_state and final_state to false",
                        needed / 0x1p20, free / 0x1p20));
}

FileKind kind_of_run(const std::optional<Range>& part) { return part ? FileKind::part : FileKind::result; }

}  // namespace

struct Session::Impl {
  RunOptions options;
  std::unique_ptr<Backend> backend;
  Buffers buffers;

  Backend& made_backend() {
    if (!backend) backend = make_backend(options.backend, options.threads, options.warn);
    return *backend;
  }

  /// A run prepares and writes while it computes: each of the three has its threads, and the first two one more that waits for them.
  void require_threads_of_run(const Backend& chosen) const {
    require_threads(chosen.threads() + 2 * worker_count(options.threads) + 2);
  }

  Backend& backend_for(const Problem& problem) {
    prepare_on(made_backend(), problem);
    return *backend;
  }

  Summary run(const Problem& problem, ResultSink& sink) {
    Backend& chosen = backend_for(problem);
    require_threads_of_run(chosen);
    return Runner(problem, sink, options, chosen, buffers)();
  }

  Summary run(const Problem& problem, const std::filesystem::path& result) {
    Backend& chosen = backend_for(problem);
    const RunFiles files(check_output(result, problem.study.inputs()));
    if (files.interrupted())
      input_error(files.checkpoint.string(),
                  "holds an interrupted run into this result; 'rattleback resume " + result.string() +
                      "' continues it; to start again, delete this file, or choose another with -o");
    require_threads_of_run(chosen);
    return start(problem, files, options, chosen, {});
  }

  Summary resume(const std::filesystem::path& result) {
    const RunFiles files(followed(result));
    std::error_code code;
    if (!std::filesystem::exists(files.checkpoint, code)) {
      if (!std::filesystem::exists(result, code)) input_error(result.string(), "has no checkpoint to go on from");
      const ResultFile finished(result);  // throws when the file is damaged or not a result
      input_error(result.string(), "is finished; there is nothing to resume");
    }
    const CheckpointReader checkpoint(files.checkpoint);
    if (!files.interrupted() && run_of(files.result) == checkpoint.run()) {
      files.remove_scratch();  // the run ended after renaming the result, before removing the checkpoint
      input_error(result.string(), "is finished; there is nothing to resume");
    }
    return go_on(Problem::parse(checkpoint.text("study"), files.checkpoint.string()), files, checkpoint, options, {});
  }

  Summary go_on(const Problem& problem, const RunFiles& files, const CheckpointReader& checkpoint,
                const RunOptions& with, const std::optional<Range>& range) {
    Backend& chosen = backend_for(problem);
    require_threads_of_run(chosen);
    Leftover part = check_leftovers(files, checkpoint);
    if (part.file == files.part && !part.whole) {
      std::filesystem::rename(files.part, files.damaged);
      part.file = files.damaged;
    }
    FileSink sink(files.result, checkpoint.run(), checkpoint.part(), part.file, kind_of_run(range));
    try {
      return Runner(problem, sink, with, chosen, buffers, &files, &sink, &checkpoint, range)();
    } catch (const FaultyEnsemble&) {  // a short run was interrupted before it came to the faulty state
      sink.discard();
      files.remove_scratch();
      throw;
    }
  }

  Summary run_part(const Problem& problem, const Range& range, const std::filesystem::path& file,
                   const RunOptions& with) {
    const RunFiles files(file);
    if (files.interrupted()) {
      const CheckpointReader checkpoint(files.checkpoint);
      if (checkpoint.text("study") != problem.study.to_toml())
        input_error(files.checkpoint.string(), "belongs to another study");
      return go_on(problem, files, checkpoint, with, range);
    }
    Backend& chosen = backend_for(problem);
    require_threads_of_run(chosen);
    return start(problem, files, with, chosen, range);
  }

  Summary start(const Problem& problem, const RunFiles& files, const RunOptions& with, Backend& chosen,
                const std::optional<Range>& range) {
    FileSink sink(files.result, new_run(), kind_of_run(range));
    files.remove_scratch();
    try {
      return Runner(problem, sink, with, chosen, buffers, &files, &sink, nullptr, range)();
    } catch (...) {
      std::error_code code;
      if (!std::filesystem::exists(files.checkpoint, code)) {
        if (!sink.complete()) sink.discard();
        files.remove_scratch();
      }
      throw;
    }
  }
};

Session::Session(RunOptions options) : impl_(new Impl{std::move(options), nullptr, {}}) {}
Session::~Session() = default;
Session::Session(Session&&) noexcept = default;

Summary Session::run(const Problem& problem, ResultSink& sink) { return impl_->run(problem, sink); }
Summary Session::run(const Problem& problem, const std::filesystem::path& result) {
  return impl_->run(problem, result);
}
Summary Session::resume(const std::filesystem::path& result) { return impl_->resume(result); }

Summary Session::run_part(const Problem& problem, const Range& part, const std::filesystem::path& file,
                          std::stop_token stop, std::function<void(const Progress&)> progress) {
  RunOptions with = impl_->options;
  with.stop = std::move(stop);
  with.progress = std::move(progress);
  return impl_->run_part(problem, part, file, with);
}
void Session::prepare(const Problem& problem) { (void)impl_->backend_for(problem); }

void Session::prepare(std::span<const Problem> problems) {
  std::vector<Unit> sections;
  for (const Problem& problem : problems)
    if (problem.surfaces.count > 0)
      std::ranges::move(units_of_sections(problem, best_isa()), std::back_inserter(sections));
  impl_->made_backend().prepare(problems);
  Kernels::instance().load(sections);
}

double Session::measure_peak_flops(const Problem& problem) { return impl_->backend_for(problem).measure_peak_flops(); }

DeviceKernels Session::kernels(const Problem& problem) { return impl_->backend_for(problem).kernels(problem); }

double Session::measure_copy_rate(const Problem& problem) { return impl_->backend_for(problem).measure_copy_rate(); }

Result Session::run(const Problem& problem) {
  require_memory(problem);
  Result result;
  MemorySink sink(result);
  result.summary = impl_->run(problem, sink);
  result.summary.phases = summary_of(result).phases;  // the same as in a copy of the result
  return result;
}

Summary run(const Problem& problem, ResultSink& sink, const RunOptions& options) {
  return Session(options).run(problem, sink);
}

Result run(const Problem& problem, const RunOptions& options) { return Session(options).run(problem); }

void prepare_on(Backend& backend, const Problem& problem) {
  const auto start = std::chrono::steady_clock::now();
  backend.prepare({&problem, 1});
  if (backend.name() != "cpu" && !backend.starts(problem)) load_start_kernel(problem);
  if (problem.surfaces.count > 0) Kernels::instance().load(units_of_sections(problem, best_isa()));
  verify_own_system(backend, problem);
  backend.compile_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Summary run_on(Backend& backend, const Problem& problem, ResultSink& sink, const RunOptions& options) {
  Buffers buffers;
  return Runner(problem, sink, options, backend, buffers)();
}

std::uint64_t state_bytes(const Problem& problem) {
  return static_cast<std::uint64_t>(make_plan(problem, Ensemble(problem)).arguments.layout.rows) * sizeof(double);
}

void check_initial_states(const Problem& problem, unsigned threads) {
  check_points(problem, Ensemble(problem), worker_count(threads));
}

}  // namespace rattleback
