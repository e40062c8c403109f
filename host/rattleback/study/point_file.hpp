#pragma once
// Reads files of initial states with one row per trajectory.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "rattleback/study/initial_data.hpp"
#include "rattleback/study/state_names.hpp"
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
  [[nodiscard]] Block& block(StatePart part) {
    Block* const blocks[] = {&q, &v, &p, &lambda};
    return *blocks[static_cast<std::size_t>(part)];
  }
  std::vector<std::string> names;               ///< all other columns; expressions use such columns like axes
  std::vector<std::vector<double>> columns;     ///< values of the named columns, one vector per name
  std::vector<const double*> borrowed_columns;  ///< the same of a table in memory
};

/// Returns whether a file name ends in .h5, .hdf5 or .nc.
[[nodiscard]] bool is_hdf5_name(const std::filesystem::path& file);

/// Returns the rows of a table in memory, without a copy. Throws Error(input) when a number is not finite.
[[nodiscard]] PointFile points_of(const StateTable& table, const StateNames& names, const Range& rows);

/// Where initial states are, and which rows are wanted.
struct PointSource {
  std::filesystem::path file;
  std::string group;  ///< of an HDF5 file; empty: / when / has a state, else /initial when there is one, else /
  std::string where;  ///< the place in the study that names the file
  Range rows = {};
};

/// Reads a file. Text (.csv, .tsv, .txt, .dat) has a line that names the columns, then rows of numbers (text_points.hpp). HDF5
/// has datasets q, v, p, lambda of shape [N, .], or a dataset of shape [N] for each number (hdf5_points.hpp). Names say
/// which columns are the state (state_names.hpp); all others are named columns. Of the rows only row 0 and the wanted ones are
/// read and checked. Throws Error(input).
[[nodiscard]] PointFile read_points(const PointSource& source, const StateNames& names);

/// Returns those of the rows that a file of `total` rows has besides row 0.
[[nodiscard]] Range rows_of(const Range& rows, std::uint64_t total);

/// Returns the machine's memory in bytes.
[[nodiscard]] double memory_bytes();

}  // namespace rattleback
