#pragma once
// The plotting tool (Python, matplotlib) that is installed with the program.

#include <string>
#include <vector>

namespace rattleback::program {

/// Runs the plotting tool with these arguments and returns its exit code. Throws Error(runtime) when it cannot be
/// started or is killed, Error(input) when it crashes, which HDF5 does on damaged files.
int run_plot_tool(const std::vector<std::string>& arguments);

}  // namespace rattleback::program
