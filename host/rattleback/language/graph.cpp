#include "rattleback/language/graph.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace rattleback {
namespace {

double value_of(const Node& node, const std::array<double, 3>& operands) {
  if (node.op == Op::constant) return node.number;
  if (node.op != Op::whole_power) return operation(node.op).value(operands.data());
  double product = operands[0];
  for (int i = 1; i < node.index; ++i) product *= operands[0];
  return product;
}

}  // namespace

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
  return constant(value_of(node, {number(0), number(1), number(2)}));
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
    values_[i] = node.op == Op::variable ? variables[node.index] : value_of(node, {operand(0), operand(1), operand(2)});
  }
  return values_.back();
}

int Program::add_to(Graph& graph, std::span<const int> variables) const {
  std::vector<int> added;
  for (const Node& node : nodes_) {
    const auto operand = [&](std::size_t k) {
      return static_cast<int>(k) < arity(node.op) ? added[static_cast<std::size_t>(node.operand[k])] : 0;
    };
    added.push_back(node.op == Op::constant      ? graph.constant(node.number)
                    : node.op == Op::variable    ? variables[static_cast<std::size_t>(node.index)]
                    : node.op == Op::whole_power ? graph.apply(Op::whole_power, operand(0), node.index)
                                                 : graph.apply(node.op, operand(0), operand(1), operand(2)));
  }
  return added.back();
}

double Program::size() const {
  double size = 0.0;
  for (const double value : values_) size = std::max(size, std::abs(value));
  return size;
}

}  // namespace rattleback
