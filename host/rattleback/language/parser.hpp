#pragma once
// The language of expressions for initial states, parameters, steps and surfaces of section.
//
//   expression = either [? expression : expression]
//   either     = both {|| both}                both  = comparison {&& comparison}
//   comparison = sum {(< | <= | > | >= | == | !=) sum}
//   sum        = product {(+ | -) product}     product = signed {(* | /) signed | power}
//   signed     = {- | +} power                 power = atom [^ signed]
//   atom       = number | name | function(expression, ..) | (expression)
//
// Two factors side by side are a product: 2 y^2, b (x^2 - 1). The second factor begins with a name or a parenthesis. A
// name before a parenthesis is a function if a function has this name, otherwise a factor. A power binds more than a
// sign, and powers group from the right: -x^2 is -(x^2), and 2^3^2 is 2^9.
//
// sum(i, 1, m, y[i]^2 + z[i]^2) is the sum over the whole numbers i from 1 to m, where the name i has no other meaning.
// sum(i in 1..m: y[i]^2 + z[i]^2) is the same sum. The bounds are whole numbers that are known when the text is read. A sum with m < 1 has no terms and is 0; its term must be
// an expression all the same, where y[i] need not exist.

#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "rattleback/language/graph.hpp"

namespace rattleback {

/// Tells what is wrong with a text, and where.
struct SyntaxError : std::runtime_error {
  SyntaxError(const std::string& fault, std::size_t at) : std::runtime_error(fault), column(at + 1) {}
  std::size_t column;  ///< counted from 1
};

/// A name resolver throws this error to let the parser add the place of the name.
struct NameError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Returns the node for a name. Throws for an unknown name.
using NameResolver = std::function<int(const std::string& name)>;

/// Names that stand for whole numbers.
using Indices = std::map<std::string, int>;

/// Returns the node of the expression that begins at the byte `begin` of `text`. A name has letters, digits and _, and may
/// have indices, as q[2], link[2]_x and R[1][3]; such a name need not exist where the expression is `unused`. Throws SyntaxError, and
/// the exceptions of `resolve`.
int parse_expression(std::string_view text, Graph& graph, const NameResolver& resolve, const Indices& indices = {},
                     std::size_t begin = 0, bool unused = false);

/// Returns why a text must not be parsed (length, nesting, a NUL); empty when the text is safe.
[[nodiscard]] std::string fault_of_expression(std::string_view text);

/// Returns the names in a text in order of first appearance, without pi and functions.
[[nodiscard]] std::vector<std::string> names_in(std::string_view text);

/// Returns the name of the vector of which a name is a component: u of u[2]; the name itself if it has no index.
[[nodiscard]] std::string vector_of(std::string_view name);

/// Returns whether a text can name a variable: letters, digits and _, but not pi or a function.
[[nodiscard]] bool is_variable_name(std::string_view name);

}  // namespace rattleback
