#pragma once
// What long commands share: interruption, progress, and the summary of a run.

#include <csignal>
#include <filesystem>
#include <stop_token>
#include <thread>

#include "commands/commands.hpp"
#include "rattleback/rattleback.hpp"

namespace rattleback::program {

/// Turns SIGINT, SIGTERM and SIGHUP into a stop request; a second one ends the program at once. Made before any other thread, so
/// that all of them leave the signals to it.
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

/// A bar on a terminal, a line every ten seconds otherwise; on stderr.
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

/// How a run is executed and reported; the options that `run` and `resume` share.
struct RunArguments {
  BackendArguments backend;
  std::uint64_t tile = 0;
  bool quiet = false, json = false;

  void add_to(CLI::App& command);
};

/// Calls `work` with a session under these arguments, prints the summary of the result file, and returns the exit code.
int execute(const RunArguments& arguments, const Interrupt& interrupt, const std::filesystem::path& result,
            const std::function<Summary(Session&)>& work);

}  // namespace rattleback::program
