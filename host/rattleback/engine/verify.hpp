#pragma once
// A header of a user is a program: it may call functions whose packs differ from their scalars.

#include "rattleback/engine/backend.hpp"

namespace rattleback {

/// Runs ten steps of 64 trajectories near the default state of a system that the user wrote in C++, on the backend and on
/// the CPU without packs. Throws Error(input) unless all bits of states and observables agree. Does this once per pair of
/// system and method and backend; systems of the catalogue and systems of formulas need no such test.
void verify_own_system(Backend& backend, const Problem& problem);

}  // namespace rattleback
