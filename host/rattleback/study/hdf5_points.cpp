#include "rattleback/study/hdf5_points.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hdf5_hl.h>

#include <algorithm>
#include <cmath>
#include <new>
#include <optional>
#include <string_view>

#include "rattleback/base/hdf5.hpp"
#include "rattleback/base/message.hpp"
#include "rattleback/base/probe.hpp"
#include "rattleback/results/scales.hpp"

namespace rattleback {
namespace {

using hdf5::Handle;

/// A dataset in the group of the initial states.
struct Found {
  std::string name;
  Handle id;
  std::vector<std::uint64_t> shape;
  /// Not there for the sake of the trajectories: a coordinate of netCDF-4, or what else a result has.
  bool incidental;
};

/// Returns whether a dataset is a dimension of netCDF-4 without numbers.
bool is_dimension_alone(const Handle& dataset) {
  char name[128] = "";
  if (H5DSis_scale(dataset.get()) <= 0 || H5DSget_scale_name(dataset.get(), name, sizeof name) < 0) return false;
  // This program left out the period at the end once.
  return std::string_view(name).starts_with(
      dimension_without_variable.substr(0, dimension_without_variable.size() - 1));
}

class Hdf5Reader {
 public:
  Hdf5Reader(const PointSource& source, const StateNames& names)
      : file_(source.file), where_(source.where), group_(source.group), wanted_(source.rows), names_(names) {}

  /// Reads the file in a child process first, because HDF5 may crash.
  PointFile operator()() {
    const auto use = hdf5::lock();
    hdf5::silence_errors();
    if (const std::string why = why_unreadable(file_); !why.empty()) fail(fmt::format("cannot be read ({})", why));
    if (!comes_back(file_, [this] { (void)read(); })) fail("cannot be read (damaged: HDF5 crashes over it)");
    return read();
  }

 private:
  void open() {
    handle_ = hdf5::open_for_reading(file_);
    if (!handle_) fail("cannot be read (not an HDF5 file)");
    if (const std::string link = hdf5::link_out(handle_); !link.empty())
      fail(fmt::format("cannot be read ({} is a link to another file, which is not followed)", quote(link)));
    if (group_.empty()) group_ = default_group();
    location_ = Handle(H5Gopen2(handle_.get(), group_.c_str(), H5P_DEFAULT), H5Gclose);
    if (!location_) fail(fmt::format("has no group {}", quote(group_)));
  }

  std::string default_group() const {
    const Handle root(H5Gopen2(handle_.get(), "/", H5P_DEFAULT), H5Gclose);
    const std::vector<std::string> all = links(root);
    const auto columns = state_columns(all, names_, [](const std::string&) {});
    for (std::size_t i = 0; i < all.size(); ++i)
      if (columns[i] || state_part(all[i]) || names_.used.contains(all[i])) return "/";
    for (const char* group : {"initial", "final"}) {
      if (std::ranges::find(all, group) == all.end()) continue;
      if (std::string_view(group) == "initial") return "/initial";
      fail("has no initial states, but final ones; give ensemble.group = \"/final\" to go on from these");
    }
    return "/";
  }

  PointFile read() {
    open();
    std::vector<Found> found = datasets();
    std::vector<std::string> columns;
    for (const Found& dataset : found)
      columns.push_back(dataset.shape.size() == 1 && !state_part(dataset.name) ? dataset.name : "");
    const auto targets = state_columns(columns, names_, [&](const std::string& message) {
      fail(fmt::format("group {}: {}", quote(group_), message));
    });
    for (const auto& target : targets)
      if (target) ++points_.block(target->part).width;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const auto part = state_part(found[i].name);
      if (part && points_.block(*part).width != 0)
        fail(fmt::format("has {} in one dataset and by its components, too; leave one out", name_of(*part)));
    }
    for (std::size_t i = 0; i < found.size(); ++i) read_dataset(found[i], targets[i]);
    if (!any_) fail(fmt::format("has no dataset of states in group '{}' (q, v, p, lambda or columns)", group_));
    if (points_.total == 0) fail(fmt::format("has no rows in group '{}'", group_));
    return std::move(points_);
  }

  [[noreturn]] void fail(std::string_view message) const {
    input_error(where_, fmt::format("{} {}", quote(file_.string(), most_of_a_path), message));
  }

  /// Returns the names of all links in alphabetical order.
  std::vector<std::string> links(const Handle& location) const {
    std::vector<std::string> names;
    const herr_t listed = H5Literate(
        location.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr,
        [](hid_t, const char* name, const H5L_info_t*, void* out) -> herr_t {
          static_cast<std::vector<std::string>*>(out)->emplace_back(name);
          return 0;
        },
        &names);
    if (listed < 0) fail(fmt::format("cannot be read (the list of datasets of group '{}' is damaged)", group_));
    return names;
  }

  /// Returns the datasets of the group that are the state, that expressions use, or that nothing explains.
  std::vector<Found> datasets() const {
    const bool is_result = H5Aexists(handle_.get(), "study") > 0;
    std::vector<Found> found;
    for (const std::string& name : links(location_)) {
      if (names_.ignored.contains(name)) continue;
      Handle object(H5Oopen(location_.get(), name.c_str(), H5P_DEFAULT), H5Oclose);
      if (!object) fail(fmt::format("cannot be read ('{}' of group '{}' cannot be opened)", name, group_));
      if (H5Iget_type(object.get()) != H5I_DATASET || is_dimension_alone(object)) continue;
      const auto shape = hdf5::shape_of(object);
      const bool incidental = !shape || shape->empty() || is_result || H5DSis_scale(object.get()) > 0;
      found.push_back({name, std::move(object), shape.value_or(std::vector<std::uint64_t>{}), incidental});
    }
    return found;
  }

