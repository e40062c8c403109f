// A warp whose first lane takes eight rounds of a loop, and whose other lanes take two.

#include <cstdio>

__global__ void rounds(double* x) {
  double y = threadIdx.x;
#pragma unroll 1
  for (int i = threadIdx.x == 0 ? 8 : 2; i > 0; --i) y = __fma_rn(y, y, 1.0);
  x[threadIdx.x] = y;
}

int main() {
  double* x;
  cudaMalloc(&x, 32 * sizeof(double));
  rounds<<<1, 32>>>(x);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
}
