#include "rattleback/study/builtin/describe_list.hpp"

RB_DESCRIBE(RB_CHAOTIC_SYSTEMS, add_chaotic_systems)
