#pragma once
// Options that several methods have.

#include "rattleback/catalogue/settings.hpp"

RB_NAMESPACE_BEGIN

namespace methods {

/// The number of stages of a method of Lobatto.
template <auto member>
consteval OptionInfo stages_option() {
  return option<member>({.name = "stages", .text = "number of stages s", .minimum = 2, .maximum = 8, .compiled = true});
}

enum class Retraction { cay, exp };
inline constexpr const char* retractions[] = {"cay", "exp"};
inline constexpr const char* retraction_types[] = {"Cay", "Exp"};
template <auto member>
consteval OptionInfo retraction_option() {
  return option<member>(
      {.name = "retraction",
       .text = "map from the algebra to the group: Cayley transform or exponential; on R^n they are the same",
       .choices = retractions,
       .types = retraction_types,
       .compiled = true,
       .scope = OptionScope::groups_matter});
}

}  // namespace methods

RB_NAMESPACE_END
