// Calls into the library that can be interrupted.

#include "core.hpp"
#include "rattleback/compile/kernels.hpp"

namespace rattleback::python {
namespace {

/// Number of calls that an exception of the interpreter is stopping. Kernels are not compiled meanwhile.
std::atomic<int> stopping{0};

constexpr auto interval = std::chrono::milliseconds(50);

}  // namespace

void stop_compiling_on_interrupt() {
  Kernels::instance().set_stop([] { return stopping.load() > 0; });
}

RunOptions Call::options() {
  RunOptions options;
  options.stop = token();
  options.progress = [this](const Progress& progress) { note(progress); };
  options.warn = [this](const std::string& text) { warn(text); };
  return options;
}

void Call::note(const Progress& progress) {
  const std::lock_guard lock(mutex_);
  progress_ = progress;
}

void Call::warn(const std::string& text) {
  const std::lock_guard lock(mutex_);
  warnings_.push_back(text);
}

/// Passes progress and warnings on to the interpreter, whose lock the caller holds.
void Call::tell() {
  std::optional<Progress> progress;
  std::vector<std::string> warnings;
  {
    const std::lock_guard lock(mutex_);
    progress.swap(progress_);
    warnings.swap(warnings_);
  }
  if (warn_)
    for (const std::string& text : warnings) warn_(text);
  if (show_ && progress)
    show_(static_cast<double>(progress->trajectory_steps), static_cast<double>(progress->total), progress->seconds);
}

void Call::wait(const std::function<void()>& work) {
  std::exception_ptr fault, interruption;
  std::thread worker([&] {
    try {
      work();
    } catch (...) {
      fault = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    done_ = true;
    ended_.notify_all();
  });
  {
    const nb::gil_scoped_release release;
    for (bool done = false; !done;) {
      {
        std::unique_lock lock(mutex_);
        done = ended_.wait_for(lock, interval, [this] { return done_; });
      }
      if (done || interruption) continue;
      const nb::gil_scoped_acquire acquire;
      try {
        if (PyErr_CheckSignals() != 0) nb::raise_python_error();
        tell();
      } catch (...) {
        interruption = std::current_exception();
        ++stopping;
        stop_.request_stop();
      }
    }
    worker.join();
  }
  if (interruption) {
    --stopping;
    std::string why;
    try {
      if (fault) std::rethrow_exception(fault);
    } catch (const std::exception& error) {
      why = error.what();
    }
    try {
      std::rethrow_exception(interruption);
    } catch (nb::python_error& error) {
      if (why.empty() || !error.matches(PyExc_KeyboardInterrupt)) throw;
      PyErr_SetString(PyExc_KeyboardInterrupt, why.c_str());
    }
    nb::raise_python_error();
  }
  tell();
  if (fault) std::rethrow_exception(fault);
}

}  // namespace rattleback::python
