#pragma once
// Which methods of the catalogue take a system by the constraints of their steps, whose headers are included here. The program asks the
// form of a system instead (MethodEntry::takes), which must give the same answer.

#include "rattleback/builtin/methods.hpp"
#include "rattleback/builtin/steps.hpp"
#include "rattleback/methods/step.hpp"

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
