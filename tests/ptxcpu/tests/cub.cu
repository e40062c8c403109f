// Scans and reductions of CUB with temporary storage of the caller, against the host's. run.py builds this.

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <vector>

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

int main() {
  for (const int n : {1, 31, 1000, 70001}) {
    std::vector<int> values(n);
    for (int i = 0; i < n; ++i) values[i] = i * 7919 % 1001 - 500;
    int *in = nullptr, *scanned = nullptr, *largest = nullptr;
    void* storage = nullptr;
    std::size_t scan_bytes = 0, reduce_bytes = 0;
    cub::DeviceScan::ExclusiveSum(nullptr, scan_bytes, in, scanned, n);
    cub::DeviceReduce::Max(nullptr, reduce_bytes, in, largest, n);
    const std::size_t bytes = std::max(scan_bytes, reduce_bytes);
    cudaStream_t stream = nullptr;
    cudaStreamCreate(&stream);
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&scanned, n * sizeof(int));
    cudaMalloc(&largest, sizeof(int));
    cudaMalloc(&storage, bytes);
    cudaMemcpyAsync(in, values.data(), n * sizeof(int), cudaMemcpyHostToDevice, stream);
    cudaError_t codes[2];
    codes[0] = cub::DeviceScan::ExclusiveSum(storage, scan_bytes, in, scanned, n, stream);
    codes[1] = cub::DeviceReduce::Max(storage, reduce_bytes, in, largest, n, stream);
    std::vector<int> sums(n), expected(n);
    int most = 0;
    cudaMemcpyAsync(sums.data(), scanned, n * sizeof(int), cudaMemcpyDeviceToHost, stream);
    cudaMemcpyAsync(&most, largest, sizeof(int), cudaMemcpyDeviceToHost, stream);
    const cudaError_t done = cudaStreamSynchronize(stream);
    std::exclusive_scan(values.begin(), values.end(), expected.begin(), 0);
    const bool same = sums == expected && most == *std::max_element(values.begin(), values.end());
    std::printf("%d %s %s %s %s\n", n, cudaGetErrorName(codes[0]), cudaGetErrorName(codes[1]), cudaGetErrorName(done),
                same ? "same" : "DIFFERENT");
    for (void* memory : {static_cast<void*>(in), static_cast<void*>(scanned), static_cast<void*>(largest), storage})
      cudaFree(memory);
    cudaStreamDestroy(stream);
  }
}
