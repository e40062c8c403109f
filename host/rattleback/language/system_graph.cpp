#include "rattleback/language/system_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <random>

#include "rattleback/base/message.hpp"
#include "rattleback/language/familiar_notation.hpp"
#include "rattleback/language/parser.hpp"

namespace rattleback {
namespace {}  // namespace

SystemGraph::SystemGraph(const SystemFormulas& formulas)
    : system(formulas),
      n(formulas.n()),
      elements(formulas.elements()),
      m(formulas.m()),
      parameters_(static_cast<int>(formulas.parameters.size())),
      algebra_(graph_, parameters_) {
  for (int i = 0; i <= t(); ++i) (void)graph_.variable(i);  // in the order of their indices
  if (formulas.on_group()) set_rates();
  if (!formulas.hamiltonian.text.empty())
    read_hamiltonian_form();
  else if (formulas.lagrangian.text.empty())
    read_mass_form();
  else
    read_lagrangian_form();
  // Discrete gradients, of methods for constraints on positions, depend on how a formula is written.
  if (!formulas.on_group() && formulas.constraints.empty() && lagrangian >= 0) expand_angles();
  find_forms();
  read_force();
  for (const auto& observable : formulas.observables)
    observables.push_back(parse(observable.formula, Takes::state, ""));
  for (const FormulaText& formula : formulas.unused) (void)parse(formula, Takes::state, "");
}

void SystemGraph::set_rates() {
  rate_.assign(at(n), std::vector<Rate>(at(elements)));
  int direction = 0, element = 0;
  for (const GroupFactor& factor : system.group) {
    const auto number = [&](int i) { return graph_.variable(q(element + i)); };
    const auto set = [&](int k, int i, int node, bool negative = false) {
      rate_[at(direction + k)][at(element + i)] = {node, negative};
    };
    const int one = algebra_.number(1.0);
    if (factor.commutes()) {
      for (int i = 0; i < factor.size; ++i) set(i, i, one);
    } else if (factor.kind == GroupFactor::Kind::se2) {
      const int sine = graph_.apply(Op::sin, number(2)), cosine = graph_.apply(Op::cos, number(2));
      set(0, 0, cosine);
      set(0, 1, sine);
      set(1, 0, sine, true);
      set(1, 1, cosine);
      set(2, 2, one);
    } else {
      for (int row = 0; row < 9; row += 3) {  // a row a turns as a cross x
        for (int k = 0; k < 3; ++k) {
          const int second = row + (k + 1) % 3, third = row + (k + 2) % 3;
          set(k, second, number(third));
          set(k, third, number(second), true);
        }
      }
      for (int i = 0; i < factor.moves(); ++i)
        for (int k = 0; k < 3; ++k) set(3 + k, 9 + i, number(3 * i + k));
    }
    direction += factor.size;
    element += factor.elements();
  }
}

void SystemGraph::expand_angles() {
  std::vector<char> needed(at(lagrangian + 1));
  needed[at(lagrangian)] = 1;
  std::map<int, std::array<int, 2>> angles;  // sine and cosine by their argument, or -1
  for (int node = lagrangian; node >= 0; --node) {
    if (!needed[at(node)]) continue;
    const Node& info = graph_[node];
    for (int k = 0; k < arity(info.op); ++k) needed[at(info.operand[at(k)])] = 1;
    if (info.op == Op::sin || info.op == Op::cos)
      angles.try_emplace(info.operand[0], std::array{-1, -1}).first->second[info.op == Op::sin ? 0 : 1] = node;
  }
  const auto is_angle = [&](int node) { return graph_[node].op == Op::variable && angles.contains(node); };
  std::map<int, int> replacement;
  for (const auto& [argument, nodes] : angles) {
    const auto terms = algebra_.parts(argument);
    if (terms.size() != 2 || !is_angle(terms[0].first) || !is_angle(terms[1].first)) continue;
    const auto function = [&](Op op, std::size_t i) {
      const int value = graph_.apply(op, terms[i].first);
      return op == Op::sin && terms[i].second ? algebra_.negative(value) : value;
    };
    const auto product = [&](Op first, Op second) { return algebra_.product(function(first, 0), function(second, 1)); };
    if (nodes[0] >= 0) replacement[nodes[0]] = algebra_.sum(product(Op::sin, Op::cos), product(Op::cos, Op::sin));
    if (nodes[1] >= 0)
      replacement[nodes[1]] = algebra_.difference(product(Op::cos, Op::cos), product(Op::sin, Op::sin));
  }
  if (replacement.empty()) return;
  for (int* node : {&lagrangian, &potential}) *node = algebra_.substituted(*node, replacement);
  for (int& entry : mass) entry = algebra_.substituted(entry, replacement);
}

int SystemGraph::find(const std::vector<std::string>& meanings, Takes takes, std::string_view hint) {
  for (const std::string& name : meanings) {
    for (const auto& dimension : system.dimensions)
      if (dimension.name == name) return graph_.constant(dimension.value);
    for (int i = 0; i < parameters_; ++i)
      if (system.parameters[at(i)].name == name) return graph_.variable(i);
    for (int i = 0; i < elements; ++i)
      if (system.coordinates[at(i)] == name) return graph_.variable(q(i));
    for (int i = 0; i < n; ++i) {
      if (system.velocities[at(i)] != name) continue;
      if (takes == Takes::momenta)
        throw NameError(fmt::format("it depends on the velocity {}; write it in the momenta ({})", quote(name),
                                    join(system.momenta)));
      if (takes == Takes::positions) throw NameError(fmt::format("it depends on the velocity {}{}", quote(name), hint));
      return graph_.variable(v(i));
    }
    for (int i = 0; i < static_cast<int>(system.momenta.size()); ++i) {
      if (system.momenta[at(i)] != name) continue;
      if (takes == Takes::positions) throw NameError(fmt::format("it depends on the momentum {}{}", quote(name), hint));
      return graph_.variable(p(i));
    }
    if (name == "t") return graph_.variable(t());
  }
  return -1;
}

int SystemGraph::parse(const FormulaText& formula, Takes takes, std::string_view hint) {
  if (const std::string fault = fault_of_expression(formula.text); !fault.empty())
    throw FormulaError(formula, 0, fault);
  const auto resolve = [&](const std::string& written) {
    if (const int node = find(meanings_of(written), takes, hint); node >= 0) return node;
    std::vector<std::string> known = system.coordinates;
    const bool of_velocities = takes == Takes::velocities || takes == Takes::state,
               of_momenta = takes == Takes::momenta || takes == Takes::state;
    if (of_velocities) known.insert(known.end(), system.velocities.begin(), system.velocities.end());
    if (of_momenta) known.insert(known.end(), system.momenta.begin(), system.momenta.end());
    for (const auto& parameter : system.parameters) known.push_back(parameter.name);
    for (const auto& dimension : system.dimensions) known.push_back(dimension.name);
    known.insert(known.end(), {"t", "pi"});
    const std::string list = join(known);
    for (const FunctionInfo& function : functions()) known.emplace_back(function.name);
    throw NameError(fmt::format("unknown name {} (known: {}){}", quote(written), list, advice_on_name(written, known)));
  };
  try {
    const int node = parse_expression(formula.text, graph_, resolve, formula.indices, formula.begin, formula.unused);
    if (formula.unused) return node;
    check_operations(formula, node);
    int simple = algebra_.simplified(node);
    if (!momentum_of_velocity_.empty()) simple = algebra_.substituted(simple, momentum_of_velocity_);
    check_operations(formula, simple);
    return simple;
  } catch (const SyntaxError& error) {
    throw FormulaError(formula, error.column, error.what());
  }
}

void SystemGraph::check_operations(const FormulaText& formula, int node) {
  std::vector<char> needed(at(node + 1));
  needed[at(node)] = 1;
  for (int i = node; i >= 0; --i) {
    if (!needed[at(i)]) continue;
    const Node& info = graph_[i];
    if (operation(info.op).use == OperationUse::stepped)
      throw FormulaError(formula, 0, "comparisons, ?, min, max, sign and rint are not smooth; write a smooth formula");
    for (int k = 0; k < arity(info.op); ++k) needed[at(info.operand[at(k)])] = 1;
  }
  if (const std::string fault = fault_of_operations(algebra_, node); !fault.empty())
    throw FormulaError(formula, 0, fault);
}

std::uint64_t SystemGraph::coordinates_of(std::span<const int> nodes) {
  std::uint64_t bits = 0;
  for (const int node : nodes)
    for (int k = 0; k < elements; ++k)
      if (algebra_.depends(node, q(k), q(k + 1))) bits |= std::uint64_t{1} << k;
  return bits;
}

void SystemGraph::read_mass_form() {
  constexpr std::string_view hint = "; write L as lagrangian";
  std::vector<int> entries;
  for (const FormulaText& entry : system.mass) entries.push_back(parse(entry, Takes::positions, hint));
  const bool rows = static_cast<int>(entries.size()) == n * n && n > 1;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j)
      mass.push_back(rows              ? entries[at(i * n + j)]
                     : i != j          ? algebra_.number(0.0)
                     : entries.empty() ? algebra_.number(1.0)
                                       : entries[at(i)]);
    const auto row = mass.begin() + i * n;
    if (std::all_of(row, row + n, [&](int entry) { return algebra_.is_zero(entry); }))
      throw FormulaError(
          system.mass[at(rows ? i * n : i)], 0,
          fmt::format("the mass of {} is 0; remove the coordinate, or give a mass", quote(system.velocities[at(i)])));
  }
  quadratic = separable = true;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      int& entry = mass[at(i * n + j)];
      if (j < i && !same_function(entry, mass[at(j * n + i)]))
        throw FormulaError(
            system.mass[at(i * n + j)], 0,
            fmt::format("M is not symmetric; entry [{}][{}] is {}", j, i, quote(system.mass[at(j * n + i)].text)));
      if (j < i) entry = mass[at(j * n + i)];  // cos(a - b) and cos(b - a) are two nodes
      if (depends_on_q(entry) || depends_on_t(entry)) separable = false;
    }
  }
  const int kinetic = kinetic_energy();
  int rest = algebra_.number(0.0);
  for (int i = 0; i < static_cast<int>(system.vector_potential.size()); ++i) {
    const int entry = parse(system.vector_potential[at(i)], Takes::positions, hint);
    if (!algebra_.is_zero(entry)) separable = false;
    rest = algebra_.sum(rest, algebra_.product(entry, graph_.variable(v(i))));
  }
  if (!system.potential.text.empty())
    potential = parse(system.potential, Takes::positions, "; write it as vector_potential, or L as lagrangian");
  else
    potential = algebra_.number(0.0);
  lagrangian = algebra_.difference(algebra_.sum(kinetic, rest), potential);
}

