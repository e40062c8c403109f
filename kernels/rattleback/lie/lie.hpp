#pragma once
// All groups and their retractions.

#include "rattleback/lie/fold.hpp"
#include "rattleback/lie/product.hpp"
#include "rattleback/lie/rn.hpp"
#include "rattleback/lie/se2.hpp"
#include "rattleback/lie/se3.hpp"
#include "rattleback/lie/so3.hpp"
