#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "rattleback/base/hdf5.hpp"
#include "rattleback/base/message.hpp"
#include "rattleback/base/probe.hpp"
#include "rattleback/results/result_file.hpp"
#include "rattleback/results/scales.hpp"
#include "rattleback/results/sink_data.hpp"

namespace rattleback {
namespace {

using hdf5::Handle;
using Type = ResultSink::Type;

/// Returns the number type of an HDF5 type; empty for a type that no result has.
std::optional<Type> kind_of(const Handle& type) {
  const std::size_t size = H5Tget_size(type.get());
  if (H5Tget_class(type.get()) == H5T_FLOAT && size == 8) return Type::f64;
  if (H5Tget_class(type.get()) == H5T_INTEGER && size == 4) return Type::u32;
  if (H5Tget_class(type.get()) == H5T_INTEGER && size == 8) return Type::u64;
  return std::nullopt;
}

/// Returns the value of an attribute; empty for a type that no result has.
std::optional<Attribute> value_of(hid_t object, const char* name) {
  const Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
  const Handle type(attribute ? H5Aget_type(attribute.get()) : H5I_INVALID_HID, H5Tclose);
  const Handle space(attribute ? H5Aget_space(attribute.get()) : H5I_INVALID_HID, H5Sclose);
  if (!type || !space || H5Sget_simple_extent_npoints(space.get()) != 1) return std::nullopt;
  if (H5Tget_class(type.get()) == H5T_STRING) {
    if (H5Tis_variable_str(type.get()) > 0) return std::nullopt;
    std::string text(H5Tget_size(type.get()), '\0');
    if (H5Aread(attribute.get(), type.get(), text.data()) < 0) return std::nullopt;
    text.resize(std::min(text.size(), text.find('\0')));
    return text;
  }
  const auto kind = kind_of(type);
  if (kind == Type::f64) {
    double number = 0;
    if (H5Aread(attribute.get(), H5T_NATIVE_DOUBLE, &number) >= 0) return number;
  } else if (kind) {
    std::uint64_t number = 0;
    if (H5Aread(attribute.get(), H5T_NATIVE_UINT64, &number) >= 0) return number;
  }
  return std::nullopt;
}

}  // namespace

struct ResultFile::Impl {
  std::filesystem::path file;
  Handle handle;
  std::map<std::string, Handle> handles;
  std::map<std::string, Entry> entries;

  [[noreturn]] void fail(std::string_view message) const { input_error(file.string(), message); }

  Impl(const std::filesystem::path& path, bool checked) : file(path) {
    hdf5::silence_errors();
    if (const std::string why = why_unreadable(file); !why.empty()) fail("cannot be read (" + why + ")");
    const auto try_all = [this] {
      open();
      for (const auto& [name, entry] : entries) {
        (void)attributes(name);
        if (!hdf5::is_contiguous(handles.at(name))) read_by_blocks(name);
      }
    };
    if (!checked && !comes_back(file, try_all)) fail("cannot be read (damaged: HDF5 crashes over it); create it again");
    open();
  }

  void open() {
    handle = hdf5::open_for_reading(file);
    if (!handle)
      fail("cannot be read (damaged, being written, or not an HDF5 file); give a finished result of rattleback");
    if (const std::string link = hdf5::link_out(handle); !link.empty())
      fail(fmt::format("cannot be read ({} is a link to another file, which no result has)", quote(link)));
    if (H5Aexists_by_name(handle.get(), "/", "study", H5P_DEFAULT) <= 0)
      fail("is not a result of rattleback (its root has no attribute 'study')");
    const herr_t visited = H5Ovisit(
        handle.get(), H5_INDEX_NAME, H5_ITER_INC,
        [](hid_t root, const char* name, const H5O_info_t* info, void* self) -> herr_t {
          return info->type != H5O_TYPE_DATASET || static_cast<Impl*>(self)->add(root, std::string("/") + name) ? 0
                                                                                                                : -1;
        },
        this);
    if (visited < 0) fail("cannot be read (its list of datasets is damaged)");
    if (!without_parts_.empty())
      fail(fmt::format("cannot be read ({}); restore it, or merge the parts again", without_parts_));
    if (!incomplete_.empty())
      fail("cannot be read (it does not hold all of its dataset '" + incomplete_ + "': cut off or damaged)");
    const auto of_root = attributes("/");
    if (const auto study = of_root.find("study");
        study == of_root.end() || !std::holds_alternative<std::string>(study->second))
      fail("is not a result of rattleback (the attribute 'study' of its root is not a text of fixed length)");
  }

  /// Reads a dataset block by block. Throws when the dataset cannot be read.
  void read_by_blocks(const std::string& path) const {
    Shape count = entries.at(path).shape, offset(count.size(), 0);
    std::uint64_t row = 1, rows = count.empty() ? 1 : count[0];
    for (std::size_t d = 1; d < count.size(); ++d) row *= std::max<std::uint64_t>(count[d], 1);
    const std::uint64_t block = std::max<std::uint64_t>((std::uint64_t{1} << 20) / row, 1);
    std::vector<double> values;
    for (std::uint64_t first = 0; first < rows; first += block) {
      if (!count.empty()) {
        offset[0] = first;
        count[0] = std::min(block, rows - first);
      }
      values.resize(std::min(block, rows) * row);
      read(path, offset, count, values.data());
    }
  }

  std::map<std::string, Attribute> attributes(const std::string& path) const {
    std::map<std::string, Attribute> result;
    const Handle object(H5Oopen(handle.get(), path.c_str(), H5P_DEFAULT), H5Oclose);
    if (!object) return result;
    H5Aiterate2(
        object.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr,
        [](hid_t id, const char* name, const H5A_info_t*, void* out) -> herr_t {
          if (is_of_scale(name)) return 0;
          if (auto value = value_of(id, name))
            static_cast<std::map<std::string, Attribute>*>(out)->emplace(name, std::move(*value));
          return 0;
        },
        &result);
    return result;
  }