int SystemGraph::kinetic_energy() {
  const int half = algebra_.number(0.5);
  int kinetic = algebra_.number(0.0);
  for (int i = 0; i < n; ++i)
    for (int j = i; j < n; ++j) {
      const int term =
          algebra_.product(mass[at(i * n + j)], algebra_.product(graph_.variable(v(i)), graph_.variable(v(j))));
      kinetic = algebra_.sum(kinetic, i == j ? algebra_.product(half, term) : term);
    }
  return kinetic;
}

bool SystemGraph::same_function(int a, int b) const {
  if (a == b) return true;
  std::mt19937 random(1);
  const auto uniform = [&random](double low, double high) { return low + (high - low) * (random() / 4294967296.0); };
  const Program first(graph_, a), second(graph_, b);
  int compared = 0;
  for (int trial = 0; trial < 40; ++trial) {
    std::vector<double> values;
    for (const auto& parameter : system.parameters)
      values.push_back(parameter.value == 0.0 ? uniform(0.1, 1.0) : parameter.value * uniform(0.8, 1.25));
    for (const double x : system.q) values.push_back(x + uniform(-1.0, 1.0));
    values.resize(values.size() + at(n));
    values.push_back(uniform(-1.0, 1.0));
    values.resize(at(more(n)));
    const double value = first(values.data()), other = second(values.data());
    if (!std::isfinite(value) && !std::isfinite(other)) continue;  // the formulas have no value there
    const double size = std::max(first.size(), second.size());
    if (!(std::abs(value - other) <= 1e-11 * size)) return false;
    ++compared;
  }
  return compared > 0;
}

