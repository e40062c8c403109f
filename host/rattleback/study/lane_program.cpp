#include "rattleback/study/lane_program.hpp"

#include <algorithm>

namespace rattleback {

LaneProgram::LaneProgram(const Graph& graph, std::span<const int> roots, const IsaFunctions& functions)
    : functions_(functions),
      position_(static_cast<std::size_t>(graph.size()), -1),
      varies_(static_cast<std::size_t>(graph.size()), 0) {
  std::vector<char> needed(position_.size(), 0);
  for (const int root : roots) needed[static_cast<std::size_t>(root)] = 1;
  for (int i = graph.size() - 1; i >= 0; --i)
    for (int k = 0; needed[static_cast<std::size_t>(i)] && k < arity(graph[i].op); ++k)
      needed[static_cast<std::size_t>(graph[i].operand[static_cast<std::size_t>(k)])] = 1;
  for (int i = 0; i < graph.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (!needed[at]) continue;
    Node node = graph[i];
    varies_[at] = node.op == Op::variable;
    for (int k = 0; k < arity(node.op); ++k) {
      int& operand = node.operand[static_cast<std::size_t>(k)];
      varies_[at] |= varies_[static_cast<std::size_t>(operand)];
      operand = position_[static_cast<std::size_t>(operand)];
    }
    position_[at] = static_cast<int>(nodes_.size());
    nodes_.push_back(node);
  }
  rows_.resize(nodes_.size() * row_size);
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (nodes_[i].op == Op::constant) std::fill_n(rows_.data() + i * row_size, chunk_size, nodes_[i].number);
}

int LaneProgram::position_of_variable(int index) const {
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (nodes_[i].op == Op::variable && nodes_[i].index == index) return static_cast<int>(i);
  return -1;
}

double* LaneProgram::variable(int index) {
  const int position = position_of_variable(index);
  return position < 0 ? nullptr : rows_.data() + static_cast<std::size_t>(position) * row_size;
}

void LaneProgram::evaluate() {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    if (node.op == Op::constant || node.op == Op::variable) continue;
    const double* operands[3];
    for (std::size_t k = 0; k < 3; ++k) operands[k] = row_of(node.operand[k]);
    functions_.apply(node.op, node.index, operands, rows_.data() + i * row_size);
  }
}

}  // namespace rattleback
