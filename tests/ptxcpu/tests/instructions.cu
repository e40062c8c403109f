// Instructions of the translator against their definitions in plain C++ on the host. run.py builds and runs this.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace {

struct Input {
  std::uint32_t a, b, c;
  std::uint64_t x, y;
  float f, g;
  double d, e, s;
};
constexpr int most_results = 128;

/// Results as bits; a NaN stands for all NaNs.
struct Results {
  std::uint64_t bits[most_results];
  int count;
  __host__ __device__ void add(std::uint64_t value) { bits[count++] = value; }
  __host__ __device__ void add_float(float value) {
    std::uint32_t b = 0;
    memcpy(&b, &value, sizeof(b));
    add(value == value ? b : 0x7fffffffu);
  }
  __host__ __device__ void add_double(double value) {
    std::uint64_t b = 0;
    memcpy(&b, &value, sizeof(b));
    add(value == value ? b : ~std::uint64_t{0} >> 1);
  }
};

// --- definitions on the host

[[maybe_unused]] std::uint32_t field(std::uint32_t a, unsigned position, unsigned length, bool with_sign) {
  const std::uint64_t wide = with_sign ? std::uint64_t(std::int64_t(std::int32_t(a))) : a;
  const unsigned top = std::min(position + length, 32u);
  if (length == 0) return 0;
  if (position >= 32) return with_sign && a >> 31 ? ~0u : 0u;
  const std::uint64_t low = wide << (64 - top);
  return std::uint32_t(with_sign ? std::uint64_t(std::int64_t(low) >> (64 - top + position))
                                 : low >> (64 - top + position));
}
[[maybe_unused]] std::uint32_t inserted(std::uint32_t a, std::uint32_t b, unsigned position, unsigned length) {
  const std::uint64_t mask = ((std::uint64_t{1} << length) - 1) << position;
  return std::uint32_t((b & ~mask) | ((std::uint64_t{a} << position) & mask));
}
[[maybe_unused]] std::uint32_t chosen(std::uint32_t a, std::uint32_t b, std::uint32_t selection) {
  std::uint8_t bytes[8];
  std::memcpy(bytes, &a, 4);
  std::memcpy(bytes + 4, &b, 4);
  std::uint32_t r = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned s = selection >> 4 * i;
    const std::uint8_t byte = bytes[s & 7];
    r |= std::uint32_t(s & 8 ? std::uint8_t(std::int8_t(byte) < 0 ? 255 : 0) : byte) << 8 * i;
  }
  return r;
}
template <class To, class From>
To clamped(From x) {  // of a rounded number
  if (x != x) return sizeof(To) == 8 || sizeof(From) == 8 ? To(std::uint64_t{1} << (8 * sizeof(To) - 1)) : To(0);
  const long double wide = x;
  if (wide < (long double)std::numeric_limits<To>::min()) return std::numeric_limits<To>::min();
  if (wide > (long double)std::numeric_limits<To>::max()) return std::numeric_limits<To>::max();
  return To(wide);
}
template <class T>
T smaller(T a, T b) {  // -0 < 0, and a NaN gives way
  if (a != a) return b;
  if (b != b) return a;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

// --- the same on both sides: EITHER(instruction, definition)

#ifdef __CUDA_ARCH__
#define EITHER(device, host) (device)
__device__ std::uint32_t asm_shl(std::uint32_t a, std::uint32_t by) {
  std::uint32_t r;
  asm("shl.b32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(by));
  return r;
}
__device__ std::uint32_t asm_shr(std::uint32_t a, std::uint32_t by) {
  std::uint32_t r;
  asm("shr.s32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(by));
  return r;
}
__device__ std::uint32_t asm_bfe_u(std::uint32_t a, std::uint32_t p, std::uint32_t n) {
  std::uint32_t r;
  asm("bfe.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(p), "r"(n));
  return r;
}
__device__ std::uint32_t asm_bfe_s(std::uint32_t a, std::uint32_t p, std::uint32_t n) {
  std::uint32_t r;
  asm("bfe.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(p), "r"(n));
  return r;
}
__device__ std::uint32_t asm_bfi(std::uint32_t a, std::uint32_t b, std::uint32_t p, std::uint32_t n) {
  std::uint32_t r;
  asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(a), "r"(b), "r"(p), "r"(n));
  return r;
}
__device__ std::uint32_t asm_bfind(std::uint32_t a) {
  std::uint32_t r;
  asm("bfind.s32 %0, %1;" : "=r"(r) : "r"(a));
  return r;
}
__device__ std::uint32_t asm_lop3(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  std::uint32_t r;
  asm("lop3.b32 %0, %1, %2, %3, 0xca;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
  return r;
}
__device__ std::uint32_t asm_sat(std::int32_t a) {
  std::uint32_t r;
  asm("{ .reg .s8 t; cvt.sat.s8.s32 t, %1; cvt.s32.s8 %0, t; }" : "=r"(r) : "r"(a));
  return r;
}
#else
#define EITHER(device, host) (host)
#endif

__host__ __device__ void compute(const Input& in, Results& r) {
  const auto [a, b, c, x, y, f, g, d, e, s] = in;
  const std::int32_t sa = std::int32_t(a), sb = std::int32_t(b);
  const std::int64_t sx = std::int64_t(x), sy = std::int64_t(y);
  const unsigned by = b % 80, position = b % 32, length = c % 32;
  r.count = 0;
  // 32 bits
  r.add(a + b * c - (a ^ c));
  r.add(std::uint64_t(a) * b);
  r.add(std::uint64_t(std::int64_t(sa) * sb));
  r.add(EITHER(__umulhi(a, b), std::uint32_t(std::uint64_t(a) * b >> 32)));
  r.add(std::uint32_t(EITHER(__mulhi(sa, sb), std::int32_t(std::int64_t(sa) * sb >> 32))));
  r.add(b ? a / b : 0);
  r.add(b ? a % b : 0);
  r.add(b && b != ~0u ? std::uint32_t(sa / sb) : 0);
  r.add(b && b != ~0u ? std::uint32_t(sa % sb) : 0);
  r.add(EITHER(__popc(a), __builtin_popcount(a)));
  r.add(std::uint32_t(EITHER(__clz(a), a ? __builtin_clz(a) : 32)));
  r.add(std::uint32_t(EITHER(__ffs(a), __builtin_ffs(sa))));
  r.add(EITHER(__byte_perm(a, b, c & 0x7777), chosen(a, b, c & 0x7777)));
  r.add(EITHER(__funnelshift_l(a, b, c), std::uint32_t((std::uint64_t(b) << 32 | a) << c % 32 >> 32)));
  r.add(EITHER(__funnelshift_r(a, b, c), std::uint32_t((std::uint64_t(b) << 32 | a) >> c % 32)));
  r.add(EITHER(__funnelshift_rc(a, b, by), std::uint32_t((std::uint64_t(b) << 32 | a) >> (by < 32 ? by : 32))));
  r.add(EITHER(asm_shl(a, by), by < 32 ? a << by : 0u));
  r.add(EITHER(asm_shr(a, by), std::uint32_t(sa >> (by < 32 ? by : 31))));
  r.add(EITHER(asm_bfe_u(a, position, length), field(a, position, length, false)));
  r.add(EITHER(asm_bfe_s(a, position, length), field(a, position, length, true)));
  r.add(EITHER(asm_bfi(a, c, position, length), inserted(a, c, position, length)));
  r.add(EITHER(asm_bfind(a), (sa < 0 ? ~a : a) ? 31u - __builtin_clz(sa < 0 ? ~a : a) : ~0u));
  r.add(EITHER(asm_lop3(a, b, c), (a & b) | (~a & c)));
  r.add(EITHER(asm_sat(sa), std::uint32_t(clamped<std::int8_t>(double(sa)))));
  r.add(std::uint32_t(sa < sb ? sa : sb) + (a > b ? a : b));
  r.add(sa == INT32_MIN ? 0 : std::uint32_t(sa < 0 ? -sa : sa));
  r.add(std::uint16_t(std::uint16_t(a) * std::uint16_t(b)) + std::uint64_t(std::int16_t(a)) + std::uint8_t(b));
  // 64 bits
  r.add(x * y + x - y);
  r.add(EITHER(__umul64hi(x, y), std::uint64_t((unsigned __int128)(x)*y >> 64)));
  r.add(std::uint64_t(EITHER(__mul64hi(sx, sy), std::int64_t((__int128)(sx)*sy >> 64))));
  r.add(y ? x / y : 0);
  r.add(y ? x % y : 0);
  r.add(y && ~y ? std::uint64_t(sx / sy) : 0);
  r.add(std::uint64_t(EITHER(__popcll(x), __builtin_popcountll(x))));
  r.add(std::uint64_t(EITHER(__clzll(sx), x ? __builtin_clzll(x) : 64)));
  r.add(x >> (b % 64) | y << (c % 64));
  r.add(std::uint64_t(sx >> (b % 64)));
  r.add((x < y) + 2 * (sx < sy) + 4 * (x == y) + 8 * (a <= b) + 16 * (sa >= sb));
  // doubles
  r.add_double(d + e);
  r.add_double(d - e);
  r.add_double(d * e);
  r.add_double(d / e);
  r.add_double(d * e + s);
  r.add_double(fma(d, e, s));
  r.add_double(fma(-d, e, s));
  r.add_double(-fma(d, e, s));
  r.add_double(-fma(d, 0.0, 0.0));  // -0, not 0
  r.add_double(sqrt(fabs(d)));
  r.add_double(EITHER(__drcp_rn(d), 1.0 / d));
  r.add_double(EITHER(fmin(d, e), smaller(d, e)));
  r.add_double(EITHER(fmax(d, e), -smaller(-d, -e)));
  r.add_double(copysign(d, e));
  r.add_double(rint(d));
  r.add_double(floor(d) + ceil(e) - trunc(s));
  r.add((d < e) + 2 * !(d < e) + 4 * (d == e) + 8 * (d != e) + 16 * !(d >= e) + 32 * (d <= e));
  r.add(std::uint64_t(d < e ? sx : sy));
  r.add(std::uint64_t(EITHER(__double_as_longlong(s), [](double t) {
    long long b;
    memcpy(&b, &t, 8);
    return b;
  }(s))));
  // floats
  r.add_float(f + g);
  r.add_float(f * g - f);
  r.add_float(f / g);
  r.add_float(fmaf(f, g, -f));
  r.add_float(sqrtf(fabsf(f)));
  r.add_float(EITHER(fminf(f, g), smaller(f, g)));
  r.add_float(float(d));
  r.add_double(double(f));
  // conversions
  r.add_double(double(sa) + double(b) * double(sx) + double(y));
  r.add_float(float(a) - float(sx));
  r.add(std::uint32_t(EITHER(__double2int_rz(d), clamped<std::int32_t>(std::trunc(d)))));
  r.add(EITHER(__double2uint_rn(d), clamped<std::uint32_t>(std::rint(d))));
  r.add(std::uint64_t(EITHER(__double2ll_rd(d), clamped<long long>(std::floor(d)))));
  r.add(EITHER(__double2ull_ru(d), clamped<unsigned long long>(std::ceil(d))));
  r.add(std::uint32_t(EITHER(__float2int_rn(f), clamped<std::int32_t>(std::rint(f)))));
}

__global__ void compute_kernel(const Input* in, Results* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) compute(in[i], out[i]);
}

}  // namespace

int main() {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const double doubles[] = {0.0, -0.0, 1.0, -1.5,         0.5,           2.5,    1e308,  -1e308, 5e-324, 1e-310,
                            inf, -inf, nan, 4294967295.5, -2147483648.5, 9.3e18, 1.9e19, 1e10,   0.1,    16777217.0};
  const std::uint64_t integers[] = {0,
                                    1,
                                    2,
                                    31,
                                    32,
                                    33,
                                    63,
                                    ~0ull,
                                    1ull << 31,
                                    1ull << 63,
                                    (1ull << 31) - 1,
                                    0x80000000ffffffffull,
                                    0x123456789abcdef0ull,
                                    127,
                                    128,
                                    0xffffff80ull};
  std::mt19937_64 random(1);
  const auto number = [&] {
    if (random() % 2) return doubles[random() % std::size(doubles)];
    return std::ldexp(double(std::int64_t(random())), int(random() % 120) - 110);
  };
  const auto integer = [&] {
    return random() % 2 ? integers[random() % std::size(integers)] : random() >> random() % 64;
  };
  std::vector<Input> in(4096);
  for (Input& i : in)
    i = {std::uint32_t(integer()),
         std::uint32_t(integer()),
         std::uint32_t(integer()),
         integer(),
         integer(),
         float(number()),
         float(number()),
         number(),
         number(),
         number()};
  const int n = int(in.size());
  Input* device_in = nullptr;
  Results* device_out = nullptr;
  std::vector<Results> out(in.size());
  cudaMalloc(&device_in, in.size() * sizeof(Input));
  cudaMalloc(&device_out, in.size() * sizeof(Results));
  cudaMemcpy(device_in, in.data(), in.size() * sizeof(Input), cudaMemcpyHostToDevice);
  compute_kernel<<<(n + 127) / 128, 128>>>(device_in, device_out, n);
  cudaMemcpy(out.data(), device_out, out.size() * sizeof(Results), cudaMemcpyDeviceToHost);
  if (const cudaError_t code = cudaDeviceSynchronize(); code != cudaSuccess) {
    std::printf("%s\n", cudaGetErrorName(code));
    return 1;
  }
  int different = 0;
  for (int i = 0; i < n; ++i) {
    Results expected;
    compute(in[i], expected);
    for (int k = 0; k < expected.count; ++k)
      if (out[i].bits[k] != expected.bits[k] && ++different <= 10)
        std::printf("result %d of input %d: %016llx, expected %016llx\n", k, i, (unsigned long long)out[i].bits[k],
                    (unsigned long long)expected.bits[k]);
  }
  std::printf("%d inputs, %d results each, %d different\n", n, out[0].count, different);
  return different != 0;
}
