#include "rattleback/study/options.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "rattleback/base/message.hpp"
#include "rattleback/catalogue/settings.hpp"
#include "rattleback/language/expression.hpp"

namespace rattleback {
namespace {

std::string_view kind_of(const MethodOption& value) {
  constexpr std::string_view kinds[] = {"a whole number", "a number", "a boolean",
                                        "a string",       "an array", "an array of arrays"};
  return kinds[value.content.index()];
}

/// Checks a value of a study and converts the value to the kind of the option.
class Checked {
 public:
  Checked(const Study& study, const MethodEntry& method, const OptionInfo& option)
      : method_(method), option_(option), key_(fmt::format("method.{}", option.name)), where_(study.place(key_)) {}

  [[nodiscard]] MethodOption operator()(const MethodOption& value) const {
    switch (option_.kind) {
      case OptionKind::integer:
        return integer(value);
      case OptionKind::choice:
        return choice(value);
      case OptionKind::number:
        return number(value);
      case OptionKind::flag:
        if (!std::holds_alternative<bool>(value.content)) wrong_kind("true or false", value);
        return value;
      case OptionKind::numbers:
        return numbers(value);
      case OptionKind::matrix:
        return matrix(value);
    }
    return value;
  }

 private:
  [[noreturn]] void wrong_kind(std::string_view wanted, const MethodOption& value) const {
    input_error(where_, fmt::format("{} must be {} (got {})", key_, wanted, kind_of(value)));
  }
  void check_range(double x) const {
    if (x >= option_.minimum && x <= option_.maximum && std::isfinite(x)) return;
    const std::string range = range_in_words(option_);
    input_error(where_, fmt::format("{} = {} is out of range; '{}' takes {}", key_, x, method_.name,
                                    range.empty() ? "finite numbers" : range));
  }

  [[nodiscard]] MethodOption integer(const MethodOption& value) const {
    std::int64_t whole = 0;
    if (const auto* given = std::get_if<std::int64_t>(&value.content)) {
      whole = *given;
    } else if (const auto* real = std::get_if<double>(&value.content); real && std::abs(*real) < 0x1p53) {
      whole = static_cast<std::int64_t>(*real);
      if (static_cast<double>(whole) != *real) wrong_kind("a whole number", value);
    } else {
      wrong_kind("a whole number", value);
    }
    check_range(static_cast<double>(whole));
    return whole;
  }
  [[nodiscard]] MethodOption choice(const MethodOption& value) const {
    const std::vector<std::string> known(option_.choices.begin(), option_.choices.end());
    const auto* name = std::get_if<std::string>(&value.content);
    if (name == nullptr) wrong_kind("one of " + join(known), value);
    if (std::ranges::find(known, *name) == known.end())
      input_error(where_, fmt::format("{} = {} is not known; '{}' takes {}{}", key_, quote(*name), method_.name,
                                      join(known), did_you_mean(*name, known)));
    return value;
  }
  [[nodiscard]] MethodOption number(const MethodOption& value) const {
    double x = 0.0;
    if (const auto* whole = std::get_if<std::int64_t>(&value.content)) {
      x = static_cast<double>(*whole);
    } else if (const auto* real = std::get_if<double>(&value.content)) {
      x = *real;
    } else if (const auto* text = std::get_if<std::string>(&value.content)) {
      Value expression(*text);
      expression.where = where_;
      x = constant(expression, key_);
    } else {
      wrong_kind("a number", value);
    }
    check_range(x);
    return x;
  }
  [[nodiscard]] MethodOption numbers(const MethodOption& value) const {
    const auto* list = std::get_if<std::vector<double>>(&value.content);
    if (list == nullptr) wrong_kind("an array of numbers", value);
    for (const double x : *list) check_range(x);
    return value;
  }
  [[nodiscard]] MethodOption matrix(const MethodOption& value) const {
    if (const auto* list = std::get_if<std::vector<double>>(&value.content); list != nullptr && list->empty())
      return std::vector<std::vector<double>>{};
    const auto* rows = std::get_if<std::vector<std::vector<double>>>(&value.content);
    if (rows == nullptr) wrong_kind("an array of rows, [[1, 2], [3, 4]],", value);
    for (std::size_t i = 0; i < rows->size(); ++i) {
      if ((*rows)[i].size() != rows->front().size())
        input_error(where_, fmt::format("{} has rows of different lengths ({} in row 0, {} in row {}); give each row "
                                        "as many numbers",
                                        key_, rows->front().size(), (*rows)[i].size(), i));
      for (const double x : (*rows)[i]) check_range(x);
    }
    return value;
  }

