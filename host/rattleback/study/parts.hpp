#pragma once
// Steps of resolving a study. Each step has a separate file.

#include <cstdint>
#include <set>
#include <string>

#include "rattleback/study/formulas.hpp"
#include "rattleback/study/problem.hpp"

namespace rattleback {

/// choose.cpp sets the system instance, and the method with all options.
void choose_system(Problem& problem);
void choose_method(Problem& problem);

/// time.cpp sets end and steps, and samples and sample_every.
void complete_time(Study& study, const Formulas& formulas);

/// requests.cpp checks the density of steps, observables, sections, covariance, groups and fits. `step` is the step size of a trajectory.
void check_requests(Problem& problem, double step);

/// lyapunov.cpp checks what is asked of tangent vectors besides the observables, whose codes are known.
void check_lyapunov(Problem& problem, double step);

/// derivatives.cpp resolves by what there are derivatives.
void check_derivatives(Problem& problem);

/// Checks that q comes with either v or p, from the study or a file. Sets the system's default state when none is
/// given.
void complete_initial(Problem& problem, bool has_q, bool has_v, bool has_p);

/// Returns the possible sizes of a configuration: "3", or "9, or 3 with rotation vectors in place of rotation matrices"
/// when rotations have two forms.
[[nodiscard]] std::string sizes_in_words(int dimension, int elements);

/// Returns the names in the expressions of the initial states, the parameters and the step, without the parameters themselves.
[[nodiscard]] std::set<std::string> names_in_expressions(const Study& study, const SystemEntry& system);

/// Returns the names in the condition of the ensemble.
[[nodiscard]] std::vector<std::string> names_in_condition(const Study& study);

/// Checks the indices of the trajectories to keep.
void check_trajectories(const Study& study, std::uint64_t size);

/// Returns why the stroboscope of a section cannot have this period with steps of this size, after the name of its key; empty for a
/// period that it can have.
[[nodiscard]] std::string fault_of_period(double period, double step);

/// Throws Error(input) when a study or a section cannot have this name.
void check_name(std::string_view what, const std::string& name, const std::string& where);

}  // namespace rattleback
