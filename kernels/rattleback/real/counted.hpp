#pragma once
// A double that counts its floating-point operations.

#include "rattleback/real/real.hpp"
#include "rattleback/real/single.hpp"

RB_NAMESPACE_BEGIN

/// Number of operations so far, in fp64 or fp32: 1 for +, -, *, /, sqrt and 2 for a fused multiply-add. Comparisons, selections, signs,
/// conversions and integer manipulation count 0. One thread at a time counts.
inline std::uint64_t counted_operations = 0;

namespace detail {
/// Counts the operations that gave a result.
template <class Number>
Number counted(Number result, int operations = 1) {
  counted_operations += static_cast<std::uint64_t>(operations);
  return result;
}
}  // namespace detail

struct Counted {
  double value;

  Counted() = default;
  Counted(double a) : value(a) {}

  friend Counted operator+(Counted a, Counted b) { return detail::counted(a.value + b.value); }
  friend Counted operator-(Counted a, Counted b) { return detail::counted(a.value - b.value); }
  friend Counted operator*(Counted a, Counted b) { return detail::counted(a.value * b.value); }
  friend Counted operator/(Counted a, Counted b) { return detail::counted(a.value / b.value); }
  friend Counted operator-(Counted a) { return -a.value; }
  Counted& operator+=(Counted b) { return *this = *this + b; }
  Counted& operator-=(Counted b) { return *this = *this - b; }
  Counted& operator*=(Counted b) { return *this = *this * b; }
  Counted& operator/=(Counted b) { return *this = *this / b; }

  friend bool operator<(Counted a, Counted b) { return a.value < b.value; }
  friend bool operator<=(Counted a, Counted b) { return a.value <= b.value; }
  friend bool operator>(Counted a, Counted b) { return a.value > b.value; }
  friend bool operator>=(Counted a, Counted b) { return a.value >= b.value; }
  friend bool operator==(Counted a, Counted b) { return a.value == b.value; }
  friend bool operator!=(Counted a, Counted b) { return a.value != b.value; }

  friend Counted fma(Counted a, Counted b, Counted c) {
    return detail::counted(__builtin_fma(a.value, b.value, c.value), 2);
  }
  friend Counted sqrt(Counted a) { return detail::counted(__builtin_sqrt(a.value)); }
  friend Counted abs(Counted a) { return __builtin_fabs(a.value); }
  friend Counted with_sign(Counted a, Counted b) { return rattleback::with_sign(a.value, b.value); }
  friend Counted select(bool mask, Counted a, Counted b) { return mask ? a : b; }
  friend Counted exp2_integer(Counted k) { return rattleback::exp2_integer(k.value); }
  friend Counted exponent_of(Counted a) { return rattleback::exponent_of(a.value); }
  friend Counted value_of(Counted a) { return a; }
};

namespace detail {
struct CountedSingle {
  float value;

  friend CountedSingle operator+(CountedSingle a, CountedSingle b) { return {counted(a.value + b.value)}; }
  friend CountedSingle operator-(CountedSingle a, CountedSingle b) { return {counted(a.value - b.value)}; }
  friend CountedSingle operator*(CountedSingle a, CountedSingle b) { return {counted(a.value * b.value)}; }
  friend CountedSingle operator/(CountedSingle a, CountedSingle b) { return {counted(a.value / b.value)}; }
  friend CountedSingle operator-(CountedSingle a) { return {-a.value}; }
};
template <>
struct SingleLanes<Counted> {
  using V = CountedSingle;
  static V narrow(const Counted& a) { return {static_cast<float>(a.value)}; }
  static Counted wide(V a) { return double(a.value); }
  static V fma(V a, V b, V c) { return {counted(__builtin_fmaf(a.value, b.value, c.value), 2)}; }
};
}  // namespace detail

RB_NAMESPACE_END
