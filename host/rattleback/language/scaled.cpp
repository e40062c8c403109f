#include "rattleback/language/scaled.hpp"

#include <map>

namespace rattleback {
namespace {

/// Rewrites nodes. Variables are not parameters where they count.
class Scaling {
 public:
  explicit Scaling(ExpressionAlgebra& algebra) : algebra_(algebra), graph_(algebra.graph()) {}

  int value(int node) {
    if (!overflows(node)) return node;
    if (const auto found = values_.find(node); found != values_.end()) return found->second;
    const Node info = graph_[node];
    int result = node;
    if (is_product(info.op) && grows(node)) {
      result = joined(scaled(node));
    } else if (info.op == Op::log) {
      const Scaled part = scaled(info.operand[0]);
      result = graph_.apply(Op::log, part.factor);
      if (part.exponent != none) result = graph_.apply(Op::add, result, part.exponent);
    } else {
      std::array<int, 3> operand{};
      for (std::size_t k = 0; k < static_cast<std::size_t>(arity(info.op)); ++k) operand[k] = value(info.operand[k]);
      if (info.op == Op::whole_power) operand[1] = info.index;
      result = graph_.apply(info.op, operand[0], operand[1], operand[2]);
    }
    return values_[node] = result;
  }

 private:
  static constexpr int none = -1;
  /// factor * exp(exponent), or the factor alone.
  struct Scaled {
    int factor, exponent = none;
  };

  static bool is_product(Op op) {
    return op == Op::multiply || op == Op::divide || op == Op::whole_power || op == Op::power || op == Op::sqrt;
  }
  bool varies(int node) { return algebra_.depends(node, algebra_.parameters(), 1 << 30); }

  /// Whether sums, products and powers of exp, sinh or cosh make up a node.
  bool grows(int node) {
    if (const auto found = grows_.find(node); found != grows_.end()) return found->second;
    const Node info = graph_[node];
    bool result = false;
    if (info.op == Op::exp || info.op == Op::sinh || info.op == Op::cosh)
      result = varies(node);
    else if (info.op == Op::add || info.op == Op::subtract || info.op == Op::multiply || info.op == Op::divide)
      result = grows(info.operand[0]) || grows(info.operand[1]);
    else if (info.op == Op::negate || is_product(info.op))
      result = grows(info.operand[0]);
    return grows_[node] = result;
  }
  /// Whether a part of a node may be infinite, or a quotient of infinities, where the node is not.
  bool overflows(int node) {
    if (const auto found = overflows_.find(node); found != overflows_.end()) return found->second;
    const Node info = graph_[node];
    bool result = false;
    if (info.op == Op::divide) result = grows(info.operand[1]);
    if (info.op == Op::log) result = grows(info.operand[0]);
    if (info.op == Op::power) {
      const Node& exponent = graph_[info.operand[1]];
      result = grows(info.operand[0]) && !(exponent.op == Op::constant && exponent.number > 0.0);
    }
    for (int k = 0; k < arity(info.op) && !result; ++k) result = overflows(info.operand[static_cast<std::size_t>(k)]);
    return overflows_[node] = result;
  }

  Scaled scaled(int node) {
    if (!grows(node)) return {value(node)};
    if (const auto found = scaled_.find(node); found != scaled_.end()) return found->second;
    return scaled_[node] = made(graph_[node]);
  }
  Scaled made(const Node info) {
    const int one = algebra_.number(1.0), two = algebra_.number(2.0);
    const auto operand = [&](std::size_t k) { return scaled(info.operand[k]); };
    switch (info.op) {
      case Op::exp:
        return {one, value(info.operand[0])};
      case Op::sinh:
      case Op::cosh: {  // cosh(u) is (1 + exp(-2 |u|))/2 exp(|u|), and sinh(u) is tanh(u) cosh(u)
        const int u = value(info.operand[0]), size = larger(u, algebra_.negative(u));
        const int decay = graph_.apply(Op::exp, algebra_.product(algebra_.number(-2.0), size));
        int factor = graph_.apply(Op::divide, graph_.apply(Op::add, decay, one), two);
        if (info.op == Op::sinh) factor = graph_.apply(Op::multiply, graph_.apply(Op::tanh, u), factor);
        return {factor, size};
      }
      case Op::add:
      case Op::subtract: {
        const Scaled a = operand(0), b = operand(1);
        const int zero = algebra_.number(0.0);
        const int first = a.exponent == none ? zero : a.exponent, second = b.exponent == none ? zero : b.exponent;
        const int most = first == second ? first : larger(first, second);
        const auto part = [&](int factor, int exponent) {
          return joined({factor, algebra_.difference(exponent, most)});
        };
        return {graph_.apply(info.op, part(a.factor, first), part(b.factor, second)), most};
      }
      case Op::negate:
        return {graph_.apply(Op::negate, operand(0).factor), operand(0).exponent};
      case Op::multiply:
      case Op::divide: {
        const Scaled a = operand(0), b = operand(1);
        int exponent = a.exponent;
        if (a.exponent != none && b.exponent != none)
          exponent = info.op == Op::multiply ? algebra_.sum(a.exponent, b.exponent)
                                             : algebra_.difference(a.exponent, b.exponent);
        else if (b.exponent != none)
          exponent = info.op == Op::multiply ? b.exponent : algebra_.negative(b.exponent);
        const int first = a.factor, second = b.factor;
        if (algebra_.is_one(second)) return {first, exponent};
        if (algebra_.is_one(first) && info.op == Op::multiply) return {second, exponent};
        return {graph_.apply(info.op, first, second), exponent};
      }
      case Op::whole_power:
        return raised(operand(0), algebra_.number(info.index),
                      [&](int factor) { return graph_.apply(Op::whole_power, factor, info.index); });
      case Op::sqrt:
        return raised(operand(0), algebra_.number(0.5), [&](int factor) { return graph_.apply(Op::sqrt, factor); });
      default:  // a power
        return raised(operand(0), value(info.operand[1]),
                      [&](int factor) { return graph_.apply(Op::power, factor, value(info.operand[1])); });
    }
  }
  template <class Power>
  Scaled raised(const Scaled& base, int exponent, Power&& power) {
    return {algebra_.is_one(base.factor) ? base.factor : power(base.factor),
            base.exponent == none ? none : algebra_.product(base.exponent, exponent)};
  }
  int larger(int a, int b) { return graph_.apply(Op::choose, graph_.apply(Op::less, a, b), b, a); }
  int joined(const Scaled& all) {
    if (all.exponent == none || algebra_.is_zero(all.exponent)) return all.factor;
    const int growth = graph_.apply(Op::exp, all.exponent);
    return algebra_.is_one(all.factor) ? growth : graph_.apply(Op::multiply, all.factor, growth);
  }

  ExpressionAlgebra& algebra_;
  Graph& graph_;
  std::map<int, bool> grows_, overflows_;
  std::map<int, int> values_;
  std::map<int, Scaled> scaled_;
};

}  // namespace

int without_overflow(ExpressionAlgebra& algebra, int node) { return Scaling(algebra).value(node); }

}  // namespace rattleback
