#pragma once
// What the calls of the runtime share: the lock, the errors of thread and device, streams.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <mutex>

#include "machine.hpp"
#include "options.hpp"

namespace ptxcpu {

using Lock = std::lock_guard<std::recursive_mutex>;

/// The modules of a program hold PTX for this compute capability: an older device cannot run them. What was loaded at
/// run time is for the device.
inline constexpr int module_architecture = 90;
inline bool has_kernel_image() { return options().architecture >= module_architecture; }
inline bool has_kernel_image(const Kernel& kernel) { return has_kernel_image() || is_loaded(kernel); }

/// The device of this host thread.
extern thread_local int current_device;

// --- errors

/// What a call returns. cudaGetLastError knows the error then. After a loss of the context every call returns why.
cudaError_t result(cudaError_t code);
/// A fault or a failed device loses the context for good.
cudaError_t lose_context(cudaError_t why);
/// Why the context is lost.
cudaError_t lost();

/// Begins a call that needs the context: an error where there is none.
cudaError_t enter();
/// The same for a call that PTXCPU_FAIL may let fail and PTXCPU_CALLS counts.
cudaError_t enter(Call kind);

// --- streams

/// A stream's handle, which may stand for the default stream, to the stream.
cudaError_t stream_of(cudaStream_t handle, cudaStream_t& found);
cudaStream_t default_stream(int device);
int device_of(cudaStream_t stream);
/// Does work now, or with PTXCPU_DEFER=1 when something waits for the stream.
void enqueue(cudaStream_t stream, std::function<void()> task);
/// Does the work of a stream, of the streams that wait for the default stream, of all streams of all devices.
void finish(cudaStream_t stream);
void finish_default();
void finish_all();
/// Does the work of all streams of the current device.
void finish_device();

}  // namespace ptxcpu
