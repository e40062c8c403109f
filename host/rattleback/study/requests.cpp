#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <ranges>
#include <set>

#include "rattleback/base/message.hpp"
#include "rattleback/language/expression.hpp"
#include "rattleback/language/model.hpp"
#include "rattleback/study/fates.hpp"
#include "rattleback/study/observables.hpp"
#include "rattleback/study/options.hpp"
#include "rattleback/study/parts.hpp"
#include "rattleback/study/statistics.hpp"

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

/// Returns the default reference: the initial value for an invariant and for the energy less the work, 0 for all other observables.
ErrorReference standard_reference(const SystemEntry& system, const ObservableCode& code) {
  const bool conserved =
      code.kind == ObservableCode::energy_balance ||
      (code.kind == ObservableCode::system && system.observables[static_cast<std::size_t>(code.index)].conserved);
  return conserved ? ErrorReference::initial() : ErrorReference(0.0);
}

/// Refuses a name of a formula that another observable has, of this system and method or of others.
void check_formula_name(const Problem& problem, const Observable& observable) {
  const std::string& name = observable.name;
  check_name("an observable", name, observable.where);
  const auto refuse = [&](std::string_view owner) {
    input_error(observable.where,
                fmt::format("{} names an observable of {}; give the formula another name", quote(name), owner));
  };
  for (const ObservableInfo& info : problem.system->observables)
    if (name == info.name) refuse(fmt::format("'{}'", problem.system->name));
  const std::string base = name.substr(0, name.find('['));
  for (const RunObservable& info : run_observables())
    if (base == info.name && (problem.system->driven || !info.of_drive)) refuse("the program");
  if (const auto& formulas = problem.study.system.formulas; formulas && formulas->multiplier(name))
    refuse(fmt::format("'{}'", problem.system->name));
}

/// Returns what formulas of the study may name.
FormulaNames formula_names(const Problem& problem) {
  FormulaNames names{*problem.system, {}, {}, {}, shows_multiplier(*problem.system, *problem.method)};
  if (const auto& formulas = problem.study.system.formulas) {
    names.velocities = formulas->velocities;
    names.momenta = formulas->momenta;
    for (const auto& multiplier : formulas->multipliers) names.multipliers.push_back(multiplier.name);
  }
  return names;
}

/// Checks the statistics, quantiles and histogram of an observable, of the returns to a section, or of an average.
void check_statistics(const auto& requested, const std::string& of, const std::vector<std::string>& known) {
  if (const std::optional<Histogram>& h = requested.histogram) {
    if (!(h->from < h->to && std::isfinite(h->to - h->from)))
      input_error(requested.where, fmt::format("histogram of {} needs from < to (got {} and {})", of, h->from, h->to));
  }
  for (const std::string& statistic : requested.statistics) {
    if (std::ranges::find(known, statistic) != known.end()) continue;
    input_error(requested.where, fmt::format("unknown statistic {} of {} (known: {}){}", quote(statistic), of,
                                             join(known), did_you_mean(statistic, known)));
  }
  reject_repeats(requested.statistics, requested.where, "statistic");
  reject_repeats(requested.quantiles, requested.where, "quantile level");
}

/// Refuses what is defined by steps of one size where these follow a density.
void check_steps(const Study& study, const ObservableCode& code, const Observable& observable) {
  const bool of_one_size = code.kind == ObservableCode::window || code.kind == ObservableCode::megno ||
                           code.kind == ObservableCode::megno_mean;
  if (!of_one_size || !study.time.by_density()) return;
  input_error(observable.where,
              "lyapunov_window, megno and megno_mean need steps of one size, and those of the study follow "
              "a density; take `lyapunov[j]`, `gali[k]`, `sali` or `fli`, or time.control = \"fixed\"");
}

void check_observables(Problem& problem) {
  Study& study = problem.study;
  const std::vector<std::string> known = statistic_names();
  std::set<std::string> names;
  std::vector<FormulaText> formulas;
  for (Observable& observable : study.observables) {
    if (!names.insert(observable.name).second) {
      input_error(observable.where, fmt::format("observable '{}' appears twice; merge the two", observable.name));
    }
    if (!observable.formula.empty()) {
      check_formula_name(problem, observable);
      const std::string key = fmt::format("observable[{}].formula", problem.codes.size());
      formulas.push_back({observable.formula, key, study.place(key)});
    }
    const ObservableCode code = problem.observable_code(observable.name, observable.where);
    problem.codes.push_back(code);
    check_steps(study, code, observable);
    if (observable.statistics.empty() && observable.quantiles.empty() && !observable.histogram &&
        observable.correlation.empty() && !observable.values)
      observable.statistics = {"mean"};
    check_statistics(observable, fmt::format("'{}'", observable.name), known);
    for (const std::string& other : observable.correlation)
      check_steps(study, problem.observable_code(other, observable.where), observable);
    reject_repeats(observable.correlation, observable.where, "correlation with");
    if (!std::isfinite(observable.reference.number))
      input_error(observable.where, fmt::format("reference of '{}' must be finite", observable.name));
    if (observable.reference.kind == ErrorReference::Kind::standard)
      observable.reference = standard_reference(*problem.system, code);
  }
  if (!formulas.empty())
    problem.code.observables = study_code("StudyObservables", formulas, formula_names(problem), false);
}

}  // namespace

