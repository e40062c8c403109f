#pragma once
// The subcommands. Each adds itself to the command line; its callback stores the exit code.

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace rattleback::program {

enum ExitCode { exit_done = 0, exit_runtime = 1, exit_input = 2, exit_failed_trajectories = 3 };

void add_run(CLI::App& app, int& exit_code);
void add_check(CLI::App& app, int& exit_code);
void add_list(CLI::App& app, int& exit_code);
void add_describe(CLI::App& app, int& exit_code);
void add_plot(CLI::App& app, int& exit_code);

/// A study file and its overrides, as every command that reads one takes them.
struct StudyArguments {
  std::string file;
  std::vector<std::string> overrides;
  void add_to(CLI::App& command);
};

}  // namespace rattleback::program
