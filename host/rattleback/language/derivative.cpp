#include <algorithm>
#include <string_view>
#include <vector>

#include "rattleback/language/algebra.hpp"
#include "rattleback/language/parser.hpp"

namespace rattleback {

/// The derivative of an operation (language/operations.hpp) as a graph. Its variables are a, b, c, then da, db, dc.
struct DerivativeRule {
  static constexpr int derivatives = 3, value = 6, exponent = 7;
  Graph graph;
  int root = 0;

  static const DerivativeRule& of(Op op) {
    static const std::vector<DerivativeRule> rules = [] {
      std::vector<DerivativeRule> all;
      for (const Operation& one : operations()) all.emplace_back(one.derivative);
      return all;
    }();
    return rules[static_cast<std::size_t>(op)];
  }
  explicit DerivativeRule(std::string_view text) {
    root = parse_expression(text, graph, [this](const std::string& name) {
      constexpr std::string_view names[] = {"a", "b", "c", "da", "db", "dc", "f", "k"};
      return graph.variable(static_cast<int>(std::ranges::find(names, name) - names));
    });
  }
};

/// Returns the node of a part of a rule for `node`. Operands come from the last to the first, and what a derivative of 0
/// multiplies is not made.
int ExpressionAlgebra::followed(const DerivativeRule& rule, int at, int node, int variable) {
  const Node& step = rule.graph[at];
  if (step.op == Op::constant) return number(step.number);
  if (step.op == Op::variable) {
    if (step.index == DerivativeRule::value) return node;
    if (step.index == DerivativeRule::exponent) return number(graph_[node].index);
    const int operand = graph_[node].operand[static_cast<std::size_t>(step.index % DerivativeRule::derivatives)];
    return step.index < DerivativeRule::derivatives ? operand : derivative(operand, variable);
  }
  std::array<int, 3> operand{};
  for (int k = arity(step.op) - 1; k >= 0; --k) {
    const int made = operand[static_cast<std::size_t>(k)] =
        followed(rule, step.operand[static_cast<std::size_t>(k)], node, variable);
    if (step.op == Op::multiply && is_zero(made)) return made;
  }
  return apply(step, operand[0], operand[1], operand[2]);
}

int ExpressionAlgebra::derivative(int node, int variable) {
  if (!depends(node, variable, variable + 1)) return number(0.0);
  if (const auto found = derivatives_.find({node, variable}); found != derivatives_.end()) return found->second;
  const Op op = graph_[node].op;
  int result = 0;
  if (op == Op::variable) {
    result = number(1.0);
  } else if (op == Op::add || op == Op::subtract) {
    result = sum_of_parts(node, [&](int part) { return derivative(part, variable); });
  } else {
    const DerivativeRule& rule = DerivativeRule::of(op);
    result = followed(rule, rule.root, node, variable);
  }
  derivatives_[{node, variable}] = result;
  return result;
}

}  // namespace rattleback
