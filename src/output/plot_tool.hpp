#pragma once
// Runs the plotting tool (Python, matplotlib), which is installed with the program.

#include <string>
#include <vector>

namespace rattleback::program {

/// Runs the plotting tool with these arguments and returns the exit code. Throws Error(runtime) when the tool cannot
/// start or is killed. Throws Error(input) when the tool crashes, because HDF5 crashes on damaged files.
/// With `quiet` nothing is printed on stdout.
int run_plot_tool(const std::vector<std::string>& arguments, bool quiet = false);

}  // namespace rattleback::program
