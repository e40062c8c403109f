#pragma once
// The option `composition` of methods with a symmetric step of order 2.

#include "rattleback/catalogue/settings.hpp"
#include "rattleback/methods/composition/composed.hpp"
#include "rattleback/tableaus/compositions.hpp"

RB_NAMESPACE_BEGIN

namespace methods {

/// The names of the compositions. Those for any symmetric step come first, so that a method without splittings offers a prefix.
inline constexpr auto composition_names = [] {
  std::array<const char*, std::size(compositions)> names{};
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = compositions[i].name;
  return names;
}();
inline constexpr std::size_t of_any_step = 4;
static_assert(compositions[of_any_step - 1].kind == Composition::Kind::substeps &&
              compositions[of_any_step].kind != Composition::Kind::substeps);
/// The C++ types that a kernel compiles for the choices: `step` without a composition, `split` for a splitting, and `composed` for a
/// composition of any symmetric step.
constexpr auto composition_types(const char* step, const char* composed, const char* split = nullptr) {
  std::array<const char*, std::size(compositions)> types{step};
  for (std::size_t i = 1; i < types.size(); ++i) types[i] = i < of_any_step || !split ? composed : split;
  return types;
}
/// The option `composition` of a method. Its value becomes `member`, an index in `compositions`; the first `count` compositions are the
/// choices that the method offers.
template <auto member, const auto& types>
consteval OptionInfo composition_option(const char* text, std::size_t count = of_any_step) {
  return option<member>({.name = "composition",
                         .text = text,
                         .choices = std::span(composition_names).first(count),
                         .types = std::span(types).first(count),
                         .compiled = true,
                         .unnamed = true});
}

/// The settings of a method with this option alone.
struct CompositionSettings {
  int composition = 0;  ///< index in `compositions`
};

/// The numbers that `Composed` is constructed with, and the order, for settings with the member `composition`.
template <class Settings>
Settlement settle_composed(const Settings& settings, const SystemEntry&) {
  if (settings.composition == 0) return {};
  return Settlement::of(composition_numbers(compositions[settings.composition], false));
}
template <class Settings>
int order_of_composed(const Settings& settings, const SystemEntry&) {
  return compositions[settings.composition].order;
}

}  // namespace methods

RB_NAMESPACE_END