  /// Returns a dataset that has the block.
  const Entry& entry_of(const std::string& path, const Shape& offset, const Shape& count) const {
    const auto entry = entries.find(path);
    if (entry == entries.end()) {
      std::vector<std::string> known;
      for (const auto& [name, shape] : entries) known.push_back(name);
      fail("has no dataset '" + path + "' (it has " + join(known) + ")" + did_you_mean(path, known));
    }
    const Shape& shape = entry->second.shape;
    bool inside = offset.size() == shape.size() && count.size() == shape.size();
    for (std::size_t i = 0; inside && i < shape.size(); ++i)
      inside = offset[i] <= shape[i] && count[i] <= shape[i] - offset[i];
    if (!inside)
      fail(fmt::format("dataset '{}' has the shape ({}), without a block of shape ({}) from ({}) on", path,
                       fmt::join(shape, ", "), fmt::join(count, ", "), fmt::join(offset, ", ")));
    return entry->second;
  }

  void read(const std::string& path, const Shape& offset, const Shape& count, void* data) const {
    const Entry& entry = entry_of(path, offset, count);
    for (const std::uint64_t n : count)
      if (n == 0) return;
    const Handle& dataset = handles.at(path);
    const Handle space(H5Dget_space(dataset.get()), H5Sclose);
    const std::vector<hsize_t> start(offset.begin(), offset.end()), size(count.begin(), count.end());
    const Handle memory(H5Screate_simple(static_cast<int>(size.size()), size.data(), nullptr), H5Sclose);
    if ((!size.empty() &&
         H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, size.data(), nullptr) < 0) ||
        H5Dread(dataset.get(), memory_type(entry.type), memory.get(), space.get(), H5P_DEFAULT, data) < 0)
      fail("dataset '" + path + "' cannot be read (damaged file?)");
  }

  /// Adds a dataset. Returns false when the dataset cannot be opened.
  bool add(hid_t root, const std::string& path) {
    Handle dataset(H5Dopen2(root, path.c_str(), H5P_DEFAULT), H5Dclose);
    const Handle type(dataset ? H5Dget_type(dataset.get()) : H5I_INVALID_HID, H5Tclose);
    if (!type) return false;
    const auto kind = kind_of(type);
    const auto shape = hdf5::shape_of(dataset);
    if (!kind || !shape) return true;  // no result has such a dataset
    std::error_code code;
    if (const std::string fault = hdf5::fault_of_sources(dataset); !fault.empty())
      without_parts_ = fault;
    else if (!hdf5::is_complete(dataset, std::filesystem::file_size(file, code)))
      incomplete_ = path;
    entries[path] = {*kind, *shape};
    handles[path] = std::move(dataset);
    return true;
  }

 private:
  std::string incomplete_;     ///< the last dataset whose data are not all in the file
  std::string without_parts_;  ///< what is wrong with the parts of a virtual dataset
};

ResultFile::ResultFile(const std::filesystem::path& file, bool checked) {
  const auto use = hdf5::lock();
  impl_ = std::make_unique<Impl>(file, checked);
}
ResultFile::~ResultFile() {
  const auto use = hdf5::lock();
  impl_.reset();
}
ResultFile::ResultFile(ResultFile&&) noexcept = default;

const std::filesystem::path& ResultFile::path() const { return impl_->file; }
const std::map<std::string, ResultFile::Entry>& ResultFile::datasets() const { return impl_->entries; }

std::map<std::string, Attribute> ResultFile::attributes(const std::string& path) const {
  const auto use = hdf5::lock();
  return impl_->attributes(path);
}

std::string ResultFile::text(const std::string& name) const {
  const auto all = attributes("/");
  const auto found = all.find(name);
  const auto* value = found == all.end() ? nullptr : std::get_if<std::string>(&found->second);
  return value ? *value : std::string();
}

void ResultFile::read(const std::string& path, const Shape& offset, const Shape& count, void* data) const {
  const auto use = hdf5::lock();
  impl_->read(path, offset, count, data);
}

std::string ResultFile::fingerprint(std::uint64_t block) const {
  const auto use = hdf5::lock();
  Fingerprint fingerprint(block);
  for (const auto& [path, entry] : impl_->entries)
    add_dataset(fingerprint, path, entry.type, entry.shape,
                [this, &path = path](const Shape& offset, const Shape& count, void* data) {
                  impl_->read(path, offset, count, data);
                });
  return fingerprint.digits();
}

Dataset ResultFile::read(const std::string& path) const {
  Dataset dataset;
  const auto entry = impl_->entries.find(path);
  if (entry != impl_->entries.end()) {
    dataset.shape = entry->second.shape;
    std::uint64_t size = 1;
    for (const std::uint64_t n : dataset.shape)
      if (__builtin_mul_overflow(size, n, &size)) size = std::numeric_limits<std::uint64_t>::max() / sizeof(double);
    try {
      if (entry->second.type == Type::u32) dataset.values = std::vector<std::uint32_t>(size);
      if (entry->second.type == Type::u64) dataset.values = std::vector<std::uint64_t>(size);
      if (entry->second.type == Type::f64) dataset.values = std::vector<double>(size);
    } catch (const std::exception&) {  // bad_alloc or length_error
      impl_->fail(fmt::format("dataset '{}' does not fit into memory ({} numbers)", path, size));
    }
  }
  std::visit([&](auto& values) { read(path, Shape(dataset.shape.size(), 0), dataset.shape, values.data()); },
             dataset.values);
  return dataset;
}

}  // namespace rattleback
