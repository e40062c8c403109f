#pragma once
// The options that the Lobatto methods share.

#include <array>

#include "rattleback/ensemble/entry.hpp"
#include "rattleback/real/config.hpp"

RB_NAMESPACE_BEGIN

namespace methods {

inline constexpr std::array<const char*, 2> retraction_names{"cay", "exp"};

inline constexpr std::array<OptionInfo, 2> lobatto_options{
    {{.name = "stages",
      .kind = OptionKind::integer,
      .text = "number of stages",
      .standard = 2,
      .minimum = 2,
      .maximum = 5,
      .compiled = true},
     {.name = "retraction",
      .kind = OptionKind::choice,
      .text = "coordinates of a step: cay, the Cayley transform, or exp, the exponential map",
      .choices = retraction_names,
      .compiled = true,
      .scope = OptionScope::groups_matter}}};

}  // namespace methods

RB_NAMESPACE_END