void SystemGraph::read_lagrangian_form() {
  lagrangian = parse(system.lagrangian, Takes::velocities, "");
  quadratic = separable = true;
  for (int i = 0; i < n; ++i) {
    const int momentum = algebra_.derivative(lagrangian, v(i));
    if (!depends_on_v(momentum))
      throw FormulaError(
          system.lagrangian, 0,
          fmt::format("it is not quadratic or more in {}, so the velocity does not follow from the momentum",
                      quote(system.velocities[at(i)])));
    if (!algebra_.is_zero(at_rest(momentum))) separable = false;
    for (int j = 0; j < n; ++j) {
      mass.push_back(algebra_.derivative(momentum, v(j)));
      if (depends_on_v(mass.back())) quadratic = false;
      if (depends_on_q(mass.back()) || depends_on_t(mass.back())) separable = false;
    }
  }
  separable = separable && quadratic;
  if (quadratic)  // rounding and the order of terms may differ across the diagonal
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < i; ++j) mass[at(i * n + j)] = mass[at(j * n + i)];
  potential = algebra_.negative(at_rest(lagrangian));
}

void SystemGraph::refuse_momenta(const FormulaText& formula, int node, std::string_view why) {
  for (int i = 0; i < n; ++i)
    if (algebra_.depends(node, p(i), p(i + 1)))
      throw FormulaError(formula, 0,
                         fmt::format("it depends on the momentum {}, and {}; write it in the velocities ({})",
                                     quote(system.momenta[at(i)]), why, join(system.velocities)));
}

