#define RATTLEBACK_ISA crew
#define RATTLEBACK_TEAM_CREW "crew.hpp"
#include "cases.ipp"

std::vector<TeamCase> cases_for_a_crew() { return rattleback::team_cases(); }
