// Prints a hash of the results of every operation and every elementary function, over many arguments. cross_test.py compares
// what the programs of all compilers and instruction sets print.

#include <iterator>

#include "bits.hpp"
#include "rattleback/loop/lanes.hpp"
#include "rattleback/real/hyperbolic.hpp"
#include "rattleback/real/power.hpp"
#include "rattleback/real/trigonometric.hpp"

namespace rattleback {
namespace {

#ifdef RATTLEBACK_PACK
using Real = Pack<RATTLEBACK_PACK>;
#else
using Real = double;
#endif
constexpr int width = Lanes<Real>::width;

/// Drawn as an integer: GCC 12 makes -0.0 of the conversion of -0.5 to an integer and back.
double whole_number(Random& random, int from, int to) {
  return static_cast<double>(from + static_cast<int>(random.bits() % static_cast<unsigned>(to - from + 1)));
}

/// Zeros, infinities, NaN, subnormals, any bit pattern, plain numbers, and numbers of every size.
double any_number(Random& random) {
  constexpr double special[] = {0.0,
                                -0.0,
                                1.0,
                                -1.0,
                                __builtin_huge_val(),
                                -__builtin_huge_val(),
                                __builtin_nan(""),
                                0x1p-1074,
                                -0x1.8p-1030,
                                0x1p-1022,
                                0x1.fffffffffffffp1023,
                                710.0,
                                -746.0,
                                0.5};
  switch (random.bits() % 8) {
    case 0:
      return special[random.bits() % std::size(special)];
    case 1:
      return std::bit_cast<double>(random.bits());
    case 2:
      return whole_number(random, -4, 4);
    case 3:
      return random.uniform(-1e3, 1e3);
    case 4:
      return random.uniform(-0x1p30, 0x1p30);
    default:
      return random.uniform(-4.0, 4.0);
  }
}
double whole_exponent(Random& random) { return whole_number(random, -1022, 1023); }
double positive_normal(Random& random) {
  const std::uint64_t exponent = 1 + random.bits() % 2046;
  return std::bit_cast<double>(exponent << 52 | random.bits() >> 12);
}

Real as_number(const Real& a) { return a; }
Real as_number(const mask_t<Real>& mask) { return select(mask, Real(1.0), Real(0.0)); }

/// Prints hashes of f on numbers from `draw`. Each hash is over 1024 results, in the order of their arguments.
template <class F>
void print_hashes(const char* name, F f, double (*draw)(Random&) = any_number, int hashes = 16) {
  Random random(7);
  for (int block = 0; block < hashes; ++block) {
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (int i = 0; i < 1024; i += width) {
      double a[width], b[width], c[width];
      for (int k = 0; k < width; ++k) a[k] = draw(random), b[k] = draw(random), c[k] = draw(random);
      Lanes<Real>::store(a, as_number(f(Lanes<Real>::load(a), Lanes<Real>::load(b), Lanes<Real>::load(c))));
      for (const double x : a) hash = (hash ^ bits_of(x)) * 0x100000001b3u, hash ^= hash >> 29;
    }
    std::printf("%s block %d %016llx\n", name, block, static_cast<unsigned long long>(hash));
  }
}

void operations() {
  using T = Real;
  print_hashes("a + b", [](T a, T b, T) { return a + b; });
  print_hashes("a - b", [](T a, T b, T) { return a - b; });
  print_hashes("a * b", [](T a, T b, T) { return a * b; });
  print_hashes("a / b", [](T a, T b, T) { return a / b; });
  print_hashes("-a", [](T a, T, T) { return -a; });
  print_hashes("a * b + c", [](T a, T b, T c) { return a * b + c; });
  print_hashes("c - a * b", [](T a, T b, T c) { return c - a * b; });
  print_hashes("fma", [](T a, T b, T c) { return fma(a, b, c); });
  print_hashes("-fma", [](T a, T b, T c) { return -fma(a, b, c); });
  print_hashes("-fma at zero", [](T a, T b, T) { return -fma(a, b, -(a * b)); }, whole_exponent);
  print_hashes("fma(-a, b, -c)", [](T a, T b, T c) { return fma(-a, b, -c); });
  print_hashes("sqrt", [](T a, T, T) { return sqrt(a); });
  print_hashes("abs", [](T a, T, T) { return abs(a); });
  print_hashes("max", [](T a, T b, T) { return max(a, b); });
  print_hashes("min", [](T a, T b, T) { return min(a, b); });
  print_hashes("sign", [](T a, T, T) { return sign(a); });
  // The sign of NaN counts in with_sign.
  print_hashes("with_sign", [](T a, T b, T) { return select(b == b, with_sign(a, b), b); });
  print_hashes("a < b", [](T a, T b, T) { return a < b; });
  print_hashes("a <= b", [](T a, T b, T) { return a <= b; });
  print_hashes("a > b", [](T a, T b, T) { return a > b; });
  print_hashes("a >= b", [](T a, T b, T) { return a >= b; });
  print_hashes("a == b", [](T a, T b, T) { return a == b; });
  print_hashes("a != b", [](T a, T b, T) { return a != b; });
  print_hashes("masks", [](T a, T b, T c) { return mask_t<T>(((a < b) & (b < c)) | !(a < c)); });
  print_hashes("select", [](T a, T b, T c) { return select(a < b, b, c); });
  print_hashes("is_finite", [](T a, T, T) { return is_finite(a); });
  print_hashes("exp2_integer", [](T a, T, T) { return exp2_integer(a); }, whole_exponent);
  print_hashes("exponent_of", [](T a, T, T) { return exponent_of(a); }, positive_normal);
}

void elementary_functions() {
  using T = Real;
  print_hashes("sin", [](T a, T, T) { return sin(a); });
  print_hashes("cos", [](T a, T, T) { return cos(a); });
  print_hashes("tan", [](T a, T, T) { return tan(a); });
  print_hashes("asin", [](T a, T, T) { return asin(a); });
  print_hashes("acos", [](T a, T, T) { return acos(a); });
  print_hashes("atan", [](T a, T, T) { return atan(a); });
  print_hashes("rint", [](T a, T, T) { return rint(a); });
  print_hashes("atan2", [](T a, T b, T) { return atan2(a, b); });
  print_hashes("exp", [](T a, T, T) { return exp(a); });
  print_hashes("log", [](T a, T, T) { return log(a); });
  print_hashes("log of normal numbers", [](T a, T, T) { return log(a); }, positive_normal);
  print_hashes("log2", [](T a, T, T) { return log2(a); });
  print_hashes("log10", [](T a, T, T) { return log10(a); });
  print_hashes("pow", [](T a, T b, T) { return pow(a, b); });
  print_hashes("sinh", [](T a, T, T) { return sinh(a); });
  print_hashes("cosh", [](T a, T, T) { return cosh(a); });
  print_hashes("tanh", [](T a, T, T) { return tanh(a); });
  print_hashes("asinh", [](T a, T, T) { return asinh(a); });
  print_hashes("acosh", [](T a, T, T) { return acosh(a); });
  print_hashes("atanh", [](T a, T, T) { return atanh(a); });
}

}  // namespace
}  // namespace rattleback

int main() {
  rattleback::operations();
  rattleback::elementary_functions();
}
