#pragma once
// Common parts of long commands: interruption, progress, and the summary of a run.

#include <csignal>
#include <filesystem>
#include <map>
#include <stop_token>
#include <string>
#include <thread>

#include "commands/commands.hpp"
#include "rattleback/rattleback.hpp"

namespace rattleback::program {

/// Turns SIGINT, SIGTERM and SIGHUP into a stop request, which also ends the compilation of kernels. A second signal ends
/// the program at once. The object must be made before any other thread, so that all threads leave the signals to this
/// object.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  [[nodiscard]] std::stop_token token() const { return source_.get_token(); }

 private:
  sigset_t signals_{};
  std::stop_source source_;
  std::jthread waiter_;
};

/// Shows the progress on stderr: a bar on a terminal, otherwise a line every ten seconds.
class ProgressDisplay {
 public:
  ProgressDisplay();
  ~ProgressDisplay();
  void operator()(const Progress& progress);

 private:
  bool terminal_;
  bool drawn_ = false;
  double next_line_ = 10.0;
  std::uint64_t before_ = ~std::uint64_t{0};  ///< steps of an earlier part of the run
};

/// The options that `run` and `resume` share.
struct RunArguments {
  BackendArguments backend;
  std::uint64_t tile = 0;
  bool quiet = false, json = false;

  void add_to(CLI::App& command);
};

/// Returns the reasons of failures (failures_of), the most frequent first: " (251 not finite, 57 not converged)"; empty without any.
[[nodiscard]] std::string in_brackets(const std::map<std::string, std::uint64_t>& failures);

/// Says what failures mean (failures_of) and what to do about them, where a remedy is known.
void say_remedies(const std::map<std::string, std::uint64_t>& failures);

/// Prints the summary of a result that took `seconds`, and returns the exit code.
int report(const Summary& summary, const std::filesystem::path& result, double seconds, bool quiet, bool json);

/// Calls `work` with a session for these arguments, prints the summary of the result file, and returns the exit code.
int execute(const RunArguments& arguments, const Interrupt& interrupt, const std::filesystem::path& result,
            const std::function<Summary(Session&)>& work);

}  // namespace rattleback::program
