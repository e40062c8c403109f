#pragma once
// The option `composition` of methods with a symmetric step of order 2.

#include "rattleback/catalogue/settings.hpp"
#include "rattleback/methods/composition/composed.hpp"
#include "rattleback/tableaus/compositions.hpp"

RB_NAMESPACE_BEGIN

namespace methods {

/// The names of the compositions; those of any symmetric step come before the splittings.
inline constexpr auto composition_names = [] {
  std::array<const char*, std::size(compositions)> names{};
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = compositions[i].name;
  return names;
}();
inline constexpr std::size_t of_any_step = 4;
static_assert(compositions[of_any_step - 1].kind == Composition::Kind::substeps &&
              compositions[of_any_step].kind != Composition::Kind::substeps);
/// The types that stand for the compositions in a step: `step` for none, `split` for splittings, `composed` for the others.
constexpr auto composition_types(const char* step, const char* composed, const char* split = nullptr) {
  std::array<const char*, std::size(compositions)> types{step};
  for (std::size_t i = 1; i < types.size(); ++i) types[i] = i < of_any_step || !split ? composed : split;
  return types;
}
/// The option that becomes `member`, an index in `compositions`, with the first `count` of them as choices.
template <auto member, const auto& types>
consteval OptionInfo composition_option(const char* text, std::size_t count = of_any_step) {
  return option<member>({.name = "composition",
                         .text = text,
                         .choices = std::span(composition_names).first(count),
                         .types = std::span(types).first(count),
                         .compiled = true,
                         .unnamed = true});
}

/// The numbers of `Composed` for an index in `compositions`.
inline Settlement settle_substeps(int composition) {
  Settlement settlement;
  if (composition > 0)
    write_composition(compositions[composition], false, settlement.numbers.data() + CompositionNumbers::at_count);
  return settlement;
}

}  // namespace methods

RB_NAMESPACE_END
