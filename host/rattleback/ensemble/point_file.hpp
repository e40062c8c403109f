#pragma once
// Files of initial states: one row per trajectory.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace rattleback {

/// What a file gives for each trajectory.
struct PointFile {
  /// A component of the state, row-major; width 0 when the file does not have it.
  struct Block {
    std::uint64_t width = 0;
    std::vector<double> values;
  };

  std::uint64_t rows = 0;
  Block q, v, p, lambda;
  std::vector<std::string> names;            ///< all other columns, usable like axes
  std::vector<std::vector<double>> columns;  ///< their values, one vector per name
};

/// Whether the name of a file says HDF5 (.h5, .hdf5).
[[nodiscard]] bool is_hdf5_name(const std::filesystem::path& file);

/// CSV (.csv): '#' comments, a header line, numbers separated by commas. Columns q[0], q[1], ... (or q0, q1, ...),
/// v[i], p[i], lambda[i] are the state; the others are named columns. HDF5 (.h5, .hdf5): datasets q, v, p, lambda of
/// shape [N, .] are the state, other datasets of shape [N] are named columns. They are in `group`, or if that is empty
/// in / when q is there, else in /initial when it exists, else in /. Throws Error(input); `where` is the place that
/// names the file.
[[nodiscard]] PointFile read_points(const std::filesystem::path& file, const std::string& group,
                                    const std::string& where);

}  // namespace rattleback