namespace {
constexpr std::string_view not_quadratic = "the Hamiltonian is not quadratic in the momenta";
}

void SystemGraph::read_force() {
  for (const FormulaText& formula : system.force) {
    force.push_back(parse(formula, Takes::state, ""));
    if (degenerate) refuse_momenta(formula, force.back(), "velocities do not determine the momenta");
  }
  if (system.dissipation.text.empty()) return;
  const int dissipation = parse(system.dissipation, Takes::state, "");
  refuse_momenta(system.dissipation, dissipation, not_quadratic);
  if (!depends_on_v(dissipation))
    throw FormulaError(
        system.dissipation, 0,
        "it does not depend on a velocity, so it gives no force; the force is minus its derivative by the velocities");
  if (force.empty()) force.resize(at(n), algebra_.number(0.0));
  for (int i = 0; i < n; ++i) {
    int& entry = force[at(i)];
    entry = algebra_.difference(entry, algebra_.derivative(dissipation, v(i)));
  }
}

bool SystemGraph::driven() {
  std::vector<int> nodes = constraints;
  nodes.push_back(energy());
  return !force.empty() || std::ranges::any_of(nodes, [this](int node) { return depends_on_t(node); });
}

void SystemGraph::find_forms() {
  for (const FormulaText& formula : system.constraints) {
    constraints.push_back(parse(formula, Takes::positions, "; velocity_constraints take it"));
    if (!depends_on_q(constraints.back())) throw FormulaError(formula, 0, "it does not depend on a coordinate");
    for (int i = 0; i < n; ++i) forms.push_back(by_q(constraints.back(), i));
  }
  for (const FormulaText& formula : system.velocity_constraints) {
    constraints.push_back(parse(formula, Takes::state, ""));
    refuse_momenta(formula, constraints.back(), not_quadratic);
    if (!depends_on_v(constraints.back()))
      throw FormulaError(formula, 0, "it does not depend on a velocity; constraints take it");
    for (int i = 0; i < n; ++i) {
      forms.push_back(algebra_.derivative(constraints.back(), v(i)));
      if (depends_on_v(forms.back())) affine = false;
    }
    offset.push_back(at_rest(constraints.back()));
  }
}

