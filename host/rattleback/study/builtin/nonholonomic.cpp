#include "rattleback/study/builtin/describe_list.hpp"

RB_DESCRIBE(RB_NONHOLONOMIC_SYSTEMS, add_nonholonomic_systems)