  const MethodEntry& method_;
  const OptionInfo& option_;
  std::string key_, where_;
};

/// Returns the value of an option. A list points into `value`. The numbers of a matrix are copied to `flat`.
OptionValue value_of(const OptionInfo& option, const MethodOption& value, std::vector<double>& flat) {
  return std::visit(
      [&](const auto& x) -> OptionValue {
        using X = std::decay_t<decltype(x)>;
        if constexpr (std::is_same_v<X, std::vector<std::vector<double>>>) {
          for (const auto& row : x) flat.insert(flat.end(), row.begin(), row.end());
          return {0.0, flat, static_cast<int>(x.size())};
        } else if constexpr (std::is_same_v<X, std::vector<double>>) {
          return {0.0, x};
        } else if constexpr (std::is_same_v<X, std::string>) {
          return {static_cast<double>(std::ranges::find(option.choices, x) - option.choices.begin()), {}};
        } else {
          return {static_cast<double>(x), {}};
        }
      },
      value.content);
}

const MethodOption* find(const Study::Method& method, const OptionInfo& option) {
  const auto found = method.options.find(option.name);
  return found == method.options.end() ? nullptr : &found->second;
}

/// The values of all options of a method, in the order of the options.
struct Values {
  std::vector<MethodOption> settings;     ///< `values` points into these lists
  std::vector<std::vector<double>> flat;  ///< `values` points into these matrices, stored by rows
  std::vector<OptionValue> values;