int SystemGraph::by_q(int node, int k) {
  if (rate_.empty()) return algebra_.derivative(node, q(k));
  int result = algebra_.number(0.0);
  for (int i = 0; i < elements; ++i) {
    const Rate& rate = rate_[at(k)][at(i)];
    if (rate.node < 0) continue;
    const int term = algebra_.product(algebra_.derivative(node, q(i)), rate.node);
    result = rate.negative ? algebra_.difference(result, term) : algebra_.sum(result, term);
  }
  return result;
}

int SystemGraph::with_zeros(int node, int first, int last) {
  std::map<int, int> replacement;
  for (int i = first; i < last; ++i) replacement[graph_.variable(i)] = algebra_.number(0.0);
  return algebra_.substituted(node, replacement);
}

std::string SystemGraph::without_difference_quotient() {
  std::vector<int> open = holonomic() ? constraints : std::vector<int>{};
  open.push_back(energy());
  std::vector<char> seen(at(graph_.size()));
  while (!open.empty()) {
    const int node = open.back();
    open.pop_back();
    // Functions of parameters alone are plain numbers.
    if (seen[at(node)] || (!depends_on_q(node) && !depends_on_v(node) && !depends_on_p(node) && !depends_on_t(node)))
      continue;
    seen[at(node)] = 1;
    const Node& info = graph_[node];
    if (operation(info.op).use != OperationUse::secant) return std::string(operation(info.op).function());
    for (int k = 0; k < arity(info.op); ++k) open.push_back(info.operand[at(k)]);
  }
  return "";
}

double SystemGraph::default_value(int node) const {
  return Program(graph_, node)(values_at(system.v, system.p).data());
}

void SystemGraph::check_default_state() {
  constexpr double tolerance = 1e-8;
  double size = 1.0;
  for (const double x : system.q) size = std::max(size, std::abs(x));
  for (const double x : system.v) size = std::max(size, std::abs(x));
  const auto check = [&](int k, double value, std::string_view what) {
    if (std::abs(value) <= tolerance * size * size) return;
    const FormulaText& formula =
        k < positions() ? system.constraints[at(k)] : system.velocity_constraints[at(k - positions())];
    input_error(formula.where,
                fmt::format("{}{} = {} is not 0 at the default state (it is {:.3g}); give system.initial "
                            "with a q and a v that keep the constraints",
                            what, formula.key, quote(formula.text), value));
  };
  for (int k = 0; k < m; ++k) {
    if (depends_on_t(constraints[at(k)])) continue;  // a run checks it at its first time
    check(k, default_value(constraints[at(k)]), "");
    double rate = 0.0;
    for (int i = 0; i < n && k < positions(); ++i) rate += default_value(forms[at(k * n + i)]) * system.v[at(i)];
    check(k, rate, "the time derivative of ");
  }
  if (!std::isfinite(default_value(energy())))
    input_error(system.where,
                fmt::format("the {} is not finite at the default state; give system.initial with another state",
                            system.momenta.empty() ? "Lagrangian" : "Hamiltonian"));
  if (!system.momenta.empty()) return;
  // At single velocities the matrix may be singular: the momentum v^3 of v^4/4 gives v, and its derivative at v = 0 is 0.
  const auto regular_near = [this](double distance) {
    std::vector<double> velocity = system.v;
    for (int i = 0; i < n; ++i) velocity[at(i)] += distance * (1.0 + 0.125 * i) * (i % 2 == 0 ? 1.0 : -1.0);
    return regular(mass, values_at(velocity, {}));
  };
  if (!quadratic && !regular_near(0.0) && !regular_near(1.0 / 16) && !regular_near(-1.0 / 16))
    input_error(
        system.lagrangian.where,
        fmt::format("{} = {} does not give the velocities from the momenta at the default state: its matrix of second "
                    "derivatives by the velocities is singular; give system.initial with another state",
                    system.lagrangian.key, quote(system.lagrangian.text)));
}

}  // namespace rattleback
