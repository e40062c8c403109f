#pragma once
// The host API loads or builds a Study, runs the Study, and reads the Result. See examples/cpp/run_study.cpp.

#include "rattleback/base/error.hpp"
#include "rattleback/base/version.hpp"
#include "rattleback/engine/run.hpp"
#include "rattleback/kernels/isa.hpp"
#include "rattleback/measure/bench.hpp"
#include "rattleback/measure/build_information.hpp"
#include "rattleback/measure/order.hpp"
#include "rattleback/measure/paired.hpp"
#include "rattleback/results/diff.hpp"
#include "rattleback/results/result.hpp"
#include "rattleback/study/catalogue.hpp"
#include "rattleback/study/citation.hpp"
#include "rattleback/study/ensemble.hpp"
#include "rattleback/study/problem.hpp"
#include "rattleback/study/study.hpp"
#include "rattleback/study/with_error.hpp"
