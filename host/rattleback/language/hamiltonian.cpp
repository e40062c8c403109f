// Systems that a study gives by their Hamiltonian (system_graph.hpp).

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>

#include "rattleback/base/message.hpp"
#include "rattleback/language/system_graph.hpp"

namespace rattleback {

void SystemGraph::read_hamiltonian_form() {
  const int h = parse(system.hamiltonian, Takes::momenta, "");
  std::vector<int> second;
  bool is_quadratic = true;
  for (int i = 0; i < n; ++i) velocity.push_back(algebra_.derivative(h, p(i)));
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      second.push_back(j < i ? second[at(j * n + i)] : algebra_.derivative(velocity[at(i)], p(j)));
      if (depends_on_p(second.back())) is_quadratic = false;
    }
  for (const int node : velocity) default_velocity_.push_back(default_value(node));
  degenerate = system.degenerate ? *system.degenerate : singular_near(second);
  if (is_quadratic && !degenerate) mass = inverse(second);
  if (mass.empty()) {
    hamiltonian = h;
    mass = second;
    return;
  }
  // H = p.Wp/2 + b.p + c has L = v.Mv/2 + A.v - U with M = W^-1, A = -Mb and U = c + A.b/2.
  const auto without_momenta = [&](int node) { return with_zeros(node, p(0), p(n)); };
  std::vector<int> vector_potential;
  int twice = algebra_.number(0.0);  // A.b as one sum, since its terms have a factor that they share in H, too
  for (int i = 0; i < n; ++i) {
    int entry = algebra_.number(0.0);
    for (int j = 0; j < n; ++j)
      entry = algebra_.difference(entry, algebra_.product(mass[at(i * n + j)], without_momenta(velocity[at(j)])));
    vector_potential.push_back(entry);
    twice = algebra_.sum(twice, algebra_.product(entry, without_momenta(velocity[at(i)])));
  }
  potential = algebra_.sum(without_momenta(h), algebra_.product(algebra_.number(0.5), twice));
  velocity.clear();
  assemble(std::move(vector_potential));
}

namespace {
/// Makes the wanted nodes of a graph in another one, in the order in which they were made; returns their indices there. Operands
/// of wanted nodes are wanted.
std::vector<int> copied(const Graph& from, const std::vector<char>& wanted, Graph& to) {
  std::vector<int> made(wanted.size());
  for (int i = 0; i < static_cast<int>(wanted.size()); ++i) {
    if (wanted[at(i)] == 0) continue;
    const Node& info = from[i];
    const auto operand = [&](std::size_t k) { return made[at(info.operand[k])]; };
    made[at(i)] = info.op == Op::constant      ? to.constant(info.number)
                  : info.op == Op::variable    ? to.variable(info.index)
                  : info.op == Op::whole_power ? to.apply(info.op, operand(0), info.index)
                                               : to.apply(info.op, operand(0), operand(1), operand(2));
  }
  return made;
}
/// The nodes on which a node depends, with itself.
std::vector<char> below(const Graph& graph, int root) {
  std::vector<char> needed(at(root + 1));
  needed[at(root)] = 1;
  for (int i = root; i >= 0; --i)
    for (int k = 0; needed[at(i)] != 0 && k < arity(graph[i].op); ++k) needed[at(graph[i].operand[at(k)])] = 1;
  return needed;
}
/// All nodes that depend on no variable from `first` on.
std::vector<char> without_variables(const Graph& graph, int first) {
  std::vector<char> free(at(graph.size()), 1);
  for (int i = 0; i < graph.size(); ++i) {
    if (graph[i].op == Op::variable) free[at(i)] = graph[i].index < first;
    for (int k = 0; k < arity(graph[i].op); ++k) free[at(i)] &= free[at(graph[i].operand[at(k)])];
  }
  return free;
}
}  // namespace

