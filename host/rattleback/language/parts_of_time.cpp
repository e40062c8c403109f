#include "rattleback/language/parts_of_time.hpp"

#include <set>

namespace rattleback {
namespace {

/// Whether an operation costs no more than a few additions.
bool is_cheap(Op op) {
  switch (op) {
    case Op::constant:
    case Op::variable:
    case Op::add:
    case Op::subtract:
    case Op::multiply:
    case Op::negate:
    case Op::whole_power:
    case Op::choose:
    case Op::minimum:
    case Op::maximum:
    case Op::abs:
    case Op::sign:
    case Op::rint:
      return true;
    default:
      return operation(op).is_condition;
  }
}

}  // namespace

std::vector<int> parts_of_time(SystemGraph& graph, std::span<const int> nodes) {
  ExpressionAlgebra& algebra = graph.algebra();
  std::vector<int> open(nodes.begin(), nodes.end());
  std::set<int> seen, parts;
  while (!open.empty()) {
    const int node = open.back();
    open.pop_back();
    if (!graph.depends_on_t(node) || !seen.insert(node).second) continue;
    const Node& info = algebra.graph()[node];
    const bool alone = !algebra.depends(node, algebra.parameters(), graph.t()) &&
                       !algebra.depends(node, graph.more(0), graph.more(graph.n));
    if (alone && !is_cheap(info.op)) {
      parts.insert(node);
      continue;
    }
    for (int k = 0; k < arity(info.op); ++k) open.push_back(info.operand[static_cast<std::size_t>(k)]);
  }
  return {parts.begin(), parts.end()};
}

std::vector<int> parts_of_time(SystemGraph& graph) {
  std::vector<int> nodes = graph.force;
  for (const std::vector<int>* more : {&graph.mass, &graph.constraints, &graph.forms, &graph.offset})
    nodes.insert(nodes.end(), more->begin(), more->end());
  nodes.push_back(graph.energy());
  nodes.push_back(graph.potential);
  return parts_of_time(graph, nodes);
}

}  // namespace rattleback
