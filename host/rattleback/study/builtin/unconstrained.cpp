#include "rattleback/study/builtin/describe_list.hpp"

RB_DESCRIBE(RB_UNCONSTRAINED_SYSTEMS, add_unconstrained_systems)
