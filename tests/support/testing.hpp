#pragma once
// What the kernel tests share: the systems of the catalogue as types, states to start from, random numbers,
// comparisons.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "rattleback/builtin/systems.hpp"
#include "rattleback/loop/describe.hpp"
#include "rattleback/methods/lobatto/lobatto.hpp"

namespace rattleback {

/// Systems that the typed tests leave out, and systems that those of the Lobatto methods leave out: their tests take long to
/// compile. The tests over the catalogue run these systems.
constexpr bool is_left_out(std::string_view system) {
  return system.starts_with("chaotic_") && system != "chaotic_printed_2" && system != "chaotic_printed_3" &&
         system != "chaotic_printed_4" && system != "chaotic_contact_2" && system != "chaotic_contact_3" &&
         system != "chaotic_contact_4";
}
constexpr bool is_left_out_of_lobatto(std::string_view system) {
  for (const std::string_view other :
       {"tethered_satellites", "cylindrical_pendulum", "four_particle", "heavy_top_directors", "rigid_body_matrix",
        "dipole_on_a_stick", "rigid_body_spring", "order_barrier"})
    if (system == other) return true;
  return false;
}

// A system of the catalogue becomes a type `catalogue::identifier` with a member template `of`.
namespace catalogue {
#define RB_TYPE(identifier, header, ...)                                  \
  struct identifier {                                                     \
    template <class T>                                                    \
    using of = __VA_ARGS__;                                               \
    static constexpr auto label = #identifier;                            \
    static constexpr bool lobatto = !is_left_out_of_lobatto(#identifier); \
  };
RB_SYSTEMS(RB_TYPE)
#undef RB_TYPE
}  // namespace catalogue
template <class... Tuples>
using Concatenation = decltype(std::tuple_cat(std::declval<Tuples>()...));
#define RB_TUPLE(identifier, ...) \
  std::conditional_t<is_left_out(#identifier), std::tuple<>, std::tuple<catalogue::identifier>>,
using CatalogueEntries = Concatenation<RB_SYSTEMS(RB_TUPLE) std::tuple<>>;
#undef RB_TUPLE

/// A system of the catalogue with a number of stages.
template <class Entry, int S>
struct Case {
  template <class T>
  using of = typename Entry::template of<T>;
  static constexpr int stages = S;
  static constexpr auto label = Entry::label;
  static constexpr bool lobatto = Entry::lobatto;
};

namespace detail {
template <class Tuple>
struct TypeList;
template <class... Entries>
struct TypeList<std::tuple<Entries...>> {
  using Types = ::testing::Types<Entries...>;
  template <int S>
  using WithStages = Concatenation<std::conditional_t<Entries::lobatto, std::tuple<Case<Entries, S>>, std::tuple<>>...>;
  /// Without the systems that have holonomic constraints.
  template <int S>
  using FreeWithStages =
      Concatenation<std::conditional_t<Entries::lobatto && !is_holonomic<typename Entries::template of<double>>,
                                       std::tuple<Case<Entries, S>>, std::tuple<>>...>;
};
}  // namespace detail

/// The catalogue as a list of types for typed tests; the systems that are compiled for Lobatto methods, with numbers of stages.
using CatalogueSystems = detail::TypeList<CatalogueEntries>::Types;
/// With S stages, and further cases.
template <int S, class... Further>
using CatalogueCasesAnd = typename detail::TypeList<
    Concatenation<detail::TypeList<CatalogueEntries>::WithStages<S>, std::tuple<Further...>>>::Types;

template <int... S>
using LobattoCases =
    typename detail::TypeList<Concatenation<detail::TypeList<CatalogueEntries>::FreeWithStages<S>...>>::Types;

/// The Lobatto pair of a system's kind.
template <class T, class System, int S>
using LobattoOf = LobattoStep<T, System, Cay, S>;

struct Names {
  template <class Entry>
  static std::string GetName(int) {
    std::string name = Entry::label;
    if constexpr (requires { Entry::stages; }) name += "_s" + std::to_string(Entry::stages);
    return name;
  }
};

/// Calls f with each number of stages as a constant.
template <int... S, class F>
void for_stages(F&& f) {
  const auto call = [&](auto s) {
    SCOPED_TRACE("s = " + std::to_string(s()));
    f(s);
  };
  (call(std::integral_constant<int, S>{}), ...);
}

/// A system with the parameters of its table.
template <class System>
System make_default() {
  return make_system<System>([](int i) { return parameters_of<System>()[i].value; });
}

template <std::size_t N>
Vector<double, N> to_vector(const std::array<double, N>& a) {
  Vector<double, N> r;
  std::copy(a.begin(), a.end(), r.entry);
  return r;
}

/// The state at (q, v) with the multiplier of the continuous equations.
template <class System>
StateOf<double, System> start(const System& system, const Configuration<System>& q,
                              const std::type_identity_t<Vector<double, System::n>>& v) {
  StateOf<double, System> state{q, momentum(system, q, v), {}};
  if constexpr (System::m > 0) {
    EXPECT_TRUE(detail::continuous_multiplier(system, q, v, state.lambda));
  }
  return state;
}
template <class System>
auto default_start(const System& system) {
  return start(system, to_vector(System::default_q), to_vector(System::default_v));
}

/// The state as a step has it that carries numbers of its own.
template <class Step, int n, int m, int N>
typename Step::State state_of(const Step&, const PhaseState<double, n, m, N>& state) {
  return {state.q, state.p, state.lambda};
}

/// L and Phi as functions of (q, v) over any scalar, for `gradient` and `hessian`.
template <class System>
auto lagrangian_of(const System& system) {
  return [&system](const auto& q, const auto& v) {
    return Vector<std::remove_cvref_t<decltype(q[0])>, 1>{lagrangian(system, q, v)};
  };
}
template <class System>
auto constraint_of(const System& system) {
  return [&system](const auto& q, const auto& v) { return constraint(system, q, v); };
}

/// Numbers that depend on the seed only.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t bits() { return engine_(); }
  double uniform(double low, double high) { return low + (high - low) * 0x1p-53 * static_cast<double>(bits() >> 11); }
  template <int N>
  Vector<double, N> vector(double low, double high) {
    Vector<double, N> r;
    for (int i = 0; i < N; ++i) r[i] = uniform(low, high);
    return r;
  }

 private:
  std::mt19937_64 engine_;
};

/// A state near the default one, on the constraint.
template <class System>
auto random_start(const System& system, Random& random, double distance = 0.2) {
  constexpr int n = System::n;
  // a fast system is a small one, and the way back to a curved constraint is short
  if (is_holonomic<System>) distance *= std::min(1.0, 10.0 * time_scale<System>());
  auto q = detail::displaced<System>(to_vector(System::default_q), random.vector<n>(-distance, distance));
  auto v = to_vector(System::default_v) + random.vector<n>(-distance, distance);
  if constexpr (is_holonomic<System>) {
    EXPECT_TRUE(detail::project_position(system, q, v, 1e-14));
  }
  if constexpr (System::m > 0) {
    EXPECT_TRUE(detail::project_velocity(system, q, v, 1e-14 * std::max(1.0, max_norm(v))));
  }
  return start(system, q, v);
}

/// Iterates until the updates stop shrinking.
inline constexpr SolverOptions<double> to_round_off{0.0, 50};

/// The state after `steps` good steps.
template <class Step, class State>
State advance(const Step& step, State state, double h, int steps) {
  for (int k = 0; k < steps; ++k) {
    const double status = step(state, h).status;
    if (status != 0.0) {
      ADD_FAILURE() << "step " << k << " of size " << h << " failed with status " << status;
      break;
    }
  }
  return state;
}

template <int N>
double distance(const Vector<double, N>& a, const Vector<double, N>& b) {
  double r = 0.0;
  // NaN must not be lost in a maximum
  for (int i = 0; i < N; ++i) r = std::isnan(a[i] - b[i]) ? HUGE_VAL : std::max(r, std::fabs(a[i] - b[i]));
  return r;
}
template <int n, int m, int N>
double distance(const PhaseState<double, n, m, N>& a, const PhaseState<double, n, m, N>& b) {
  return std::max({distance(a.q, b.q), distance(a.p, b.p), distance(a.lambda, b.lambda)});
}

/// The same double, or both NaN.
inline bool same_bits(double a, double b) {
  return (a != a && b != b) || std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

}  // namespace rattleback
