#pragma once
// Tableaus by their names.

#include <string_view>

/// The tableau of a list with this name, or null.
template <class Tableau, std::size_t count>
constexpr const Tableau* named(const Tableau (&list)[count], std::string_view name) {
  for (const Tableau& tableau : list)
    if (tableau.name == name) return &tableau;
  return nullptr;
}
