#include "rattleback/formulas/blocks.hpp"

#include <algorithm>

namespace rattleback {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// Returns whether the groups of `size` coordinates have the structure, and stores the factors.
bool fits(SystemGraph& graph, const std::vector<int>& second, int size, BlockStructure& blocks) {
  const int n = graph.n, groups = n / size;
  for (int i = 0; i < n; ++i)
    if (graph.mass[at(i * n + i)] != graph.mass[at((i - i % size) * n + i - i % size)]) return false;
  blocks = {size, {}};
  for (int k = 0; k < graph.m; ++k) {
    const auto entry = [&](int i, int j) { return second[at((k * n + i) * n + j)]; };
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        if (i % size != j % size ? !graph.algebra().is_zero(entry(i, j))
                                 : entry(i, j) != entry(i - i % size, j - j % size))
          return false;
    for (int b = 0; b < groups; ++b)
      for (int c = 0; c < groups; ++c) blocks.hessian.push_back(entry(b * size, c * size));
  }
  return true;
}

}  // namespace

bool is_diagonal_mass(const SystemGraph& graph) {
  for (int i = 0; i < graph.n; ++i)
    for (int j = 0; j < graph.n; ++j)
      if (i != j && !graph.algebra().is_zero(graph.mass[at(i * graph.n + j)])) return false;
  return true;
}

BlockStructure find_blocks(SystemGraph& graph) {
  const int n = graph.n;
  for (int i = 0; i < n; ++i)
    if (graph.depends_on_q(graph.by_q(graph.potential, i))) return {};
  std::vector<int> second;
  for (const int form : graph.forms) {
    for (int j = 0; j < n; ++j) {
      second.push_back(graph.by_q(form, j));
      if (graph.depends_on_q(second.back())) return {};
    }
  }
  BlockStructure blocks;
  for (int size = n; size > 0; --size)
    if (n % size == 0 && fits(graph, second, size, blocks)) return blocks;
  return {};
}

}  // namespace rattleback
