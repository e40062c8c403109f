#pragma once
// What the sources of the extension share.

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "rattleback/engine/run.hpp"
#include "rattleback/results/result.hpp"
#include "rattleback/study/problem.hpp"

namespace rattleback::python {

namespace nb = nanobind;

using SharedProblem = std::shared_ptr<const Problem>;

/// A result in memory, or a file whose datasets are read when they are asked for.
class Stored {
 public:
  explicit Stored(Result result);
  explicit Stored(ResultFile file);

  /// Where a file was, and its size, when it was opened.
  struct Place {
    std::uint64_t device = 0, inode = 0, size = 0;
  };

  struct Entry {
    ResultSink::Type type;
    Shape shape;
  };
  [[nodiscard]] const std::map<std::string, Entry>& entries() const { return entries_; }
  /// Returns a dataset. The pointer keeps the numbers, also without this object.
  [[nodiscard]] static std::shared_ptr<const Dataset> dataset(const std::shared_ptr<Stored>& self,
                                                              const std::string& path);
  /// Reads a block of a dataset of a file. The numbers are not kept.
  [[nodiscard]] Dataset block(const std::string& path, const Shape& offset, const Shape& count) const;
  [[nodiscard]] std::map<std::string, Attribute> attributes(const std::string& path) const;
  [[nodiscard]] const Summary& summary() const { return summary_; }
  [[nodiscard]] std::optional<std::string> file_name() const;
  /// Calls `use` with the result as a file. A result in memory becomes a file in the folder of temporary files.
  void as_file(const std::function<void(const ResultFile&)>& use) const;
  void save(const std::filesystem::path& file) const;
  /// Computes the fingerprint of the datasets (base/fingerprint.hpp).
  [[nodiscard]] std::string fingerprint() const { return memory_ ? memory_->fingerprint() : file_->fingerprint(); }

 private:
  /// Throws Error(input) when the file was cut off after it was opened.
  void require_whole() const;

  std::optional<Result> memory_;
  std::optional<ResultFile> file_;
  Place place_;
  Summary summary_;
  std::map<std::string, Entry> entries_;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const Dataset>> read_;
};

/// While it exists, this thread does not hold the lock of the interpreter. The end of the interpreter stops all calls and waits for
/// their threads, also for daemons: a thread that asks for the lock later is ended by Python in the midst of C++ code, which
/// aborts the process. Throws Error(runtime) when the interpreter ends already.
class Released {
 public:
  Released();
  ~Released();
  Released(const Released&) = delete;
  Released& operator=(const Released&) = delete;

 private:
  PyThreadState* state_;
};

/// A call into the library that may take long. The call is in a thread of its own, without the lock of the interpreter. The
/// thread of the interpreter meanwhile shows the progress and looks for Ctrl-C, which stops the call.
class Call {
 public:
  using Show = std::function<void(double done, double total, double seconds)>;
  using Warn = std::function<void(const std::string&)>;

  explicit Call(Show show = {}, Warn warn = {}) : show_(std::move(show)), warn_(std::move(warn)) {}

  /// Returns what `work` returns. Throws the exception of the interpreter (KeyboardInterrupt, or what `show` raises), after
  /// the call has stopped.
  template <class Work>
  auto operator()(Work work) {
    using Value = decltype(work());
    if constexpr (std::is_void_v<Value>) {
      wait([&] { work(); });
    } else {
      std::optional<Value> value;
      wait([&] { value.emplace(work()); });
      return std::move(*value);
    }
  }

  /// Options whose stop, progress and warnings are those of this call.
  [[nodiscard]] RunOptions options();
  [[nodiscard]] std::stop_token token() const { return stop_.get_token(); }
  /// Returns whether what is done is kept when the call stops: after Ctrl-C, and neither after other exceptions nor at the end
  /// of the interpreter, where nobody learns of it.
  [[nodiscard]] bool keeps() const;
  void note(const Progress& progress);
  void warn(const std::string& text);

 private:
  void wait(const std::function<void()>& work);
  void tell();

  Show show_;
  Warn warn_;
  std::stop_source stop_;
  std::atomic<bool> keeps_{true};
  std::mutex mutex_;
  std::condition_variable ended_;
  bool done_ = false;
  std::optional<Progress> progress_;
  std::vector<std::string> warnings_;
};

/// Makes an interrupted call end the compilation of kernels, and the end of the interpreter stop all calls.
void prepare_calls();

/// Returns a NumPy array over numbers that `owner` keeps.
nb::object array_of(const std::shared_ptr<const Dataset>& dataset, bool writable);

/// A dictionary with texts as keys.
using Table = nb::typed<nb::dict, nb::str, nb::any>;

nb::object to_python(const Attribute& value);
/// Returns the table that a JSON text describes.
Table from_json(const std::string& text);

/// Returns a message of the library in the terms of Python: functions and arguments in place of commands and options.
std::string in_python(std::string text);

void bind_study(nb::module_& module);
void bind_result(nb::module_& module);
void bind_run(nb::module_& module);
void bind_measure(nb::module_& module);
void bind_parts(nb::module_& module);
void bind_command_line(nb::module_& module);

}  // namespace rattleback::python
