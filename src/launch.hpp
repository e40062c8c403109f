#pragma once
// The command line, as a program of its own or as a part of the extension for Python.

#include <functional>
#include <string>
#include <vector>

namespace rattleback::program {

/// What is known only to who starts the command line. A program of its own finds all of it near its file; in the extension for Python
/// that file is the interpreter.
struct Launch {
  std::vector<std::string> program;  ///< words that start the command line again; empty: the file of this program
  std::vector<std::string>
      plot_tool;  ///< words that start the plotting tool; empty: the one that is installed with the program
  /// Returns the text of a completion script or of the manual page ("rattleback.1") for a command line that JSON describes. Where it is
  /// empty, a file that is installed with the program has the text.
  std::function<std::string(const std::string& name, const std::string& json)> shell_file;
};

/// Runs one command and returns the exit code.
int run_command_line(int argc, char** argv, Launch started = {});

/// Returns how the command line was started.
[[nodiscard]] const Launch& launch();

}  // namespace rattleback::program
