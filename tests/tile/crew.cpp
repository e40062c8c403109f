#define RATTLEBACK_ISA crew
#define RATTLEBACK_TILE_CREW "crew.hpp"
#include "cases.ipp"

std::vector<TileCase> cases_for_a_crew() { return rattleback::tile_cases(); }
