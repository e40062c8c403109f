#include "rattleback/algebra/algebra.hpp"

namespace rattleback {

/// Returns the derivative of a function by its operand `which`.
int ExpressionAlgebra::outer_derivative(const Node& node, int self, int operand, int which) {
  const int a = node.operand[0], b = node.operand[1], one = number(1.0);
  const auto square = [&](int x) { return product(x, x); };
  const auto call = [&](Op op) { return graph_.apply(op, operand); };
  switch (node.op) {
    case Op::power:
      return which == 0 ? product(b, power(a, difference(b, one))) : product(self, graph_.apply(Op::log, a));
    case Op::atan2: {
      const int length = sum(square(a), square(b));
      return which == 0 ? quotient(b, length) : negative(quotient(a, length));
    }
    case Op::sin:
      return call(Op::cos);
    case Op::cos:
      return negative(call(Op::sin));
    case Op::tan:
      return sum(one, square(self));
    case Op::asin:
      return quotient(one, graph_.apply(Op::sqrt, difference(one, square(operand))));
    case Op::acos:
      return quotient(number(-1.0), graph_.apply(Op::sqrt, difference(one, square(operand))));
    case Op::atan:
      return quotient(one, sum(one, square(operand)));
    case Op::sinh:
      return call(Op::cosh);
    case Op::cosh:
      return call(Op::sinh);
    case Op::tanh:
      return difference(one, square(self));
    case Op::asinh:
      return quotient(one, graph_.apply(Op::sqrt, sum(square(operand), one)));
    case Op::acosh:
      return quotient(one, graph_.apply(Op::sqrt, difference(square(operand), one)));
    case Op::atanh:
      return quotient(one, difference(one, square(operand)));
    case Op::exp:
      return self;
    case Op::log:
      return quotient(one, operand);
    case Op::log2:
      return quotient(number(1.4426950408889634), operand);
    case Op::log10:
      return quotient(number(0.4342944819032518), operand);
    case Op::sqrt:
      return quotient(number(0.5), self);
    case Op::abs:
      return call(Op::sign);
    case Op::minimum:
    case Op::maximum: {
      const int first = node.op == Op::minimum ? graph_.apply(Op::less, a, b) : graph_.apply(Op::less, b, a);
      return graph_.apply(Op::choose, first, number(which == 0 ? 1.0 : 0.0), number(which == 0 ? 0.0 : 1.0));
    }
    default:  // comparisons, sign and rint are constant between their steps
      return number(0.0);
  }
}

int ExpressionAlgebra::derivative(int node, int variable) {
  if (!depends(node, variable, variable + 1)) return number(0.0);
  if (const auto found = derivatives_.find({node, variable}); found != derivatives_.end()) return found->second;
  const Node info = graph_[node];
  const int a = info.operand[0], b = info.operand[1];
  int result = number(0.0);
  switch (info.op) {
    case Op::variable:
      result = number(info.index == variable ? 1.0 : 0.0);
      break;
    case Op::add:
    case Op::subtract:
      result = sum_of_parts(node, [&](int part) { return derivative(part, variable); });
      break;
    case Op::negate:
      result = negative(derivative(a, variable));
      break;
    case Op::multiply:
      result = sum(product(derivative(a, variable), b), product(a, derivative(b, variable)));
      break;
    case Op::divide:
      result = quotient(difference(derivative(a, variable), product(node, derivative(b, variable))), b);
      break;
    case Op::whole_power:
      result = product(product(number(info.index), power(a, number(info.index - 1))), derivative(a, variable));
      break;
    case Op::choose:
      result = graph_.apply(Op::choose, a, derivative(b, variable), derivative(info.operand[2], variable));
      break;
    default:
      for (int k = 0; k < arity(info.op); ++k) {
        const int operand = info.operand[static_cast<std::size_t>(k)];
        if (const int inner = derivative(operand, variable); !is_zero(inner))
          result = sum(result, product(outer_derivative(info, node, operand, k), inner));
      }
  }
  derivatives_[{node, variable}] = result;
  return result;
}

}  // namespace rattleback
