// The elementary functions of the kernels give the same bits in device code and in host code, also for dual numbers over
// dual numbers. Prints a line per function; the exit code is 1 where bits differ.

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <random>
#include <vector>

#include "rattleback/real/dual.hpp"

namespace rattleback {
namespace {

constexpr const char* names[] = {"sin",          "cos",  "exp",  "log",   "atan",  "tan",    "asin", "acos",  "atan2",
                                 "sinh",         "cosh", "tanh", "asinh", "acosh", "atanh",  "log2", "log10", "pow",
                                 "pow constant", "abs",  "sign", "min",   "max",   "select", "sqrt"};
constexpr int functions = std::size(names);

template <class T>
__host__ __device__ T evaluate(int function, const T& a, const T& b) {
  switch (function) {
    case 0:
      return sin(a);
    case 1:
      return cos(a);
    case 2:
      return exp(a);
    case 3:
      return log(a);
    case 4:
      return atan(a);
    case 5:
      return tan(a);
    case 6:
      return asin(a);
    case 7:
      return acos(a);
    case 8:
      return atan2(a, b);
    case 9:
      return sinh(a);
    case 10:
      return cosh(a);
    case 11:
      return tanh(a);
    case 12:
      return asinh(a);
    case 13:
      return acosh(a);
    case 14:
      return atanh(a);
    case 15:
      return log2(a);
    case 16:
      return log10(a);
    case 17:
      return pow(a, b);
    case 18:
      return pow(a, -1.5);
    case 19:
      return abs(a);
    case 20:
      return sign(a);
    case 21:
      return min(a, b);
    case 22:
      return max(a, b);
    case 23:
      return select(a < b, b, a);
    default:
      return sqrt(a);
  }
}

/// The value of a double and the parts of a dual number of second order.
struct Result {
  double part[5];
};

__host__ __device__ Result result(int function, double a, double b) {
  using D = Dual<double, 1>;
  const Dual<D, 1> y = evaluate(function, Dual<D, 1>(D(a, 0), 0), Dual<D, 1>(D(b, 0), 0));
  return {evaluate(function, a, b), y.value.value, y.value.partial[0], y.partial[0].value, y.partial[0].partial[0]};
}

__global__ void run(int function, int n, const double* a, const double* b, Result* r) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) r[i] = result(function, a[i], b[i]);
}

/// Zeros, infinities, NaN, subnormals, any bit pattern, and numbers of a usual size.
double any_number(std::mt19937_64& random) {
  constexpr double special[] = {0.0,       -0.0,         1.0,       -1.0,   HUGE_VAL, -HUGE_VAL,
                                0x1p-1074, -0x1.8p-1030, 0x1p-1022, -1e300, 0.5,      __builtin_nan("")};
  const double uniform = 0x1p-52 * double(random() >> 11) - 1.0;
  switch (random() % 6) {
    case 0:
      return special[random() % std::size(special)];
    case 1:
      return std::bit_cast<double>(std::uint64_t(random()));
    case 2:
      return std::floor(4.0 * uniform);
    case 3:
      return 700.0 * uniform;
    case 4:
      return uniform;
    default:
      return 4.0 * uniform;
  }
}

bool same_bits(double a, double b) { return (a != a && b != b) || std::memcmp(&a, &b, sizeof a) == 0; }

int compare() {
  constexpr int n = 4096, block = 128;
  std::mt19937_64 random(1);
  std::vector<double> a(n), b(n);
  for (int i = 0; i < n; ++i) {
    a[i] = any_number(random);
    b[i] = any_number(random);
  }
  double *device_a, *device_b;
  Result* device_r;
  cudaMalloc(&device_a, n * sizeof(double));
  cudaMalloc(&device_b, n * sizeof(double));
  cudaMalloc(&device_r, n * sizeof(Result));
  cudaMemcpy(device_a, a.data(), n * sizeof(double), cudaMemcpyHostToDevice);
  cudaMemcpy(device_b, b.data(), n * sizeof(double), cudaMemcpyHostToDevice);
  int failed = 0;
  for (int f = 0; f < functions; ++f) {
    std::vector<Result> r(n);
    run<<<n / block, block>>>(f, n, device_a, device_b, device_r);
    const auto error = cudaMemcpy(r.data(), device_r, n * sizeof(Result), cudaMemcpyDeviceToHost);
    int different = error == cudaSuccess ? 0 : n;
    for (int i = 0; i < n && error == cudaSuccess; ++i) {
      const Result expected = result(f, a[i], b[i]);
      bool same = true;
      for (int k = 0; k < 5; ++k) same = same && same_bits(r[i].part[k], expected.part[k]);
      if (!same && different++ == 0) std::printf("  first at a = %a, b = %a\n", a[i], b[i]);
    }
    std::printf("%s: %s, %d of %d different\n", names[f], cudaGetErrorName(error), different, n);
    failed += different > 0;
  }
  cudaFree(device_a);
  cudaFree(device_b);
  cudaFree(device_r);
  return failed > 0;
}

}  // namespace
}  // namespace rattleback

int main() { return rattleback::compare(); }
