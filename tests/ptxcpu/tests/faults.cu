// Kernels with one mistake each, and some without: what the emulator says of the kernels. run.py builds and runs this.

#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void fine(double* x) {  // a tree over shared memory, shuffles, votes, atomics
  __shared__ double s[64];
  s[threadIdx.x] = x[threadIdx.x];
  for (int k = 32; k > 0; k /= 2) {
    __syncthreads();
    if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
  }
  double y = threadIdx.x;
  for (int k = 16; k > 0; k /= 2) y += __shfl_down_sync(~0u, y, k);
  const unsigned odd = __ballot_sync(~0u, threadIdx.x & 1);
  __syncthreads();
  if (threadIdx.x == 0) x[0] = s[0] + y + __popc(odd);
  if (threadIdx.x == 0) atomicAdd(&x[1], 5.0);
}
__global__ void tiles(double* x) {  // of 8 lanes, each with a loop of its own length
  extern __shared__ double memory[];
  const int lane = threadIdx.x % 8, tile = threadIdx.x / 8;
  const unsigned mask = 255u << (8 * tile);
  double* mine = memory + 8 * tile;
  mine[lane] = 0.0;
  __syncwarp(mask);
  for (int k = 0; k <= tile; ++k) {
    const double next = mine[(lane + 1) % 8] + 1.0;
    __syncwarp(mask);
    mine[lane] = next;
    __syncwarp(mask);
  }
  x[threadIdx.x] = mine[lane];
}
__global__ void reductions(double* x) {
  const unsigned lane = threadIdx.x % 32;
  const int least = __reduce_min_sync(~0u, int(lane) - 20), most = __reduce_max_sync(~0u, int(lane) - 20);
  const unsigned sum = __reduce_add_sync(~0u, lane), bits = __reduce_xor_sync(~0u, 1u << lane);
  x[threadIdx.x] = threadIdx.x == 0 ? least : threadIdx.x == 1 ? most : sum + double(bits);
}
__global__ void missing_syncwarp(double* x) {
  extern __shared__ double memory[];
  memory[threadIdx.x] = threadIdx.x;
  x[threadIdx.x] = memory[(threadIdx.x + 1) % 32];
}
__global__ void missing_sync_in_global_memory(double* x) {
  if (threadIdx.x == 0) x[0] = 1.0;
  x[threadIdx.x + 32] = x[0];
}
__global__ void half_a_barrier(double* x) {
  if (threadIdx.x < 32) __syncthreads();
  x[threadIdx.x] = 1.0;
}
__global__ void half_a_warp(double* x) {
  if (threadIdx.x % 32 < 16)
    x[threadIdx.x] = __shfl_sync(~0u, x[threadIdx.x], 0);
  else
    __syncwarp();
}
__global__ void outside(double* x) { x[threadIdx.x + 1000] = 1.0; }
__global__ void outside_shared(double* x) {
  extern __shared__ double memory[];
  memory[threadIdx.x] = 1.0;
  x[threadIdx.x] = memory[0];
}
__global__ void misaligned(double* x) { *reinterpret_cast<double*>(reinterpret_cast<char*>(x) + 4) = 1.0; }
__global__ void divided_by_zero(double* x) { x[0] = 7 / static_cast<int>(x[0]); }
__global__ void asserted(double* x) { assert(x[0] > 0); }
__global__ void __launch_bounds__(32) too_many(double* x) { x[threadIdx.x] = 1.0; }
__global__ void never_written(double* x, double* y) { y[threadIdx.x] = x[threadIdx.x]; }

int main(int, char** argv) {
  const char* name = argv[1];
  double *x = nullptr, *y = nullptr;
  cudaMalloc(&x, 128 * sizeof(double));
  cudaMalloc(&y, 128 * sizeof(double));
  double host[128];
  for (int i = 0; i < 128; ++i) host[i] = i;
  cudaMemcpy(x, host, sizeof(host), cudaMemcpyHostToDevice);
  const auto is = [&](const char* other) { return std::strcmp(name, other) == 0; };
  if (is("fine")) fine<<<1, 64>>>(x);
  if (is("tiles")) tiles<<<2, 32, 32 * 8>>>(x);
  if (is("reductions")) reductions<<<1, 32>>>(x);
  if (is("missing_syncwarp")) missing_syncwarp<<<1, 32, 32 * 8>>>(x);
  if (is("missing_sync_in_global_memory")) missing_sync_in_global_memory<<<1, 32>>>(x);
  if (is("half_a_barrier")) half_a_barrier<<<1, 64>>>(x);
  if (is("half_a_warp")) half_a_warp<<<1, 32>>>(x);
  if (is("outside")) outside<<<1, 32>>>(x);
  if (is("outside_shared")) outside_shared<<<1, 64, 32 * 8>>>(x);
  if (is("misaligned")) misaligned<<<1, 1>>>(x);
  if (is("divided_by_zero")) divided_by_zero<<<1, 1>>>(x);
  if (is("asserted")) asserted<<<1, 1>>>(x);
  if (is("too_many")) too_many<<<1, 64>>>(x);
  if (is("no_blocks")) fine<<<0, 64>>>(x);
  if (is("never_written")) never_written<<<1, 32>>>(y, x);
  const cudaError_t launched = cudaGetLastError(), done = cudaDeviceSynchronize();
  const cudaError_t code = launched != cudaSuccess ? launched : done;
  if (is("wrong_way")) {
    std::printf("%s\n", cudaGetErrorName(cudaMemcpy(x, y, 8, cudaMemcpyDeviceToHost)));
    return 0;
  }
  cudaMemcpy(host, x, sizeof(host), cudaMemcpyDeviceToHost);
  std::printf("%s %g %g %g\n", cudaGetErrorName(code), host[0], host[1], host[31]);
}
