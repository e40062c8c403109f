#pragma once
// The parts of resolving a study, each in a file of its own.

#include <cstdint>
#include <string>

#include "rattleback/ensemble/formulas.hpp"
#include "rattleback/problem/problem.hpp"

namespace rattleback {

/// choose.cpp: the system instance and the method with its options, named in full.
void choose_system(Problem& problem);
void choose_method(Problem& problem);

/// time.cpp: sets both of end and steps and both of samples and sample_every.
void complete_time(Study& study, const Formulas& formulas);

/// requests.cpp: observables, sections, covariance.
void check_requests(Problem& problem);

/// Checks that q comes with one of v and p, from the study or its file; where neither is given, sets the system's own.
void complete_initial(Problem& problem, bool has_q, bool has_v, bool has_p);

/// How many numbers give a configuration: "3", or where rotations may be given in two ways, "9, or 3 with rotation vectors in
/// place of rotation matrices".
[[nodiscard]] std::string sizes_in_words(int dimension, int elements);

/// Checks the indices of the trajectories to keep.
void check_trajectories(const Study& study, std::uint64_t size);

/// Throws Error(input) where a name cannot be that of a study or of a section.
void check_name(std::string_view what, const std::string& name, const std::string& where);

}  // namespace rattleback
