#pragma once
// Which methods of the catalogue take a system. The answer comes from the constraints of the steps.

#include "rattleback/builtin/methods.hpp"
#include "rattleback/methods/conversion/runge_kutta.hpp"
#include "rattleback/methods/conversion/variational_conversion.hpp"
#include "rattleback/methods/energy_momentum/bobenko_suris.hpp"
#include "rattleback/methods/energy_momentum/energy_momentum.hpp"
#include "rattleback/methods/generalized_alpha/generalized_alpha.hpp"
#include "rattleback/methods/ggl/ggl.hpp"
#include "rattleback/methods/hbvm/hbvm.hpp"
#include "rattleback/methods/lie/vcg.hpp"
#include "rattleback/methods/lie/vrkmk.hpp"
#include "rattleback/methods/lobatto/lobatto.hpp"
#include "rattleback/methods/nonholonomic/dla.hpp"
#include "rattleback/methods/nonholonomic/leapfrog.hpp"
#include "rattleback/methods/nonholonomic/spark.hpp"
#include "rattleback/methods/nonholonomic/transport.hpp"

RB_NAMESPACE_BEGIN

namespace families {
#define RB_FAMILY(id, ...)           \
  struct id {                        \
    template <class T, class System> \
    using of = __VA_ARGS__;          \
  };
RB_METHODS(RB_FAMILY)
#undef RB_FAMILY
}  // namespace families

/// Returns the methods whose kind of constraints and whose step fit the system: bit i stands for builtin_methods[i].
template <class System>
constexpr std::uint64_t methods_that_take() {
  std::uint64_t bits = 0, bit = 1;
  const auto add = [&](bool takes) {
    if (takes) bits |= bit;
    bit <<= 1;
  };
#define RB_TAKES(id, ...)                                                                             \
  add(methods::id.constraints.contain(kind_of<System>()) && (methods::id.driven || !timed<System>) && \
      Takes<families::id, System>);
  RB_METHODS(RB_TAKES)
#undef RB_TAKES
  return bits;
}

RB_NAMESPACE_END