  Values(const Study::Method& given, const MethodEntry& method) : flat(method.options.size()) {
    for (const OptionInfo& option : method.options) {
      const MethodOption* value = find(given, option);
      settings.push_back(value != nullptr ? *value : default_of(option));
    }
    for (std::size_t i = 0; i < settings.size(); ++i)
      values.push_back(value_of(method.options[i], settings[i], flat[i]));
  }
};

}  // namespace

bool keeps_hidden_constraint(const Problem& problem) {
  const MethodEntry& method = *problem.method;
  if (method.keeps_hidden_constraint == nullptr) return method.exact_hidden_constraint;
  return method.keeps_hidden_constraint(Values(problem.study.method, method).values, *problem.system);
}

int order_of(const Problem& problem) {
  const MethodEntry& method = *problem.method;
  const Study::Method& given = problem.study.method;
  if (method.order_of == nullptr) return 2 * given.stages().value_or(1) - 2;
  return method.order_of(Values(given, method).values, *problem.system);
}

bool is_symmetric(const Problem& problem) {
  const MethodEntry& method = *problem.method;
  return method.symmetric != nullptr && method.symmetric(Values(problem.study.method, method).values, *problem.system);
}

std::vector<std::string> symmetric_methods(const SystemEntry& system) {
  std::vector<std::string> names;
  for (const MethodEntry* method : Catalogue::instance().methods()) {
    if (method->symmetric == nullptr || !method->take(system)) continue;
    Study study;
    study.method.name = method->name;
    complete_options(study, system, *method);
    if (method->symmetric(Values(study.method, *method).values, system)) names.emplace_back(method->name);
  }
  return names;
}

std::string systems_in_words(const MethodEntry& method) {
  const bool none = method.constraints.contain(ConstraintKind::none);
  std::vector<std::string> kinds;
  if (method.constraints.contain(ConstraintKind::velocity)) kinds.emplace_back("velocity");
  if (method.constraints.contain(ConstraintKind::holonomic)) kinds.emplace_back("holonomic");
  if (method.constraints.contain(ConstraintKind::mixed)) kinds.emplace_back("both kinds of");
  std::string words =
      kinds.empty() ? "systems without constraints"
                    : fmt::format("systems with {} constraints{}", fmt::join(kinds, " or "), none ? " or none" : "");
  if (method.needs != nullptr) words += fmt::format(" and {}", method.needs);
  return words;
}

std::string range_in_words(const OptionInfo& option) {
  if (option.kind == OptionKind::choice)
    return join(std::vector<std::string>(option.choices.begin(), option.choices.end()));
  if (option.kind == OptionKind::flag) return "true, false";
  const bool below = std::isfinite(option.minimum), above = std::isfinite(option.maximum);
  if (below && above) return fmt::format("{} to {}", option.minimum, option.maximum);
  if (below) return fmt::format("at least {}", option.minimum);
  return above ? fmt::format("at most {}", option.maximum) : "";
}

MethodOption default_of(const OptionInfo& option) {
  switch (option.kind) {
    case OptionKind::integer:
      return static_cast<std::int64_t>(option.standard);
    case OptionKind::choice:
      return option.choices[static_cast<std::size_t>(option.standard)];
    case OptionKind::number:
      return option.standard;
    case OptionKind::flag:
      return option.standard != 0.0;
    case OptionKind::numbers:
      return std::vector<double>(option.standard_numbers.begin(), option.standard_numbers.end());
    case OptionKind::matrix:
      return std::vector<std::vector<double>>{};
  }
  return {};
}

void complete_options(Study& study, const SystemEntry& system, const MethodEntry& method) {
  std::vector<std::string> known{"name"};
  for (const OptionInfo& option : method.options) known.emplace_back(option.name);
  known.emplace_back("solver");
  for (const auto& [name, value] : study.method.options) {
    if (std::ranges::find(known.begin() + 1, known.end() - 1, name) != known.end() - 1) continue;
    for (const MissingOption& missing : method.missing)
      if (name == missing.name)
        input_error(study.place("method." + name),
                    fmt::format("'{}' has no {}: {}", method.name, name, missing.reason));
    input_error(study.place("method." + name),
                fmt::format("unknown key {} in [method] of '{}' (known: {}){}", quote(name), method.name, join(known),
                            did_you_mean(name, known)));
  }
  const bool stages_given = study.method.options.contains("stages");
  for (const OptionInfo& option : method.options) {
    const bool allowed = is_allowed(option, system);
    const auto given = study.method.options.find(option.name);
    if (given != study.method.options.end()) {
      if (!allowed) {
        const std::string place = study.place(fmt::format("method.{}", option.name));
        if (option.scope == OptionScope::holonomic_only)
          input_error(place,
                      fmt::format("method.{} is for holonomic constraints ('{}' has {}); leave it out", option.name,
                                  system.name, system.m > 0 ? "constraints on velocities" : "no constraints"));
        if (option.scope == OptionScope::rn_only)
          input_error(place, fmt::format("method.{} is for systems on R^n ('{}' has a Lie group, where '{}' has one "
                                         "form); leave it out",
                                         option.name, system.name, method.name));
        input_error(place, fmt::format("method.{} is for systems on Lie groups (the configuration space of '{}' is "
                                       "R^{}); leave it out",
                                       option.name, system.name, system.n));
      }
      given->second = Checked(study, method, option)(given->second);
    } else if (allowed) {
      study.method.options[option.name] = default_of(option);
    }
  }
  if (stages_given || method.stages_of == nullptr) return;
  study.method.options["stages"] = method.stages_of(Values(study.method, method).values);
}

void settle_options(Problem& problem) {
  const MethodEntry& method = *problem.method;
  const Values all(problem.study.method, method);
  const std::vector<OptionValue>& values = all.values;

  int* next_key = problem.key.value;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (method.options[i].compiled) *next_key++ = static_cast<int>(values[i].number);

  problem.numbers.assign(max_method_numbers, 0.0);
  if (method.settle == nullptr) {
    std::size_t next = 0;
    for (std::size_t i = 0; i < values.size(); ++i)
      if (!method.options[i].compiled) problem.numbers[next++] = values[i].number;
    return;
  }
  const Settlement settlement = method.settle(values, *problem.system);
  if (settlement.verdict == Settled::refused) input_error(problem.study.place("method"), settlement.message);
  problem.numbers.assign(settlement.numbers.begin(), settlement.numbers.end());
  problem.warning = settlement.message;
}

std::string options_in_words(const Problem& problem) {
  const Study::Method& method = problem.study.method;
  std::vector<std::string> words;
  for (const OptionInfo& option : problem.method->options) {
    const MethodOption* value = find(method, option);
    if (value == nullptr || !has_effect(option, *problem.system)) continue;
    if ((!option.compiled || option.unnamed) && *value == default_of(option)) continue;
    const std::string_view name = option.name;
    if (name == "stages") {
      words.push_back(fmt::format("{} stages", *method.stages()));
    } else if (const auto* flag = std::get_if<bool>(&value->content)) {
      words.push_back(fmt::format("{}{}", *flag ? "" : "no ", name));
    } else if (const auto* choice = std::get_if<std::string>(&value->content)) {
      words.push_back(fmt::format("{} {}", name, *choice));
    } else {
      words.push_back(fmt::format("{} {}", name, to_toml(*value)));
    }
  }
  return join(words);
}

}  // namespace rattleback
