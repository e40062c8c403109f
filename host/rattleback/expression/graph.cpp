#include "rattleback/expression/graph.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "rattleback/real/hyperbolic.hpp"
#include "rattleback/real/power.hpp"
#include "rattleback/real/trigonometric.hpp"

namespace rattleback {
namespace {

constexpr int any_number = 64;
constexpr FunctionInfo all_functions[] = {{"sin", Op::sin, 1, 1},
                                          {"cos", Op::cos, 1, 1},
                                          {"tan", Op::tan, 1, 1},
                                          {"asin", Op::asin, 1, 1},
                                          {"acos", Op::acos, 1, 1},
                                          {"atan", Op::atan, 1, 1},
                                          {"atan2", Op::atan2, 2, 2},
                                          {"sinh", Op::sinh, 1, 1},
                                          {"cosh", Op::cosh, 1, 1},
                                          {"tanh", Op::tanh, 1, 1},
                                          {"asinh", Op::asinh, 1, 1},
                                          {"acosh", Op::acosh, 1, 1},
                                          {"atanh", Op::atanh, 1, 1},
                                          {"exp", Op::exp, 1, 1},
                                          {"log", Op::log, 1, 1},
                                          {"ln", Op::log, 1, 1},
                                          {"log2", Op::log2, 1, 1},
                                          {"log10", Op::log10, 1, 1},
                                          {"sqrt", Op::sqrt, 1, 1},
                                          {"abs", Op::abs, 1, 1},
                                          {"sign", Op::sign, 1, 1},
                                          {"rint", Op::rint, 1, 1},
                                          {"sum", Op::add, 1, any_number},
                                          {"avg", Op::add, 1, any_number, true},
                                          {"min", Op::minimum, 1, any_number},
                                          {"max", Op::maximum, 1, any_number}};

/// The functions are those of the kernels, so that a formula has the same value on every machine.
double value_of(const Node& node, double a, double b, double c) {
  switch (node.op) {
    case Op::constant:
    case Op::variable:
      return node.number;
    case Op::add:
      return a + b;
    case Op::subtract:
      return a - b;
    case Op::multiply:
      return a * b;
    case Op::divide:
      return a / b;
    case Op::negate:
      return -a;
    case Op::whole_power: {
      double product = a;
      for (int i = 1; i < node.index; ++i) product *= a;
      return product;
    }
    case Op::power:
      return pow(a, b);
    case Op::less:
      return a < b;
    case Op::less_equal:
      return a <= b;
    case Op::equal:
      return a == b;
    case Op::not_equal:
      return a != b;
    case Op::both:
      return a != 0.0 && b != 0.0;
    case Op::either:
      return a != 0.0 || b != 0.0;
    case Op::choose:
      return a != 0.0 ? b : c;
    case Op::minimum:
      return min(a, b);
    case Op::maximum:
      return max(a, b);
    case Op::atan2:
      return atan2(a, b);
    case Op::sin:
      return sin(a);
    case Op::cos:
      return cos(a);
    case Op::tan:
      return tan(a);
    case Op::asin:
      return asin(a);
    case Op::acos:
      return acos(a);
    case Op::atan:
      return atan(a);
    case Op::sinh:
      return sinh(a);
    case Op::cosh:
      return cosh(a);
    case Op::tanh:
      return tanh(a);
    case Op::asinh:
      return asinh(a);
    case Op::acosh:
      return acosh(a);
    case Op::atanh:
      return atanh(a);
    case Op::exp:
      return exp(a);
    case Op::log:
      return log(a);
    case Op::log2:
      return log2(a);
    case Op::log10:
      return log10(a);
    case Op::sqrt:
      return sqrt(a);
    case Op::abs:
      return abs(a);
    case Op::sign:
      return sign(a);
    case Op::rint:
      return rint(a);
  }
  return 0.0;
}

}  // namespace

int arity(Op op) {
  if (op <= Op::variable) return 0;
  if (op == Op::choose) return 3;
  if (op == Op::negate || op == Op::whole_power || op >= Op::sin) return 1;
  return 2;
}

int Graph::add(const Node& node) {
  const auto [entry, added] =
      known_.try_emplace({node.op, std::bit_cast<unsigned long long>(node.number), node.index, node.operand}, size());
  if (added) nodes_.push_back(node);
  return entry->second;
}

int Graph::constant(double value) { return add({.op = Op::constant, .number = value}); }

int Graph::variable(int index) { return add({.op = Op::variable, .index = index}); }

int Graph::apply(Op op, int a, int b, int c) {
  Node node{.op = op, .operand = {a, arity(op) > 1 ? b : 0, arity(op) > 2 ? c : 0}};
  if (op == Op::whole_power) node.index = b;
  const auto number = [&](int i) { return (*this)[node.operand[static_cast<std::size_t>(i)]].number; };
  for (int i = 0; i < arity(op); ++i)
    if ((*this)[node.operand[static_cast<std::size_t>(i)]].op != Op::constant) return add(node);
  return constant(value_of(node, number(0), number(1), number(2)));
}

int Graph::power(int a, int b) {
  const Node& exponent = (*this)[b];
  if (exponent.op == Op::constant && exponent.number >= 0.0 && exponent.number <= 16.0 &&
      exponent.number == std::floor(exponent.number)) {
    if (exponent.number == 0.0) return constant(1.0);
    return exponent.number == 1.0 ? a : apply(Op::whole_power, a, static_cast<int>(exponent.number));
  }
  return apply(Op::power, a, b);
}

Program::Program(const Graph& graph, int root) {
  std::vector<char> needed(static_cast<std::size_t>(root) + 1, 0);
  std::vector<int> position(needed.size(), 0);
  needed[static_cast<std::size_t>(root)] = 1;
  for (int i = root; i >= 0; --i)
    for (int k = 0; needed[static_cast<std::size_t>(i)] && k < arity(graph[i].op); ++k)
      needed[static_cast<std::size_t>(graph[i].operand[static_cast<std::size_t>(k)])] = 1;
  for (int i = 0; i <= root; ++i) {
    if (!needed[static_cast<std::size_t>(i)]) continue;
    position[static_cast<std::size_t>(i)] = static_cast<int>(nodes_.size());
    Node node = graph[i];
    for (int& operand : node.operand) operand = position[static_cast<std::size_t>(operand)];
    nodes_.push_back(node);
  }
  values_.resize(nodes_.size());
}

double Program::operator()(const double* variables) const {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    const auto operand = [&](std::size_t k) { return values_[static_cast<std::size_t>(node.operand[k])]; };
    values_[i] = node.op == Op::variable ? variables[node.index] : value_of(node, operand(0), operand(1), operand(2));
  }
  return values_.back();
}

double Program::size() const {
  double size = 0.0;
  for (const double value : values_) size = std::max(size, std::abs(value));
  return size;
}

std::span<const FunctionInfo> functions() { return all_functions; }

const FunctionInfo* find_function(std::string_view name) {
  const auto* found = std::ranges::find(all_functions, name, &FunctionInfo::name);
  return found == std::end(all_functions) ? nullptr : found;
}

std::string_view name_of(Op op) {
  if (op == Op::power) return "pow";
  const auto* found = std::ranges::find(all_functions, op, &FunctionInfo::op);
  return found == std::end(all_functions) ? "" : found->name;
}

}  // namespace rattleback
