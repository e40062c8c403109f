#pragma once
// HDF5 (C API) with owning handles. The library is not thread-safe: use it from one thread at a time.

#include <hdf5.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace rattleback::hdf5 {

/// Owns an identifier and closes it.
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

  /// Whether the call that made it succeeded.
  explicit operator bool() const { return id_ >= 0; }
  [[nodiscard]] hid_t get() const { return id_; }

  /// Forgets the identifier without closing it.
  void abandon() { id_ = H5I_INVALID_HID; }

  /// Closes now; false when that fails (data of a file may only then reach a full disk).
  bool reset() {
    const hid_t id = std::exchange(id_, H5I_INVALID_HID);
    return id < 0 || close_(id) >= 0;
  }

 private:
  hid_t id_ = H5I_INVALID_HID;
  Close close_ = nullptr;
};

/// Stops HDF5 from printing its error stack (failures are seen in return values) and from tidying up at exit, where it
/// crashes over a file that a full disk has cut short.
inline void silence_errors() {
  H5dont_atexit();
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

/// The extent of a dataset; nothing when it has none (a null dataspace) or cannot be told.
[[nodiscard]] std::optional<std::vector<std::uint64_t>> shape_of(const Handle& dataset);

/// Whether all numbers of a dataset lie in one stretch of bytes of its file, where reading meets no structure of HDF5.
[[nodiscard]] bool is_contiguous(const Handle& dataset);

/// Whether the file of a dataset, of `file_size` bytes, holds all its numbers: not where the file is cut off, where the
/// dataset was never written, or where a damaged header declares more. Compressed data may still be incomplete.
[[nodiscard]] bool is_complete(const Handle& dataset, std::uint64_t file_size);

}  // namespace rattleback::hdf5
