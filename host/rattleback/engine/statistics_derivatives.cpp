// EnsembleStatistics: doubts about derivatives.

#include <fmt/format.h>

#include "rattleback/engine/ensemble_statistics.hpp"

namespace rattleback {
namespace {

/// The share of the sum of squares of a derivative that this part of the trajectories may carry.
constexpr double warning_concentration = 0.5, few_trajectories = 0.01;

}  // namespace

void EnsembleStatistics::write_concentration(ResultSink& sink,
                                             const std::function<void(const std::string&)>& warn) const {
  for (std::size_t d = 0; d < plan_.derivatives.size(); ++d) {
    const Plan::Derivative& derivative = plan_.derivatives[d];
    if (!derivative.of_statistics) continue;
    const std::string &observable = study_.observables[derivative.observable].name,
                      &by = problem_.derivatives[derivative.by].name;
    std::vector<double> shares;
    std::uint64_t much = samples();
    for (std::uint64_t s = 0; s < samples(); ++s) {
      const std::uint64_t series = s * plan_.derivatives.size() + d;
      shares.push_back(concentration_.share(series, few_trajectories));
      const bool enough = static_cast<double>(concentration_.count(series)) * few_trajectories >= 1.0;
      if (much == samples() && enough && shares.back() > warning_concentration) much = s;
    }
    sink.write(fmt::format("/observables/{}/concentration_by_{}", observable, by), {0}, {samples()}, shares.data());
    if (!warn || much == samples()) continue;
    warn(
        fmt::format("the derivative of '{}' by {} rests on few trajectories from time {:.6g} on, when 1 % of them "
                    "carry {:.0f} % of "
                    "the sum of squares; mean_by_{} and its error cannot be trusted there",
                    observable, by, times_[much], 100.0 * shares[much], by));
  }
}

void EnsembleStatistics::warn_of_missing_derivatives(const std::function<void(const std::string&)>& warn) const {
  for (const Plan::Derivative& derivative : plan_.derivatives) {
    const auto missing_of = [&](std::size_t code) {
      std::uint64_t total = 0;
      for (std::uint64_t s = 0; s < samples(); ++s)
        total += static_cast<std::uint64_t>(moments_.all[s * observables() + code].result().missing);
      return total;
    };
    const std::uint64_t count = missing_of(static_cast<std::size_t>(derivative.code));
    if (count <= missing_of(derivative.observable) || !derivative.of_statistics) continue;
    const std::string& by = problem_.derivatives[derivative.by].name;
    warn(
        fmt::format("the derivative of observable '{}' by {} was not finite in {} {}, without which "
                    "mean_by_{} is not the derivative of the mean",
                    study_.observables[derivative.observable].name, by, count, count == 1 ? "value" : "values", by));
  }
}

}  // namespace rattleback
