#pragma once
// The subcommands. Each adds itself to the command line; its callback stores the exit code.

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "rattleback/order.hpp"
#include "rattleback/run.hpp"

namespace rattleback::program {

enum ExitCode { exit_done = 0, exit_runtime = 1, exit_input = 2, exit_failed_trajectories = 3 };

void add_run(CLI::App& app, int& exit_code);
void add_check(CLI::App& app, int& exit_code);
void add_list(CLI::App& app, int& exit_code);
void add_describe(CLI::App& app, int& exit_code);
void add_order(CLI::App& app, int& exit_code);
void add_bench(CLI::App& app, int& exit_code);

/// A study file and its overrides, as every command that reads one takes them.
struct StudyArguments {
  std::string file;
  std::vector<std::string> overrides;
  void add_to(CLI::App& command);
};

/// Where to run, as every command that integrates takes it.
struct BackendArguments {
  std::string backend = "auto";
  unsigned threads = 0;
  void add_to(CLI::App& command);
  [[nodiscard]] RunOptions options() const;
};

/// What errors are taken against, as `order` and `bench --work-precision` take it.
struct ReferenceArguments {
  Reference reference;
  void add_to(CLI::App& command);
  [[nodiscard]] bool given() const {
    return reference.exact || !reference.result.empty() || reference.step || reference.stages;
  }
};

}  // namespace rattleback::program
