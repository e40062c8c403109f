#include "rattleback/language/algebra.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>

namespace rattleback {

bool ExpressionAlgebra::depends(int node, int first, int last) {
  // The sets of variables are computed on demand, operands first.
  const auto variables = [&](auto&& self, int at) -> const std::vector<int>& {
    if (const auto found = variables_.find(at); found != variables_.end()) return found->second;
    const Node info = graph_[at];
    std::vector<int> all;
    if (info.op == Op::variable) all.push_back(info.index);
    for (int k = 0; k < arity(info.op); ++k) {
      const std::vector<int>& more = self(self, info.operand[static_cast<std::size_t>(k)]);
      std::vector<int> both;
      std::ranges::set_union(all, more, std::back_inserter(both));
      all = std::move(both);
    }
    return variables_.emplace(at, std::move(all)).first->second;
  };
  const std::vector<int>& all = variables(variables, node);
  const auto from = std::ranges::lower_bound(all, first);
  return from != all.end() && *from < last;
}

namespace {

/// Whether a number may be multiplied with others ahead of time. Where numbers are larger or smaller, their product may leave the range of
/// a double although the formula, computed as it is written, does not.
bool is_common(double number) {
  constexpr double limit = 0x1p256;
  const double size = std::abs(number);
  return size == 0.0 || (size >= 1.0 / limit && size <= limit);
}

}  // namespace

void ExpressionAlgebra::multiply(Term& term, Factor factor) {
  auto found = std::ranges::find(term.factors, factor.base, &Factor::base);
  if (found == term.factors.end()) found = term.factors.insert(found, {factor.base, 0});
  found->exponent += factor.exponent;
  const Factor total = *found;
  if (total.exponent == 0) {
    term.factors.erase(found);
  } else if (const Node root = graph_[total.base]; root.op == Op::sqrt && std::abs(total.exponent) >= 2) {
    // sqrt(a)^2 is a
    if (total.exponent % 2 == 0)
      term.factors.erase(found);
    else
      found->exponent = total.exponent > 0 ? 1 : -1;
    multiply(term, this->term(root.operand[0]), (total.exponent - total.exponent % 2) / 2);
  }
}

void ExpressionAlgebra::multiply(Term& term, const Term& by, int exponent) {
  double power = 1.0;
  for (int i = 0; i < std::abs(exponent) && is_common(power); ++i) power *= by.coefficient;
  // A quotient of equal numbers is 1, which a product with the reciprocal need not be.
  const double total = exponent < 0 ? term.coefficient / power : term.coefficient * power;
  const bool zero = term.coefficient == 0.0 || (by.coefficient == 0.0 && exponent > 0);
  const bool known = zero || std::abs(power) == 1.0 || (is_common(power) && is_common(total));
  term.coefficient = known ? total : std::numeric_limits<double>::quiet_NaN();
  for (const Factor& factor : by.factors) multiply(term, {factor.base, factor.exponent * exponent});
}

bool ExpressionAlgebra::raise(Term& term, int node, int exponent) {
  constexpr int most = 1024;
  const Term base = this->term(node);
  const auto fits = [&](const Factor& factor) {
    const Op op = graph_[factor.base].op;
    const bool as_written = op == Op::multiply || op == Op::divide || op == Op::whole_power;
    return std::abs(factor.exponent) <= most / std::max(1, std::abs(exponent)) &&
           !(as_written && std::abs(exponent) > 1);
  };
  if (!std::ranges::all_of(base.factors, fits)) return false;
  multiply(term, base, exponent);
  return is_known(term);
}

bool ExpressionAlgebra::is_known(const Term& term) const {
  if (term.factors.size() == 1 && term.factors[0].exponent == 1 && std::abs(term.coefficient) == 1.0) return true;
  return !std::isnan(term.coefficient) &&
         std::ranges::none_of(term.factors, [this](const Factor& factor) { return is_number(factor.base); });
}

void ExpressionAlgebra::order(Term& term) {
  std::ranges::sort(term.factors, [&](const Factor& a, const Factor& b) {
    const bool a_first = is_parameter(a.base), b_first = is_parameter(b.base);
    return a_first != b_first ? a_first : a.base < b.base;
  });
}

ExpressionAlgebra::Term ExpressionAlgebra::term(int node) {
  const Node info = graph_[node];
  const Term whole{1.0, {{node, 1}}};
  Term result;
  switch (info.op) {
    case Op::constant:
      if (is_common(info.number)) return {info.number, {}};
      return info.number < 0.0 ? Term{-1.0, {{number(-info.number), 1}}} : whole;
    case Op::negate:
      result = term(info.operand[0]);
      result.coefficient = -result.coefficient;
      return result;
    case Op::multiply:
      result = term(info.operand[0]);
      multiply(result, term(info.operand[1]), 1);
      break;
    case Op::divide:
      if (is_zero(info.operand[1])) return whole;  // the value is not finite, and stays so
      result = term(info.operand[0]);
      multiply(result, term(info.operand[1]), -1);
      break;
    case Op::whole_power:
      if (!raise(result, info.operand[0], info.index)) return whole;
      break;
    default:
      return whole;
  }
  if (!is_known(result)) return whole;
  order(result);
  return result;
}

void ExpressionAlgebra::collect(int node, double sign, std::vector<Term>& terms) {
  const Node info = graph_[node];
  if (info.op == Op::add || info.op == Op::subtract) {
    collect(info.operand[0], sign, terms);
    collect(info.operand[1], info.op == Op::add ? sign : -sign, terms);
    return;
  }
  Term product = term(node);
  product.coefficient *= sign;
  if (std::abs(product.coefficient) == 1.0 && product.factors.size() == 1 && product.factors[0].exponent == 1) {
    const int base = product.factors[0].base;
    if (base != node && (graph_[base].op == Op::add || graph_[base].op == Op::subtract))
      return collect(base, product.coefficient, terms);
  }
  const auto same = std::ranges::find(terms, product.factors, &Term::factors);
  if (same == terms.end())
    terms.push_back(std::move(product));
  else
    same->coefficient += product.coefficient;
}

int ExpressionAlgebra::whole_power(int base, int exponent) {
  if (exponent == 1) return base;
  if (exponent % 2 == 0) return graph_.apply(Op::whole_power, whole_power(base, exponent / 2), 2);
  return graph_.apply(Op::multiply, whole_power(base, exponent - 1), base);
}

int ExpressionAlgebra::node_of(const Term& term) {
  if (term.coefficient == 0.0) return number(0.0);
  int scale = -1, upper = -1, lower = -1;  // number and parameters, numerator, denominator
  const auto times = [&](int& product, int factor) {
    product = product < 0 ? factor : graph_.apply(Op::multiply, product, factor);
  };
  const bool negated = term.coefficient == -1.0;
  if (negated && term.factors.size() == 1 && term.factors[0].exponent == 1) {  // -(x - y) is y - x
    std::vector<Term> terms;
    collect(term.factors[0].base, -1.0, terms);
    if (terms.size() > 1 && std::ranges::any_of(terms, [](const Term& one) { return one.coefficient > 0.0; }))
      return node_of(std::move(terms));
  }
  if (std::abs(term.coefficient) != 1.0) scale = number(term.coefficient);
  int parameter_lower = -1;
  for (const Factor& factor : term.factors) {
    const int power = whole_power(factor.base, std::abs(factor.exponent));
    if (is_parameter(factor.base))
      times(factor.exponent > 0 ? scale : parameter_lower, power);
    else
      times(factor.exponent > 0 ? upper : lower, power);
  }
  if (parameter_lower >= 0) scale = graph_.apply(Op::divide, scale < 0 ? number(1.0) : scale, parameter_lower);
  int node = scale;
  if (upper >= 0) times(node, upper);
  if (node < 0) node = number(1.0);
  if (lower >= 0) node = graph_.apply(Op::divide, node, lower);
  return negated ? graph_.apply(Op::negate, node) : node;
}

ExpressionAlgebra::Term ExpressionAlgebra::common(std::vector<Term>& terms) {
  Term shared;
  const double size = std::abs(terms.front().coefficient);
  if (std::ranges::all_of(terms, [&](const Term& term) { return std::abs(term.coefficient) == size; }))
    shared.coefficient = size;
  if (std::ranges::all_of(terms, [](const Term& term) { return term.coefficient < 0.0; }))
    shared.coefficient = -shared.coefficient;
  for (const Factor& factor : terms.front().factors) {
    int least = factor.exponent, most = factor.exponent;
    for (const Term& term : terms) {
      const auto found = std::ranges::find(term.factors, factor.base, &Factor::base);
      const int exponent = found == term.factors.end() ? 0 : found->exponent;
      least = std::min(least, exponent);
      most = std::max(most, exponent);
    }
    if (least > 0) shared.factors.push_back({factor.base, least});
    if (most < 0) shared.factors.push_back({factor.base, most});
  }
  return shared;
}

int ExpressionAlgebra::node_of(std::vector<Term> terms) {
  std::erase_if(terms, [](const Term& term) { return term.coefficient == 0.0; });
  if (terms.empty()) return number(0.0);
  if (terms.size() == 1) return node_of(terms.front());
  if (Term shared = common(terms); shared.coefficient != 1.0 || !shared.factors.empty()) {
    std::vector<Term> inner;
    for (Term& term : terms) {
      term.coefficient /= shared.coefficient;
      multiply(term, {1.0, shared.factors}, -1);
      order(term);
      collect(node_of(term), 1.0, inner);
    }
    return product(node_of(shared), node_of(std::move(inner)));
  }
  // The number stands last; the first term is positive where one is.
  std::vector<std::pair<int, double>> monomials;
  for (const Term& term : terms) monomials.emplace_back(node_of({1.0, term.factors}), term.coefficient);
  std::ranges::sort(monomials, [&](const auto& a, const auto& b) {
    if (is_one(a.first) != is_one(b.first)) return is_one(b.first);
    return a.first < b.first;
  });
  const auto positive = std::ranges::find_if(monomials, [](const auto& term) { return term.second > 0.0; });
  if (positive != monomials.end()) std::rotate(monomials.begin(), positive, positive + 1);
  int node = -1;
  for (const auto& [monomial, coefficient] : monomials) {
    Term size = term(monomial);
    size.coefficient *= node < 0 ? coefficient : std::abs(coefficient);
    const int next = node_of(size);
    node = node < 0 ? next : graph_.apply(coefficient < 0.0 ? Op::subtract : Op::add, node, next);
  }
  return node;
}

int ExpressionAlgebra::sum(int a, int b) {
  std::vector<Term> terms;
  collect(a, 1.0, terms);
  collect(b, 1.0, terms);
  return node_of(std::move(terms));
}

int ExpressionAlgebra::difference(int a, int b) {
  std::vector<Term> terms;
  collect(a, 1.0, terms);
  collect(b, -1.0, terms);
  return node_of(std::move(terms));
}

int ExpressionAlgebra::product(int a, int b) {
  Term result = term(a);
  multiply(result, term(b), 1);
  if (!is_known(result)) {
    const bool ordered = is_number(a) || (!is_number(b) && a < b);
    return graph_.apply(Op::multiply, ordered ? a : b, ordered ? b : a);
  }
  order(result);
  return node_of(result);
}

int ExpressionAlgebra::quotient(int a, int b) {
  Term result = term(a);
  if (!is_zero(b)) multiply(result, term(b), -1);
  if (is_zero(b) || !is_known(result)) return graph_.apply(Op::divide, a, b);
  order(result);
  return node_of(result);
}

int ExpressionAlgebra::power(int a, int b) {
  constexpr double most = 16.0;
  const double exponent = is_number(b) ? graph_[b].number : 0.5 + most;
  if (std::abs(exponent) > most || 2.0 * exponent != std::floor(2.0 * exponent) || is_zero(a))
    return graph_.apply(Op::power, a, b);
  Term result;
  if (exponent == std::floor(exponent)) {
    if (!raise(result, a, static_cast<int>(exponent)))
      return exponent < 0.0 ? power(quotient(number(1.0), a), number(-exponent)) : graph_.power(a, b);
  } else {
    multiply(result, {graph_.apply(Op::sqrt, a), static_cast<int>(2.0 * exponent)});
    if (!is_known(result)) return graph_.apply(Op::power, a, b);
  }
  order(result);
  return node_of(result);
}

int ExpressionAlgebra::apply(const Node& node, int a, int b, int c) {
  switch (node.op) {
    case Op::add:
      return sum(a, b);
    case Op::subtract:
      return difference(a, b);
    case Op::multiply:
      return product(a, b);
    case Op::divide:
      return quotient(a, b);
    case Op::negate:
      return negative(a);
    case Op::whole_power:
      return power(a, number(node.index));
    case Op::power:
      return power(a, b);
    default:
      return graph_.apply(node.op, a, b, c);
  }
}

void ExpressionAlgebra::gather(int node, bool negative, const std::map<int, int>& whole,
                               std::vector<std::pair<int, bool>>& parts) const {
  const Node info = graph_[node];
  if ((info.op != Op::add && info.op != Op::subtract) || whole.contains(node)) return parts.push_back({node, negative});
  gather(info.operand[0], negative, whole, parts);
  gather(info.operand[1], negative != (info.op == Op::subtract), whole, parts);
}

std::vector<std::pair<int, bool>> ExpressionAlgebra::parts(int node) const {
  std::vector<std::pair<int, bool>> all;
  gather(node, false, {}, all);
  return all;
}

int ExpressionAlgebra::sum_of_parts(int node, const std::function<int(int)>& change, const std::map<int, int>& whole) {
  std::vector<std::pair<int, bool>> all;
  gather(node, false, whole, all);
  std::vector<Term> terms;
  for (const auto& [part, negative] : all) collect(change(part), negative ? -1.0 : 1.0, terms);
  return node_of(std::move(terms));
}

int ExpressionAlgebra::simplified(int node) {
  if (const auto found = simplified_.find(node); found != simplified_.end()) return found->second;
  const Node info = graph_[node];
  int simple = node;
  if (info.op == Op::add || info.op == Op::subtract) {
    simple = sum_of_parts(node, [&](int part) { return simplified(part); });
  } else if (arity(info.op) > 0) {
    std::array<int, 3> operand{};
    for (std::size_t k = 0; k < static_cast<std::size_t>(arity(info.op)); ++k) operand[k] = simplified(info.operand[k]);
    simple = apply(info, operand[0], operand[1], operand[2]);
  }
  simplified_[node] = simple;
  return simple;
}

int ExpressionAlgebra::substituted(int node, const std::map<int, int>& replacement) {
  std::map<int, int> done = replacement;
  const auto visit = [&](auto&& self, int at) -> int {
    if (const auto found = done.find(at); found != done.end()) return found->second;
    const Node info = graph_[at];
    int result = at;
    if (info.op == Op::add || info.op == Op::subtract) {
      result = sum_of_parts(at, [&](int part) { return self(self, part); }, replacement);
    } else if (arity(info.op) > 0) {
      std::array<int, 3> operand{};
      for (std::size_t k = 0; k < static_cast<std::size_t>(arity(info.op)); ++k)
        operand[k] = self(self, info.operand[k]);
      result = apply(info, operand[0], operand[1], operand[2]);
    }
    done[at] = result;
    return result;
  };
  return visit(visit, node);
}

std::string fault_of_operations(const ExpressionAlgebra& algebra, int node) {
  constexpr int most = 100000;
  if (algebra.graph().size() > most) return fmt::format("there are more than {} operations; use fewer", most);
  return fault_of_numbers(algebra, {&node, 1});
}

std::string fault_of_numbers(const ExpressionAlgebra& algebra, std::span<const int> nodes) {
  const Graph& graph = algebra.graph();
  std::vector<char> needed(static_cast<std::size_t>(graph.size()));
  for (const int node : nodes) needed[static_cast<std::size_t>(node)] = 1;
  for (int i = graph.size() - 1; i >= 0; --i) {
    if (!needed[static_cast<std::size_t>(i)]) continue;
    const Node& info = graph[i];
    if (info.op == Op::constant && !std::isfinite(info.number)) return "a number in it is not finite";
    if (info.op == Op::divide && algebra.is_zero(info.operand[1])) return "it divides by 0";
    for (int k = 0; k < arity(info.op); ++k)
      needed[static_cast<std::size_t>(info.operand[static_cast<std::size_t>(k)])] = 1;
  }
  return "";
}

}  // namespace rattleback
