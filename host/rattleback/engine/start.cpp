#include "rattleback/engine/start.hpp"

#include <stdexcept>

#include "rattleback/engine/plan.hpp"

namespace rattleback {
namespace {

/// A thread prepares a point. With more coordinates its matrices would take tens of kilobytes of local memory: 62 for 25 of them, 4 for 12.
constexpr int most_coordinates_of_thread = 12;

}  // namespace

FoundPoints Backend::find_points(const StartProgram&, const Range&) {
  throw std::logic_error(name() + " does not make initial states");
}
void Backend::begin_at_start(const Plan&, Tile&, const TileStart&) {
  throw std::logic_error(name() + " does not make initial states");
}

bool may_start_on_device(const Problem& problem) {
  if (problem.system->n > most_coordinates_of_thread || problem.surfaces.count > 0 || problem.study.ensemble.listed() ||
      units_of(problem, Isa::scalar).front().kind != UnitKind::advance)
    return false;
  const Ensemble ensemble(problem);
  return may_prepare_together(problem, ensemble) && !ensemble.step_varies();
}

}  // namespace rattleback
