#pragma once
// The host API loads or builds a Study, runs the Study, and reads the Result. See examples/cpp/run_study.cpp.

#include "rattleback/base/error.hpp"
#include "rattleback/base/version.hpp"
#include "rattleback/catalogue/catalogue.hpp"
#include "rattleback/citation/citation.hpp"
#include "rattleback/isa/isa.hpp"
#include "rattleback/measure/bench.hpp"
#include "rattleback/measure/build_information.hpp"
#include "rattleback/measure/order.hpp"
#include "rattleback/paired/paired.hpp"
#include "rattleback/problem/ensemble.hpp"
#include "rattleback/problem/problem.hpp"
#include "rattleback/result/diff.hpp"
#include "rattleback/result/result.hpp"
#include "rattleback/run/run.hpp"
#include "rattleback/statistics/with_error.hpp"
#include "rattleback/study/study.hpp"
