#pragma once
// The language of expressions: initial states, parameters, steps, surfaces of section.
//
//   expression = either [? expression : expression]
//   either     = both {|| both}                both  = comparison {&& comparison}
//   comparison = sum [(< | <= | > | >= | == | !=) sum]
//   sum        = product {(+ | -) product}     product = signed {(* | /) signed | power}
//   signed     = {- | +} power                 power = atom [^ signed]
//   atom       = number | name | function(expression, ..) | (expression)
//
// Two factors side by side are a product: 2 y^2, b (x^2 - 1). The second factor begins with a name or a parenthesis.
// A name before a parenthesis is a function where there is one of that name, otherwise a factor. The exponent of a power
// comes first: -x^2 is -(x^2), and 2^3^2 is 2^9.

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "rattleback/expression/graph.hpp"

namespace rattleback {

/// What is wrong with a text, and where.
struct SyntaxError : std::runtime_error {
  SyntaxError(const std::string& fault, std::size_t at) : std::runtime_error(fault), column(at + 1) {}
  std::size_t column;  ///< from 1
};

/// The node that a name stands for. Throws where there is none.
using NameResolver = std::function<int(const std::string& name)>;

/// The node of the expression in `text`. Names are letters, digits and _, and may end with an index, q[2]. Throws
/// SyntaxError, and what `resolve` throws.
int parse_expression(std::string_view text, Graph& graph, const NameResolver& resolve);

/// Why a text is too hostile to be parsed (length, nesting, a NUL); empty when it is not.
[[nodiscard]] std::string fault_of_expression(std::string_view text);

/// The names in a text, in order of first appearance, without pi and functions.
[[nodiscard]] std::vector<std::string> names_in(std::string_view text);

/// Whether a text is a name that has no meaning in the language: letters, digits and _, neither pi nor a function.
[[nodiscard]] bool is_variable_name(std::string_view name);

}  // namespace rattleback
