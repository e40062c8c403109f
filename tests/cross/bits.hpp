#pragma once
// What the programs of this folder share: numbers that are the same everywhere, and how bits are printed.

#include <bit>
#include <cstdint>
#include <cstdio>
#include <initializer_list>

namespace rattleback {

/// The generator splitmix64 (G. Steele, D. Lea, C. Flood, OOPSLA 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// A number in [from, to).
  double uniform(double from, double to) { return from + (to - from) * (static_cast<double>(bits() >> 11) * 0x1p-53); }

 private:
  std::uint64_t state_;
};

/// The bits of x. All NaN are the same, because processors differ in their signs.
inline std::uint64_t bits_of(double x) {
  return x == x ? std::bit_cast<std::uint64_t>(x) : std::uint64_t{0x7ff8000000000000};
}
inline void print(const char* label, int index, std::initializer_list<double> values) {
  std::printf("%s %d", label, index);
  for (const double x : values) std::printf(" %016llx", static_cast<unsigned long long>(bits_of(x)));
  std::printf("\n");
}

}  // namespace rattleback
