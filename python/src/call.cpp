// Calls into the library that can be interrupted.

#include <algorithm>
#include <iterator>
#include <map>
#include <thread>

#include <pthread.h>

#include "core.hpp"
#include "rattleback/base/error.hpp"
#include "rattleback/kernels/kernels.hpp"

namespace rattleback::python {
namespace {

/// Number of calls that an exception of the interpreter is stopping. Kernels are not compiled meanwhile.
std::atomic<int> stopping{0};

constexpr auto interval = std::chrono::milliseconds(50);

/// The threads that do not hold the lock of the interpreter, and what stops their calls.
struct Outside {
  std::mutex mutex;
  std::condition_variable fewer;
  std::multimap<const void*, std::stop_source> calls;  ///< by call
  std::size_t threads = 0;
  bool ending = false;
};
Outside outside;

/// Faults of the cache of kernels and of packs. The call that shows warnings next shows them.
struct OfKernels {
  std::mutex mutex;
  std::vector<std::string> warnings;
};
OfKernels of_kernels;

/// Stops all calls and waits until their threads hold the lock of the interpreter again, each for a while.
void end_calls() {
  std::vector<std::stop_source> calls;
  {
    const std::lock_guard lock(outside.mutex);
    outside.ending = true;
    for (const auto& [call, stop] : outside.calls) calls.push_back(stop);
  }
  ++stopping;
  for (std::stop_source& call : calls) call.request_stop();
  for (bool ended = false; !ended;) {
    {
      const nb::gil_scoped_release release;
      std::unique_lock lock(outside.mutex);
      ended = outside.fewer.wait_for(lock, interval, [] { return outside.threads == 0; });
    }
    if (!ended && PyErr_CheckSignals() != 0) nb::raise_python_error();
  }
}

}  // namespace

void prepare_calls() {
  Kernels::instance().set_stop([] { return stopping.load() > 0; });
  Kernels::instance().set_report({}, [](const std::string& text) {
    const std::lock_guard lock(of_kernels.mutex);
    of_kernels.warnings.push_back(text);
  });
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(&end_calls));
  // A child has the thread that forked, and no other whose end it could wait for.
  pthread_atfork([] { outside.mutex.lock(); }, [] { outside.mutex.unlock(); },
                 [] {
                   outside.threads = 0;
                   outside.calls.clear();
                   outside.mutex.unlock();
                 });
}

Released::Released() {
  {
    const std::lock_guard lock(outside.mutex);
    if (outside.ending) throw Error(Error::Kind::runtime, "the interpreter is about to end");
    ++outside.threads;
  }
  state_ = PyEval_SaveThread();
}

Released::~Released() {
  PyEval_RestoreThread(state_);
  const std::lock_guard lock(outside.mutex);
  if (outside.threads > 0) --outside.threads;  // 0 in a child of a fork
  outside.fewer.notify_all();
}

RunOptions Call::options() {
  RunOptions options;
  options.stop = token();
  options.progress = [this](const Progress& progress) { note(progress); };
  options.warn = [this](const std::string& text) { warn(text); };
  return options;
}

bool Call::keeps() const {
  const std::lock_guard lock(outside.mutex);
  return keeps_ && !outside.ending;
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
  if (warn_) {
    const std::lock_guard lock(of_kernels.mutex);
    std::ranges::move(of_kernels.warnings, std::back_inserter(warnings));
    of_kernels.warnings.clear();
  }
  if (warn_)
    for (const std::string& text : warnings) warn_(in_python(text));
  if (show_ && progress)
    show_(static_cast<double>(progress->trajectory_steps), static_cast<double>(progress->total), progress->seconds);
}

void Call::wait(const std::function<void()>& work) {
  std::exception_ptr fault, interruption;
  const struct Listed {
    const Call* call;
    explicit Listed(Call& listed) : call(&listed) {
      const std::lock_guard lock(outside.mutex);
      outside.calls.emplace(call, listed.stop_);
    }
    ~Listed() {
      const std::lock_guard lock(outside.mutex);
      outside.calls.erase(call);
    }
  } listed(*this);
  const auto interrupt = [&](bool keeps) {
    interruption = std::current_exception();
    keeps_ = keeps;
    ++stopping;
    stop_.request_stop();
  };
  {
    const Released released;
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
      } catch (nb::python_error& error) {
        interrupt(error.matches(PyExc_KeyboardInterrupt));
      } catch (...) {
        interrupt(false);
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
      PyErr_SetString(PyExc_KeyboardInterrupt, in_python(why).c_str());
    }
    nb::raise_python_error();
  }
  tell();
  if (fault) std::rethrow_exception(fault);
}

}  // namespace rattleback::python
