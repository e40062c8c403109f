// The functions of a system at single points.

#include <atomic>

#include <fmt/format.h>

#include "rattleback/base/error.hpp"
#include "rattleback/kernels/kernels.hpp"

namespace rattleback {

const PointFunctions& point_functions(const SystemEntry& system) {
  const std::atomic_ref<const PointFunctions*> known(*system.functions);
  if (const PointFunctions* found = known.load(std::memory_order_acquire)) return *found;
  const SystemEntry& compiled = Kernels::instance().system(system.source_text);
  if (static_cast<const SystemForm&>(compiled) != system || compiled.n != system.n || compiled.m != system.m ||
      compiled.elements != system.elements || compiled.positions != system.positions ||
      compiled.observables.size() != system.observables.size() ||
      compiled.separable_without.size() != system.separable_without.size())
    throw Error(Error::Kind::runtime,
                fmt::format("the compiled formulas of '{}' have another form than the formulas themselves; this is a "
                            "fault of rattleback, which its authors want to know",
                            system.name));
  known.store(*compiled.functions, std::memory_order_release);
  return **compiled.functions;
}

}  // namespace rattleback
