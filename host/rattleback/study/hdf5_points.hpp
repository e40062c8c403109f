#pragma once
// Reads initial states from HDF5, and so from netCDF-4.

#include "rattleback/study/point_file.hpp"

namespace rattleback {

/// Datasets q, v, p, lambda of shape [N, .], and datasets of shape [N] that a number of the state names, are the state. Other
/// datasets of shape [N] are named columns. Dimensions of netCDF-4 and what else a result of this program has are left out, unless the study
/// uses them. Throws Error(input).
[[nodiscard]] PointFile read_hdf5_points(const PointSource& source, const StateNames& names);

}  // namespace rattleback
