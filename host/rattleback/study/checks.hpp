#pragma once
// Parts of Study::validate that lie in files of their own or that need the ensemble's file.

#include <cstdint>
#include <string>

#include "rattleback/expression/formulas.hpp"
#include "rattleback/study/study.hpp"

namespace rattleback {

/// Whether v and p of the study's initial states are in space, unless a result that they come from says otherwise.
[[nodiscard]] bool given_in_space(const Study& study);

/// Checks that q comes with one of v and p, from the study or its file; where neither is given, sets the system's own.
void complete_initial(Study& study, bool has_q, bool has_v, bool has_p);

/// How many numbers give a configuration: "3", or where rotations may be given in two ways, "9, or 3 with rotation vectors in
/// place of rotation matrices".
[[nodiscard]] std::string sizes_in_words(int dimension, int elements);

/// Checks the indices of the trajectories to keep.
void check_trajectories(const Study& study, std::uint64_t size);

/// Sets both of end and steps and both of samples and sample_every.
void complete_time(Study& study, const Formulas& formulas);

}  // namespace rattleback
