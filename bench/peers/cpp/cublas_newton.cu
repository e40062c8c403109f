// The nonholonomic Lobatto step of the chaotic system as one builds it from a library: kernels that assemble residuals and
// Jacobians for the whole ensemble, cuBLAS for batches of small LU factorisations, and a test of convergence on the host.
// Against rattleback's step, which is one kernel with everything in registers, it shows what the fusion is worth.

#include <algorithm>

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include "newton_system.hpp"

namespace {

void check(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(status));
  std::exit(1);
}
void check(cublasStatus_t status) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  std::fprintf(stderr, "cuBLAS: %s\n", cublasGetStatusString(status));
  std::exit(1);
}

template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) { check(cudaMalloc(&data_, count * sizeof(T))); }
  DeviceArray(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(data_); }
  operator T*() const { return data_; }

 private:
  T* data_ = nullptr;
};

__device__ int thread_index() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }

template <int S>
__global__ void point(double* matrix, double* right, double** matrices, double** rights, int count) {
  constexpr int size = NewtonSystem<S>::size;
  const int k = thread_index();
  if (k >= count) return;
  matrices[k] = matrix + static_cast<std::size_t>(k) * size * size;
  rights[k] = right + static_cast<std::size_t>(k) * size;
}

template <int S>
__global__ void guess(const Node* nodes, double* x, int count) {
  constexpr int size = NewtonSystem<S>::size;
  const int k = thread_index();
  if (k >= count) return;
  double start[size];
  NewtonSystem<S>::guess(nodes[k], start);
  for (int i = 0; i < size; ++i) x[static_cast<std::size_t>(k) * size + i] = start[i];
}

/// One thread per trajectory and column; that of column 0 does the residual too.
template <int S>
__global__ void assemble(const Node* nodes, double h, const double* x, double* matrix, double* right, int count) {
  constexpr int size = NewtonSystem<S>::size, n = NewtonSystem<S>::n;
  const int index = thread_index(), k = index / size, column = index % size;
  if (k >= count) return;
  x += static_cast<std::size_t>(k) * size;
  double to[size];
  NewtonSystem<S>::column(nodes[k], h, x, column, to);
  for (int i = 0; i < size; ++i) matrix[static_cast<std::size_t>(index) * size + i] = to[i];
  if (column != 0) return;
  double here[size], q_s[n], w_s[n];
  for (int i = 0; i < size; ++i) here[i] = x[i];
  NewtonSystem<S>::residual(nodes[k], h, here, to, q_s, w_s);
  for (int i = 0; i < size; ++i) right[static_cast<std::size_t>(k) * size + i] = to[i];
}

/// x -= right; the largest change of an acceleration over the ensemble. Non-negative doubles compare like their bits.
template <int S>
__global__ void update(double* x, const double* right, unsigned long long* largest, int count) {
  constexpr int size = NewtonSystem<S>::size, inner = NewtonSystem<S>::n * NewtonSystem<S>::inner;
  const int k = thread_index();
  if (k >= count) return;
  double change = 0;
  for (int i = 0; i < size; ++i) {
    const double dx = right[static_cast<std::size_t>(k) * size + i];
    x[static_cast<std::size_t>(k) * size + i] -= dx;
    if (i < inner || inner == 0) change = dx == dx ? fmax(change, fabs(dx)) : 1e300;
  }
  atomicMax(largest, static_cast<unsigned long long>(__double_as_longlong(change)));
}

template <int S>
__global__ void finish(Node* nodes, double h, const double* x, int count) {
  constexpr int size = NewtonSystem<S>::size;
  const int k = thread_index();
  if (k >= count) return;
  double found[size];
  for (int i = 0; i < size; ++i) found[i] = x[static_cast<std::size_t>(k) * size + i];
  NewtonSystem<S>::finish(nodes[k], h, found);
}

