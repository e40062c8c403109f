#include "rattleback/study/formulas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "rattleback/base/message.hpp"
#include "rattleback/language/characters.hpp"
#include "rattleback/study/components.hpp"

namespace rattleback {
namespace {

/// Returns whether what follows the vector in a name is indices: [2], [1][3].
bool has_whole_indices(std::string_view name) {
  while (name.ends_with(']')) {
    const std::size_t open = name.rfind('[');
    if (open == std::string_view::npos || open + 2 > name.size() - 1) return false;
    const std::string_view index = name.substr(open + 1, name.size() - open - 2);
    if (!std::ranges::all_of(index, is_digit)) return false;
    name = name.substr(0, open);
  }
  return name.find('[') == std::string_view::npos;
}

}  // namespace

Formulas::Formulas(const Study& study, const SystemEntry& system, const std::vector<std::string>& axes) {
  add_names(study, system, axes);
  slots_.resize(names_.size());
  changed_.resize(names_.size());
  varies_.resize(names_.size());
  std::fill_n(varies_.begin(), axes.size(), 1);
  data.axes.resize(axes.size());
  data.parameters.resize(system.parameters.size());

  std::size_t slot = axes.size();
  for (std::size_t i = 0; i < system.parameters.size(); ++i, ++slot) {
    const std::string name = system.parameters[i].name;
    parameters_.push_back(compile(study.system.parameters.at(name), "parameter " + name, axes.size(),
                                  "; a parameter may use the axes, not other parameters"));
    varies_[slot] = parameters_.back().varies;
    if (!varies_[slot]) slots_[slot] = data.parameters[i] = parameters_.back().expression();
  }
  for (std::size_t i = 0; i < system.structure.size(); ++i, ++slot) slots_[slot] = system.structure[i].value;

  in_condition_.resize(parameters_.size());
  if (study.ensemble.condition) compile_condition(study);
  step_.push_back(compile(study.time.step, "time.step", names_.size()));
  q_ = compile(components(study.ensemble.q, system, "q"), "q");
  v_ = compile(components(study.ensemble.v, system, "v"), "v");
  p_ = compile(components(study.ensemble.p, system, "p"), "p");
  lambda_ = compile(components(study.ensemble.lambda, system, "lambda"), "lambda");
  for (std::size_t i = 0; i < study.sections.size(); ++i)
    if (study.sections[i].every)
      periods_.push_back(compile(*study.sections[i].every, fmt::format("section[{}].every", i), names_.size(),
                                 "; a period is that of all times"));
  data.periods.resize(periods_.size());
  data.q.resize(q_.size());
  data.v.resize(v_.size());
  data.p.resize(p_.size());
  data.lambda.resize(lambda_.size());

  const auto evaluate_constants = [](const std::vector<Formula>& formulas, double* results) {
    for (std::size_t i = 0; i < formulas.size(); ++i) {
      if (!formulas[i].varies) results[i] = formulas[i].expression();
    }
  };
  evaluate_constants(step_, &data.step);
  evaluate_constants(q_, data.q.data());
  evaluate_constants(v_, data.v.data());
  evaluate_constants(p_, data.p.data());
  evaluate_constants(lambda_, data.lambda.data());
  evaluate_constants(periods_, data.periods.data());
}

void Formulas::add_names(const Study& study, const SystemEntry& system, const std::vector<std::string>& axes) {
  std::vector<std::string> parameters;
  for (const ParameterInfo& parameter : system.parameters) parameters.emplace_back(parameter.name);
  for (const StructureInfo& parameter : system.structure) parameters.emplace_back(parameter.name);
  const std::vector<Axis> given = components_of(study.ensemble.axes);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::string where = i < given.size() ? given[i].where : study.place("ensemble.file");
    const auto fail = [&](std::string_view why) {
      input_error(where, fmt::format("{} cannot name an axis ({}); choose another name", quote(axes[i]), why));
    };
    if (!is_variable_name(vector_of(axes[i])) || !has_whole_indices(axes[i])) {
      fail("a name is letters, digits and _, does not start with a digit, and is neither pi nor a function");
    }
    if (const std::string fault = fault_of_name(axes[i]); !fault.empty()) fail(fault);
    if (std::ranges::find(parameters, axes[i]) != parameters.end()) {
      fail(fmt::format("it is a parameter of '{}'", system.name));
    }
    const auto first = std::ranges::find(axes, axes[i]) - axes.begin();
    if (first != static_cast<std::ptrdiff_t>(i)) fail("another axis has it");
  }
  names_ = axes;
  names_.insert(names_.end(), parameters.begin(), parameters.end());
}

Formulas::Formula Formulas::compile(const Value& value, const std::string& what, std::size_t names,
                                    std::string_view hint) {
  Expression expression(value, what, std::span(names_).first(names), slots_.data(), hint);
  const bool varies = std::ranges::any_of(expression.reads(), [&](int slot) { return varies_[slot] != 0; });
  return {std::move(expression), varies};
}

