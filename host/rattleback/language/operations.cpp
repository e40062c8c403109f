#include "rattleback/language/operations.hpp"

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace rattleback {
namespace {

template <auto value, class Result, class... Operands>
constexpr Operation row(Result (*)(Operands...), std::string_view text, std::string_view derivative, OperationUse use) {
  unsigned conditions = 0;
  int k = 0;
  (..., (conditions |= unsigned{std::is_same_v<Operands, bool>} << k++));
  const auto evaluate = [](const double* x) {
    return [x]<std::size_t... i>(std::index_sequence<i...>) {
      return static_cast<double>(value(static_cast<Operands>(x[i])...));
    }(std::index_sequence_for<Operands...>{});
  };
  return {evaluate, text, derivative, use, sizeof...(Operands), conditions, !std::is_same_v<Result, double>};
}
template <auto value>
constexpr Operation row(std::string_view text, std::string_view derivative, OperationUse use) {
  return row<value>(+value, text, derivative, use);
}

// NOLINTBEGIN(bugprone-macro-parentheses): a list of parameters has its own
#define RB_ROW(name, parameters, derivative, use, value) \
  row<[] parameters { return value; }>(#value, derivative, OperationUse::use),
// NOLINTEND(bugprone-macro-parentheses)
constexpr Operation rows[] = {RB_OPERATIONS(RB_ROW)};
#undef RB_ROW

std::vector<FunctionInfo> all_functions() {
  constexpr int any_number = 64;
  std::vector<FunctionInfo> all{{"ln", Op::log, 1, 1},
                                {"sum", Op::add, 1, any_number},
                                {"avg", Op::add, 1, any_number, true},
                                {"min", Op::minimum, 1, any_number},
                                {"max", Op::maximum, 1, any_number}};
  for (std::size_t i = 0; i < std::size(rows); ++i)
    if (const Operation& one = rows[i]; !one.function().empty() && one.arity < 3 && static_cast<Op>(i) != Op::power &&
                                        std::ranges::find(all, one.function(), &FunctionInfo::name) == all.end())
      all.push_back({one.function(), static_cast<Op>(i), one.arity, one.arity});
  return all;
}

}  // namespace

std::span<const Operation> operations() { return rows; }

std::span<const FunctionInfo> functions() {
  static const std::vector<FunctionInfo> all = all_functions();
  return all;
}

const FunctionInfo* find_function(std::string_view name) {
  const auto found = std::ranges::find(functions(), name, &FunctionInfo::name);
  return found == functions().end() ? nullptr : &*found;
}

}  // namespace rattleback