template <int S>
void solve(const Task& task) {
  constexpr int size = NewtonSystem<S>::size, threads = 128;
  const int count = task.count;
  const auto blocks = [&](long work) { return static_cast<unsigned>((work + threads - 1) / threads); };

  std::vector<double> y = ensemble<Chaotic>(count);
  std::vector<Node> start(count);
  for (int k = 0; k < count; ++k) {
    double derivative[14];
    Chaotic::ode(&y[k * 14], derivative);
    std::copy_n(&y[k * 14], 7, start[k].q);
    std::copy_n(&y[k * 14 + 7], 7, start[k].v);
    start[k].lambda = derivative[7] + y[k * 14];
  }
  DeviceArray<Node> nodes(count);
  DeviceArray<double> x(static_cast<std::size_t>(count) * size), right(static_cast<std::size_t>(count) * size),
      matrix(static_cast<std::size_t>(count) * size * size);
  DeviceArray<double*> matrices(count), rights(count);
  DeviceArray<int> pivots(static_cast<std::size_t>(count) * size), info(count);
  DeviceArray<unsigned long long> largest(1);
  cublasHandle_t cublas;
  check(cublasCreate(&cublas));
  point<S><<<blocks(count), threads>>>(matrix, right, matrices, rights, count);

  const double h = task.step, small = 1e-8 / (h * h);  // quadratic convergence: what is left after it is round-off
  const auto advance = [&](long steps) {
    for (long step = 0; step < steps; ++step) {
      guess<S><<<blocks(count), threads>>>(nodes, x, count);
      for (int iteration = 1;; ++iteration) {
        assemble<S><<<blocks(static_cast<long>(count) * size), threads>>>(nodes, h, x, matrix, right, count);
        check(cublasDgetrfBatched(cublas, size, matrices, size, pivots, info, count));
        int status = 0;
        check(cublasDgetrsBatched(cublas, CUBLAS_OP_N, size, 1, matrices, size, pivots, rights, size, &status, count));
        check(cudaMemsetAsync(largest, 0, sizeof(unsigned long long)));
        update<S><<<blocks(count), threads>>>(x, right, largest, count);
        double change = 0;
        check(cudaMemcpy(&change, largest, sizeof change, cudaMemcpyDeviceToHost));
        if (change <= small) break;
        if (iteration == 20) {
          std::fprintf(stderr, "Newton's method does not converge: last update %g\n", change);
          std::exit(1);
        }
      }
      finish<S><<<blocks(count), threads>>>(nodes, h, x, count);
    }
    check(cudaDeviceSynchronize());
  };

  check(cudaMemcpy(nodes, start.data(), count * sizeof(Node), cudaMemcpyHostToDevice));
  advance(2);  // warm-up
  check(cudaMemcpy(nodes, start.data(), count * sizeof(Node), cudaMemcpyHostToDevice));
  const auto begin = std::chrono::steady_clock::now();
  advance(task.steps);
  const double seconds = seconds_since(begin);
  check(cudaMemcpy(start.data(), nodes, count * sizeof(Node), cudaMemcpyDeviceToHost));
  for (int k = 0; k < count; ++k) {
    std::copy_n(start[k].q, 7, &y[k * 14]);
    std::copy_n(start[k].v, 7, &y[k * 14 + 7]);
  }
  int version = 0;
  cublasGetVersion(cublas, &version);
  cublasDestroy(cublas);
  answer<Chaotic>(task, "cuBLAS batched LU", std::to_string(version), y, seconds, -1);
}

}  // namespace

int main(int argc, char** argv) {
  const Task task = parse(argc, argv, "gpu");
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf(
        "{\"peer\": \"cuBLAS batched LU\", \"system\": \"%s\", \"method\": \"%s\", \"device\": \"gpu\", "
        "\"skipped\": \"no CUDA device\"}\n",
        task.system.c_str(), task.method.c_str());
    return 0;
  }
  if (task.system != "chaotic" || task.step == 0) unknown(task);
  if (task.method == "s3")
    solve<3>(task);
  else if (task.method == "s4")
    solve<4>(task);
  else
    unknown(task);
}
