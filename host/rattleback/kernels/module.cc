#include "rattleback/kernels/module.hpp"

#include <cuda_runtime_api.h>

#include "rattleback/kernels/check.hpp"

namespace rattleback {

std::string architecture_of(int device) {
  int major = 0, minor = 0;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "query of the device");
  check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device), "query of the device");
  return "sm_" + std::to_string(10 * major + minor);
}

namespace {
/// The local memory of all threads that the device can run at once, which the driver sets aside for a kernel.
std::size_t local_megabytes(const void* kernel) {
  cudaFuncAttributes attributes{};
  int device = 0, threads = 0, multiprocessors = 0;
  check(cudaGetDevice(&device), "query of the device");
  check(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, device), "query of the device");
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device), "query of the device");
  check(cudaFuncGetAttributes(&attributes, kernel), "query of the kernels");
  const std::size_t bytes =
      attributes.localSizeBytes * static_cast<std::size_t>(threads) * static_cast<std::size_t>(multiprocessors);
  return (bytes + 999'999) / 1'000'000;
}
}  // namespace

namespace {
std::shared_ptr<void> library_of(const std::string& image) {
  cudaLibrary_t library = nullptr;
  const cudaError_t code = cudaLibraryLoadData(&library, image.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  check(code, code == cudaErrorUnsupportedPtxVersion
                  ? "the driver is older than the NVRTC that compiled the kernels; update the driver, or name an older "
                    "NVRTC in RATTLEBACK_NVRTC; loading of kernels"
                  : "loading of kernels");
  return {library, [](void* loaded) {
            // the call fails when the device is lost; the error is ignored
            if (cudaLibraryUnload(static_cast<cudaLibrary_t>(loaded)) != cudaSuccess) (void)cudaGetLastError();
          }};
}

/// Returns a table of an image, which says what it is made for.
template <class Table>
Table table_of(void* library, const char* name, std::size_t argument_bytes) {
  void* place = nullptr;
  std::size_t size = 0;
  Table table{};
  check(cudaLibraryGetGlobal(&place, &size, static_cast<cudaLibrary_t>(library), name),
        "query of the table of kernels");
  if (size == sizeof table)
    check(cudaMemcpy(&table, place, sizeof table, cudaMemcpyDeviceToHost), "copy of the table of kernels");
  if (table.argument_bytes != static_cast<std::int64_t>(argument_bytes))
    throw Error(Error::Kind::runtime, "CUDA: the kernels are of another version of rattleback; compile them anew");
  return table;
}

const void* kernel_of(void* library, const char* name) {
  cudaKernel_t kernel = nullptr;
  check(cudaLibraryGetKernel(&kernel, static_cast<cudaLibrary_t>(library), name), "query of a kernel");
  return kernel;
}
}  // namespace

CudaModule::CudaModule(std::span<const std::string> images) {
  for (const std::string& image : images) load(image);
}

CudaModule::~CudaModule() = default;

void CudaModule::load(const std::string& image) {
  void* library = libraries_.emplace_back(library_of(image)).get();
  const auto table = table_of<KernelTable>(library, kernel_table_name, sizeof(KernelArguments));
  for (int k = 0; k < DeviceKernel::kinds; ++k)
    if (table.shapes[k].lanes != 0) kernels_[k] = {kernel_of(library, device_kernel_names[k]), table.shapes[k]};
}

void CudaModule::launch(DeviceKernel::Kind kernel, std::int64_t chunks, void** arguments, void* stream) const {
  const auto& [handle, shape] = kernels_[kernel];
  if (handle == nullptr)
    throw Error(Error::Kind::runtime,
                std::string("CUDA: the kernel '") + device_kernel_names[kernel] + "' was not compiled");
  const dim3 blocks(static_cast<unsigned>(chunks * chunk_size * shape.lanes / shape.threads));
  const dim3 threads(static_cast<unsigned>(shape.threads));
  const cudaError_t code =
      cudaLaunchKernel(handle, blocks, threads, arguments, static_cast<std::size_t>(shape.shared_bytes),
                       static_cast<cudaStream_t>(stream));
  const char* what = kernel == DeviceKernel::observe    ? "launch of the kernel of observables"
                     : kernel == DeviceKernel::surfaces ? "launch of the kernel of surfaces"
                                                        : "launch of the kernel of steps";
  if (code == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    throw Error(Error::Kind::runtime, "CUDA: " + std::string(what) +
                                          " failed (out of memory): its local memory takes " +
                                          std::to_string(local_megabytes(handle)) +
                                          " MB on this device, whatever the tile; do other programs hold the memory?");
  }
  check(code, what);
}

void CudaModule::launch(DeviceKernel::Kind kernel, const KernelArguments& arguments, std::int64_t chunks,
                        void* stream) const {
  void* pointers[] = {const_cast<KernelArguments*>(&arguments)};
  launch(kernel, chunks, pointers, stream);
}

void CudaModule::advance(const KernelArguments& arguments, std::int64_t chunks, void* stream) const {
  if (has(DeviceKernel::fast)) launch(DeviceKernel::fast, arguments, chunks, stream);
  launch(DeviceKernel::advance, arguments, chunks, stream);
}

void CudaModule::advance_tangent(const KernelArguments& arguments, std::int64_t chunks, void* stream) const {
  launch(DeviceKernel::tangent, arguments, chunks, stream);
}

void CudaModule::surfaces(const KernelArguments& arguments, std::int64_t chunks, void* stream) const {
  launch(DeviceKernel::surfaces, arguments, chunks, stream);
}

void CudaModule::observe(const KernelArguments& arguments, std::int64_t chunks, const ObservableCode* codes, int count,
                         double* values, void* stream) const {
  void* pointers[] = {const_cast<KernelArguments*>(&arguments), &codes, &count, &values};
  launch(DeviceKernel::observe, chunks, pointers, stream);
}

std::vector<KernelFigures> CudaModule::figures() const {
  std::vector<KernelFigures> figures;
  for (const DeviceKernel::Kind kernel : {DeviceKernel::advance, DeviceKernel::fast, DeviceKernel::tangent}) {
    const auto& [handle, shape] = kernels_[kernel];
    if (handle == nullptr) continue;
    const auto shared_bytes = static_cast<std::size_t>(shape.shared_bytes);
    cudaFuncAttributes attributes{};
    int blocks = 0;
    check(cudaFuncGetAttributes(&attributes, handle), "query of the kernels");
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, handle, shape.threads, shared_bytes),
          "query of the kernels");
    figures.push_back({device_kernel_names[kernel], shape.lanes, shape.threads, attributes.numRegs,
                       attributes.localSizeBytes, attributes.sharedSizeBytes + shared_bytes, blocks});
  }
  return figures;
}

StartModule::StartModule(const std::string& image) : library_(library_of(image)) {
  (void)table_of<StartTable>(library_.get(), start_table_name, sizeof(StartArguments));
  kernel_ = kernel_of(library_.get(), start_kernel_name);
}

void StartModule::prepare(const StartArguments& arguments, double* rows, std::int64_t rows_of_chunk,
                          std::int64_t chunks, void* stream) const {
  void* pointers[] = {const_cast<StartArguments*>(&arguments), &rows, &rows_of_chunk};
  check(cudaLaunchKernel(kernel_, dim3(static_cast<unsigned>(chunks * (chunk_size / starting_threads))),
                         dim3(starting_threads), pointers, 0, static_cast<cudaStream_t>(stream)),
        "launch of the kernel of initial states");
}

std::size_t StartModule::local_bytes() const {
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, kernel_), "query of the kernels");
  return attributes.localSizeBytes;
}

}  // namespace rattleback
