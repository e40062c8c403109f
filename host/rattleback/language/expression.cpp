#include "rattleback/language/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rattleback/base/message.hpp"
#include "rattleback/language/familiar_notation.hpp"

namespace rattleback {

std::vector<std::string> variables_of(const Value& value) {
  const auto* text = std::get_if<std::string>(&value.content);
  if (text == nullptr) return {};
  std::vector<std::string> names = names_in(std::string_view(*text).substr(value.begin));
  std::erase_if(names, [&](const std::string& name) { return value.indices.contains(name); });
  return names;
}

namespace {

/// Returns whether a node is a comparison of two numbers, or made of such by &&, || and ?:.
bool compares(const Graph& graph, int index) {
  const Node& node = graph[index];
  const auto [a, b, c] = node.operand;
  switch (node.op) {
    case Op::less:
    case Op::less_equal:
    case Op::equal:
    case Op::not_equal:  // 0 < x < 1 would compare the truth of 0 < x with 1
      return !compares(graph, a) && !compares(graph, b);
    case Op::both:
    case Op::either:
      return compares(graph, a) && compares(graph, b);
    case Op::choose:
      return compares(graph, a) && compares(graph, b) && compares(graph, c);
    default:
      return false;
  }
}

}  // namespace

Expression::Expression(const Value& value, std::string what, std::span<const std::string> names, const double* slots,
                       std::string_view hint)
    : what_(std::move(what)), where_(value.where), slots_(slots) {
  if (const auto* number = std::get_if<double>(&value.content)) {
    number_ = *number;
  } else {
    text_ = std::get<std::string>(value.content);
    parse(value, names, hint);
  }
}

std::string Expression::stated() const { return fmt::format("{} = {}", what_, quote(text_)); }

void Expression::parse(const Value& value, std::span<const std::string> names, std::string_view hint) {
  if (const std::string fault = fault_of_expression(text_); !fault.empty())
    input_error(where_, fmt::format("{} cannot be used: {}", stated(), fault));
  Graph graph;
  const auto resolve = [&](const std::string& name) {
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) {
      std::vector<std::string> known(names.begin(), names.end());
      known.emplace_back("pi");
      const std::string list = join(known);
      for (const FunctionInfo& function : functions()) known.emplace_back(function.name);
      input_error(where_, fmt::format("unknown name {} in {} (known: {}{}){}", quote(name), stated(), list, hint,
                                      advice_on_name(name, known)));
    }
    const int slot = static_cast<int>(found - names.begin());
    if (std::ranges::find(reads_, slot) == reads_.end()) {
      reads_.push_back(slot);
      read_names_.push_back(name);
    }
    return graph.variable(slot);
  };
  try {
    const int root = parse_expression(text_, graph, resolve, value.indices, value.begin);
    is_condition_ = compares(graph, root);
    program_.emplace(graph, root);
  } catch (const SyntaxError& error) {
    input_error(where_, fmt::format("{} is not an expression (column {}: {})", stated(), error.column, error.what()));
  }
}

int Expression::add_to(Graph& graph, std::span<const int> variables) const {
  return program_ ? program_->add_to(graph, variables) : graph.constant(number_);
}

double Expression::operator()() const {
  const double value = program_ ? (*program_)(slots_) : number_;
  if (std::isfinite(value)) return value;
  if (!program_) input_error(where_, fmt::format("{} must be finite (got {})", what_, value));
  std::string at;
  for (std::size_t i = 0; i < reads_.size(); ++i)
    at += fmt::format("{}{} = {}", i == 0 ? " at " : ", ", read_names_[i], slots_[reads_[i]]);
  input_error(where_, fmt::format("{} is not finite (it is {}{})", stated(), value, at));
}

double constant(const Value& value, const std::string& what) {
  return Expression(value, what, {}, nullptr, "; a constant is needed here")();
}

}  // namespace rattleback
