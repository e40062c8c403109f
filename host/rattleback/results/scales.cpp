#include "rattleback/results/scales.hpp"

#include <fmt/format.h>
#include <hdf5_hl.h>

#include <algorithm>
#include <map>

namespace rattleback {
namespace {

using hdf5::Handle;

std::vector<std::string> parts_of(std::string_view path) {
  std::vector<std::string> parts;
  for (std::size_t begin = 1; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    parts.emplace_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

bool is_state(std::string_view name) { return name == "q" || name == "v" || name == "p" || name == "lambda"; }

std::vector<std::string> of_observable(const std::string& group, std::string_view name) {
  if (is_values(name)) return {"/time", "/trajectory"};
  if (name == "histogram") return {"/time", group + "/bin"};
  if (name == "histogram_outside") return {"/time", group + "/side"};
  if (name == "histogram_edges") return {group + "/edge"};
  return {"/time"};
}

std::vector<std::string> of_average(const std::string& group, std::string_view name) {
  if (name == "value" || name == "digits") return {"/trajectory"};
  if (name == "histogram") return {group + "/bin"};
  if (name == "histogram_outside") return {group + "/side"};
  return {group + (name == "histogram_edges" ? "/edge" : "/end")};
}

std::vector<std::string> of_groups(const std::vector<std::string>& parts, std::size_t rank) {
  const bool statistic = parts.size() == 4 && parts[1] == "observables", fit = parts.size() == 4 && parts[1] == "fits";
  if (!statistic && !fit) return {};
  std::vector<std::string> names;
  for (std::size_t i = 0; i + (statistic ? 1 : 0) < rank; ++i) names.push_back(fmt::format("/groups/group_{}", i));
  if (statistic) names.emplace_back("/time");
  return names;
}

/// Returns the scales of a dataset whose path has these parts.
std::vector<std::string> of_parts(const std::vector<std::string>& parts, std::size_t rank) {
  const std::string &group = parts.front(), &name = parts.back();
  if (parts.size() == 1) return name == "time" ? std::vector<std::string>{"/time"} : std::vector<std::string>{};
  if (group == "groups") return of_groups(parts, rank);
  std::vector<std::string> names;
  if (parts.size() == 3 && group == "observables") return of_observable("/observables/" + parts[1], name);
  if (parts.size() == 3 && group == "fits") return {"/fits/fit"};
  if (parts.size() == 3 && group == "averages") return of_average("/averages/" + parts[1], name);
  if (group == "stops")
    return {parts.size() == 3 && name.starts_with("time_") ? "/stops/" + parts[1] + "/end" : "/time"};
  if (group == "fates") return {"/fates/fate"};
  if (parts.size() == 3 && group == "maps") {
    const std::string of = "/maps/" + parts[1] + "/";
    if (name == "labels") return {of + "row", of + "column"};
    if (name == "boundary" || name == "uncertain") return {of + "size", of + "entry"};
    return {of + (name == "row" || name == "column" ? name : "end")};
  }
  const bool of_crossings = parts.size() == 3 || (parts.size() == 5 && parts[2] == "derivatives");
  if (of_crossings && group == "sections") names = {"/sections/" + parts[1] + "/crossing"};
  if (parts.size() == 2 && group == "state") {
    names = {"/time", "/state/component"};
    if (name.starts_with("covariance")) names.emplace_back("/state/other_component");
    return names;
  }
  if (parts.size() == 2 && (group == "axes" || group == "initial" || group == "final")) names = {"/trajectory"};
  if (parts.size() == 2 && group == "final" && name == "lyapunov_spectrum") names.emplace_back("/exponent");
  if (parts.size() == 2 && group == "trajectories") {
    if (name == "index") return {"/trajectories/index"};
    names = {"/time", "/trajectories/index"};
  }
  if (parts.size() == 3 && group == "derivatives") names = {"/trajectory"};
  if (!names.empty() && group != "axes" && is_state(name)) names.push_back("/" + name + "_component");
  return names;
}

/// Makes a dimension without numbers.
Handle make_dimension(hid_t file, const std::string& path, hsize_t size) {
  const Handle space(H5Screate_simple(1, &size, nullptr), H5Sclose), links(H5Pcreate(H5P_LINK_CREATE), H5Pclose),
      properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_create_intermediate_group(links.get(), 1);
  H5Pset_obj_track_times(properties.get(), false);
  // netCDF-4 knows a dimension without a variable by this type and this name.
  Handle dataset(
      H5Dcreate2(file, path.c_str(), H5T_IEEE_F32BE, space.get(), links.get(), properties.get(), H5P_DEFAULT),
      H5Dclose);
  const std::string name = fmt::format("{}{:10}", dimension_without_variable, size);
  if (dataset && H5DSset_scale(dataset.get(), name.c_str()) < 0) dataset.reset();
  return dataset;
}

/// Returns the number in the attribute group_dimension of a dataset; empty without this attribute.
std::optional<std::uint64_t> number_of_group(hid_t dataset) {
  if (H5Aexists(dataset, group_dimension) <= 0) return std::nullopt;
  const Handle attribute(H5Aopen(dataset, group_dimension, H5P_DEFAULT), H5Aclose);
  std::uint64_t number = 0;
  return H5Aread(attribute.get(), H5T_NATIVE_UINT64, &number) < 0 ? std::nullopt : std::optional(number);
}

}  // namespace

bool is_values(std::string_view name) { return name == "values" || name.starts_with("values_by_"); }

std::vector<std::string> scales_of(std::string_view path, std::size_t rank) {
  std::vector<std::string> names = of_parts(parts_of(path), rank);
  if (names.size() != rank) names.clear();
  return names;
}

bool is_of_scale(std::string_view attribute) {
  return attribute == "CLASS" || attribute == "NAME" || attribute == "DIMENSION_LIST" || attribute == "REFERENCE_LIST";
}

bool attach_scales(hid_t file, const std::vector<ScaledDataset>& datasets) {
  std::map<std::string, hid_t> scales;
  std::map<std::string, Handle> made;
  for (const ScaledDataset& dataset : datasets) {
    const bool own = dataset.path == "/trajectories/index" ||
                     scales_of(dataset.path, dataset.shape.size()) == std::vector<std::string>{dataset.path};
    if (!own) continue;
    const std::string name = parts_of(dataset.path).back();
    if (H5DSis_scale(dataset.id) <= 0 && H5DSset_scale(dataset.id, name.c_str()) < 0) return false;
    scales[dataset.path] = dataset.id;
  }
  for (const ScaledDataset& dataset : datasets) {
    std::vector<std::string> names = scales_of(dataset.path, dataset.shape.size());
    if (const auto group = number_of_group(dataset.id); group && dataset.path.starts_with("/groups/axes/"))
      names = {fmt::format("/groups/group_{}", *group)};
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] == dataset.path) continue;
      hid_t& scale = scales.emplace(names[i], H5I_INVALID_HID).first->second;
      if (scale < 0) {
        const Handle& dimension = made[names[i]] = make_dimension(file, names[i], dataset.shape[i]);
        if (!dimension) return false;
        scale = dimension.get();
      }
      if (H5DSattach_scale(dataset.id, scale, static_cast<unsigned>(i)) < 0) return false;
    }
  }
  return true;
}

}  // namespace rattleback
