#pragma once
// The systems that the program has from the start.

namespace rattleback {

class Catalogue;

/// Adds the systems of systems/systems.hpp in the order of the list.
void add_builtin_systems(Catalogue& catalogue);

}  // namespace rattleback
