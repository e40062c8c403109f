#include "rattleback/study/derivatives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "rattleback/base/message.hpp"
#include "rattleback/kernels/kernels.hpp"
#include "rattleback/language/algebra.hpp"
#include "rattleback/language/parser.hpp"
#include "rattleback/study/observables.hpp"
#include "rattleback/study/parts.hpp"

namespace rattleback {
namespace {

/// Returns the number i of a name letter + "0[i]"; -1 for another name.
int component_in(const std::string& name, char letter) {
  if (name.size() < 5 || name[0] != letter || !name.substr(1).starts_with("0[") || !name.ends_with(']')) return -1;
  const std::string digits = name.substr(3, name.size() - 4);
  if (digits.size() > 9 || !std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; })) return -1;
  if (digits.size() > 1 && digits[0] == '0') return -1;  // one name for each component
  return std::stoi(digits);
}

/// Returns the names that may be those of axes: with a file, of columns that an expression reads.
std::vector<std::string> names_of_axes(const Problem& problem) {
  std::vector<std::string> names;
  for (const Axis& axis : components_of(problem.study.ensemble.axes)) names.push_back(axis.name);
  if (!problem.study.ensemble.listed()) return names;
  for (const std::string& name : names_in_expressions(problem.study, *problem.system)) names.push_back(name);
  return names;
}

DerivativeBy resolve(const Problem& problem, const std::string& name) {
  const SystemEntry& system = *problem.system;
  const std::string where = problem.study.place("derivatives.by");
  const std::vector<std::string> axes = names_of_axes(problem);
  if (std::ranges::find(axes, name) != axes.end()) return {DerivativeBy::axis, 0, name};
  for (std::size_t i = 0; i < system.parameters.size(); ++i)
    if (name == system.parameters[i].name) return {DerivativeBy::parameter, static_cast<int>(i), name};
  for (const StructureInfo& info : system.structure)
    if (name == info.name)
      input_error(where, fmt::format("derivatives.by names {}, a whole number that '{}' is compiled for; take axes, "
                                     "parameters and components of the initial state",
                                     quote(name), system.name));
  for (const auto& [letter, kind] : {std::pair{'q', DerivativeBy::q}, {'v', DerivativeBy::v}, {'p', DerivativeBy::p}}) {
    const int i = component_in(name, letter);
    if (i < 0) continue;
    if (i >= system.n)
      input_error(where, fmt::format("derivatives.by names {}, and '{}' has {}{}", quote(name), system.name,
                                     system.n == 1 ? fmt::format("{}0[0] alone", letter)
                                                   : fmt::format("{}0[0] to {}0[{}]", letter, letter, system.n - 1),
                                     system.on_group && kind == DerivativeBy::q
                                         ? "; on a Lie group they are displacements in the body"
                                         : ""));
    return {kind, i, name};
  }
  const auto vector = std::ranges::find_if(problem.study.ensemble.axes,
                                           [&](const Axis& axis) { return axis.dimension && axis.name == name; });
  if (vector != problem.study.ensemble.axes.end())
    input_error(where,
                fmt::format("derivatives.by names {}, a vector of axes; name its components, '{}[0]' to '{}[{}]'",
                            quote(name), name, name, *vector->dimension - 1));
  std::vector<std::string> known = axes;
  for (const ParameterInfo& parameter : system.parameters) known.emplace_back(parameter.name);
  known.insert(known.end(), {"q0[i]", "v0[i]", "p0[i]"});
  input_error(where, fmt::format("derivatives.by names {}, which is neither an axis nor a parameter nor a component of "
                                 "the initial state (known: {}){}",
                                 quote(name), join(known), did_you_mean(name, known)));
}

