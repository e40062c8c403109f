#pragma once
// The formulas of a system as one graph.

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "rattleback/language/algebra.hpp"
#include "rattleback/language/model.hpp"

namespace rattleback {

/// All functions of a system as simple nodes of one graph. Variables are the parameters, then the numbers q of a
/// configuration, then the velocities v, then the time t, then the momenta p. Derivatives by the configuration are left trivialised
/// on a group.
///
/// A Hamiltonian that is quadratic in p and regular becomes v.Mv/2 + A.v - U, so that the system is the one with this Lagrangian.
class SystemGraph {
 public:
  /// Throws FormulaError for a formula that is no expression, uses an unknown name, or depends on what it must not.
  explicit SystemGraph(const SystemFormulas& system);

  const SystemFormulas& system;
  const int n, elements, m;

  int lagrangian = -1;   ///< L; -1 where the system stays one of H
  int hamiltonian = -1;  ///< H(q, p); -1 where the system has L
  /// Velocities do not determine the momenta of H, or `mass` holds H_pp, which is regular.
  bool degenerate = false;
  std::vector<int> velocity;  ///< H_p
  /// L = v.Mv/2 - U(q) with constant M: `mass` and `potential` hold M (n rows) and U.
  bool separable = false;
  /// L is quadratic in v: `mass`, d2L/dv2, depends on q alone.
  bool quadratic = false;
  std::vector<int> mass;
  int potential = 0;
  std::vector<int> constraints;  ///< g(q), then Phi(q, v)
  bool affine = true;            ///< Phi = mu(q) v + d(q)
  std::vector<int> forms;        ///< Dg, then mu: m rows of n
  std::vector<int> offset;       ///< d
  std::vector<int> force;        ///< the applied force; empty for none
  std::vector<int> observables;

  [[nodiscard]] ExpressionAlgebra& algebra() { return algebra_; }
  [[nodiscard]] const ExpressionAlgebra& algebra() const { return algebra_; }
  [[nodiscard]] int q(int i) const { return parameters_ + i; }             ///< index of a variable
  [[nodiscard]] int v(int i) const { return parameters_ + elements + i; }  ///< index of a variable
  [[nodiscard]] int t() const { return v(n); }                             ///< index of the time
  [[nodiscard]] int more(int i) const { return t() + 1 + i; }              ///< indices of further variables
  [[nodiscard]] int p(int i) const { return more(i); }                     ///< index of a variable
  [[nodiscard]] bool depends_on_q(int node) { return algebra_.depends(node, q(0), q(elements)); }
  [[nodiscard]] bool depends_on_v(int node) { return algebra_.depends(node, v(0), v(n)); }
  [[nodiscard]] bool depends_on_p(int node) { return algebra_.depends(node, p(0), p(n)); }
  [[nodiscard]] bool depends_on_t(int node) { return algebra_.depends(node, t(), t() + 1); }
  /// Whether an applied force or the time acts on the motion.
  [[nodiscard]] bool driven();
  /// The coordinates on which nodes depend, as bits; on R^n.
  [[nodiscard]] std::uint64_t coordinates_of(std::span<const int> nodes);
  /// The function of which the energy follows, L or H.
  [[nodiscard]] int energy() const { return hamiltonian >= 0 ? hamiltonian : lagrangian; }
  [[nodiscard]] bool holonomic() const { return !system.constraints.empty(); }
  /// Rows of `constraints` that are g(q).
  [[nodiscard]] int positions() const { return static_cast<int>(system.constraints.size()); }

  /// The derivative along direction k of the configuration space: by q[k], or left trivialised.
  [[nodiscard]] int by_q(int node, int k);
  /// A node at v = 0.
  [[nodiscard]] int at_rest(int node) { return with_zeros(node, v(0), v(n)); }
  /// A node with a parameter of 0.
  [[nodiscard]] int without(int parameter, int node) { return with_zeros(node, parameter, parameter + 1); }
  /// A function in the energy or the holonomic constraint that has no difference quotient (real/secant.hpp), such as
  /// "tan"; empty where methods with discrete gradients can take the system.
  [[nodiscard]] std::string without_difference_quotient();
  /// The value at the default state, with the default parameters.
  [[nodiscard]] double default_value(int node) const;

  /// H_p at the default state, where a Hamiltonian is given.
  [[nodiscard]] const std::vector<double>& default_velocity() const { return default_velocity_; }

  /// Throws Error(input) when the default state breaks a constraint.
  void check_default_state();

 private:
  /// What a formula may name besides coordinates, parameters and the time. Momenta are there where a Hamiltonian is given.
  enum class Takes { positions, velocities, momenta, state };

  void read_mass_form();
  void read_lagrangian_form();
  void read_hamiltonian_form();
  /// v.Mv/2 from `mass`.
  int kinetic_energy();
  /// Makes L from M, A and U in a new graph, as their formulas would make it: the order of terms follows from that of the nodes.
  void assemble(std::vector<int> vector_potential);
  /// The inverse of a symmetric matrix of nodes, by blocks; empty where a formula for it is not found.
  [[nodiscard]] std::vector<int> inverse(const std::vector<int>& matrix);
  [[nodiscard]] std::vector<int> by_cofactors(const std::vector<int>& rows, int size);
  [[nodiscard]] std::vector<int> eliminated(std::vector<int> rows, int size);
  /// Whether H_pp, the nodes `second`, is singular near the default state.
  [[nodiscard]] bool singular_near(const std::vector<int>& second) const;
  void read_force();
  /// Writes sines and cosines of a sum or a difference of two variables by those of the variables, where L has the sine or the
  /// cosine of both anyway: a sine and a cosine together cost as much as 60 additions.
  void expand_angles();
  void find_forms();
  /// A node where the variables from `first` to `last` - 1 are 0.
  int with_zeros(int node, int first, int last);
  /// The numbers of all variables at the default configuration and parameters.
  [[nodiscard]] std::vector<double> values_at(const std::vector<double>& velocity,
                                              const std::vector<double>& momentum) const;
  /// Whether the matrix `second`, by the velocities or by the momenta, is regular there.
  [[nodiscard]] bool regular(const std::vector<int>& second, const std::vector<double>& values) const;
  /// Whether two functions of q have the same values near the default state, however they are written.
  [[nodiscard]] bool same_function(int a, int b) const;
  /// Sets the derivative of every number of a configuration along every direction.
  void set_rates();
  /// The node of the first of the names that is known; -1 for none.
  int find(const std::vector<std::string>& meanings, Takes takes, std::string_view hint);
  void refuse_momenta(const FormulaText& formula, int node, std::string_view why);
  int parse(const FormulaText& formula, Takes takes, std::string_view hint);
  void check_operations(const FormulaText& formula, int node);

  std::vector<double> default_velocity_;
  std::map<int, int> momentum_of_velocity_;  ///< p, where formulas may name it and L is known
  int parameters_;
  Graph graph_;
  ExpressionAlgebra algebra_;
  struct Rate {
    int node = -1;  ///< -1 for 0
    bool negative = false;
  };
  std::vector<std::vector<Rate>> rate_;  ///< [k][i]: derivative of q[i] along direction k, on a group
};

}  // namespace rattleback
