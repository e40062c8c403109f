#pragma once
// Reads files of initial states with one row per trajectory.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "rattleback/ensemble/initial_data.hpp"
#include "rattleback/study/study.hpp"

namespace rattleback {

/// The values that a file, or a table in memory, gives for each trajectory.
struct PointFile {
  /// A component of the state, row-major. The width is 0 when the file does not have the component.
  struct Block {
    std::uint64_t width = 0;
    std::vector<double> values;
    const double* borrowed = nullptr;  ///< all rows of a table in memory, in place of `values`
  };

  std::uint64_t total = 0;  ///< rows of the file
  Range range{1, 1};        ///< rows that follow row 0 here, which stands for the others where they do not differ

  /// Returns the place of row k of the file among the rows here.
  [[nodiscard]] std::uint64_t place_of(std::uint64_t k) const { return k == 0 ? 0 : k - range.first + 1; }
  /// Returns the number of rows here.
  [[nodiscard]] std::uint64_t rows() const { return 1 + range.count(); }
  /// Returns the row of the file at a place.
  [[nodiscard]] std::uint64_t row_at(std::uint64_t place) const { return place == 0 ? 0 : range.first + place - 1; }
  /// Returns the numbers of a block at a place.
  [[nodiscard]] const double* at(const Block& block, std::uint64_t place) const {
    return block.borrowed != nullptr ? block.borrowed + row_at(place) * block.width
                                     : block.values.data() + place * block.width;
  }
  /// Returns the number of a named column at a place.
  [[nodiscard]] double column(std::size_t i, std::uint64_t place) const {
    return borrowed_columns.empty() ? columns[i][place] : borrowed_columns[i][row_at(place)];
  }
  Block q, v, p, lambda;
  std::vector<std::string> names;               ///< all other columns; expressions use such columns like axes
  std::vector<std::vector<double>> columns;     ///< values of the named columns, one vector per name
  std::vector<const double*> borrowed_columns;  ///< the same of a table in memory
};

/// Returns whether a file name ends in .h5 or .hdf5.
[[nodiscard]] bool is_hdf5_name(const std::filesystem::path& file);

/// Returns the rows of a table in memory, without a copy. Throws Error(input) when a number is not finite.
[[nodiscard]] PointFile points_of(const StateTable& table, const Range& rows);

/// Reads a file. CSV (.csv) has '#' comments, a header line, and numbers separated by commas. Columns q[0], q[1], ...
/// (or q0, q1, ...), v[i], p[i], lambda[i] are the state; all other columns are named columns. In HDF5 (.h5, .hdf5),
/// datasets q, v, p, lambda of shape [N, .] are the state, and other datasets of shape [N] are named columns. The
/// datasets are in `group`. If `group` is empty, the datasets are in / when / has q, else in /initial when /initial
/// exists, else in /. Of the rows only row 0 and `rows` are read and checked. Throws Error(input); `where` is the place in the study that names the file.
[[nodiscard]] PointFile read_points(const std::filesystem::path& file, const std::string& group,
                                    const std::string& where, const Range& rows = {});

}  // namespace rattleback