/// Refuses formulas with jumps: the derivative of the mean of one is not the mean of derivatives.
void refuse_jumps(const Problem& problem) {
  constexpr Op jumps[] = {Op::less,   Op::less_equal, Op::equal, Op::not_equal, Op::both,
                          Op::either, Op::choose,     Op::sign,  Op::rint};
  for (const Observable& observable : problem.study.observables) {
    if (observable.formula.empty()) continue;
    Graph graph;
    (void)parse_expression(observable.formula, graph, [&graph](const std::string&) { return graph.variable(0); });
    for (int i = 0; i < graph.size(); ++i)
      if (std::ranges::find(jumps, graph[i].op) != std::end(jumps))
        input_error(observable.where,
                    fmt::format("the formula of {} has a comparison, sign or rint, and the study has derivatives: that "
                                "of its mean does not follow from trajectories; leave the observable out, or the "
                                "derivatives",
                                quote(observable.name)));
  }
}

/// Refuses what derivatives do not go together with.
void refuse_others(const Problem& problem) {
  const Study& study = problem.study;
  const std::string where = study.place("derivatives.by");
  if (TangentNeeds(problem).count > 0)
    input_error(
        where,
        "derivatives and observables of tangent vectors (lyapunov, gali, megno, ..) are asked for in one study; "
        "take two studies");
  const SystemEntry& system = *problem.system;
  if (study.ensemble.project && (system.positions > 0 || (system.m > 0 && !system.affine)))
    input_error(
        where,
        "derivatives and ensemble.project = true are asked for, and a start is moved along a curved constraint; "
        "give starts that satisfy it");
}

}  // namespace

void check_derivatives(Problem& problem) {
  const Study& study = problem.study;
  const std::vector<std::string>& by = study.derivatives.by;
  const std::string where = study.place("derivatives.by");
  if (by.empty()) {
    if (study.places.contains("derivatives.by"))
      input_error(where,
                  "derivatives.by is empty; name what the result has derivatives by, or leave [derivatives] out");
    return;
  }
  if (by.size() > std::size_t(max_derivatives))
    input_error(where, fmt::format("derivatives.by has {} names; a study takes {}", by.size(), max_derivatives));
  std::set<std::string> seen;
  for (const std::string& name : by) {
    if (!seen.insert(name).second)
      input_error(where, fmt::format("derivatives.by names {} twice; leave one out", quote(name)));
    problem.derivatives.push_back(resolve(problem, name));
    if (problem.derivatives.back().kind == DerivativeBy::v && problem.system->hamiltonian_alone)
      input_error(where, fmt::format("derivatives.by names {}, and velocities do not determine the momenta of '{}'; "
                                     "take p0[i]",
                                     quote(name), problem.system->name));
  }
  refuse_others(problem);
  refuse_jumps(problem);
  problem.code.derivatives = true;
}

struct StartDerivatives::Impl {
  /// The derivatives of some numbers of the initial data, those that are not 0.
  class Part {
   public:
    Part(ExpressionAlgebra& algebra, const std::vector<int>& nodes, int variable) : values_(nodes.size()) {
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        const int derivative = algebra.derivative(algebra.simplified(nodes[i]), variable);
        if (!algebra.is_zero(derivative)) programs_.emplace_back(i, Program(algebra.graph(), derivative));
      }
    }
    void evaluate(const std::vector<double>& variables) {
      for (const auto& [i, program] : programs_) values_[i] = program(variables.data());
    }
    [[nodiscard]] bool any() const { return !programs_.empty(); }
    [[nodiscard]] const double* data() const { return any() ? values_.data() : nullptr; }
    [[nodiscard]] const std::vector<double>& values() const { return values_; }

