#include "rattleback/study/builtin/builtin.hpp"

namespace rattleback {

void add_chaotic_systems(SystemEntries& systems);
void add_nonholonomic_systems(SystemEntries& systems);
void add_holonomic_systems(SystemEntries& systems);
void add_unconstrained_systems(SystemEntries& systems);

void add_builtin_systems(SystemEntries& systems) {
  add_chaotic_systems(systems);
  add_nonholonomic_systems(systems);
  add_holonomic_systems(systems);
  add_unconstrained_systems(systems);
}

}  // namespace rattleback
