#include "rattleback/base/hdf5.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "rattleback/base/mark.hpp"
#include "rattleback/base/message.hpp"
#include "rattleback/base/probe.hpp"

namespace rattleback::hdf5 {
namespace {

H5D_layout_t layout_of(const Handle& dataset) {
  const Handle properties(H5Dget_create_plist(dataset.get()), H5Pclose);
  return properties ? H5Pget_layout(properties.get()) : H5D_LAYOUT_ERROR;
}

/// Returns whether the file stores whole chunks. A damaged header may declare larger chunks than the file stores; HDF5
/// would then read beyond the end of a chunk.
bool has_whole_chunks(const Handle& dataset, std::uint64_t stored) {
  const Handle properties(H5Dget_create_plist(dataset.get()), H5Pclose), type(H5Dget_type(dataset.get()), H5Tclose);
  if (H5Pget_nfilters(properties.get()) > 0) return true;  // the sizes of filtered chunks differ
  hsize_t extent[H5S_MAX_RANK];
  const int rank = H5Pget_chunk(properties.get(), H5S_MAX_RANK, extent);
  std::uint64_t bytes = H5Tget_size(type.get());
  for (int d = 0; d < rank; ++d) bytes *= extent[d];
  return rank > 0 && bytes > 0 && stored % bytes == 0;
}

/// Returns a text that HDF5 gives in two calls, the first one for its length.
template <class Call>
std::string text_of(Call call) {
  const ssize_t size = call(nullptr, 0);
  std::string text(static_cast<std::size_t>(std::max<ssize_t>(size, 0)) + 1, '\0');
  call(text.data(), text.size());
  text.pop_back();
  return text;
}

}  // namespace

std::unique_lock<RecursiveMutex> lock() {
  static RecursiveMutex mutex;
  return std::unique_lock(mutex);
}

Handle open_for_reading(const std::filesystem::path& file) {
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_file_locking(access.get(), false, true);
  return {H5Fopen(file.c_str(), H5F_ACC_RDONLY, access.get()), H5Fclose};
}

Handle access_for_writing() {
  Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_libver_bounds(access.get(), H5F_LIBVER_V18, H5F_LIBVER_LATEST);
  H5Pset_sieve_buf_size(access.get(), 0);
  H5Pset_file_locking(access.get(), false, true);
  return access;
}

Handle create_file(const std::filesystem::path& file) {
  const Handle access = access_for_writing(), creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  H5Pset_userblock(creation.get(), mark_size);
  return {H5Fcreate(file.c_str(), H5F_ACC_TRUNC, creation.get(), access.get()), H5Fclose};
}

std::string link_out(const Handle& file) {
  std::string found;
  H5Lvisit(
      file.get(), H5_INDEX_NAME, H5_ITER_NATIVE,
      [](hid_t, const char* name, const H5L_info_t* info, void* out) -> herr_t {
        if (info->type == H5L_TYPE_HARD || info->type == H5L_TYPE_SOFT) return 0;
        *static_cast<std::string*>(out) = name;
        return 1;
      },
      &found);
  return found;
}

std::string fault_of_sources(const Handle& dataset) {
  if (layout_of(dataset) != H5D_VIRTUAL) return "";
  const Handle properties(H5Dget_create_plist(dataset.get()), H5Pclose);
  const std::filesystem::path file =
      text_of([&](char* name, std::size_t size) { return H5Fget_name(dataset.get(), name, size); });
  std::size_t count = 0;
  if (H5Pget_virtual_count(properties.get(), &count) < 0) return "its list of parts is damaged";
  for (std::size_t i = 0; i < count; ++i) {
    const std::filesystem::path part =
        text_of([&](char* name, std::size_t size) { return H5Pget_virtual_filename(properties.get(), i, name, size); });
    const std::string path =
        text_of([&](char* name, std::size_t size) { return H5Pget_virtual_dsetname(properties.get(), i, name, size); });
    const std::string name = quote(part.string(), most_of_a_path);
    // A merge of parts names files in a folder beside the result.
    if (part.is_absolute() || std::ranges::find(part, "..") != part.end())
      return fmt::format("it takes data from {}, which is not a part beside it", name);
    const std::filesystem::path source = file.parent_path() / part;
    if (const std::string why = why_unreadable(source); !why.empty())
      return fmt::format("its part {} is needed, and cannot be read: {}", name, why);
    const Handle opened = open_for_reading(source);
    const Handle data(
        opened && link_out(opened).empty() ? H5Dopen2(opened.get(), path.c_str(), H5P_DEFAULT) : H5I_INVALID_HID,
        H5Dclose);
    std::error_code code;
    if (!data || layout_of(data) == H5D_VIRTUAL || !is_complete(data, std::filesystem::file_size(source, code)))
      return fmt::format("its part {} is damaged", name);
  }
  return "";
}

std::optional<std::vector<std::uint64_t>> shape_of(const Handle& dataset) {
  const Handle space(dataset ? H5Dget_space(dataset.get()) : H5I_INVALID_HID, H5Sclose);
  const int rank =
      space && H5Sget_simple_extent_type(space.get()) != H5S_NULL ? H5Sget_simple_extent_ndims(space.get()) : -1;
  if (rank < 0) return std::nullopt;
  std::vector<hsize_t> extent(static_cast<std::size_t>(rank));
  if (H5Sget_simple_extent_dims(space.get(), extent.data(), nullptr) < 0) return std::nullopt;
  return std::vector<std::uint64_t>(extent.begin(), extent.end());
}

bool is_contiguous(const Handle& dataset) { return layout_of(dataset) == H5D_CONTIGUOUS; }

bool is_complete(const Handle& dataset, std::uint64_t file_size) {
  const Handle type(H5Dget_type(dataset.get()), H5Tclose);
  const auto shape = shape_of(dataset);
  if (!type || !shape) return false;
  std::uint64_t bytes = H5Tget_size(type.get());
  bool overflow = false, empty = false;
  for (const std::uint64_t n : *shape) {
    empty = empty || n == 0;
    overflow = __builtin_mul_overflow(bytes, n, &bytes) || overflow;
  }
  if (empty) return true;
  if (overflow || bytes > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) return false;
  const std::uint64_t stored = H5Dget_storage_size(dataset.get());
  if (layout_of(dataset) == H5D_CHUNKED) return stored > 0 && stored <= file_size && has_whole_chunks(dataset, stored);
  if (layout_of(dataset) == H5D_VIRTUAL) return fault_of_sources(dataset).empty();
  if (layout_of(dataset) != H5D_CONTIGUOUS) return stored > 0;
  const std::uint64_t begin = H5Dget_offset(dataset.get());  // HADDR_UNDEF is beyond the end of any file
  return stored >= bytes && begin <= file_size && bytes <= file_size - begin;
}

}  // namespace rattleback::hdf5
