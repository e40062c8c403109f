#include "rattleback/run/run.hpp"

#include <utility>

#include "rattleback/backend/backend.hpp"
#include "rattleback/base/message.hpp"
#include "rattleback/base/parallel.hpp"
#include "rattleback/problem/plan.hpp"
#include "rattleback/problem/points.hpp"
#include "rattleback/result/checkpoint.hpp"
#include "rattleback/run/mark.hpp"
#include "rattleback/run/runner.hpp"

namespace rattleback {
namespace {

Study validated(Study study) {
  study.validate();
  return study;
}

/// The files that a study is made from.
std::vector<std::filesystem::path> inputs_of(const Study& study) {
  std::vector<std::filesystem::path> inputs{study.file};
  if (!study.ensemble.file.empty()) inputs.push_back(study.directory / study.ensemble.file);
  return inputs;
}

}  // namespace

struct Session::Impl {
  RunOptions options;
  std::unique_ptr<Backend> backend;
  Buffers buffers;

  /// The backend, for a validated study.
  Backend& backend_for(const Study& study) {
    if (!backend || !backend->treats(study))
      backend = make_backend(options.backend, options.threads, study, options.warn);
    return *backend;
  }

  Summary run(const Study& study, ResultSink& sink) {
    const Study complete = validated(study);
    Backend& chosen = backend_for(complete);
    require_threads(chosen.threads());
    return Runner(complete, sink, options, chosen, buffers)();
  }

  Summary run(const Study& study, const std::filesystem::path& result) {
    const Study complete = validated(study);
    Backend& chosen = backend_for(complete);
    const RunFiles files(check_output(result, inputs_of(complete)));
    if (files.interrupted())
      input_error(files.checkpoint.string(),
                  "holds an interrupted run into this result; 'rattleback resume " + result.string() +
                      "' goes on with it; delete this file, or choose another with -o, to run anew");
    require_threads(chosen.threads());
    FileSink sink(files.result, new_run());
    files.remove_scratch();
    try {
      return Runner(complete, sink, options, chosen, buffers, &files, &sink)();
    } catch (...) {
      std::error_code code;
      if (!std::filesystem::exists(files.checkpoint, code)) {
        if (!sink.complete()) sink.discard();
        files.remove_scratch();
      }
      throw;
    }
  }

  Summary resume(const std::filesystem::path& result) {
    const RunFiles files(followed(result));
    std::error_code code;
    if (!std::filesystem::exists(files.checkpoint, code)) {
      if (!std::filesystem::exists(result, code)) input_error(result.string(), "has no checkpoint to go on from");
      const ResultFile finished(result);  // throws when it is damaged or not ours
      input_error(result.string(), "is finished; there is nothing to go on with");
    }
    const CheckpointReader checkpoint(files.checkpoint);
    if (!files.interrupted() && run_of(files.result) == checkpoint.run()) {
      files.remove_scratch();  // the run ended between putting the result in place and removing the checkpoint
      input_error(result.string(), "is finished; there is nothing to go on with");
    }
    const Study study = Study::parse(checkpoint.text("study"), files.checkpoint.string());
    Backend& chosen = backend_for(study);
    require_threads(chosen.threads());
    Leftover part = check_leftovers(files, checkpoint);
    if (part.file == files.part && !part.whole) {
      std::filesystem::rename(files.part, files.damaged);
      part.file = files.damaged;
    }
    FileSink sink(files.result, checkpoint.run(), checkpoint.part(), part.file);
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

DeviceKernels Session::kernels(const Study& study) {
  const Study complete = validated(study);
  return impl_->backend_for(complete).kernels(complete);
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

}  // namespace rattleback
