#pragma once
// What translated PTX includes.

#include "instructions.hpp"
#include "thread.hpp"
