#define RATTLEBACK_ISA one_thread
#include "cases.ipp"

std::vector<TeamCase> cases_for_one_thread() { return rattleback::team_cases(); }
