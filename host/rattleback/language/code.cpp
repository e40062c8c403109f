#include "rattleback/language/code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace rattleback {
namespace {

constexpr std::size_t longest = 90;  // of an expression in a statement
constexpr std::size_t few = 3;       // terms of a sum that are added in one statement among alike ones

}  // namespace

std::string cpp_number(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string cpp_number(std::uint64_t value) { return fmt::format("{}{}", value, value >> 63 == 0 ? "" : "ull"); }

std::string cpp_string(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\' || (c == '?' && result.back() == '?'))  // ?? may begin a trigraph
      result += {'\\', c};
    else if (c >= ' ' && c <= '~')
      result += c;
    else
      result += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
  }
  return result + '"';
}

Code CodeWriter::operator()(std::span<const int> nodes, bool in_parameters) {
  uses_.clear();
  stored_ = given_;
  code_ = {};
  next_ = 0;
  count(nodes);
  std::vector<int> order;
  for (const auto& [node, uses] : uses_) order.push_back(node);  // operands have smaller indices
  for (const int node : order) plan(node);
  for (const int node : nodes) code_.values.push_back(bound(operand(node, in_parameters), Rank::sum));
  return std::move(code_);
}

void CodeWriter::count(std::span<const int> nodes) {
  std::vector<int> open(nodes.begin(), nodes.end());
  for (const int node : nodes) ++uses_[node];
  std::map<int, bool> seen;
  while (!open.empty()) {
    const int node = open.back();
    open.pop_back();
    if (seen[node] || given_.contains(node)) continue;
    seen[node] = true;
    const Node& info = algebra_.graph()[node];
    for (int k = 0; k < arity(info.op); ++k) {
      const int operand = info.operand[static_cast<std::size_t>(k)];
      uses_[operand] += info.op == Op::whole_power ? 2 : 1;
      open.push_back(operand);
    }
  }
}

bool CodeWriter::is_product(int node) const {
  const Node& info = algebra_.graph()[node];
  return info.op == Op::multiply || (info.op == Op::whole_power && info.index == 2);
}

/// A product of two variables costs nothing where it is added, and compilers find equal ones.
bool CodeWriter::is_cheap(int node) const {
  const Node& info = algebra_.graph()[node];
  return is_leaf(node) ||
         (is_product(node) && is_leaf(info.operand[0]) && is_leaf(info.operand[info.op == Op::multiply])) ||
         (info.op == Op::negate && is_leaf(info.operand[0]));
}

/// Stores a node that occurs more than once.
void CodeWriter::plan(int node) {
  const Node info = algebra_.graph()[node];
  if (stored_.contains(node)) return;
  if (info.op == Op::sin || info.op == Op::cos) {
    const Op other = info.op == Op::sin ? Op::cos : Op::sin;
    for (const auto& [partner, uses] : uses_) {
      const Node& second = algebra_.graph()[partner];
      if (second.op == other && second.operand[0] == info.operand[0]) return write_sincos(info.operand[0]);
    }
  }
  if (uses_[node] < 2 || is_cheap(node)) return;
  const bool in_parameters = is_parameter(node);
  stored_[node] = store(expression(node, in_parameters).text, in_parameters);
}

void CodeWriter::write_sincos(int operand_node) {
  const bool in_parameters = is_parameter(operand_node);
  const std::string sine = fmt::format("s{}", next_), cosine = fmt::format("c{}", next_);
  ++next_;
  const std::string argument = bound(operand(operand_node, in_parameters), Rank::sum);
  code_.statements.push_back(fmt::format("{} {}, {};", in_parameters ? "T" : "S", sine, cosine));
  code_.statements.push_back(fmt::format("sincos({}, {}, {});", argument, sine, cosine));
  for (const auto& [node, uses] : uses_) {
    const Node& info = algebra_.graph()[node];
    if (info.op == Op::sin && info.operand[0] == operand_node) stored_[node] = sine;
    if (info.op == Op::cos && info.operand[0] == operand_node) stored_[node] = cosine;
  }
}

std::string CodeWriter::store(const std::string& text, bool in_parameters) {
  std::string name = fmt::format("{}{}", in_parameters ? 'k' : 't', next_++);
  code_.statements.push_back(fmt::format("const {} {} = {};", in_parameters ? "T" : "S", name, text));
  return name;
}

CodeWriter::Text CodeWriter::shortened(Text text, bool in_parameters) {
  if (alike_ || text.text.size() <= longest) return text;
  return {store(text.text, in_parameters), Rank::name};
}

std::string CodeWriter::bound(const Text& text, Rank least) const {
  return text.rank < least ? fmt::format("({})", text.text) : text.text;
}

CodeWriter::Text CodeWriter::operand(int node, bool in_parameters) {
  const Node info = algebra_.graph()[node];
  const char scalar = in_parameters ? 'T' : 'S';
  if (info.op == Op::constant) return {fmt::format("{}({})", scalar, cpp_number(info.number)), Rank::name};
  const bool parameter = is_parameter(node);
  Text text;
  if (const auto found = stored_.find(node); found != stored_.end())
    text = {found->second, Rank::name};
  else
    text = shortened(expression(node, parameter), parameter);
  if (parameter && !in_parameters) return {fmt::format("S({})", text.text), Rank::name};
  return text;
}

