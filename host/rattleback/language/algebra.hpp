#pragma once
// Simplification and derivatives on the graph of an expression.
//
// A simple sum has no equal terms, no zeros, and no factor that all terms share. A simple product has one number and, for
// each base, one whole exponent. The order of terms and factors depends on the text of the expressions alone. Numbers beyond
// 2^256 and below 2^-256 stay where the formula has them, because products and powers of them leave the range of a double.

#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "rattleback/language/graph.hpp"

namespace rattleback {

struct DerivativeRule;

/// Makes simple nodes of a graph. The variables with the indices 0 to `parameters` - 1 are parameters; the parameters and
/// the numbers stand first in a product, so that generated code computes their product once.
class ExpressionAlgebra {
 public:
  ExpressionAlgebra(Graph& graph, int parameters) : graph_(graph), parameters_(parameters) {}

  int number(double value) { return graph_.constant(value); }
  int sum(int a, int b);
  int difference(int a, int b);
  int product(int a, int b);
  int quotient(int a, int b);
  int negative(int a) { return product(number(-1.0), a); }
  /// Returns a^b. An exponent that is a whole number or half of one gives products, quotients and square roots.
  int power(int a, int b);

  /// Returns a simple node with the same value.
  int simplified(int node);
  /// Returns the partial derivative of a simple node by a variable, as a simple node.
  int derivative(int node, int variable);
  /// Returns a simple node, with nodes replaced by others.
  int substituted(int node, const std::map<int, int>& replacement);
  /// Returns the terms of a sum, and whether they are subtracted.
  [[nodiscard]] std::vector<std::pair<int, bool>> parts(int node) const;

  [[nodiscard]] bool is_number(int node) const { return graph_[node].op == Op::constant; }
  [[nodiscard]] bool is_zero(int node) const { return is_number(node) && graph_[node].number == 0.0; }
  [[nodiscard]] bool is_one(int node) const { return is_number(node) && graph_[node].number == 1.0; }
  /// Returns whether a node depends on a variable with an index from `first` to `last` - 1.
  [[nodiscard]] bool depends(int node, int first, int last);
  [[nodiscard]] Graph& graph() { return graph_; }
  [[nodiscard]] const Graph& graph() const { return graph_; }
  [[nodiscard]] int parameters() const { return parameters_; }

 private:
  struct Factor {
    int base, exponent;
    bool operator==(const Factor&) const = default;
  };
  struct Term {
    double coefficient = 1.0;
    std::vector<Factor> factors;
  };
  [[nodiscard]] bool is_parameter(int node) { return !depends(node, parameters_, unbounded); }
  /// Writes a node as a number times powers of bases, in the order of the bases.
  Term term(int node);
  /// Multiplies by a power of a term. The coefficient becomes NaN where numbers are too large or too small for that.
  void multiply(Term& term, const Term& by, int exponent);
  void multiply(Term& term, Factor factor);
  /// Whether a term can be written: its coefficient is known, and no factor is a number. A product with a number that is very
  /// large or very small is a factor as a whole.
  [[nodiscard]] bool is_known(const Term& term) const;
  /// Multiplies by a power of a node; returns false where exponents become too large to be written as products, or the
  /// coefficient is not known.
  bool raise(Term& term, int node, int exponent);
  void order(Term& term);
  /// Appends the terms of a sum that need not be simple, and whether they are subtracted. Nodes in `whole` are terms.
  void gather(int node, bool negative, const std::map<int, int>& whole, std::vector<std::pair<int, bool>>& parts) const;
  /// The sum of `change` of all parts. A sum of many terms is made once, because partial sums would take cubic time.
  int sum_of_parts(int node, const std::function<int(int)>& change, const std::map<int, int>& whole = {});
  /// Appends the terms of a sum, each times `sign`.
  void collect(int node, double sign, std::vector<Term>& terms);
  int node_of(const Term& term);
  int node_of(std::vector<Term> terms);
  int whole_power(int base, int exponent);
  /// Takes the factors that all terms share out of the terms.
  static Term common(std::vector<Term>& terms);
  int apply(const Node& node, int a, int b, int c);
  int followed(const DerivativeRule& rule, int at, int node, int variable);

  static constexpr int unbounded = 1 << 30;
  Graph& graph_;
  int parameters_;
  std::map<int, int> simplified_;
  std::map<std::pair<int, int>, int> derivatives_;
  std::map<int, std::vector<int>> variables_;  ///< of a node, in order
};

/// Returns why a node cannot become code: a number that is not finite, a division by 0, or too many operations; empty
/// where nothing is wrong.
[[nodiscard]] std::string fault_of_operations(const ExpressionAlgebra& algebra, int node);
/// The same of several nodes, however many operations there are.
[[nodiscard]] std::string fault_of_numbers(const ExpressionAlgebra& algebra, std::span<const int> nodes);

}  // namespace rattleback
