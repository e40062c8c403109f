#include "rattleback/results/compressed.hpp"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include "rattleback/base/parallel.hpp"

namespace rattleback {
namespace {

using hdf5::Handle;
using Extent = std::vector<hsize_t>;

/// Numbers of a chunk, and the chunks of a block in memory for each thread. A chunk has as much of the samples as of the trajectories, so that both
/// the course of one trajectory and one moment of all of them take few chunks.
constexpr hsize_t chunk_numbers = hsize_t{1} << 15, chunks_of_thread = 16;

hsize_t product(const Extent& extent) {
  hsize_t numbers = 1;
  for (const hsize_t n : extent) numbers *= n;
  return numbers;
}

Extent chunk_of(Extent shape) {
  while (product(shape) > chunk_numbers) {
    hsize_t& longest = *std::ranges::max_element(shape);
    longest = (longest + 1) / 2;
  }
  return shape;
}

/// Returns a block of whole chunks.
Extent block_of(const Extent& shape, Extent block, unsigned threads) {
  for (std::size_t d = shape.size(); d-- > 0;)
    while (block[d] < shape[d] && 2 * product(block) <= threads * chunks_of_thread * chunk_numbers) block[d] *= 2;
  return block;
}

Handle space_of(const Extent& extent) {
  return {H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr), H5Sclose};
}

bool copy_attributes(hid_t from, hid_t to) {
  const int count = H5Aget_num_attrs(from);
  for (int i = 0; i < count; ++i) {
    const Handle source(
        H5Aopen_by_idx(from, ".", H5_INDEX_NAME, H5_ITER_INC, static_cast<hsize_t>(i), H5P_DEFAULT, H5P_DEFAULT),
        H5Aclose);
    const Handle type(H5Aget_type(source.get()), H5Tclose), space(H5Aget_space(source.get()), H5Sclose);
    std::string name(static_cast<std::size_t>(std::max<ssize_t>(H5Aget_name(source.get(), 0, nullptr), 0)) + 1, '\0');
    H5Aget_name(source.get(), name.size(), name.data());
    std::vector<char> value(H5Tget_size(type.get()) *
                            static_cast<std::size_t>(std::max<hssize_t>(H5Sget_simple_extent_npoints(space.get()), 1)));
    const Handle copy(H5Acreate2(to, name.c_str(), type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    if (!copy || H5Aread(source.get(), type.get(), value.data()) < 0 ||
        H5Awrite(copy.get(), type.get(), value.data()) < 0)
      return false;
  }
  return count >= 0;
}

/// Calls visit(offset) for the corners of the blocks of an array, the first index first, until it returns false. Returns whether it never
/// did.
template <class Visit>
bool for_each_corner(const Extent& shape, const Extent& block, const Visit& visit) {
  Extent offset(shape.size(), 0);
  for (std::size_t d = 0; d < shape.size();) {
    if (!visit(offset)) return false;
    for (d = 0; d < shape.size(); ++d) {
      offset[d] += block[d];
      if (offset[d] < shape[d]) break;
      offset[d] = 0;
    }
  }
  return true;
}

/// A block of an array in memory, and its chunks, which other threads can compress.
class Block {
 public:
  Block(const Extent& extent, const Extent& chunk, std::size_t word)
      : chunk_(chunk), word_(word), numbers_(product(extent) * word) {}

  bool read(hid_t from, hid_t type, hid_t space, const Extent& offset, const Extent& count) {
    offset_ = offset;
    count_ = count;
    const Handle memory = space_of(count);
    return H5Sselect_hyperslab(space, H5S_SELECT_SET, offset.data(), nullptr, count.data(), nullptr) >= 0 &&
           H5Dread(from, type, memory.get(), space, H5P_DEFAULT, numbers_.data()) >= 0;
  }

  /// Compresses all chunks of the block, and writes them.
  bool write(hid_t to, unsigned level, unsigned threads) {
    std::vector<Extent> corners;
    for_each_corner(count_, chunk_, [&](const Extent& corner) {
      corners.push_back(corner);
      return true;
    });
    packed_.resize(corners.size());
    parallel_for(corners.size(), threads, [&](std::uint64_t i) { pack(corners[i], level, packed_[i]); });
    for (std::size_t i = 0; i < corners.size(); ++i) {
      Extent place = offset_;
      for (std::size_t d = 0; d < place.size(); ++d) place[d] += corners[i][d];
      if (packed_[i].empty() ||
          H5Dwrite_chunk(to, H5P_DEFAULT, 0, place.data(), packed_[i].size(), packed_[i].data()) < 0)
        return false;
    }
    return true;
  }

 private:
  /// What HDF5's filters make of a chunk: the first bytes of all numbers, then the second ones, and so on, and that by deflate. What a
  /// chunk has beyond the edge is 0.
  void pack(const Extent& corner, unsigned level, std::vector<unsigned char>& packed) const {
    const std::size_t dimensions = chunk_.size(), numbers = product(chunk_), last = dimensions - 1;
    std::vector<unsigned char> bytes(numbers * word_);
    Extent inside = chunk_, lines = chunk_;
    for (std::size_t d = 0; d < dimensions; ++d) inside[d] = std::min(chunk_[d], count_[d] - corner[d]);
    lines = inside;
    lines[last] = 1;
    for_each_corner(lines, Extent(dimensions, 1), [&](const Extent& line) {
      std::size_t from = 0, to = 0;
      for (std::size_t d = 0; d < dimensions; ++d) {
        from = from * count_[d] + corner[d] + line[d];
        to = to * chunk_[d] + line[d];
      }
      const char* number = numbers_.data() + from * word_;
      for (std::size_t i = 0; i < inside[last]; ++i)
        for (std::size_t b = 0; b < word_; ++b)
          bytes[b * numbers + to + i] = static_cast<unsigned char>(number[i * word_ + b]);
      return true;
    });
    uLongf size = compressBound(bytes.size());
    packed.resize(size);
    const int code = compress2(packed.data(), &size, bytes.data(), bytes.size(), static_cast<int>(level));
    packed.resize(code == Z_OK ? size : 0);
  }

  Extent chunk_, offset_, count_;
  std::size_t word_;
  std::vector<char> numbers_;
  std::vector<std::vector<unsigned char>> packed_;  ///< empty where zlib fails
};

bool copy_numbers(hid_t from, hid_t to, hid_t type, const Extent& shape, const Extent& chunk, unsigned level,
                  unsigned threads) {
  const Handle space = space_of(shape);
  const Extent extent = block_of(shape, chunk, threads);
  Block block(extent, chunk, H5Tget_size(type));
  return for_each_corner(shape, extent, [&](const Extent& offset) {
    Extent count = extent;
    for (std::size_t d = 0; d < shape.size(); ++d) count[d] = std::min(extent[d], shape[d] - offset[d]);
    return block.read(from, type, space.get(), offset, count) && block.write(to, level, threads);
  });
}

/// Takes as much space of the disk as the copy of a file can need: HDF5 crashes when it meets a full disk while it compresses. Some file
/// systems cannot reserve space.
bool reserve(int file, hid_t from) {
  hsize_t size = 0;
  if (H5Fget_filesize(from, &size) < 0) return false;
  const hsize_t most = size + size / 8 + (hsize_t{1} << 20);  // chunks are whole, also where numbers do not compress
  return fallocate(file, 0, 0, static_cast<off_t>(most)) == 0 || (errno != ENOSPC && errno != EFBIG && errno != EDQUOT);
}

/// The file that is written. Where a write has failed, nothing is closed: HDF5 crashes over that.
struct Target {
  Handle file;
  unsigned level, threads;
  std::vector<Handle> datasets = {};

  /// Closes the file, and gives back what is left of the space.
  bool close(int descriptor) {
    hsize_t size = 0;
    datasets.clear();
    return H5Fget_filesize(file.get(), &size) >= 0 && file.reset() &&
           ftruncate(descriptor, static_cast<off_t>(size)) == 0;
  }
  void abandon() {
    for (Handle& dataset : datasets) dataset.abandon();
    file.abandon();
  }

  bool copy_series(const ScaledDataset& dataset, hid_t links) {
    const Extent shape(dataset.shape.begin(), dataset.shape.end()), chunk = chunk_of(shape);
    const Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose), type(H5Dget_type(dataset.id), H5Tclose),
        space = space_of(shape);
    H5Pset_obj_track_times(properties.get(), false);
    H5Pset_fill_time(properties.get(), H5D_FILL_TIME_ALLOC);  // what a chunk has beyond the edge
    if (H5Pset_chunk(properties.get(), static_cast<int>(chunk.size()), chunk.data()) < 0 ||
        H5Pset_shuffle(properties.get()) < 0 || H5Pset_deflate(properties.get(), level) < 0)
      return false;
    datasets.emplace_back(
        H5Dcreate2(file.get(), dataset.path.c_str(), type.get(), space.get(), links, properties.get(), H5P_DEFAULT),
        H5Dclose);
    const hid_t copy = datasets.back().get();
    return datasets.back() && copy_numbers(dataset.id, copy, type.get(), shape, chunk, level, threads) &&
           copy_attributes(dataset.id, copy);
  }

  bool copy(hid_t from, const std::vector<ScaledDataset>& all) {
    const Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
    H5Pset_create_intermediate_group(links.get(), 1);
    std::vector<ScaledDataset> copies = all;
    for (ScaledDataset& dataset : copies) {
      const char* const path = dataset.path.c_str();
      const Extent shape(dataset.shape.begin(), dataset.shape.end());
      if (is_series(dataset.path) && product(shape) > 0) {
        if (!copy_series(dataset, links.get())) return false;
      } else {
        if (H5Ocopy(from, path, file.get(), path, H5P_DEFAULT, links.get()) < 0) return false;
        datasets.emplace_back(H5Dopen2(file.get(), path, H5P_DEFAULT), H5Dclose);
        if (!datasets.back()) return false;
      }
      dataset.id = datasets.back().get();
    }
    const Handle root(H5Oopen(from, "/", H5P_DEFAULT), H5Oclose),
        new_root(H5Oopen(file.get(), "/", H5P_DEFAULT), H5Oclose);
    const bool has_time = std::ranges::find(copies, "/time", &ScaledDataset::path) != copies.end();
    return copy_attributes(root.get(), new_root.get()) && (!has_time || attach_scales(file.get(), copies)) &&
           H5Fflush(file.get(), H5F_SCOPE_GLOBAL) >= 0;
  }
};

}  // namespace

bool is_series(std::string_view path) {
  return (path.starts_with("/trajectories/") && path != "/trajectories/index") ||
         (path.starts_with("/observables/") && is_values(path.substr(path.rfind('/') + 1)));
}

std::string copy_compressed(hid_t from, const std::vector<ScaledDataset>& datasets, const std::filesystem::path& to,
                            const std::string& run, FileKind kind, unsigned level, unsigned threads) {
  std::error_code code;
  std::filesystem::remove(to, code);
  errno = 0;
  Target target{hdf5::create_file(to), level, threads};
  // The mark comes first, so that what a killed program leaves is known as its own.
  const int file = target.file ? open(to.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC) : -1;
  const bool begun = file >= 0 && write_mark(file, run, kind) && reserve(file, from);
  const bool good = begun && target.copy(from, datasets) && target.close(file) && fdatasync(file) == 0;
  const bool full = errno == ENOSPC || errno == EFBIG || errno == EDQUOT;
  if (file >= 0) close(file);
  if (good) return "";
  if (begun) target.abandon();
  std::filesystem::remove(to, code);
  return full ? "the disk has no room for the copy" : "HDF5 reports a failed write";
}

}  // namespace rattleback
