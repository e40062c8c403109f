#include "rattleback/engine/start.hpp"

#include <stdexcept>

#include "rattleback/study/ensemble.hpp"

namespace rattleback {
namespace {

/// A thread prepares a point. With more coordinates its matrices would take tens of kilobytes of local memory: 62 for 25 of them, 4 for 12.
constexpr int most_coordinates_of_thread = 12;

}  // namespace

FoundPoints Backend::find_points(const StartProgram&, const Range&, std::uint64_t) {
  throw std::logic_error(name() + " does not make initial states");
}
void Backend::begin_at_start(const Plan&, Tile&, const TileStart&) {
  throw std::logic_error(name() + " does not make initial states");
}

bool may_start_on_device(const Problem& problem) {
  return problem.system->n <= most_coordinates_of_thread && may_prepare_together(problem, Ensemble(problem));
}

}  // namespace rattleback
