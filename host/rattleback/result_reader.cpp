#include <algorithm>
#include <cstring>

#include "rattleback/hdf5.hpp"
#include "rattleback/message.hpp"
#include "rattleback/result_file.hpp"

namespace rattleback {
namespace {

using hdf5::Handle;
using Type = ResultSink::Type;

/// The kind of number that a type read from a file is, or nothing.
std::optional<Type> kind_of(const Handle& type) {
  const std::size_t size = H5Tget_size(type.get());
  if (H5Tget_class(type.get()) == H5T_FLOAT && size == 8) return Type::f64;
  if (H5Tget_class(type.get()) == H5T_INTEGER && size == 4) return Type::u32;
  if (H5Tget_class(type.get()) == H5T_INTEGER && size == 8) return Type::u64;
  return std::nullopt;
}

/// The value of an attribute; nothing for a type that no result holds.
std::optional<Attribute> value_of(hid_t object, const char* name) {
  const Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
  const Handle type(attribute ? H5Aget_type(attribute.get()) : H5I_INVALID_HID, H5Tclose);
  if (!type) return std::nullopt;
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

  explicit Impl(const std::filesystem::path& path) : file(path) {
    hdf5::silence_errors();
    std::error_code code;
    if (!std::filesystem::exists(file, code)) fail("cannot be read (there is no such file)");
    if (std::filesystem::is_directory(file, code)) fail("cannot be read (it is a directory)");
    handle = Handle(H5Fopen(file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    if (!handle)
      fail("cannot be read (damaged, being written, or not an HDF5 file); give a finished result of rattleback");
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
  }

  /// False when the dataset cannot be opened.
  bool add(hid_t root, const std::string& path) {
    Handle dataset(H5Dopen2(root, path.c_str(), H5P_DEFAULT), H5Dclose);
    const Handle type(dataset ? H5Dget_type(dataset.get()) : H5I_INVALID_HID, H5Tclose);
    const Handle space(dataset ? H5Dget_space(dataset.get()) : H5I_INVALID_HID, H5Sclose);
    if (!type || !space) return false;
    const auto kind = kind_of(type);
    const int rank = H5Sget_simple_extent_ndims(space.get());
    if (!kind || rank < 0) return true;  // not ours
    std::vector<hsize_t> extent(static_cast<std::size_t>(rank));
    H5Sget_simple_extent_dims(space.get(), extent.data(), nullptr);
    entries[path] = {*kind, {extent.begin(), extent.end()}};
    handles[path] = std::move(dataset);
    return true;
  }
};

ResultFile::ResultFile(const std::filesystem::path& file) : impl_(std::make_unique<Impl>(file)) {}
ResultFile::~ResultFile() = default;
ResultFile::ResultFile(ResultFile&&) noexcept = default;

const std::filesystem::path& ResultFile::path() const { return impl_->file; }
const std::map<std::string, ResultFile::Entry>& ResultFile::datasets() const { return impl_->entries; }

std::map<std::string, Attribute> ResultFile::attributes(const std::string& path) const {
  std::map<std::string, Attribute> result;
  const Handle object(H5Oopen(impl_->handle.get(), path.c_str(), H5P_DEFAULT), H5Oclose);
  if (!object) return result;
  H5Aiterate2(
      object.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr,
      [](hid_t id, const char* name, const H5A_info_t*, void* out) -> herr_t {
        if (auto value = value_of(id, name))
          static_cast<std::map<std::string, Attribute>*>(out)->emplace(name, std::move(*value));
        return 0;
      },
      &result);
  return result;
}

void ResultFile::read(const std::string& path, const Shape& offset, const Shape& count, void* data) const {
  const auto entry = impl_->entries.find(path);
  if (entry == impl_->entries.end()) {
    std::vector<std::string> known;
    for (const auto& [name, shape] : impl_->entries) known.push_back(name);
    impl_->fail("has no dataset '" + path + "' (it has " + join(known) + ")" + did_you_mean(path, known));
  }
  for (const std::uint64_t n : count)
    if (n == 0) return;
  const Handle& dataset = impl_->handles.at(path);
  const Handle space(H5Dget_space(dataset.get()), H5Sclose);
  const std::vector<hsize_t> start(offset.begin(), offset.end()), size(count.begin(), count.end());
  const Handle memory(H5Screate_simple(static_cast<int>(size.size()), size.data(), nullptr), H5Sclose);
  if ((!size.empty() &&
       H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, size.data(), nullptr) < 0) ||
      H5Dread(dataset.get(), memory_type(entry->second.type), memory.get(), space.get(), H5P_DEFAULT, data) < 0)
    impl_->fail("dataset '" + path + "' cannot be read (damaged file?)");
}

Dataset ResultFile::read(const std::string& path) const {
  Dataset dataset;
  const auto entry = impl_->entries.find(path);
  std::uint64_t size = 1;
  if (entry != impl_->entries.end()) {
    dataset.shape = entry->second.shape;
    for (const std::uint64_t n : dataset.shape) size *= n;
    if (entry->second.type == Type::u32) dataset.values = std::vector<std::uint32_t>(size);
    if (entry->second.type == Type::u64) dataset.values = std::vector<std::uint64_t>(size);
    if (entry->second.type == Type::f64) dataset.values = std::vector<double>(size);
  }
  std::visit([&](auto& values) { read(path, Shape(dataset.shape.size(), 0), dataset.shape, values.data()); },
             dataset.values);
  return dataset;
}

}  // namespace rattleback