   private:
    std::vector<std::pair<std::size_t, Program>> programs_;
    std::vector<double> values_;
  };
  struct Parts {
    Part q, v, p, lambda, parameters, step;
    Parts(ExpressionAlgebra& algebra, const FormulaNodes& nodes, int variable)
        : q(algebra, nodes.q, variable),
          v(algebra, nodes.v, variable),
          p(algebra, nodes.p, variable),
          lambda(algebra, nodes.lambda, variable),
          parameters(algebra, nodes.parameters, variable),
          step(algebra, {nodes.step}, variable) {}
  };

  Impl(const Problem& given, const Ensemble& of) : problem(given), ensemble(of), found(given.derivatives.size()) {
    Graph graph;
    ExpressionAlgebra algebra(graph, 0);
    const std::vector<std::string>& axes = ensemble.axis_names();
    const FormulaNodes together = ensemble.formulas().nodes(graph), apart = ensemble.formulas().nodes(graph, true);
    for (const DerivativeBy& by : problem.derivatives) {
      const auto axis = static_cast<int>(std::ranges::find(axes, by.name) - axes.begin());
      switch (by.kind) {
        case DerivativeBy::axis:
          parts.emplace_back(algebra, together, axis);
          break;
        case DerivativeBy::parameter:
          parts.emplace_back(algebra, apart, static_cast<int>(axes.size()) + by.index);
          break;
        default:
          FormulaNodes none;
          none.step = graph.constant(0.0);
          parts.emplace_back(algebra, none, 0);
      }
    }
  }

  const std::vector<StartDerivative>& evaluate(const InitialData& data, const Point& point, bool in_space) {
    const SystemEntry& system = *problem.system;
    const auto n = static_cast<std::size_t>(system.n);
    std::vector<double> variables = data.axes;
    variables.insert(variables.end(), data.parameters.begin(), data.parameters.end());
    for (std::size_t j = 0; j < found.size(); ++j) {
      const DerivativeBy& by = problem.derivatives[j];
      Parts& of = parts[j];
      for (Part* part : {&of.q, &of.v, &of.p, &of.lambda, &of.parameters, &of.step}) part->evaluate(variables);
      StartDerivative& result = found[j];
      result.parameters = of.parameters.values();
      result.parameters.resize(system.parameters.size());
      if (by.kind == DerivativeBy::parameter) result.parameters[static_cast<std::size_t>(by.index)] = 1.0;
      result.step = of.step.any() ? of.step.values()[0] : 0.0;
      result.tangent.resize(static_cast<std::size_t>(system.elements + system.n + system.m));
      std::vector<double> unit(n);
      if (by.kind > DerivativeBy::parameter) unit[static_cast<std::size_t>(by.index)] = 1.0;
      const StartVariation given{.q = data.q.data(),
                                 .v = data.v.data(),
                                 .p = data.p.data(),
                                 .lambda = data.lambda.data(),
                                 .dq = of.q.data(),
                                 .dv = by.kind == DerivativeBy::v ? unit.data() : of.v.data(),
                                 .dp = by.kind == DerivativeBy::p ? unit.data() : of.p.data(),
                                 .dlambda = of.lambda.data(),
                                 .expand = data.q.size() != static_cast<std::size_t>(system.elements),
                                 .shift = by.kind == DerivativeBy::q ? unit.data() : nullptr,
                                 .dparameters = result.parameters.data()};
      const PrepareOptions options{ensemble.from_momentum(),
                                   ensemble.multiplier_given(),
                                   problem.study.ensemble.project,
                                   ensemble.in_space(),
                                   in_space,
                                   data.step};
      point_functions(system).start_derivative({data.parameters.data(), problem.study.time.start}, given, options,
                                               point.q.data(), point.v.data(), result.tangent.data());
    }
    return found;
  }

  const Problem& problem;
  const Ensemble& ensemble;
  std::vector<Parts> parts;
  std::vector<StartDerivative> found;
};

StartDerivatives::StartDerivatives(const Problem& problem, const Ensemble& ensemble)
    : impl_(std::make_unique<Impl>(problem, ensemble)) {}
StartDerivatives::~StartDerivatives() = default;

const std::vector<StartDerivative>& StartDerivatives::operator()(const InitialData& data, const Point& point,
                                                                 bool in_space) {
  return impl_->evaluate(data, point, in_space);
}

}  // namespace rattleback
