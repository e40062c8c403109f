#include "commands/parts/ranks.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "rattleback/base/processors.hpp"

namespace rattleback::program {
namespace {

std::optional<unsigned> number(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  const std::string_view text = value;
  unsigned x = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), x);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(x) : std::nullopt;
}

std::string word(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

std::optional<Ranks> find_ranks() {
  // SLURM_STEP_NUM_TASKS is set in the processes of srun only; SLURM_NTASKS also in the script of a job, which is one process.
  constexpr struct {
    const char *rank, *size, *on_node;
  } launchers[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"},
                   {"PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS"},
                   {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_TASKS_PER_NODE"}};
  for (const auto& launcher : launchers) {
    const auto rank = number(launcher.rank), size = number(launcher.size);
    if (!rank || !size || *size < 2 || *rank >= *size) continue;
    Ranks ranks{*rank, *size, std::max(1u, number(launcher.on_node).value_or(1)), word("PMIX_NAMESPACE")};
    if (ranks.job.empty() && !word("SLURM_JOB_ID").empty())
      ranks.job = word("SLURM_JOB_ID") + "." + word("SLURM_STEP_ID");
    return ranks;
  }
  return std::nullopt;
}

unsigned threads_of_a_rank(const Ranks& ranks) {
  // The processors of the node; a rank may be bound to some of them. Ranks share the time that their control groups grant.
  auto all = static_cast<double>(std::max(1u, std::thread::hardware_concurrency()));
  if (const double granted = processors_of_groups(); granted > 0.0) all = std::min(all, granted);
  return std::max(1u, std::min(usable_processors(), static_cast<unsigned>(all / ranks.on_this_node)));
}

}  // namespace rattleback::program
