#include "rattleback/study/formulas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "rattleback/base/message.hpp"

namespace rattleback {

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

  step_.push_back(compile(study.time.step, "time.step", names_.size()));
  q_ = compile(study.ensemble.q, "q");
  v_ = compile(study.ensemble.v, "v");
  p_ = compile(study.ensemble.p, "p");
  lambda_ = compile(study.ensemble.lambda, "lambda");
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
}

void Formulas::add_names(const Study& study, const SystemEntry& system, const std::vector<std::string>& axes) {
  std::vector<std::string> parameters;
  for (const ParameterInfo& parameter : system.parameters) parameters.emplace_back(parameter.name);
  for (const StructureInfo& parameter : system.structure) parameters.emplace_back(parameter.name);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::string where =
        i < study.ensemble.axes.size() ? study.ensemble.axes[i].where : study.place("ensemble.file");
    const auto fail = [&](std::string_view why) {
      input_error(where, fmt::format("{} cannot name an axis ({}); choose another name", quote(axes[i]), why));
    };
    if (!is_variable_name(axes[i])) {
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
    result.push_back(compile(values[i], fmt::format("{}[{}]", what, i), names_.size()));
  }
  return result;
}

void Formulas::set_slot(std::size_t slot, double value) {
  // Bits are compared, because 0 and -0 are different inputs. A trajectory must not depend on the trajectory evaluated
  // before.
  if (std::bit_cast<std::uint64_t>(slots_[slot]) == std::bit_cast<std::uint64_t>(value)) return;
  slots_[slot] = value;
  changed_[slot] = 1;
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

void Formulas::evaluate() {
  evaluate(parameters_, data.parameters.data());
  for (std::size_t i = 0; i < parameters_.size(); ++i) set_slot(data.axes.size() + i, data.parameters[i]);
  evaluate(step_, &data.step);
  evaluate(q_, data.q.data());
  evaluate(v_, data.v.data());
  evaluate(p_, data.p.data());
  evaluate(lambda_, data.lambda.data());
  std::ranges::fill(changed_, 0);
  first_ = false;
}

}  // namespace rattleback
