#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "rattleback/base/message.hpp"
#include "rattleback/expression/surface.hpp"
#include "rattleback/problem/parts.hpp"
#include "rattleback/statistics/statistics.hpp"

namespace rattleback {
namespace {

template <class T>
void reject_repeats(const std::vector<T>& values, const std::string& where, std::string_view what) {
  std::set<T> seen;
  for (const T& value : values) {
    if (!seen.insert(value).second)
      input_error(where, fmt::format("{} '{}' appears twice; leave one out", what, value));
  }
}

/// Returns the default reference: the initial value for an invariant, 0 for all other observables.
ErrorReference standard_reference(const SystemEntry& system, const ObservableCode& code) {
  const bool conserved =
      code.kind == ObservableCode::system && system.observables[static_cast<std::size_t>(code.index)].conserved;
  return conserved ? ErrorReference::initial() : ErrorReference(0.0);
}

void check_observables(Problem& problem) {
  Study& study = problem.study;
  const std::vector<std::string> known = statistic_names();
  std::set<std::string> names;
  for (Observable& observable : study.observables) {
    if (!names.insert(observable.name).second) {
      input_error(observable.where, fmt::format("observable '{}' appears twice; merge the two", observable.name));
    }
    const ObservableCode code = problem.observable_code(observable.name, observable.where);
    problem.codes.push_back(code);
    if (observable.statistics.empty() && observable.quantiles.empty() && !observable.histogram &&
        observable.correlation.empty())
      observable.statistics = {"mean"};
    if (const auto& h = observable.histogram) {
      if (!(h->from < h->to && std::isfinite(h->to - h->from)))
        input_error(observable.where,
                    fmt::format("histogram of '{}' needs from < to (got {} and {})", observable.name, h->from, h->to));
      if (h->bins < 1 || h->bins > 100000)
        input_error(observable.where,
                    fmt::format("histogram of '{}' has {} bins; it takes 1 to 100000", observable.name, h->bins));
    }
    for (const std::string& other : observable.correlation) (void)problem.observable_code(other, observable.where);
    reject_repeats(observable.correlation, observable.where, "correlation with");
    for (const std::string& statistic : observable.statistics) {
      if (std::ranges::find(known, statistic) != known.end()) continue;
      input_error(observable.where, fmt::format("unknown statistic {} of '{}' (known: {}){}", quote(statistic),
                                                observable.name, join(known), did_you_mean(statistic, known)));
    }
    for (const double level : observable.quantiles) {
      if (level >= 0 && level <= 1) continue;
      input_error(observable.where, fmt::format("quantile level {} of '{}' is out of range; levels are in 0 to 1",
                                                level, observable.name));
    }
    if (!std::isfinite(observable.reference.number))
      input_error(observable.where, fmt::format("reference of '{}' must be finite", observable.name));
    if (observable.reference.kind == ErrorReference::Kind::standard)
      observable.reference = standard_reference(*problem.system, code);
    reject_repeats(observable.statistics, observable.where, "statistic");
    reject_repeats(observable.quantiles, observable.where, "quantile level");
  }
}

void check_sections(Problem& problem) {
  const Study& study = problem.study;
  std::set<std::string> names;
  for (const Study::Section& section : study.sections) {
    check_name("a section", section.name, section.where);
    if (!names.insert(section.name).second)
      input_error(section.where, fmt::format("section '{}' appears twice; rename one", section.name));
  }
  problem.surfaces = compile_surfaces(study.sections, *problem.system);
}

void check_covariance(const Problem& problem) {
  const Study& study = problem.study;
  const std::vector<std::string> known{"q", "v", "p", "lambda"};
  const std::string where = study.place("output.covariance");
  for (const std::string& part : study.output.covariance) {
    if (std::ranges::find(known, part) == known.end())
      input_error(where, fmt::format("unknown part of the state {} in output.covariance (known: {})", quote(part),
                                     join(known)));
    if (part == "lambda" && (!problem.method->carries_multiplier || problem.system->m == 0))
      input_error(where, fmt::format("output.covariance names lambda, which '{}' does not carry here; leave it out",
                                     study.method.name));
  }
  reject_repeats(study.output.covariance, where, "part of the state");
}

}  // namespace

void check_name(std::string_view what, const std::string& name, const std::string& where) {
  if (const std::string fault = fault_of_name(name); !fault.empty())
    input_error(where,
                fmt::format("{} cannot be called {} ({}); use letters, digits, '-' and '_'", what, quote(name), fault));
}

void check_requests(Problem& problem) {
  check_observables(problem);
  check_sections(problem);
  check_covariance(problem);
  reject_repeats(problem.study.output.trajectories, problem.study.place("output.trajectories"), "trajectory");
}

}  // namespace rattleback
