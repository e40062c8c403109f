#pragma once
// The methods of the catalogue. RB_METHODS calls X(identifier of the entry, step over T and System with some options) for
// each method. An entry that has no line here is no method of the catalogue; the test `registry` names it.

#include "rattleback/methods/conversion/entry.hpp"
#include "rattleback/methods/energy_momentum/entry.hpp"
#include "rattleback/methods/generalized_alpha/entry.hpp"
#include "rattleback/methods/ggl/entry.hpp"
#include "rattleback/methods/hbvm/entry.hpp"
#include "rattleback/methods/lie/vcg_entry.hpp"
#include "rattleback/methods/lie/vrkmk_entry.hpp"
#include "rattleback/methods/lobatto/entry.hpp"
#include "rattleback/methods/nonholonomic/dla_entry.hpp"
#include "rattleback/methods/nonholonomic/leapfrog_entry.hpp"
#include "rattleback/methods/nonholonomic/spark_entry.hpp"
#include "rattleback/methods/nonholonomic/transport_entry.hpp"

#define RB_METHODS(X)                                                                         \
  X(nonholonomic_lobatto, LobattoStep<T, System, Cay, 2>)                                     \
  X(nonholonomic_spark, SparkStep<T, System, 2>)                                              \
  X(nonholonomic_leapfrog, LeapfrogStep<T, System>)                                           \
  X(nonholonomic_dla, DlaStep<T, System, DlaLagrangian::midpoint, DlaConstraint::mid>)        \
  X(nonholonomic_energy, TransportStep<T, System>)                                            \
  X(holonomic_lobatto, LobattoStep<T, System, Cay, 2>)                                        \
  X(lobatto, LobattoStep<T, System, Cay, 2>)                                                  \
  X(hbvm, Hbvm<T, System, 1>)                                                                 \
  X(variational_conversion, VariationalConversion<T, System>)                                 \
  X(runge_kutta, RungeKutta<T, System>)                                                       \
  X(vrkmk, VrkmkStep<T, System, 1>)                                                           \
  X(vrkmk_pade, VrkmkStep<T, System, 1>)                                                      \
  X(vcg, VcgStep<T, System>)                                                                  \
  X(ggl_vi_s, GglStep<T, System, GglScheme::vi_s>)                                            \
  X(ggl_vi_a, GglStep<T, System, GglScheme::theta_a>)                                         \
  X(ggl_vi_b, GglStep<T, System, GglScheme::theta_b>)                                         \
  X(ggl_vi_bs, GglStep<T, System, GglScheme::theta_b>)                                        \
  X(ggl_theta, GglStep<T, System, GglScheme::theta_b>)                                        \
  X(energy_momentum, EnergyMomentumStep<T, System, GglScheme::energy_momentum>)               \
  X(energy_momentum_index3, EnergyMomentumStep<T, System, GglScheme::energy_momentum_index3>) \
  X(classical_ggl, EnergyMomentumStep<T, System, GglScheme::classical>)                       \
  X(bobenko_suris, BobenkoSuris<T, System>)                                                   \
  X(generalized_alpha, GeneralizedAlpha<T, System, Stabilised>)

RB_NAMESPACE_BEGIN

#define RB_CHECK_ENTRY(id, ...)                                                                                \
  static_assert(methods::id.header != nullptr,                                                                 \
                "the entry '" #id "' has no header: set .header to that of the step, as an include names it"); \
  static_assert(methods::id.step != nullptr,                                                                   \
                "the entry '" #id "' has no step: set .step to its type over T and System");
RB_METHODS(RB_CHECK_ENTRY)

#define RB_ENTRY(id, ...) &methods::id,
inline constexpr const MethodEntry* builtin_methods[] = {RB_METHODS(RB_ENTRY)};
#undef RB_ENTRY

RB_NAMESPACE_END
