#pragma once
// The order conditions of a Runge-Kutta tableau, one for each rooted tree (J. C. Butcher).

#include <algorithm>
#include <cmath>
#include <vector>

namespace rattleback {

/// A rooted tree by what the order conditions need: its density, and the tableau's weights of its children at every stage.
struct Tree {
  double density;
  std::vector<double> weights;
};

/// All rooted trees of up to `largest` nodes, by their number of nodes, on a tableau.
template <class Tableau>
std::vector<std::vector<Tree>> rooted_trees(const Tableau& tableau, int largest) {
  const auto stages = static_cast<std::size_t>(tableau.stages);
  std::vector<std::vector<Tree>> trees(static_cast<std::size_t>(largest) + 1);
  // adds children no larger, in the order (nodes, index), than (size, index) to a root that has `nodes` so far
  const auto grow = [&](auto&& self, std::size_t nodes, std::size_t target, std::size_t size, std::size_t index,
                        const Tree& tree) -> void {
    if (nodes == target) {
      trees[target].push_back({tree.density * static_cast<double>(target), tree.weights});
      return;
    }
    for (std::size_t child = std::min(size, target - nodes); child >= 1; --child)
      for (std::size_t k = child == size ? index : trees[child].size(); k-- > 0;) {
        Tree next = tree;
        next.density *= trees[child][k].density;
        for (std::size_t i = 0; i < stages; ++i) {
          double sum = 0.0;
          for (std::size_t j = 0; j < stages; ++j) sum += tableau.a[i][j] * trees[child][k].weights[j];
          next.weights[i] *= sum;
        }
        self(self, nodes + child, target, child, k + 1, next);
      }
  };
  for (std::size_t target = 1; target < trees.size(); ++target)
    grow(grow, 1, target, target - 1, target > 1 ? trees[target - 1].size() : 0,
         {1.0, std::vector<double>(stages, 1.0)});
  return trees;
}

/// The largest defect of the order conditions of trees with `nodes` nodes.
template <class Tableau>
double defect(const Tableau& tableau, const std::vector<Tree>& trees) {
  double worst = 0.0;
  for (const Tree& tree : trees) {
    double sum = 0.0;
    for (int i = 0; i < tableau.stages; ++i) sum += tableau.b[i] * tree.weights[static_cast<std::size_t>(i)];
    worst = std::max(worst, std::fabs(sum * tree.density - 1.0));
  }
  return worst;
}

}  // namespace rattleback
