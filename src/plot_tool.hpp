#pragma once
// The plotting tool (Python, matplotlib) that is installed with the program.

#include <string>
#include <vector>

namespace rattleback::program {

/// Runs the plotting tool with these arguments and returns its exit code. Throws Error(runtime) when it cannot be started.
int run_plot_tool(const std::vector<std::string>& arguments);

}  // namespace rattleback::program
