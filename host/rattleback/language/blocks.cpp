#include "rattleback/language/blocks.hpp"

#include <algorithm>

namespace rattleback {
namespace {

/// Returns the second derivatives of a function of q (n x n nodes); empty where they depend on q.
std::vector<int> constant_hessian(SystemGraph& graph, int node) {
  std::vector<int> second;
  for (int i = 0; i < graph.n; ++i) {
    const int first = graph.by_q(node, i);
    if (graph.algebra().is_zero(first)) {  // most terms of a large potential depend on a few coordinates
      second.insert(second.end(), at(graph.n), first);
      continue;
    }
    for (int j = 0; j < graph.n; ++j) {
      second.push_back(graph.by_q(first, j));
      if (graph.depends_on_q(second.back())) return {};
    }
  }
  return second;
}

/// Returns the factors of the identity for groups of `size`; empty where there are none.
std::vector<int> in_groups(const SystemGraph& graph, const std::vector<int>& second, int size) {
  const int n = graph.n, groups = n / size;
  const auto entry = [&](int i, int j) { return second[at(i * n + j)]; };
  std::vector<int> factors;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      if (i % size != j % size ? !graph.algebra().is_zero(entry(i, j))
                               : entry(i, j) != entry(i - i % size, j - j % size))
        return {};
  for (int b = 0; b < groups; ++b)
    for (int c = 0; c < groups; ++c) factors.push_back(entry(b * size, c * size));
  return factors;
}

/// Finds the functions f_a and pi_a of a potential.
class PotentialTerms {
 public:
  explicit PotentialTerms(SystemGraph& graph)
      : graph_(graph), algebra_(graph.algebra()), argument_(algebra_.graph().variable(graph.more(0))) {}

  bool operator()(BlockStructure& blocks) {
    const int quadratic = algebra_.number(0.0);
    quadratic_ = quadratic;
    if (!split(graph_.potential, algebra_.number(1.0))) return false;
    if (quadratic_ != quadratic) {  // all quadratic terms together are one invariant
      invariants_.push_back(quadratic_);
      terms_.push_back(argument_);
    }
    blocks.invariants = invariants_;
    blocks.terms = terms_;
    return static_cast<int>(terms_.size()) <= graph_.n;
  }

 private:
  /// Adds factor * node, where the factor does not depend on q.
  bool split(int node, int factor) {
    const Node info = algebra_.graph()[node];
    const int a = info.operand[0], b = info.operand[1];
    if (info.op == Op::add || info.op == Op::subtract)
      return std::ranges::all_of(algebra_.parts(node), [&](const auto& part) {
        return split(part.first, part.second ? algebra_.negative(factor) : factor);
      });
    if (info.op == Op::negate) return split(a, algebra_.negative(factor));
    if (info.op == Op::multiply && !graph_.depends_on_q(a)) return split(b, algebra_.product(factor, a));
    if (info.op == Op::multiply && !graph_.depends_on_q(b)) return split(a, algebra_.product(factor, b));
    if (info.op == Op::divide && !graph_.depends_on_q(b)) return split(a, algebra_.quotient(factor, b));
    return add(node, factor);
  }
  bool add(int node, int factor) {
    if (const std::vector<int> second = constant_hessian(graph_, node); !second.empty()) {
      if (!std::ranges::all_of(second, [&](int entry) { return algebra_.is_zero(entry); }))
        quadratic_ = algebra_.sum(quadratic_, algebra_.product(factor, node));
      return true;
    }
    // The invariant is the outermost quadratic part through which all of the node depends on q.
    int part = node;
    while (constant_hessian(graph_, part).empty()) {
      const Node info = algebra_.graph()[part];
      int inner = -1;
      for (int k = 0; k < arity(info.op); ++k) {
        const int operand = info.operand[at(k)];
        if (!graph_.depends_on_q(operand) || operand == inner) continue;
        if (inner >= 0) return false;
        inner = operand;
      }
      part = inner;
    }
    const int term = algebra_.product(factor, algebra_.substituted(node, {{part, argument_}}));
    const auto same = std::ranges::find(invariants_, part);
    if (same == invariants_.end()) {
      invariants_.push_back(part);
      terms_.push_back(term);
    } else {
      int& known = terms_[static_cast<std::size_t>(same - invariants_.begin())];
      known = algebra_.sum(known, term);
    }
    return true;
  }

  SystemGraph& graph_;
  ExpressionAlgebra& algebra_;
  int argument_, quadratic_ = 0;
  std::vector<int> invariants_, terms_;
};

}  // namespace

bool is_diagonal_mass(const SystemGraph& graph) {
  for (int i = 0; i < graph.n; ++i)
    for (int j = 0; j < graph.n; ++j)
      if (i != j && !graph.algebra().is_zero(graph.mass[at(i * graph.n + j)])) return false;
  return true;
}

BlockStructure find_blocks(SystemGraph& graph) {
  const int n = graph.n;
  if (!graph.separable || !graph.holonomic() || graph.system.mixed() || graph.driven() || graph.system.on_group() ||
      !is_diagonal_mass(graph))
    return {};
  std::vector<std::vector<int>> second;
  BlockStructure blocks;
  if (!PotentialTerms(graph)(blocks)) return {};
  for (const int node : graph.constraints) second.push_back(constant_hessian(graph, node));
  for (const int node : blocks.invariants) second.push_back(constant_hessian(graph, node));
  if (std::ranges::any_of(second, [](const std::vector<int>& one) { return one.empty(); })) return {};
  for (int size = n; size > 0; --size) {
    if (n % size != 0) continue;
    bool fits = true;
    for (int i = 0; i < n; ++i)
      fits = fits && graph.mass[at(i * n + i)] == graph.mass[at((i - i % size) * n + i - i % size)];
    std::vector<std::vector<int>> factors;
    for (std::size_t k = 0; fits && k < second.size(); ++k) {
      factors.push_back(in_groups(graph, second[k], size));
      fits = !factors.back().empty();
    }
    if (!fits) continue;
    blocks.size = size;
    blocks.constraint_hessian.assign(factors.begin(), factors.begin() + graph.m);
    blocks.invariant_hessian.assign(factors.begin() + graph.m, factors.end());
    return blocks;
  }
  return {};
}

}  // namespace rattleback