std::vector<Formulas::Formula> Formulas::compile(std::span<const Value> values, const std::string& what) {
  std::vector<Formula> result;
  result.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (const auto& [index, number] : values[i].indices)
      if (std::ranges::find(names_, index) != names_.end())
        input_error(values[i].where, fmt::format("{} cannot be the index of initial {} (it is an axis or a parameter); "
                                                 "choose another name",
                                                 quote(index), what));
    result.push_back(compile(values[i], fmt::format("{}[{}]", what, i), names_.size()));
  }
  return result;
}

void Formulas::compile_condition(const Study& study) {
  const Value& value = *study.ensemble.condition;
  const std::string where = study.place("ensemble.where");
  const auto* text = std::get_if<std::string>(&value.content);
  condition_.push_back(compile(value, "ensemble.where", names_.size()));
  const Formula& formula = condition_.back();
  if (text == nullptr || !formula.expression.is_condition())
    input_error(where,
                fmt::format("ensemble.where is not a condition (got {}); compare two numbers, as in \"x > 0\", and "
                            "join comparisons by && and ||",
                            text == nullptr ? fmt::format("{}", std::get<double>(value.content)) : quote(*text)));
  if (!formula.varies)
    input_error(where, fmt::format("ensemble.where = {} depends on no axis (it takes all points or none); name an axis "
                                   "in it, or leave it out",
                                   quote(*text)));
  for (const int slot : formula.expression.reads())
    if (const auto parameter = static_cast<std::size_t>(slot) - data.axes.size(); parameter < in_condition_.size())
      in_condition_[parameter] = 1;
}

void Formulas::set_slot(std::size_t slot, double value) {
  // Bits are compared, because 0 and -0 are different inputs. A trajectory must not depend on the trajectory evaluated
  // before.
  if (std::bit_cast<std::uint64_t>(slots_[slot]) == std::bit_cast<std::uint64_t>(value)) return;
  slots_[slot] = value;
  changed_[slot] = 1;
}

bool Formulas::reads(std::size_t axis) const {
  return std::ranges::any_of(
      std::initializer_list<const std::vector<Formula>*>{&parameters_, &step_, &q_, &v_, &p_, &lambda_, &condition_},
      [&](const std::vector<Formula>* formulas) {
        return std::ranges::any_of(*formulas, [&](const Formula& formula) {
          return std::ranges::count(formula.expression.reads(), static_cast<int>(axis)) > 0;
        });
      });
}

FormulaNodes Formulas::nodes(Graph& graph, bool apart) const {
  FormulaNodes nodes;
  std::vector<int> of_slot;
  for (std::size_t i = 0; i < data.axes.size(); ++i) of_slot.push_back(graph.variable(static_cast<int>(i)));
  const auto node_of = [&](const Formula& formula) { return formula.expression.add_to(graph, of_slot); };
  for (const Formula& parameter : parameters_) nodes.parameters.push_back(node_of(parameter));
  for (const int node : nodes.parameters)
    of_slot.push_back(apart ? graph.variable(static_cast<int>(of_slot.size())) : node);
  for (std::size_t slot = of_slot.size(); slot < slots_.size(); ++slot) of_slot.push_back(graph.constant(slots_[slot]));
  const auto nodes_of = [&](const std::vector<Formula>& formulas) {
    std::vector<int> all;
    for (const Formula& formula : formulas) all.push_back(node_of(formula));
    return all;
  };
  nodes.step = node_of(step_.front());
  nodes.q = nodes_of(q_);
  nodes.v = nodes_of(v_);
  nodes.p = nodes_of(p_);
  nodes.lambda = nodes_of(lambda_);
  if (condition_.empty()) return nodes;
  nodes.condition = node_of(condition_.front());
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    if (in_condition_[i] != 0) nodes.before_the_condition.push_back(nodes.parameters[i]);
  return nodes;
}

void Formulas::set_axis(std::size_t axis, double value) {
  set_slot(axis, value);
  data.axes[axis] = value;
}

bool Formulas::stale(const Formula& formula) const {
  if (!formula.varies) return false;
  return first_ || std::ranges::any_of(formula.expression.reads(), [&](int slot) { return changed_[slot] != 0; });
}

void Formulas::evaluate(const std::vector<Formula>& formulas, double* results) const {
  for (std::size_t i = 0; i < formulas.size(); ++i) {
    if (stale(formulas[i])) results[i] = formulas[i].expression();
  }
}

void Formulas::evaluate_parameters(bool of_condition) {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if ((in_condition_[i] != 0) != of_condition) continue;
    if (stale(parameters_[i])) data.parameters[i] = parameters_[i].expression();
    set_slot(data.axes.size() + i, data.parameters[i]);
  }
}

void Formulas::evaluate() {
  if (!condition_.empty()) {
    evaluate_parameters(true);
    data.taken = condition_.front().expression() != 0.0;
    if (!data.taken) return;  // what has changed is still to be evaluated
  }
  evaluate_parameters(false);
  evaluate(step_, &data.step);
  evaluate(q_, data.q.data());
  evaluate(v_, data.v.data());
  evaluate(p_, data.p.data());
  evaluate(lambda_, data.lambda.data());
  evaluate(periods_, data.periods.data());
  std::ranges::fill(changed_, 0);
  first_ = false;
}

}  // namespace rattleback
