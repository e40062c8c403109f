#pragma once
// The host API: load or build a Study, run it, read the Result. See examples/cpp/run_study.cpp.

#include "rattleback/bench.hpp"
#include "rattleback/catalogue.hpp"
#include "rattleback/diff.hpp"
#include "rattleback/error.hpp"
#include "rattleback/order.hpp"
#include "rattleback/result.hpp"
#include "rattleback/run.hpp"
#include "rattleback/study.hpp"
#include "rattleback/version.hpp"