  void read_dataset(const Found& dataset, const std::optional<StateColumn>& column) {
    const auto& [name, id, shape, incidental] = dataset;
    const auto part = state_part(name);
    if (!part && !column && incidental && !names_.used.contains(name) && !names_.in_condition.contains(name)) return;
    if (part ? shape.size() != 1 && shape.size() != 2 : shape.size() != 1)
      fail(part ? fmt::format("dataset {} has {} dimensions (needs [N, .])", quote(name), shape.size())
                : fmt::format("dataset {} has {} dimensions (a column has one, and the state is {}); name it in "
                              "ensemble.unused to leave it out",
                              quote(name), shape.size(), names_.in_words()));
    const std::uint64_t rows = shape.front(), width = shape.size() == 2 ? shape.back() : 1;
    if (any_ && rows != points_.total)
      fail(fmt::format("dataset {} has {} rows where others have {}", quote(name), rows, points_.total));
    any_ = true;
    points_.total = rows;
    points_.range = rows_of(wanted_, rows);
    std::vector<double> values = numbers(name, id, shape);
    if (!part && !column) {
      points_.names.push_back(name);
      points_.columns.push_back(std::move(values));
      return;
    }
    const auto bad = std::ranges::find_if_not(values, [](double x) { return std::isfinite(x); });
    if (bad != values.end() && names_.in_condition.empty())
      fail(fmt::format("dataset {} is not finite in row {}", quote(name),
                       points_.row_at(static_cast<std::uint64_t>(bad - values.begin()) / width)));
    if (part) {
      points_.block(*part) = {width, std::move(values), nullptr};
      return;
    }
    PointFile::Block& block = points_.block(column->part);
    block.values.resize(block.width * points_.rows());
    for (std::uint64_t row = 0; row < points_.rows(); ++row)
      block.values[row * block.width + column->index] = values[row];
  }

  std::vector<double> numbers(const std::string& name, const Handle& dataset,
                              const std::vector<std::uint64_t>& shape) const {
    const Handle type(H5Dget_type(dataset.get()), H5Tclose);
    const H5T_class_t kind = H5Tget_class(type.get());
    if (kind != H5T_FLOAT && kind != H5T_INTEGER)
      fail(fmt::format("dataset {} does not hold numbers; name it in ensemble.unused to leave it out", quote(name)));
    for (const char* packed : {"scale_factor", "add_offset"})
      if (H5Aexists(dataset.get(), packed) > 0)
        fail(fmt::format("holds packed numbers in dataset {} (it has the attribute {}); write them as they are",
                         quote(name), packed));
    std::error_code code;
    if (!hdf5::is_complete(dataset, std::filesystem::file_size(file_, code))) {
      fail(fmt::format("declares [{}] numbers in dataset {} and does not hold them (cut off, damaged or not written)",
                       fmt::join(shape, ", "), quote(name)));
    }
    // Compressed numbers take less space in the file than in memory.
    if (shape[0] == 0) return {};
    std::vector<hsize_t> size(shape.begin(), shape.end());
    size[0] = points_.rows();
    double count = 1;
    for (const hsize_t n : size) count *= static_cast<double>(n);
    const auto too_large = [&] {
      fail(fmt::format("needs {:.3g} GiB of memory for dataset {}, which are not available; take fewer rows",
                       count * sizeof(double) / 0x1p30, quote(name)));
    };
    if (count * sizeof(double) > memory_bytes()) too_large();
    std::vector<double> values;
    try {
      values.resize(static_cast<std::size_t>(count));
    } catch (const std::bad_alloc&) {
      too_large();
    }
    if (values.empty()) return values;
    const Handle space(H5Dget_space(dataset.get()), H5Sclose);
    const Handle memory(H5Screate_simple(static_cast<int>(size.size()), size.data(), nullptr), H5Sclose);
    H5Sselect_none(space.get());
    const auto select = [&](std::uint64_t first, std::uint64_t rows) {
      std::vector<hsize_t> start(size.size(), 0), extent = size;
      start[0] = first;
      extent[0] = rows;
      return rows == 0 ||
             H5Sselect_hyperslab(space.get(), H5S_SELECT_OR, start.data(), nullptr, extent.data(), nullptr) >= 0;
    };
    if (!select(0, 1) || !select(points_.range.first, points_.range.count()) ||
        H5Dread(dataset.get(), H5T_NATIVE_DOUBLE, memory.get(), space.get(), H5P_DEFAULT, values.data()) < 0) {
      fail(fmt::format("dataset {} cannot be read (damaged file?)", quote(name)));
    }
    return values;
  }

  std::filesystem::path file_;
  std::string where_, group_;
  Range wanted_;
  const StateNames& names_;
  Handle handle_, location_;
  bool any_ = false;
  PointFile points_;
};

}  // namespace

PointFile read_hdf5_points(const PointSource& source, const StateNames& names) { return Hdf5Reader(source, names)(); }

}  // namespace rattleback
