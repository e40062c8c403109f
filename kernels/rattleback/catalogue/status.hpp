#pragma once
// The status of a trajectory.

#include <cstdint>

namespace rattleback {

/// Status bits of a trajectory; 0 is good. A trajectory with any bit set stays at its last good state, and one that is parasitic at
/// its last state.
enum Status : std::uint32_t {
  status_good = 0,
  status_not_converged = 1,  ///< the iteration stopped at max_iterations
  status_singular = 2,       ///< a pivot vanished: dependent constraints or a degenerate Lagrangian
  status_not_finite = 4,     ///< the step produced an infinity or a NaN
  status_fold = 8,           ///< not converged, with a rotation per step beyond the range of the retraction
  status_parasitic = 16,     ///< the carried multiplier was not that of the equations at a sample (loop/observe.hpp)
  status_left_out = 32,      ///< no failure: the condition of the ensemble does not hold for the point
  status_density =
      64,  ///< steps that follow a density (loop/clock.hpp) have become too small, or the density is not positive
  status_max_steps = 128,     ///< such a trajectory has taken max_steps steps before the end
  status_padding = 1u << 31,  ///< a lane of the last chunk without a trajectory; never in a result
};

struct StatusInfo {
  std::uint32_t bit;
  const char* name;
  const char* text;
  const char* remedy = nullptr;  ///< what to do about it, where that depends on the status alone
};
inline constexpr StatusInfo status_table[] = {
    {status_not_converged, "not-converged", "the iteration of a step did not converge within max_iterations"},
    {status_singular, "singular", "a pivot vanished: dependent constraints or a degenerate Lagrangian"},
    {status_not_finite, "not-finite", "a step produced an infinity or a NaN"},
    {status_fold, "fold",
     "the rotation h |omega| of a step lies beyond the fold of the Cayley map; use a smaller step or retraction = "
     "\"exp\""},
    {status_parasitic, "parasitic",
     "the multiplier that the method carries has left that of the equations of motion, as it does where a motion "
     "contracts",
     "set multiplier = \"recomputed\" (nonholonomic-lobatto), or take a method that carries no multiplier: "
     "nonholonomic-spark, nonholonomic-leapfrog or nonholonomic-energy, or on a Lie group nonholonomic-dla"},
    {status_density, "density",
     "the density of the steps is not positive, or a step is lost in the rounding of the time, as before a collision",
     "take a smaller time.step, or a density that follows the motion (time.density)"},
    {status_max_steps, "max-steps", "the trajectory has taken time.max_steps steps before the end",
     "raise time.max_steps, take a larger time.step, or end trajectories before collisions with a [[stop]]"},
};

}  // namespace rattleback
