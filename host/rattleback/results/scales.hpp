#pragma once
// Dimension scales of HDF5 tell which dimensions of datasets are the same. Programs that read netCDF-4 need them.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rattleback/base/hdf5.hpp"

namespace rattleback {

/// Returns whether a dataset of an observable has a value, or a derivative, of each trajectory at all samples.
[[nodiscard]] bool is_values(std::string_view name);

/// A dataset of a result.
struct ScaledDataset {
  std::string path;
  hid_t id;
  std::vector<std::uint64_t> shape;
};

/// Returns the path of the scale of each dimension of a dataset with `rank` dimensions: "/time", "/trajectory". The scale
/// is in the group of the dataset or in a group around it, as netCDF-4 asks. Empty for a dataset that no result has.
[[nodiscard]] std::vector<std::string> scales_of(std::string_view path, std::size_t rank);

/// The name of the scale of a dimension without numbers begins so, and its size follows in ten digits, as netCDF-4 writes it.
/// Readers compare all of it: with another text they would take the dimension for a variable that is full of zeros.
inline constexpr std::string_view dimension_without_variable = "This is a netCDF dimension but not a netCDF variable.";

/// Returns whether an attribute belongs to a scale.
[[nodiscard]] bool is_of_scale(std::string_view attribute);

/// The attribute of /groups/axes/NAME that tells to which dimension of the datasets of groups the axis belongs, from 0.
inline constexpr const char* group_dimension = "group_dimension";

/// Makes the scales of a result and attaches them. /time and /trajectories/index are scales themselves. The other ones are
/// datasets without numbers, in the form of netCDF-4. Returns false when HDF5 reports a failure.
[[nodiscard]] bool attach_scales(hid_t file, const std::vector<ScaledDataset>& datasets);

}  // namespace rattleback
