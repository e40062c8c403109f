#pragma once
// What a system says of itself besides its equations. A system leaves a member out where it has nothing to say.

#include <array>

#include "rattleback/catalogue/entry.hpp"

RB_NAMESPACE_BEGIN

/// Defines name<System>(): the member of the system, or `nothing` where the system leaves it out.
#define RB_STATED(name, member, ...)              \
  template <class System>                         \
  constexpr auto name() {                         \
    if constexpr (requires { System::member; }) { \
      return System::member;                      \
    } else {                                      \
      return __VA_ARGS__;                         \
    }                                             \
  }
RB_STATED(parameters_of, parameters(), std::array<ParameterInfo, 0>{})
RB_STATED(structure_of, structure(), std::array<StructureInfo, 0>{})
RB_STATED(invariants_of, invariants(), std::array<ObservableInfo, 0>{})
RB_STATED(variant_of, variant, "")
RB_STATED(alias_of, alias, "")  // another name of the system in the literature
RB_STATED(time_scale, time_scale, 1.0)
RB_STATED(coordinate_names, coordinates, std::array<const char*, 0>{})
RB_STATED(separable_without, separable_without, std::array<const char*, 0>{})
#undef RB_STATED

RB_NAMESPACE_END
