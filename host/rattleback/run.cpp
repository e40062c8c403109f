#include "rattleback/run.hpp"

#include <utility>

#include "rattleback/backend.hpp"
#include "rattleback/checkpoint.hpp"
#include "rattleback/message.hpp"
#include "rattleback/parallel.hpp"
#include "rattleback/plan.hpp"
#include "rattleback/points.hpp"
#include "rattleback/runner.hpp"
#include "rattleback/statistics.hpp"

namespace rattleback {
namespace {

Study validated(Study study) {
  study.validate();
  return study;
}

}  // namespace

struct Session::Impl {
  RunOptions options;
  std::unique_ptr<Backend> backend;
  Buffers buffers;

  /// The backend, for a validated study.
  Backend& backend_for(const Study& study) {
    if (!backend || !backend->treats(study)) backend = make_backend(options.backend, options.threads, study);
    return *backend;
  }

  Summary run(const Study& study, ResultSink& sink) {
    const Study complete = validated(study);
    return Runner(complete, sink, options, backend_for(complete), buffers)();
  }

  Summary run(const Study& study, const std::filesystem::path& result) {
    const Study complete = validated(study);
    Backend& chosen = backend_for(complete);
    const RunFiles files(result);
    if (files.interrupted())
      input_error(files.checkpoint.string(),
                  "holds an interrupted run into this result; 'rattleback resume " + result.string() +
                      "' goes on with it; delete this file, or choose another with -o, to run anew");
    FileSink sink(result);
    files.remove_scratch();
    try {
      return Runner(complete, sink, options, chosen, buffers, &files, &sink)();
    } catch (...) {
      if (!std::filesystem::exists(files.checkpoint)) {
        sink.discard();
        files.remove_scratch();
      }
      throw;
    }
  }

  Summary resume(const std::filesystem::path& result) {
    const RunFiles files(result);
    if (!std::filesystem::exists(files.checkpoint)) {
      if (!std::filesystem::exists(result)) input_error(result.string(), "has no checkpoint to go on from");
      const ResultFile finished(result);  // throws when it is damaged or not ours
      input_error(result.string(), "is finished; there is nothing to go on with");
    }
    const CheckpointReader checkpoint(files.checkpoint);
    const Study study = Study::parse(checkpoint.text("study"), files.checkpoint.string());
    if (!files.interrupted() && std::filesystem::exists(result)) {
      files.remove_scratch();  // the run ended between putting the result in place and removing the checkpoint
      input_error(result.string(), "is finished; there is nothing to go on with");
    }
    Backend& chosen = backend_for(study);
    FileSink sink(result, checkpoint.text("layout"));
    return Runner(study, sink, options, chosen, buffers, &files, &sink, &checkpoint)();
  }
};

Session::Session(RunOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Session::~Session() = default;
Session::Session(Session&&) noexcept = default;

Summary Session::run(const Study& study, ResultSink& sink) { return impl_->run(study, sink); }
Summary Session::run(const Study& study, const std::filesystem::path& result) { return impl_->run(study, result); }
Summary Session::resume(const std::filesystem::path& result) { return impl_->resume(result); }

double Session::measure_peak_flops(const Study& study) {
  const Study complete = validated(study);
  return impl_->backend_for(complete).measure_peak_flops(complete);
}

double Session::measure_copy_rate(const Study& study) {
  return impl_->backend_for(validated(study)).measure_copy_rate();
}

Result Session::run(const Study& study) {
  Result result;
  MemorySink sink(result);
  result.summary = impl_->run(study, sink);
  return result;
}

Summary run(const Study& study, ResultSink& sink, const RunOptions& options) {
  return Session(options).run(study, sink);
}

Result run(const Study& study, const RunOptions& options) { return Session(options).run(study); }

Summary run_on(Backend& backend, const Study& study, ResultSink& sink, const RunOptions& options) {
  Buffers buffers;
  return Runner(study, sink, options, backend, buffers)();
}

std::uint64_t state_bytes(const Study& study) {
  const Study complete = validated(study);
  return static_cast<std::uint64_t>(make_plan(complete, Ensemble(complete)).arguments.layout.rows) * sizeof(double);
}

void check_initial_states(const Study& study, unsigned threads) {
  const Study complete = validated(study);
  check_points(complete, Ensemble(complete), worker_count(threads));
}

std::uint64_t result_bytes(const Study& study) {
  const Study complete = validated(study);
  const Ensemble ensemble(complete);
  const SystemEntry& system = complete.system_entry();
  const std::uint64_t state = static_cast<std::uint64_t>(system.elements + 2 * system.n + system.m);
  const std::uint64_t samples = *complete.time.samples + 1;
  std::uint64_t numbers = ensemble.size() * (4 + ensemble.axis_names().size());
  if (complete.output.initial_state) numbers += ensemble.size() * state;
  if (complete.output.final_state) numbers += ensemble.size() * state;
  numbers +=
      samples * state * (complete.output.all_trajectories ? ensemble.size() : complete.output.trajectories.size());
  for (const Observable& observable : complete.observables)
    numbers += samples * (1 + observable.statistics.size() + observable.quantiles.size() +
                          observable.correlation.size() + (observable.histogram ? observable.histogram->bins + 2 : 0));
  std::uint64_t kept = 0;  // for quantiles, until the end
  for (const Observable& observable : complete.observables) kept += observable.quantiles.empty() ? 0 : samples;
  kept = ValueStore::file_bytes(kept, ensemble.size());
  return numbers * sizeof(double) + kept;
}

}  // namespace rattleback
