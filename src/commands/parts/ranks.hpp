#pragma once
// Ranks: the processes that mpirun or srun starts together.

#include <optional>
#include <string>

namespace rattleback::program {

struct Ranks {
  unsigned rank = 0, size = 1;
  unsigned on_this_node = 1;  ///< number of ranks that share this machine
  std::string job;            ///< what all ranks of one start have in common and no other start has; may be empty
};

/// Returns the place of this process among ranks, from the environment that OpenMPI, MPICH, Intel MPI or Slurm sets; nothing
/// for a single process.
[[nodiscard]] std::optional<Ranks> find_ranks();

/// Returns the number of threads for one rank: its processors, or its share of those of the machine.
[[nodiscard]] unsigned threads_of_a_rank(const Ranks& ranks);

}  // namespace rattleback::program