void SystemGraph::assemble(std::vector<int> vector_potential) {
  const Graph first = graph_;
  std::destroy_at(&algebra_);
  graph_ = Graph();
  std::construct_at(&algebra_, graph_, parameters_);
  for (int i = 0; i <= t(); ++i) (void)graph_.variable(i);
  if (system.on_group()) set_rates();
  const auto take = [&](int& node) { node = copied(first, below(first, node), graph_)[at(node)]; };
  quadratic = separable = true;
  for (int& entry : mass) {
    take(entry);
    if (depends_on_q(entry) || depends_on_t(entry)) separable = false;
  }
  const int kinetic = kinetic_energy();
  int rest = algebra_.number(0.0);
  for (int i = 0; i < n; ++i) {
    int& entry = vector_potential[at(i)];
    take(entry);
    if (!algebra_.is_zero(entry)) separable = false;
    rest = algebra_.sum(rest, algebra_.product(entry, graph_.variable(v(i))));
  }
  // with the monomials of its sums, by whose order the terms of L are sorted
  potential = copied(first, without_variables(first, p(0)), graph_)[at(potential)];
  lagrangian = algebra_.difference(algebra_.sum(kinetic, rest), potential);
  for (int i = 0; i < n; ++i) {
    int momentum = algebra_.number(0.0);
    for (int j = 0; j < n; ++j)
      momentum = algebra_.sum(momentum, algebra_.product(mass[at(i * n + j)], graph_.variable(v(j))));
    momentum_of_velocity_[graph_.variable(p(i))] = algebra_.sum(momentum, vector_potential[at(i)]);
  }
}

std::vector<int> SystemGraph::inverse(const std::vector<int>& matrix) {
  std::vector<int> result(at(n * n), algebra_.number(0.0));
  std::vector<char> done(at(n));
  for (int first = 0; first < n; ++first) {
    if (done[at(first)]) continue;
    std::vector<int> block{first};  // the indices that entries other than 0 connect
    done[at(first)] = 1;
    for (std::size_t next = 0; next < block.size(); ++next)
      for (int j = 0; j < n; ++j) {
        if (done[at(j)] || algebra_.is_zero(matrix[at(block[next] * n + j)])) continue;
        done[at(j)] = 1;
        block.push_back(j);
      }
    std::ranges::sort(block);
    const int size = static_cast<int>(block.size());
    std::vector<int> rows;
    for (const int i : block)
      for (const int j : block) rows.push_back(matrix[at(i * n + j)]);
    const std::vector<int> inverted = size > 3 ? eliminated(rows, size) : by_cofactors(rows, size);
    if (inverted.empty()) return {};
    for (int i = 0; i < size; ++i)
      for (int j = 0; j < size; ++j) result[at(block[at(i)] * n + block[at(j)])] = inverted[at(i * size + j)];
  }
  return result;
}

std::vector<int> SystemGraph::by_cofactors(const std::vector<int>& rows, int size) {
  const int one = algebra_.number(1.0);
  if (size == 1) return {algebra_.quotient(one, rows[0])};
  const auto entry = [&](int i, int j) { return rows[at(i % size * size + j % size)]; };
  const auto cofactor = [&](int i, int j) {
    if (size == 2) return i == j ? entry(1 - i, 1 - i) : algebra_.negative(entry(i, j));
    return algebra_.difference(algebra_.product(entry(i + 1, j + 1), entry(i + 2, j + 2)),
                               algebra_.product(entry(i + 1, j + 2), entry(i + 2, j + 1)));
  };
  int determinant = algebra_.number(0.0);
  for (int j = 0; j < size; ++j) determinant = algebra_.sum(determinant, algebra_.product(entry(0, j), cofactor(0, j)));
  if (algebra_.is_zero(determinant)) return {};
  std::vector<int> result(at(size * size));
  for (int i = 0; i < size; ++i)
    for (int j = i; j < size; ++j)
      result[at(i * size + j)] = result[at(j * size + i)] = algebra_.quotient(cofactor(i, j), determinant);
  return result;
}

