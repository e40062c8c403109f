#pragma once
// The page of `rattleback report`.

#include <filesystem>
#include <string>
#include <vector>

namespace rattleback::program {

struct ReportOptions {
  std::size_t figures = 8;  ///< most figures per result
  std::size_t rows = 9;     ///< most sample times in a table
};

/// Returns the page about some results, without its first two lines. Draws its figures with the plotting tool. Throws
/// Error(input) for a file that is no result.
[[nodiscard]] std::string report_page(const std::vector<std::string>& results, const ReportOptions& options);

}  // namespace rattleback::program
