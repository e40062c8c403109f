#define RATTLEBACK_ISA one_thread
#include "cases.ipp"

std::vector<TileCase> cases_for_one_thread() { return rattleback::tile_cases(); }
