// What calls of the runtime return, under the options that run.py sets.  runtime CASE

#include <cstdio>
#include <cstring>
#include <initializer_list>

namespace {

__device__ int variable = 3;

__global__ void increment(int* x) { *x += 1; }
__global__ void copy_variable(int* x) { *x = variable; }

void say(const char* what, cudaError_t code) { std::printf("%s=%s\n", what, cudaGetErrorName(code)); }

void texts() {
  for (const cudaError_t code :
       {cudaSuccess, cudaErrorMemoryAllocation, cudaErrorIllegalAddress, cudaErrorNoKernelImageForDevice,
        cudaErrorLaunchOutOfResources, cudaErrorLaunchFailure, cudaErrorMisalignedAddress, cudaErrorECCUncorrectable,
        cudaErrorInvalidValue, cudaErrorDevicesUnavailable, cudaErrorNoDevice, static_cast<cudaError_t>(12345)})
    std::printf("%s: %s\n", cudaGetErrorName(code), cudaGetErrorString(code));
}

void device() {
  cudaDeviceProp p{};
  cudaFuncAttributes attributes{};
  int* x = nullptr;
  int major = 0, minor = 0;
  say("properties", cudaGetDeviceProperties(&p, 0));
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
  cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0);
  std::printf("capability=%d.%d %d.%d\n", p.major, p.minor, major, minor);
  say("choice", cudaSetDevice(0));
  say("malloc", cudaMalloc(&x, sizeof(int)));
  say("attributes", cudaFuncGetAttributes(&attributes, increment));
  increment<<<1, 1>>>(x);
  say("launch", cudaGetLastError());
  cudaStream_t stream = nullptr;
  say("stream", cudaStreamCreate(&stream));
}

/// One call of every kind, in this order; then another malloc, which tells whether the context is lost.
void calls() {
  int *x = nullptr, *y = nullptr, host = 1;
  say("malloc", cudaMalloc(&x, sizeof(int)));
  say("copy", cudaMemcpyAsync(x, &host, sizeof(int), cudaMemcpyHostToDevice, nullptr));
  increment<<<1, 1>>>(x);
  say("launch", cudaGetLastError());
  say("synchronise", cudaStreamSynchronize(nullptr));
  say("free", cudaFree(x));
  say("after", cudaMalloc(&y, sizeof(int)));
  say("last", cudaGetLastError());
}

/// Work that nothing waits for: the program polls, or only enqueues.
void polls() {
  constexpr int launches = 5000;
  int *x = nullptr, host = 0;
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaEventCreate(&event);
  cudaMalloc(&x, sizeof(int));
  cudaMemsetAsync(x, 0, sizeof(int), stream);
  for (int i = 0; i < launches; ++i) increment<<<1, 1, 0, stream>>>(x);
  cudaEventRecord(event, stream);
  int waits = 0;
  while (cudaEventQuery(event) == cudaErrorNotReady) ++waits;
  increment<<<1, 1, 0, stream>>>(x);
  while (cudaStreamQuery(stream) == cudaErrorNotReady) ++waits;
  cudaMemcpy(&host, x, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d %s\n", host, waits > 0 ? "waited" : "at once");
  for (int i = 0; i < launches; ++i) increment<<<1, 1, 0, stream>>>(x);  // and nobody waits
}

/// A stream that does not block runs on by itself. An event orders two streams. The default stream waits for those
/// that block.
void streams() {
  int *x = nullptr, host = 0;
  cudaStream_t free_stream = nullptr, other = nullptr, blocking = nullptr;
  cudaEvent_t event = nullptr;
  cudaStreamCreateWithFlags(&free_stream, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  cudaStreamCreate(&blocking);
  cudaEventCreate(&event);
  cudaMalloc(&x, sizeof(int));
  cudaMemset(x, 0, sizeof(int));
  cudaDeviceSynchronize();
  increment<<<1, 1, 0, free_stream>>>(x);
  cudaMemcpy(&host, x, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("not waited for: %d\n", host);
  cudaEventRecord(event, free_stream);
  cudaStreamWaitEvent(other, event);
  cudaMemcpyAsync(&host, x, sizeof(int), cudaMemcpyDeviceToHost, other);
  cudaStreamSynchronize(other);
  std::printf("ordered by an event: %d\n", host);
  increment<<<1, 1, 0, blocking>>>(x);
  cudaMemcpy(&host, x, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("ordered by the default stream: %d\n", host);
  cudaMemcpyAsync(&host, x, sizeof(int), cudaMemcpyDeviceToHost, blocking);
  host = -1;
  cudaStreamSynchronize(blocking);
  std::printf("copied after the call: %s\n", host == -1 ? "no" : "yes");
}

void memory() {
  void* x = nullptr;
  std::size_t free = 0, total = 0;
  say("large", cudaMalloc(&x, 2 << 20));
  say("small", cudaMalloc(&x, 1 << 19));
  cudaMemGetInfo(&free, &total);
  std::printf("free=%zu total=%zu\n", free, total);
  say("twice", cudaFree(x) == cudaSuccess ? cudaFree(x) : cudaErrorUnknown);
}

void variables() {
  int *x = nullptr, host = 8, found = 0;
  say("to", cudaMemcpyToSymbol(variable, &host, sizeof(int)));
  cudaMalloc(&x, sizeof(int));
  copy_variable<<<1, 1>>>(x);
  cudaMemcpy(&host, x, sizeof(int), cudaMemcpyDeviceToHost);
  say("from", cudaMemcpyFromSymbol(&found, variable, sizeof(int)));
  std::printf("%d %d\n", host, found);
  say("beyond", cudaMemcpyFromSymbol(&found, variable, sizeof(int), 1));
}

void devices() {
  int *x = nullptr, count = 0;
  cudaGetDeviceCount(&count);
  std::printf("devices=%d\n", count);
  cudaMalloc(&x, sizeof(int));
  say("choice", cudaSetDevice(1));
  increment<<<1, 1>>>(x);
  say("memory of another", cudaDeviceSynchronize());
  say("none", cudaSetDevice(2));
}

}  // namespace

int main(int, char** argv) {
  const struct {
    const char* name;
    void (*run)();
  } cases[] = {{"texts", texts},     {"device", device}, {"calls", calls},         {"polls", polls},
               {"streams", streams}, {"memory", memory}, {"variables", variables}, {"devices", devices}};
  for (const auto& c : cases)
    if (std::strcmp(argv[1], c.name) == 0) c.run();
}
