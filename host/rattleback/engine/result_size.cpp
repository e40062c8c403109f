#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <sys/resource.h>

#include "rattleback/base/message.hpp"
#include "rattleback/base/saturating.hpp"
#include "rattleback/engine/run.hpp"
#include "rattleback/study/ensemble.hpp"
#include "rattleback/study/groups.hpp"
#include "rattleback/study/observables.hpp"
#include "rattleback/study/statistics.hpp"

namespace rattleback {
namespace {

/// What a result consists of.
struct ResultSize {
  Saturating numbers;
  std::uint64_t series_with_quantiles = 0;  ///< samples of observables, for all trajectories
  std::uint64_t trajectories = 0;
};

ResultSize size_of_result(const Problem& problem) {
  const Study& study = problem.study;
  const Ensemble ensemble(problem, {0, 0});
  const SystemEntry& system = *problem.system;
  const Saturating size = ensemble.size(),
                   state = static_cast<std::uint64_t>(system.elements + 2 * system.n + system.m),
                   samples = Saturating(*study.time.samples) + 1;
  Saturating numbers = size * (4 + ensemble.axis_names().size());
  if (study.output.initial_state) numbers = numbers + size * state;
  const std::uint64_t derivatives = study.derivatives.by.size();
  if (study.output.final_state) numbers = numbers + size * state * (1 + derivatives);
  numbers =
      numbers + samples * state * (study.output.all_trajectories ? size : Saturating(study.output.trajectories.size()));
  if (!study.stops.empty()) {
    if (study.output.final_state) numbers = numbers + size * derivatives;
    numbers = numbers + size * 2 + samples * (2 + 3 * study.stops.size());
    for (const Study::Stop& stop : study.stops) numbers = numbers + 2 * (1 + stop.quantiles.size());
  }
  if (!study.fates.empty()) numbers = numbers + size + 3 * (study.fates.size() + 1);
  numbers = numbers + size * study.maps.size() + size * 2 * study.averages.size();
  for (const Study::Average& average : study.averages)
    numbers = numbers + 2 * (average.statistics.size() + average.quantiles.size()) +
              (average.histogram ? average.histogram->bins * 2 + 3 : 0);
  std::uint64_t with_quantiles = 0;
  const Saturating parts = 1 + ensemble.groups().cells() * !study.ensemble.group_by.empty();
  for (std::size_t o = 0; o < study.observables.size(); ++o) {
    const Observable& observable = study.observables[o];
    numbers = numbers + samples * (parts * (3 + 2 * (observable.statistics.size() + observable.quantiles.size() +
                                                     observable.correlation.size())) +
                                   (observable.histogram ? observable.histogram->bins + 2 : 0));
    const std::uint64_t of_observable = has_derivative(problem.codes[o].kind) ? derivatives : 0;
    numbers = numbers + samples * of_observable * (1 + parts * 2 * observable.statistics.size());
    if (observable.values) numbers = numbers + samples * size * (1 + of_observable);
    with_quantiles += !observable.quantiles.empty();
  }
  return {numbers, (samples * with_quantiles).value(), ensemble.size()};
}

}  // namespace

std::uint64_t memory_bytes_of_result(const Problem& problem) {
  return (size_of_result(problem).numbers * sizeof(double)).value();
}

std::uint64_t result_bytes(const Problem& problem) {
  const ResultSize size = size_of_result(problem);
  // A run keeps the values for quantiles until the end.
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t series = size.series_with_quantiles;
  const Saturating kept = (Saturating(series) * size.trajectories * sizeof(double)).value() == most
                              ? most
                              : ValueStore::file_bytes(series, size.trajectories);
  return (size.numbers * sizeof(double) + kept).value();
}

void check_space(const Problem& problem, const std::filesystem::path& output, SpaceNeeds needs) {
  constexpr const char* advice = "keep fewer trajectories, or set [output] initial_state and final_state to false";
  constexpr double mib = 1 << 20;
  std::error_code code;
  const auto space = std::filesystem::space(output.has_parent_path() ? output.parent_path() : ".", code);
  const std::uint64_t needed = needs.results * result_bytes(problem);
  if (!code && needed > space.available)
    input_error(output.string(),
                fmt::format("the {} {:.4g} MiB and the disk has {:.4g} MiB left; {}",
                            needs.results == 1 ? "result needs" : "results need", static_cast<double>(needed) / mib,
                            static_cast<double>(space.available) / mib, advice));
  rlimit files{};
  const std::uint64_t file = memory_bytes_of_result(problem);
  if (needs.in_one_file && getrlimit(RLIMIT_FSIZE, &files) == 0 && files.rlim_cur != RLIM_INFINITY &&
      file > files.rlim_cur)
    input_error(output.string(),
                fmt::format("the result needs {:.4g} MiB and a file may have {:.4g} MiB here (see "
                            "'ulimit -f'); {}",
                            static_cast<double>(file) / mib, static_cast<double>(files.rlim_cur) / mib, advice));
}

}  // namespace rattleback
