#pragma once
// The variational methods on groups in the catalogue.

#include "rattleback/methods/lie/vcg_entry.hpp"
#include "rattleback/methods/lie/vrkmk_entry.hpp"
