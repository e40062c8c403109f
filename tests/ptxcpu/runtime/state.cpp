#include "state.hpp"

#include <cstdio>

namespace ptxcpu {
namespace {

thread_local cudaError_t last_error = cudaSuccess;
cudaError_t why_lost = cudaSuccess;

/// Counts calls by kind.
class Calls {
 public:
  /// The error of this call: that of PTXCPU_FAIL, or none.
  cudaError_t count(Call kind) {
    const long long of_kind = ++counts_[static_cast<int>(kind)];
    const long long of_all = ++all_;
    const Options::Failure& fail = options().fail;
    if (!fail.wanted) return cudaSuccess;
    if (fail.lost) return of_all == fail.number ? lose_context(cudaErrorECCUncorrectable) : cudaSuccess;
    if (fail.kind != kind || of_kind != fail.number) return cudaSuccess;
    switch (kind) {
      case Call::launch:
        return cudaErrorLaunchOutOfResources;
      case Call::malloc:
        return cudaErrorMemoryAllocation;
      case Call::free:
        return cudaErrorInvalidValue;
      case Call::copy:
        return cudaErrorInvalidValue;
      case Call::load:
        return cudaErrorInvalidKernelImage;
      case Call::synchronise:
        return lose_context(cudaErrorLaunchFailure);
    }
    return cudaSuccess;
  }

  ~Calls() {
    if (options().calls.empty()) return;
    std::FILE* const file = std::fopen(options().calls.c_str(), "w");
    if (!file) return;
    for (int i = 0; i < call_kinds; ++i) std::fprintf(file, "%s %lld\n", call_names[i], counts_[i]);
    std::fclose(file);
  }

 private:
  long long counts_[call_kinds] = {}, all_ = 0;
} calls;

}  // namespace

thread_local int current_device = 0;

cudaError_t lost() { return why_lost; }
cudaError_t lose_context(cudaError_t why) {
  if (why_lost == cudaSuccess) why_lost = why;
  return why_lost;
}

cudaError_t result(cudaError_t code) {
  if (code == cudaSuccess) code = why_lost;
  if (code != cudaSuccess) {
    if (options().trace) std::fprintf(stderr, "ptxcpu: error %s\n", cudaGetErrorName(code));
    last_error = code;
  }
  return code;
}

cudaError_t enter() {
  if (options().devices == 0) return cudaErrorNoDevice;
  if (options().exclusive) return cudaErrorDevicesUnavailable;
  return why_lost;
}
cudaError_t enter(Call kind) {
  const cudaError_t code = enter();
  return code != cudaSuccess ? code : calls.count(kind);
}

}  // namespace ptxcpu

using namespace ptxcpu;

extern "C" {

cudaError_t cudaPeekAtLastError() {
  const Lock lock(machine());
  return last_error != cudaSuccess ? last_error : why_lost;
}
cudaError_t cudaGetLastError() {
  const Lock lock(machine());
  const cudaError_t code = cudaPeekAtLastError();
  last_error = cudaSuccess;
  return code;
}

}  // extern "C"
