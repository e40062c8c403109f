#pragma once
// Trajectories whose steps a tile may take. tile_test.cpp has them from two translation units: one where tiles are threads, and
// one where one thread does the work of all lanes.

#include <vector>

#include "rattleback/catalogue/entry.hpp"

struct TileCase {
  const char* name;
  int lanes;
  rattleback::KernelArguments arguments;
  std::vector<double> chunk;  ///< its first lane is a trajectory
  void (*advance)(const rattleback::KernelArguments&, double* chunk);
};

std::vector<TileCase> cases_for_a_crew();
std::vector<TileCase> cases_for_one_thread();
