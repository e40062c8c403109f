#include "rattleback/study/fates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "rattleback/base/message.hpp"
#include "rattleback/language/model.hpp"
#include "rattleback/study/parts.hpp"

namespace rattleback {
namespace {

constexpr std::size_t most_fates = 200;  // labels are kept as bytes

/// Returns the names that a formula may have in mind: y[2] is also y2 or y_2, and q0 is q[0].
std::vector<std::string> meanings(const std::string& written) {
  std::vector<std::string> all = meanings_of(written);
  const std::size_t digit = written.find_first_of("0123456789");
  if (digit == 1) all.push_back(fmt::format("{}[{}]", written.substr(0, 1), written.substr(1)));
  return all;
}

std::uint64_t values_of(const Axis& axis, const Study& study) {
  switch (axis.kind) {
    case Axis::Kind::range:
      return axis.count;
    case Axis::Kind::values:
      return axis.values.size();
    default:
      return axis.draws.value_or(study.ensemble.draws.value_or(1));
  }
}

void check_names(const Study& study) {
  std::set<std::string> fates, maps;
  if (study.fates.size() > most_fates)
    input_error(study.fates[most_fates].where,
                fmt::format("{} fates are too many; a study takes {}", study.fates.size(), most_fates));
  for (const Study::Fate& fate : study.fates) {
    check_name("a fate", fate.name, fate.where);
    if (!fates.insert(fate.name).second)
      input_error(fate.where, fmt::format("fate '{}' appears twice; rename one", fate.name));
  }
  for (const Study::Map& map : study.maps) {
    check_name("a map", map.name, map.where);
    if (!maps.insert(map.name).second)
      input_error(map.where, fmt::format("map '{}' appears twice; rename one", map.name));
  }
}

}  // namespace

Fates::Fates(const Problem& problem)
    : elements_(static_cast<std::size_t>(problem.system->elements)),
      n_(static_cast<std::size_t>(problem.system->n)),
      parameters_(problem.system->parameters.size()) {
  const Study& study = problem.study;
  if (study.fates.empty()) return;
  add_names(problem);
  for (const Study::Fate& fate : study.fates) {
    if (!fate.condition) continue;
    for (const std::string& written : variables_of(*fate.condition)) {
      if (std::ranges::find(names_, written) != names_.end()) continue;
      for (const std::string& meaning : meanings(written))
        if (const auto found = std::ranges::find(names_, meaning); found != names_.end()) {
          places_.push_back(places_[static_cast<std::size_t>(found - names_.begin())]);
          names_.push_back(written);
          break;
        }
    }
  }
  slots_.resize(names_.size());
  for (std::size_t i = 0; i < study.fates.size(); ++i) add(study, i);
}

void Fates::add_names(const Problem& problem) {
  const SystemEntry& system = *problem.system;
  const auto add = [&](const std::string& name, std::size_t place) {
    if (std::ranges::find(names_, name) != names_.end()) return;
    names_.push_back(name);
    places_.push_back(place);
  };
  const std::size_t first_parameter = elements_ + 2 * n_;
  for (std::size_t i = 0; i < system.coordinates.size(); ++i) add(system.coordinates[i], i);
  if (const auto& formulas = problem.study.system.formulas) {
    for (std::size_t i = 0; i < formulas->velocities.size(); ++i) add(formulas->velocities[i], elements_ + i);
    for (std::size_t i = 0; i < formulas->momenta.size(); ++i) add(formulas->momenta[i], elements_ + n_ + i);
  }
  for (std::size_t i = 0; i < parameters_; ++i) add(system.parameters[i].name, first_parameter + i);
  for (std::size_t i = 0; i < system.structure.size(); ++i)
    add(system.structure[i].name, first_parameter + parameters_ + i);
  numbers_.resize(first_parameter + parameters_ + system.structure.size() + 1);
  for (std::size_t i = 0; i < system.structure.size(); ++i)
    numbers_[first_parameter + parameters_ + i] = system.structure[i].value;
  add("t", numbers_.size() - 1);
  for (std::size_t i = 0; i < elements_; ++i) add(fmt::format("q[{}]", i), i);
  for (std::size_t i = 0; i < n_; ++i) add(fmt::format("v[{}]", i), elements_ + i);
  for (std::size_t i = 0; i < n_; ++i) add(fmt::format("p[{}]", i), elements_ + n_ + i);
}

void Fates::add(const Study& study, std::size_t i) {
  const Study::Fate& fate = study.fates[i];
  const auto fail = [&](const std::string& message) {
    input_error(fate.where, fmt::format("fate {} {}", quote(fate.name), message));
  };
  Condition& condition = conditions_.emplace_back();
  if (fate.condition.has_value() == !fate.stop.empty())
    fail(fate.condition ? "has both `where` and `stop`; leave one out" : "has no condition; give `where` or `stop`");
  if (!fate.condition) {
    std::vector<std::string> stops;
    for (const Study::Stop& stop : study.stops) stops.push_back(stop.name);
    const auto found = std::ranges::find(stops, fate.stop);
    if (found == stops.end())
      fail(fmt::format("names the stop {}, which the study does not have (it has: {}){}", quote(fate.stop),
                       stops.empty() ? "none" : join(stops), did_you_mean(fate.stop, stops, "; add a [[stop]]")));
    condition.stop = static_cast<std::uint32_t>(found - stops.begin()) + 1;
    return;
  }
  const std::string key = fmt::format("fate[{}].where", i);
  const Expression& expression = condition.expression.emplace_back(*fate.condition, key, names_, slots_.data());
  const auto* text = std::get_if<std::string>(&fate.condition->content);
  const std::string given =
      text == nullptr ? fmt::format("{}", std::get<double>(fate.condition->content)) : quote(*text);
  if (!expression.is_condition())
    input_error(
        fate.condition->where,
        fmt::format(
            "{} is not a condition (got {}); compare two numbers, as in \"x > 0\", and join comparisons by && and ||",
            key, given));
  const std::size_t first = elements_ + 2 * n_, time = numbers_.size() - 1;
  if (std::ranges::none_of(expression.reads(), [&](int slot) {
        const std::size_t place = places_[static_cast<std::size_t>(slot)];
        return place < first || place == time;
      }))
    input_error(
        fate.condition->where,
        fmt::format("{} = {} depends neither on the final state nor on its time; name a coordinate in it", key, given));
}

std::uint32_t Fates::operator()(const FinalState& state) {
  std::copy_n(state.q, elements_, numbers_.begin());
  std::copy_n(state.v, n_, numbers_.begin() + static_cast<std::ptrdiff_t>(elements_));
  std::copy_n(state.p, n_, numbers_.begin() + static_cast<std::ptrdiff_t>(elements_ + n_));
  std::copy_n(state.parameters, parameters_, numbers_.begin() + static_cast<std::ptrdiff_t>(elements_ + 2 * n_));
  numbers_.back() = state.time;
  for (std::size_t i = 0; i < slots_.size(); ++i) slots_[i] = numbers_[places_[i]];
  for (std::size_t i = 0; i < conditions_.size(); ++i) {
    const Condition& condition = conditions_[i];
    const bool holds =
        condition.expression.empty() ? state.stop == condition.stop : condition.expression.front()() != 0.0;
    if (holds) return static_cast<std::uint32_t>(i) + 1;
  }
  return 0;
}

MapAxes axes_of_map(const Study& study, std::size_t i) {
  const Study::Map& map = study.maps[i];
  const auto fail = [&](const std::string& message) {
    input_error(map.where, fmt::format("map {} {}", quote(map.name), message));
  };
  if (study.ensemble.listed())
    fail("is over axes, and the trajectories of the study are listed in a file; give ensemble.axes");
  const std::vector<Axis> axes = components_of(study.ensemble.axes);
  std::vector<std::string> known;
  for (const Axis& axis : axes)
    if (axis.kind == Axis::Kind::range || axis.kind == Axis::Kind::values) known.push_back(axis.name);
  if (map.axes.size() != 2 || map.axes[0] == map.axes[1])
    fail(fmt::format("needs two different axes (got {})", map.axes.empty() ? "none" : join(map.axes)));
  std::size_t places[2] = {};
  for (const std::size_t a : {0, 1}) {
    if (std::ranges::find(known, map.axes[a]) == known.end())
      fail(fmt::format("names {}, which is not an axis with given values (there are: {}){}", quote(map.axes[a]),
                       known.empty() ? "none" : join(known), did_you_mean(map.axes[a], known)));
    places[a] = static_cast<std::size_t>(std::ranges::find(axes, map.axes[a], &Axis::name) - axes.begin());
  }
  for (std::size_t a = 0; a < axes.size(); ++a)
    if (a != places[0] && a != places[1] && values_of(axes[a], study) > 1)
      fail(fmt::format("is over {} and {}, and the axis {} has {} values; give it one", map.axes[0], map.axes[1],
                       quote(axes[a].name), values_of(axes[a], study)));
  return {map.axes[0], map.axes[1], values_of(axes[places[0]], study), values_of(axes[places[1]], study),
          places[0] < places[1]};
}

void check_fates(const Problem& problem) {
  const Study& study = problem.study;
  check_names(study);
  (void)Fates(problem);
  for (std::size_t i = 0; i < study.maps.size(); ++i) {
    const Study::Map& map = study.maps[i];
    const bool of_fates = map.of == "fate";
    if (of_fates ? study.fates.empty() : study.stops.empty())
      input_error(map.where,
                  fmt::format("map {0} is of \"{1}\", and the study has no [[{1}]]; add one", quote(map.name), map.of));
    (void)axes_of_map(study, i);
  }
}

}  // namespace rattleback
