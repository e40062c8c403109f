#pragma once
// The kernels of one system with one method on the present devices, from images that NVRTC made (nvrtc.hpp). Builds
// with CUDA have this class.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "rattleback/catalogue/device.hpp"
#include "rattleback/catalogue/device_start.hpp"
#include "rattleback/catalogue/entry.hpp"

namespace rattleback {

/// The architecture of a CUDA device, "sm_90", as Nvrtc::compile takes it. Throws Error(runtime).
[[nodiscard]] std::string architecture_of(int device);

/// Kernels that were loaded from images: those of RB_DEVICE_ADVANCE or RB_DEVICE_TANGENT, and RB_DEVICE_SAMPLES
/// (loop/device.cuh). The functions enqueue the work for all lanes of `chunks` chunks on a CUDA stream of the present
/// device, which the images must be for. They throw Error(runtime) when the launch fails or the images have no such
/// kernel.
class CudaModule {
 public:
  /// `images` are DeviceImage::bytes. Throws Error(runtime) where the runtime does not take one, or where it was made
  /// for another KernelArguments.
  explicit CudaModule(std::span<const std::string> images);
  ~CudaModule();
  CudaModule(const CudaModule&) = delete;
  CudaModule& operator=(const CudaModule&) = delete;

  [[nodiscard]] bool has(DeviceKernel::Kind kernel) const { return kernels_[kernel].handle != nullptr; }

  void advance(const KernelArguments& arguments, std::int64_t chunks, void* stream) const;
  void advance_tangent(const KernelArguments& arguments, std::int64_t chunks, void* stream) const;
  /// Writes the values of surfaces of section at the present states.
  void surfaces(const KernelArguments& arguments, std::int64_t chunks, void* stream) const;
  /// codes and values ([chunk][observable][lane]) are device pointers.
  void observe(const KernelArguments& arguments, std::int64_t chunks, const ObservableCode* codes, int count,
               double* values, void* stream) const;

  /// The figures of the kernels of steps on the present device.
  [[nodiscard]] std::vector<KernelFigures> figures() const;

 private:
  struct Kernel {
    const void* handle = nullptr;  // a cudaKernel_t
    KernelShape shape;
  };

  void load(const std::string& image);
  void launch(DeviceKernel::Kind kernel, std::int64_t chunks, void** arguments, void* stream) const;
  void launch(DeviceKernel::Kind kernel, const KernelArguments& arguments, std::int64_t chunks, void* stream) const;

  std::vector<std::shared_ptr<void>> libraries_;  // of cudaLibrary_t
  Kernel kernels_[DeviceKernel::kinds];
};

/// The kernel of an image that prepares initial points or their tangent vectors, RB_DEVICE_START (loop/device_start.cuh), as CudaModule
/// has those of steps.
class StartModule {
 public:
  explicit StartModule(const std::string& image);

  /// Prepares the points of `chunks` chunks, which are `rows_of_chunk` rows apart; `rows` are those of the first, on the device.
  void prepare(const StartArguments& arguments, double* rows, std::int64_t rows_of_chunk, std::int64_t chunks,
               void* stream) const;
  /// Returns the bytes of local memory of a thread.
  [[nodiscard]] std::size_t local_bytes() const;

 private:
  std::shared_ptr<void> library_;  // of a cudaLibrary_t
  const void* kernel_ = nullptr;   // a cudaKernel_t
};

}  // namespace rattleback
