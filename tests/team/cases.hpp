#pragma once
// Trajectories whose steps a team may take. team_test.cpp has them from two translation units: one where teams are threads, and
// one where one thread does the work of all lanes.

#include <vector>

#include "rattleback/catalogue/entry.hpp"

struct TeamCase {
  const char* name;
  int lanes;
  rattleback::KernelArguments arguments;
  std::vector<double> chunk;  ///< its first lane is a trajectory
  void (*advance)(const rattleback::KernelArguments&, double* chunk);
};

std::vector<TeamCase> cases_for_a_crew();
std::vector<TeamCase> cases_for_one_thread();
