#pragma once
// Nodes and trees of the reduction in checkpoints.

#include <bit>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "rattleback/result/checkpoint.hpp"
#include "rattleback/statistics/statistics.hpp"

namespace rattleback {

/// Returns moments as plain numbers.
template <class Node>
std::vector<double> numbers_of(const std::vector<Node>& nodes) {
  static_assert(sizeof(Node) % sizeof(double) == 0 && std::is_trivially_copyable_v<Node>);
  std::vector<double> numbers(nodes.size() * (sizeof(Node) / sizeof(double)));
  if (!nodes.empty()) std::memcpy(numbers.data(), nodes.data(), nodes.size() * sizeof(Node));
  return numbers;
}
template <class Node>
std::vector<Node> objects_of(const std::vector<double>& numbers) {
  std::vector<Node> nodes(numbers.size() / (sizeof(Node) / sizeof(double)));
  if (!nodes.empty()) std::memcpy(static_cast<void*>(nodes.data()), numbers.data(), nodes.size() * sizeof(Node));
  return nodes;
}

template <class Node>
void put_trees(CheckpointWriter& out, const std::string& group, const std::vector<ChunkTree<Node>>& trees) {
  std::vector<std::uint64_t> pushed;
  std::vector<Node> waiting;
  for (const ChunkTree<Node>& tree : trees) {
    pushed.push_back(tree.pushed());
    waiting.insert(waiting.end(), tree.waiting().begin(), tree.waiting().end());
  }
  out.put(group + "/pushed", pushed);
  out.put(group + "/waiting", numbers_of(waiting));
}
template <class Node>
void get_trees(const CheckpointReader& in, const std::string& group, std::vector<ChunkTree<Node>>& trees) {
  const std::vector<std::uint64_t> pushed = in.counts(group + "/pushed");
  const std::vector<Node> waiting = objects_of<Node>(in.numbers(group + "/waiting"));
  auto next = waiting.begin();
  for (std::size_t i = 0; i < trees.size(); ++i) {
    const auto end = next + std::popcount(pushed.at(i));  // one node per bit of the count
    trees[i] = ChunkTree<Node>(pushed[i], {next, end});
    next = end;
  }
}

}  // namespace rattleback
