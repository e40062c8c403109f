// Included with RATTLEBACK_ISA defined, and RATTLEBACK_TEAM_CREW where lanes are to be threads.

#include "cases.hpp"
#include "rattleback/loop/advance.hpp"
#include "rattleback/loop/tangent.hpp"
#include "rattleback/methods/energy_momentum/energy_momentum.hpp"
#include "rattleback/methods/ggl/ggl.hpp"
#include "rattleback/methods/hbvm/hbvm.hpp"
#include "rattleback/methods/lobatto/lobatto.hpp"
#include "rattleback/systems/holonomic/double_spherical_pendulum.hpp"
#include "rattleback/systems/holonomic/heavy_top_directors.hpp"
#include "rattleback/systems/nonholonomic/turntable_ball.hpp"

RB_NAMESPACE_BEGIN

namespace {

template <class T>
using Ball = TurntableBall<T, TurntableVariant::space>;

template <GglScheme scheme>
struct Condensed {
  template <class T, class System>
  using of = GglStep<T, System, scheme>;
};
struct EnergyMomentum {
  template <class T, class System>
  using of = EnergyMomentumStep<T, System, GglScheme::energy_momentum>;
};
struct General {
  template <class T, class System>
  using of = GeneralGgl<T, System, GglScheme::theta_b>;
};
template <class Tau, int S>
struct Lobatto {
  template <class T, class System>
  using of = GeneralLobatto<T, System, Tau, S, true>;
};
/// A thread takes the step, a team that of the tangent vector.
struct SweptLobatto {
  template <class T, class System>
  using of = LobattoStep<T, System, Cay, 3>;
};

/// A surface that is crossed once, in the first step.
template <class T>
struct One {
  static constexpr int count = 1;
  template <class Point>
  static Vector<T, count> evaluate(const Point&) {
    return {T(1.0)};
  }
};

template <template <class> class System, class Method, class Companion>
TeamCase team_case(const char* name, double h) {
  using Sys = System<double>;
  using Step = typename Method::template of<double, Sys>;
  constexpr int n = Sys::n, m = Sys::m, N = element_size<Sys>;
  TeamCase r{name, TeamOfLoop<Step, Companion>::lanes, {}, {}, [](const KernelArguments& arguments, double* chunk) {
               advance_lanes<double, System, Method::template of, Companion, One>(arguments, chunk, 0);
             }};
  KernelArguments& a = r.arguments;
  a.step = h;
  a.tolerance = 1e-16;
  a.max_iterations = 50;
  a.method[0] = a.method[1] = 0.5;
  for (int i = 0; i < max_uniform_parameters; ++i) a.parameter_row[i] = -1;
  const auto parameters = parameters_of<Sys>();
  for (std::size_t i = 0; i < parameters.size(); ++i) a.parameters[i] = parameters[i].value;
  a.surfaces.count = 1;
  ChunkLayout& rows = a.layout;
  int row = 0;
  const auto next = [&](int count) {
    row += count;
    return row - count;
  };
  rows.q = next(N);
  rows.p = next(n);
  rows.lambda = next(m);
  rows.status = next(1);
  rows.steps = next(1);
  rows.iterations = next(1);
  rows.residual = next(1);
  rows.step = rows.steps_per_sample = -1;
  rows.surfaces = next(1);
  rows.crossings = next(1);
  rows.slots = next(crossing_slots * (2 + N + n + m));
  rows.tangent = next(N + n + m);
  rows.tangent_exponent = next(1);
  rows.rounding = -1;
  rows.rows = row;
  r.chunk.assign(static_cast<std::size_t>(row) * row_size, 0.0);
  const auto at = [&](int i) -> double& { return r.chunk[static_cast<std::size_t>(i) * row_size]; };

  const auto system = make_system<Sys>([&](int i) { return a.parameters[i]; });
  Vector<double, N> q;
  Vector<double, n> v;
  for (int i = 0; i < N; ++i) at(rows.q + i) = q[i] = Sys::default_q[i];
  for (int i = 0; i < n; ++i) v[i] = Sys::default_v[i];
  const Vector<double, n> p = momentum(system, q, v);
  for (int i = 0; i < n; ++i) at(rows.p + i) = p[i];
  at(rows.tangent) = 1.0;
  at(rows.surfaces) = -1.0;
  return r;
}

}  // namespace

inline std::vector<TeamCase> team_cases() {
  return {team_case<HeavyTopDirectors, Condensed<GglScheme::vi_s>, NoCompanion>("CondensedViS", 0.002),
          team_case<HeavyTopDirectors, Condensed<GglScheme::theta_b>, NoCompanion>("CondensedGgl", 0.002),
          team_case<HeavyTopDirectors, EnergyMomentum, NoCompanion>("CondensedEnergyMomentum", 0.002),
          team_case<DoubleSphericalPendulum, General, NoCompanion>("GeneralGgl", 0.05),
          team_case<DoubleSphericalPendulum, General, Tangent<double, DoubleSphericalPendulum, General::of>>(
              "GeneralGglWithTangent", 0.05),
          team_case<DoubleSphericalPendulum, Lobatto<Cay, 3>, NoCompanion>("HolonomicLobatto", 0.1),
          team_case<DoubleSphericalPendulum, Lobatto<Cay, 5>, NoCompanion>("HolonomicLobattoOfFiveStages", 0.1),
          team_case<Ball, Lobatto<Exp, 4>, NoCompanion>("NonholonomicLobattoOnAGroup", 0.1),
          team_case<Ball, SweptLobatto, Tangent<double, Ball, SweptLobatto::of>>("TangentOfASweptStep", 0.1)};
}

RB_NAMESPACE_END
