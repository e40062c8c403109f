#pragma once
// The systems that the program has from the start.

#include <vector>

#include "rattleback/catalogue/entry.hpp"

namespace rattleback {

using SystemEntries = std::vector<const SystemEntry*>;

/// Adds the systems of builtin/systems.hpp in the order of the list.
void add_builtin_systems(SystemEntries& systems);

}  // namespace rattleback