CodeWriter::Text CodeWriter::expression(int node, bool in_parameters) {
  const Node info = algebra_.graph()[node];
  const auto part = [&](std::size_t k, Rank least) { return bound(operand(info.operand[k], in_parameters), least); };
  const char scalar = in_parameters ? 'T' : 'S';
  switch (info.op) {
    case Op::constant:
      return operand(node, in_parameters);
    case Op::variable:
      return {names_.at(static_cast<std::size_t>(info.index)), Rank::name};
    case Op::add:
    case Op::subtract:
      return sum(node, in_parameters);
    case Op::whole_power: {
      const std::string factor = part(0, Rank::sign);
      std::string product = factor;
      for (int i = 1; i < info.index; ++i) product += " * " + factor;
      return {product, Rank::product};
    }
    default: {
      if (info.op == Op::power && algebra_.is_number(info.operand[1]))  // shorter derivatives than for two variables
        return {fmt::format("pow({}, {})", part(0, Rank::sum), cpp_number(algebra_.graph()[info.operand[1]].number)),
                Rank::name};
      if (operation(info.op).is_condition)
        return {fmt::format("select({}, {}(1.0), {}(0.0))", condition(node, in_parameters), scalar, scalar),
                Rank::name};
      return written(info, in_parameters);
    }
  }
}

CodeWriter::Text CodeWriter::written(const Node& node, bool in_parameters) {
  const Operation& row = operation(node.op);
  const bool product = row.text.starts_with("a * ") || row.text.starts_with("a / "), sign = row.text.starts_with('-');
  const auto least = [&](std::size_t k) {
    return sign || (product && k > 0) ? Rank::sign : product ? Rank::product : Rank::sum;
  };
  const auto is_word = [&](std::size_t i) { return i < row.text.size() && std::isalnum(row.text[i]) != 0; };
  std::string text;
  for (std::size_t i = 0; i < row.text.size(); ++i) {
    const auto k = static_cast<std::size_t>(row.text[i] - 'a');
    if (!is_word(i) || is_word(i - 1) || is_word(i + 1))
      text += row.text[i];
    else if (row.conditions >> k & 1)
      text += condition(node.operand[k], in_parameters);
    else
      text += bound(operand(node.operand[k], in_parameters), least(k));
  }
  return {text, product ? Rank::product : sign ? Rank::sign : Rank::name};
}

std::string CodeWriter::condition(int node, bool in_parameters) {
  const Node info = algebra_.graph()[node];
  if (operation(info.op).is_condition && !stored_.contains(node)) return written(info, in_parameters).text;
  const std::string value = bound(operand(node, in_parameters), Rank::sum);
  return fmt::format("{} != {}(0.0)", value, in_parameters ? 'T' : 'S');
}

void CodeWriter::parts_of_sum(int node, bool negative, bool first, std::vector<Part>& parts) {
  const Node info = algebra_.graph()[node];
  if ((info.op == Op::add || info.op == Op::subtract) && (first || !stored_.contains(node))) {
    parts_of_sum(info.operand[0], negative, false, parts);
    parts_of_sum(info.operand[1], negative != (info.op == Op::subtract), false, parts);
  } else if (info.op == Op::negate && !stored_.contains(node)) {
    parts_of_sum(info.operand[0], !negative, false, parts);
  } else {
    parts.push_back({node, negative});
  }
}

/// Products are added last, each together with its multiplication.
CodeWriter::Text CodeWriter::sum(int node, bool in_parameters) {
  std::vector<Part> parts;
  parts_of_sum(node, false, true, parts);
  const auto joins = [&](const Part& part) {
    return is_product(part.node) && !stored_.contains(part.node) && (in_parameters || !is_parameter(part.node));
  };
  std::ranges::stable_partition(parts, [&](const Part& part) { return !joins(part); });
  // A positive part stands first: one that is no product, otherwise the first product.
  auto first = std::ranges::find_if(parts, [](const Part& part) { return !part.negative; });
  if (first == parts.end()) first = parts.begin();
  std::rotate(parts.begin(), first, first + 1);
  std::string text = (parts[0].negative ? "-" : "") +
                     bound(operand(parts[0].node, in_parameters), parts[0].negative ? Rank::sign : Rank::sum);
  Rank rank = Rank::sum;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (alike_ ? parts.size() > few : text.size() > longest) text = store(text, in_parameters);
    if (joins(parts[i])) {
      text = fused(parts[i], text, in_parameters);
      rank = Rank::name;
    } else {
      text += (parts[i].negative ? " - " : " + ") + bound(operand(parts[i].node, in_parameters), Rank::product);
      rank = Rank::sum;
    }
  }
  return {text, rank};
}

std::string CodeWriter::fused(const Part& product, const std::string& rest, bool in_parameters) {
  const Node info = algebra_.graph()[product.node];
  const int second = info.op == Op::multiply ? info.operand[1] : info.operand[0];
  const Node a = algebra_.graph()[info.operand[0]];
  std::string factor;
  if (product.negative && a.op == Op::constant)
    factor = fmt::format("{}({})", in_parameters ? 'T' : 'S', cpp_number(-a.number));
  else if (product.negative)
    factor = "-" + bound(operand(info.operand[0], in_parameters), Rank::sign);
  else
    factor = bound(operand(info.operand[0], in_parameters), Rank::sum);
  return fmt::format("fma({}, {}, {})", factor, bound(operand(second, in_parameters), Rank::sum), rest);
}

}  // namespace rattleback
