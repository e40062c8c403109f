#include "rattleback/catalogue/builtin/builtin.hpp"

namespace rattleback {

void add_chaotic_systems(Catalogue& catalogue);
void add_nonholonomic_systems(Catalogue& catalogue);
void add_holonomic_systems(Catalogue& catalogue);
void add_unconstrained_systems(Catalogue& catalogue);

void add_builtin_systems(Catalogue& catalogue) {
  add_chaotic_systems(catalogue);
  add_nonholonomic_systems(catalogue);
  add_holonomic_systems(catalogue);
  add_unconstrained_systems(catalogue);
}

}  // namespace rattleback
