#pragma once
// The operations of expressions on the lanes of a chunk, for the instruction set of the translation unit.

#include <numbers>
#include <type_traits>
#include <utility>

#include "rattleback/language/operations.hpp"
#include "rattleback/loop/lanes.hpp"

RB_NAMESPACE_BEGIN

namespace detail {

/// Which parameters of a row of the table are conditions.
template <class F>
struct Parameters;
template <class... P>
struct Parameters<void(P...)> {
  template <int i, class T>
  RB_HD static auto operand(const double* const* rows, int lane) {
    if constexpr (i < int(sizeof...(P))) {
      constexpr bool is_condition[] = {std::is_same_v<P, bool>...};
      const T x = Lanes<T>::load(rows[i] + lane);
      if constexpr (is_condition[i]) {
        return mask_t<T>(x != T(0.0));
      } else {
        return x;
      }
    } else {
      return T(0.0);
    }
  }
};
template <>
struct Parameters<void()> {
  template <int i, class T>
  RB_HD static T operand(const double* const*, int) {
    return T(0.0);
  }
};

template <class T>
RB_HD T as_number(const T& x) {
  return x;
}
template <class T, class M>
  requires(std::is_same_v<M, mask_t<T>> || std::is_integral_v<M>)
RB_HD T as_number(const M& condition) {
  return select(mask_t<T>(condition), T(1.0), T(0.0));
}

}  // namespace detail

/// See LaneOperation. `for_lanes` calls a function with the first lane of each pack.
template <class T, class ForLanes>
RB_HD_LARGE void apply_to_lanes(Op op, int exponent, const double* const* rows, double* results,
                                const ForLanes& for_lanes) {
  if (op == Op::whole_power) {
    for_lanes([&](int lane) {
      const T a = Lanes<T>::load(rows[0] + lane);
      T product = a;
      for (int i = 1; i < exponent; ++i) product = product * a;
      Lanes<T>::store(results + lane, product);
    });
    return;
  }
  switch (op) {
// NOLINTBEGIN(bugprone-macro-parentheses): a list of parameters has its own
#define RB_LANES(name, parameters, derivative, use, value)                     \
  case Op::name:                                                               \
    for_lanes([&](int lane) {                                                  \
      using Row = detail::Parameters<void parameters>;                         \
      [[maybe_unused]] const auto a = Row::template operand<0, T>(rows, lane); \
      [[maybe_unused]] const auto b = Row::template operand<1, T>(rows, lane); \
      [[maybe_unused]] const auto c = Row::template operand<2, T>(rows, lane); \
      Lanes<T>::store(results + lane, detail::as_number<T>(value));            \
    });                                                                        \
    return;
    // NOLINTEND(bugprone-macro-parentheses)
    RB_OPERATIONS(RB_LANES)
#undef RB_LANES
  }
}

/// The packs of a chunk.
template <class T>
struct ForPacks {
  template <class F>
  RB_HD void operator()(const F& f) const {
    for (int lane = 0; lane < chunk_size; lane += Lanes<T>::width) f(lane);
  }
};
template <class T>
void apply_to_chunk(Op op, int exponent, const double* const* rows, double* results) {
  apply_to_lanes<T>(op, exponent, rows, results, ForPacks<T>());
}

/// See NormalNumbers.
template <class T>
void normal_numbers(const double* first, const double* second, double* numbers) {
  for (int lane = 0; lane < chunk_size; lane += Lanes<T>::width) {
    const T radius = sqrt(T(-2.0) * log(Lanes<T>::load(first + lane)));
    Lanes<T>::store(numbers + lane, radius * cos(T(2 * std::numbers::pi) * Lanes<T>::load(second + lane)));
  }
}

RB_NAMESPACE_END
