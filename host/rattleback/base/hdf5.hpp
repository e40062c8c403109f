#pragma once
// HDF5 (C API) with owning handles. The library is not thread-safe: a thread that uses HDF5 holds the lock.

#include <hdf5.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rattleback/base/mutex.hpp"

namespace rattleback::hdf5 {

/// Returns the lock of HDF5. FileSink, ResultFile and read_points take the lock themselves. A child after fork must not
/// take the lock: the parent's thread holds it for the child.
[[nodiscard]] std::unique_lock<RecursiveMutex> lock();

/// Owns and closes an identifier.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);

  Handle() = default;
  Handle(hid_t id, Close close) : id_(id), close_(close) {}
  ~Handle() { reset(); }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      reset();
      id_ = std::exchange(other.id_, H5I_INVALID_HID);
      close_ = other.close_;
    }
    return *this;
  }

  /// Returns whether the call that made the identifier succeeded.
  explicit operator bool() const { return id_ >= 0; }
  [[nodiscard]] hid_t get() const { return id_; }

  /// Forgets the identifier without closing it.
  void abandon() { id_ = H5I_INVALID_HID; }

  /// Closes the identifier. Returns false on failure, because data may reach a full disk only now.
  bool reset() {
    const hid_t id = std::exchange(id_, H5I_INVALID_HID);
    return id < 0 || close_(id) >= 0;
  }

 private:
  hid_t id_ = H5I_INVALID_HID;
  Close close_ = nullptr;
};

/// Stops HDF5 from printing errors, because return values report failures. Also stops the cleanup of HDF5 at exit,
/// because the cleanup crashes over a file that a full disk has cut short.
inline void silence_errors() {
  H5dont_atexit();
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

/// Opens a file for reading. HDF5 must not lock it: locks fail on some file systems of clusters.
[[nodiscard]] Handle open_for_reading(const std::filesystem::path& file);

/// Returns how files are opened that the program writes: in the format of HDF5 1.8, which stores attributes above 64 KiB, such as a study
/// that lists many values; without a buffer, so that a successful write has reached the system; and without a lock of HDF5.
[[nodiscard]] Handle access_for_writing();

/// Creates a file with room for a mark (base/mark.hpp). An old file of the name is lost.
[[nodiscard]] Handle create_file(const std::filesystem::path& file);

/// Returns the first link of a file that leads to another file; empty when there is none. Links of HDF5 to other files are not
/// followed anywhere: HDF5 would open whatever they name.
[[nodiscard]] std::string link_out(const Handle& file);

/// Returns what is wrong with the files from which a virtual dataset takes its numbers; empty for other datasets, and when the
/// files have all of the numbers.
[[nodiscard]] std::string fault_of_sources(const Handle& dataset);

/// Returns the extent of a dataset; empty when the dataset has no extent (a null dataspace) or cannot be queried.
[[nodiscard]] std::optional<std::vector<std::uint64_t>> shape_of(const Handle& dataset);

/// Returns whether all numbers of a dataset are in one range of bytes of the file, without other structures of HDF5
/// between.
[[nodiscard]] bool is_contiguous(const Handle& dataset);

/// Returns whether the file of a dataset, with `file_size` bytes, has all numbers of the dataset. The result is false
/// when the file is cut off, when the dataset was never written, or when a damaged header declares more numbers.
/// Compressed data may still be incomplete.
[[nodiscard]] bool is_complete(const Handle& dataset, std::uint64_t file_size);

}  // namespace rattleback::hdf5