std::string fault_of_period(double period, double step) {
  if (!(period > 0.0)) return fmt::format(" must be above 0 (got {})", period);
  if (period >= 2.0 * std::abs(step)) return "";
  return fmt::format(" = {} is shorter than two steps of {}; take shorter steps, or a longer period", period,
                     std::abs(step));
}

namespace {

/// Returns the surface of a section: that of its period, where it has one. `step` is the step of all trajectories, or 0.
std::string surface_of(const Problem& problem, const Study::Section& section, const std::string& path, double step) {
  if (!section.every) {
    if (section.surface.empty())
      input_error(section.where, fmt::format("{0}.surface is missing; give it, or {0}.every", path));
    return section.surface;
  }
  std::vector<std::string> names;
  std::vector<double> values;
  for (const auto& [name, value] : problem.study.system.parameters) {
    names.push_back(name);
    values.push_back(variables_of(value).empty() ? constant(value, name) : std::numeric_limits<double>::quiet_NaN());
  }
  for (const StructureInfo& info : problem.system->structure) {
    names.emplace_back(info.name);
    values.push_back(info.value);
  }
  const std::string key = path + ".every";
  const Expression period(*section.every, key, names, values.data(), "; a period is that of all times");
  if (std::ranges::none_of(period.reads(), [&](int i) { return std::isnan(values[static_cast<std::size_t>(i)]); })) {
    if (const std::string fault = fault_of_period(period(), step); !fault.empty())
      input_error(section.every->where, key + fault);
  }
  const auto* text = std::get_if<std::string>(&section.every->content);
  const std::string turns =
      fmt::format("t/({})", text != nullptr ? *text : fmt::format("{}", std::get<double>(section.every->content)));
  return fmt::format("{0} - rint({0})", turns);  // exactly 0 where the quotient is a whole number
}

void check_stops(Study& study) {
  std::set<std::string> names;
  std::vector<std::string> sections;
  for (const Study::Section& section : study.sections) sections.push_back(section.name);
  for (std::size_t i = 0; i < study.stops.size(); ++i) {
    Study::Stop& stop = study.stops[i];
    const auto fail = [&stop](std::string_view message) {
      input_error(stop.where, fmt::format("stop {} {}", quote(stop.name), message));
    };
    if (stop.name.empty()) stop.name = std::to_string(i + 1);  // the number in /final/stop
    check_name("a stop", stop.name, stop.where);
    if (stop.name == "survival" || stop.name == "survival_error") fail("has the name of a dataset; choose another");
    if (!names.insert(stop.name).second)
      input_error(stop.where, fmt::format("stop '{}' appears twice; rename one", stop.name));
    reject_repeats(stop.quantiles, stop.where, "quantile level");
    if (stop.when.empty() == stop.section.empty())
      fail(stop.when.empty() ? "has no condition; give `when`, or `section` and `count`"
                             : "has both `when` and `section`; leave one out");
    if (stop.section.empty()) {
      if (stop.count) fail("has `count` and no `section`; a count is of the crossings of a section");
      continue;
    }
    if (std::ranges::find(sections, stop.section) == sections.end())
      fail(fmt::format("names the section {}, which the study does not have (it has: {}){}", quote(stop.section),
                       sections.empty() ? "none" : join(sections),
                       did_you_mean(stop.section, sections, "; add a [[section]]")));
    if (!stop.count) fail("has no `count`: give the crossing of the section at which a trajectory ends");
    if (stop.direction != 1 || study.places.contains(fmt::format("stop[{}].direction", i)))
      fail("has a `direction`, which is that of its section; leave it out");
  }
}

/// The stops follow the sections: a stop of a section is its surface once more.
void check_sections(Problem& problem, double step) {
  Study& study = problem.study;
  for (std::size_t i = 0; i < study.sections.size(); ++i)
    if (study.sections[i].name.empty()) study.sections[i].name = std::to_string(i);
  check_stops(study);
  std::set<std::string> names;
  for (const Study::Section& section : study.sections) {
    check_name("a section", section.name, section.where);
    if (!names.insert(section.name).second)
      input_error(section.where, fmt::format("section '{}' appears twice; rename one", section.name));
    if (section.returns)
      check_statistics(*section.returns, fmt::format("the returns to section '{}'", section.name),
                       {"mean", "std", "min", "max"});
  }
  const std::size_t count = study.sections.size() + study.stops.size();
  if (count == 0) return;
  if (count > max_surfaces) {
    const bool of_sections = study.sections.size() > max_surfaces;
    input_error(
        of_sections ? study.sections[max_surfaces].where : study.stops[max_surfaces - study.sections.size()].where,
        fmt::format("{} {} are too many; a study takes {}", count,
                    study.stops.empty() ? "sections" : "sections and stops", max_surfaces));
  }
  std::vector<FormulaText> surfaces;
  for (const Study::Section& section : study.sections) {
    const std::string path = fmt::format("section[{}]", surfaces.size()), key = path + ".surface";
    problem.surfaces.direction[surfaces.size()] = section.direction;
    surfaces.push_back({surface_of(problem, section, path, step), key, study.place(key)});
  }
  for (std::size_t i = 0; i < study.stops.size(); ++i) {
    const Study::Stop& stop = study.stops[i];
    const auto section = std::ranges::find(study.sections, stop.section, &Study::Section::name);
    const bool counts = section != study.sections.end() && !stop.section.empty();
    const std::string key = fmt::format("stop[{}].when", i);
    problem.surfaces.direction[surfaces.size()] = counts ? section->direction : stop.direction;
    surfaces.push_back({counts ? surfaces[static_cast<std::size_t>(section - study.sections.begin())].text : stop.when,
                        key, study.place(key)});
  }
  problem.surfaces.count = static_cast<int>(surfaces.size());
  problem.code.surfaces = study_code("StudySurfaces", surfaces, formula_names(problem), true,
                                     study.stops.empty() ? "" : fmt::format("int stops = {}", study.stops.size()));
}

void check_averages(Problem& problem) {
  const Study& study = problem.study;
  constexpr std::size_t most = 32;  // a bit each
  std::set<std::string> names;
  std::vector<FormulaText> formulas;
  std::uint32_t angles = 0;
  if (study.averages.size() > most)
    input_error(study.averages[most].where,
                fmt::format("{} averages are too many; a study takes {}", study.averages.size(), most));
  for (const Study::Average& average : study.averages) {
    check_name("an average", average.name, average.where);
    if (!names.insert(average.name).second)
      input_error(average.where, fmt::format("average '{}' appears twice; rename one", average.name));
    check_statistics(average, fmt::format("average '{}'", average.name), {"mean", "std", "min", "max"});
    if (average.kind == Study::Average::Kind::frequency) angles |= std::uint32_t{1} << formulas.size();
    const std::string key = fmt::format("average[{}].formula", formulas.size());
    formulas.push_back({average.formula, key, study.place(key)});
  }
  if (!formulas.empty())
    problem.code.averages = study_code("StudyAverages", formulas, formula_names(problem), true,
                                       fmt::format("unsigned angles = {:#x}u", angles));
}

void check_density(Problem& problem) {
  const Study& study = problem.study;
  if (!study.time.by_density()) return;
  if (!is_symmetric(problem)) {
    const std::vector<std::string> others = symmetric_methods(*problem.system);
    input_error(study.place("time.control"),
                fmt::format("steps that follow a density need a symmetric method, and '{}' with its options is not "
                            "symmetric on '{}'; {}",
                            study.method.name, problem.system->name,
                            others.empty() ? "no method of the catalogue is" : "take one of " + join(others)));
  }
  for (std::size_t i = 0; i < study.sections.size(); ++i)
    if (study.sections[i].every)
      input_error(study.sections[i].where,
                  fmt::format("section[{}] is a stroboscope, which needs steps of one size (time.control is "
                              "\"density\"); take time.samples such that samples are at these times",
                              i));
  problem.code.density =
      density_code({study.time.density, "time.density", study.place("time.density")}, formula_names(problem));
}

void check_covariance(const Problem& problem) {
  const Study& study = problem.study;
  const std::string where = study.place("output.covariance");
  for (const std::string& part : study.output.covariance) {
    if (part == "lambda" && !shows_multiplier(*problem.system, *problem.method))
      input_error(where, fmt::format("output.covariance names lambda, which '{}' does not carry here; leave it out",
                                     study.method.name));
  }
  reject_repeats(study.output.covariance, where, "part of the state");
}

/// Groups need axes whose values are given: each value of a random axis occurs once.
void check_groups(const Study& study) {
  const std::string where = study.place("ensemble.group_by");
  std::vector<std::string> known;
  const std::vector<Axis> axes = components_of(study.ensemble.axes);
  for (const Axis& axis : axes)
    if (axis.kind == Axis::Kind::range || axis.kind == Axis::Kind::values) known.push_back(axis.name);
  for (const std::string& name : study.ensemble.group_by) {
    if (std::ranges::find(known, name) != known.end()) continue;
    const bool random = std::ranges::find(axes, name, &Axis::name) != axes.end();
    const std::string fault =
        random ? fmt::format("axis {} of ensemble.group_by is random, so its values do not recur", quote(name))
               : fmt::format("unknown axis {} in ensemble.group_by", quote(name));
    const std::string advice = known.empty()
                                   ? "; no axis has values in the study, so leave group_by out"
                                   : fmt::format(" (axes with values: {}){}", join(known), did_you_mean(name, known));
    input_error(where, fault + advice);
  }
  reject_repeats(study.ensemble.group_by, where, "axis");
}

void check_fit(const Problem& problem, Fit& fit, double step) {
  const auto fail = [&](std::string_view message) {
    input_error(fit.where, fmt::format("fit {} {}", quote(fit.name), message));
  };
  std::vector<std::string> known;
  for (const Observable& observable : problem.study.observables) known.push_back(observable.name);
  if (std::ranges::find(known, fit.observable) == known.end())
    fail(fmt::format("names the observable {}, which the study does not have (it has: {}){}", quote(fit.observable),
                     known.empty() ? "none" : join(known),
                     did_you_mean(fit.observable, known, "; add an [[observable]]")));
  if (fit.statistic != "mse" && fit.statistic != "mean") {
    const StatisticEntry* entry = find_statistic(fit.statistic);
    fail(entry == nullptr ? fmt::format("names the unknown statistic {}; fits take mse and mean", quote(fit.statistic))
         : entry->error == nullptr
             ? fmt::format("takes {}, an extreme value of the sample, which has no error; fits take mse and mean",
                           quote(fit.statistic))
             : fmt::format("takes {}, which is not a mean over the trajectories; fits take mse and mean",
                           quote(fit.statistic)));
  }
  // A list of all times may need more memory than there is, so samples are numbered in the order of their times, which
  // is backwards where the step is negative.
  const std::uint64_t samples = *problem.study.time.samples;
  const bool backwards = problem.sample_time(step, 0) > problem.sample_time(step, samples);
  const auto time = [&](std::uint64_t k) { return problem.sample_time(step, backwards ? samples - k : k); };
  const double low = time(0), high = time(samples);
  if (!fit.from) fit.from = low;
  if (!fit.to) fit.to = high;
  if (!(*fit.from < *fit.to)) fail(fmt::format("needs from < to (got {} and {})", *fit.from, *fit.to));
  const auto numbers = std::views::iota(std::uint64_t{0}, samples + 1);
  const auto begin = std::ranges::partition_point(numbers, [&](std::uint64_t k) { return time(k) < *fit.from; });
  const auto end = std::ranges::partition_point(numbers, [&](std::uint64_t k) { return time(k) <= *fit.to; });
  const auto count = static_cast<std::uint64_t>(end - begin);
  if (count < 3)
    fail(fmt::format(
        "has {} {} between {} and {}, and needs at least 3 (the study has {} from {} to {}); sample more often "
        "or change from and to",
        count, count == 1 ? "sample" : "samples", *fit.from, *fit.to, samples + 1, low, high));
  if (fit.model == Fit::Model::power && time(*begin) <= 0.0)
    fail(fmt::format("is a power of the time and has a sample at time {}; give a `from` above 0", time(*begin)));
}

void check_fits(Problem& problem, double step) {
  std::set<std::string> names;
  for (Fit& fit : problem.study.fits) {
    check_name("a fit", fit.name, fit.where);
    if (!names.insert(fit.name).second)
      input_error(fit.where, fmt::format("fit '{}' appears twice; rename one", fit.name));
    check_fit(problem, fit, step);
  }
}

}  // namespace

void check_name(std::string_view what, const std::string& name, const std::string& where) {
  if (const std::string fault = fault_of_name(name); !fault.empty())
    input_error(where,
                fmt::format("{} cannot be called {} ({}); use letters, digits, '-' and '_'", what, quote(name), fault));
}

void check_requests(Problem& problem, double step) {
  check_density(problem);
  check_observables(problem);
  check_sections(problem, std::abs(step));
  check_averages(problem);
  check_fates(problem);
  check_covariance(problem);
  check_groups(problem.study);
  check_fits(problem, step);
  check_lyapunov(problem, step);
  check_derivatives(problem);
  reject_repeats(problem.study.output.trajectories, problem.study.place("output.trajectories"), "trajectory");
}

}  // namespace rattleback