std::vector<int> SystemGraph::eliminated(std::vector<int> rows, int size) {
  // Entries that depend on the state would give formulas that grow without bound.
  if (std::ranges::any_of(rows, [&](int node) { return depends_on_q(node) || depends_on_t(node); })) return {};
  std::vector<int> result(at(size * size), algebra_.number(0.0));
  for (int i = 0; i < size; ++i) result[at(i * size + i)] = algebra_.number(1.0);
  for (int k = 0; k < size; ++k) {
    const int pivot = rows[at(k * size + k)];
    if (algebra_.is_zero(pivot)) return {};
    for (int j = 0; j < size; ++j)
      for (std::vector<int>* side : {&rows, &result}) {
        int& entry = (*side)[at(k * size + j)];
        entry = algebra_.quotient(entry, pivot);
      }
    for (int i = 0; i < size; ++i) {
      const int factor = rows[at(i * size + k)];
      if (i == k || algebra_.is_zero(factor)) continue;
      for (int j = 0; j < size; ++j)
        for (std::vector<int>* side : {&rows, &result}) {
          int& entry = (*side)[at(i * size + j)];
          entry = algebra_.difference(entry, algebra_.product(factor, (*side)[at(k * size + j)]));
        }
    }
  }
  for (int i = 0; i < size; ++i)
    for (int j = 0; j < i; ++j) result[at(i * size + j)] = result[at(j * size + i)];
  return result;
}

bool SystemGraph::singular_near(const std::vector<int>& second) const {
  std::mt19937 random(1);
  const auto uniform = [&random](double size) { return size * (2.0 * (random() / 4294967296.0) - 1.0); };
  int regular_points = 0, singular_points = 0;  // rounding errors make a few points of a degenerate H look regular
  for (const double size : {1.0 / 64, 1.0 / 8, 1.0, 3.0}) {
    for (int trial = 0; trial < 4; ++trial) {
      std::vector<double> values = values_at(system.v, system.p);
      for (int i = parameters_; i < more(n); ++i) values[at(i)] += uniform(size);
      const auto is_finite = [&](int node) { return std::isfinite(Program(graph_, node)(values.data())); };
      if (std::ranges::all_of(second, is_finite)) ++(regular(second, values) ? regular_points : singular_points);
    }
  }
  return singular_points > regular_points;
}

bool SystemGraph::regular(const std::vector<int>& second, const std::vector<double>& values) const {
  std::vector<std::vector<double>> rows(at(n), std::vector<double>(at(n)));
  for (int i = 0; i < n; ++i) {
    double size = 0.0;
    for (int j = 0; j < n; ++j) {
      rows[at(i)][at(j)] = Program(graph_, second[at(i * n + j)])(values.data());
      size = std::max(size, std::abs(rows[at(i)][at(j)]));
    }
    if (!(size > 0.0)) return false;
    for (double& entry : rows[at(i)]) entry /= size;  // masses may be of any size
  }
  for (int k = 0; k < n; ++k) {  // elimination with partial pivoting
    const auto pivot = std::ranges::max_element(rows.begin() + k, rows.end(), {},
                                                [k](const std::vector<double>& row) { return std::abs(row[at(k)]); });
    std::iter_swap(rows.begin() + k, pivot);
    const std::vector<double>& above = rows[at(k)];
    if (!(std::abs(above[at(k)]) > 1e-14)) return false;
    for (int i = k + 1; i < n; ++i) {
      const double factor = rows[at(i)][at(k)] / above[at(k)];
      for (int j = k; j < n; ++j) rows[at(i)][at(j)] -= factor * above[at(j)];
    }
  }
  return true;
}

std::vector<double> SystemGraph::values_at(const std::vector<double>& rates,
                                           const std::vector<double>& momentum) const {
  std::vector<double> values;
  for (const auto& parameter : system.parameters) values.push_back(parameter.value);
  values.insert(values.end(), system.q.begin(), system.q.end());
  values.insert(values.end(), rates.begin(), rates.end());
  values.push_back(0.0);
  values.insert(values.end(), momentum.begin(), momentum.end());
  values.resize(at(more(n)));
  return values;
}

}  // namespace rattleback
