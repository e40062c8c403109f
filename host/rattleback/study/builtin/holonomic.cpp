#include "rattleback/study/builtin/describe_list.hpp"

RB_DESCRIBE(RB_HOLONOMIC_SYSTEMS, add_holonomic_systems)
