#include "rattleback/language/group.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "rattleback/base/message.hpp"
#include "rattleback/language/characters.hpp"
#include "rattleback/language/model.hpp"

namespace rattleback {
namespace {

using Kind = GroupFactor::Kind;
constexpr std::string_view rotation_and_place[] = {"R11", "R12", "R13", "R21", "R22", "R23",
                                                   "R31", "R32", "R33", "x",   "y",   "z"};
constexpr std::string_view body_velocities[] = {"w1", "w2", "w3", "u1", "u2", "u3"};
constexpr std::string_view plane_coordinates[] = {"x", "y", "theta"}, plane_velocities[] = {"u1", "u2", "w"};

/// The factors that have a name of their own.
struct NamedFactor {
  std::string_view name, type, header;
  GroupFactor factor;
};
constexpr NamedFactor named_factors[] = {{"SO(3)", "SO3", "so3", {Kind::so3, 3}},
                                         {"SE(3)", "SE3", "se3", {Kind::se3, 6}},
                                         {"SE(2)", "SE2", "se2", {Kind::se2, 3}},
                                         {"S^1", "S1", "rn", {Kind::s1, 1}}};

const NamedFactor* named(const GroupFactor& factor) {
  const auto found = std::ranges::find(named_factors, factor, &NamedFactor::factor);
  return found == std::end(named_factors) ? nullptr : found;
}

/// Reads a configuration space by recursive descent:
///   product = power {x power}     power = (SO(3) | SE(3) | SE(2) | S^1 | R^n | (product)) [^ count]
class GroupParser {
 public:
  GroupParser(const FormulaText& text, std::span<const NamedCount> counts) : text_(text), counts_(counts) {}

  std::vector<GroupFactor> operator()() {
    std::vector<GroupFactor> factors = product();
    if (peek() != '\0') fail(fmt::format("{} is not expected", quote(rest())));
    if (std::ranges::none_of(factors, &GroupFactor::is_body)) fail("it has no rotation; leave group out for R^n");
    return factors;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    input_error(text_.where,
                fmt::format("{} = {} is not a configuration space ({}); write for example \"SO(3)\", \"SE(3)^2\" or "
                            "\"SO(3) x R^2\"",
                            text_.key, quote(text_.text), why));
  }
  [[nodiscard]] std::string rest() const { return text_.text.substr(at_, 40); }
  char peek() {
    while (at_ < text_.text.size() && text_.text[at_] == ' ') ++at_;
    return at_ < text_.text.size() ? text_.text[at_] : '\0';
  }
  bool take(std::string_view symbol) {
    if (peek() == '\0' || !std::string_view(text_.text).substr(at_).starts_with(symbol)) return false;
    at_ += symbol.size();
    return true;
  }

  std::vector<GroupFactor> product() {
    std::vector<GroupFactor> factors;
    do {
      const std::vector<GroupFactor> more = power();
      factors.insert(factors.end(), more.begin(), more.end());
      int size = 0;
      for (const GroupFactor& factor : factors) size += factor.size;
      if (size > most_coordinates)
        fail(fmt::format("it has {} dimensions, and at most {} are possible", size, most_coordinates));
    } while (take("x") || take("\u00d7"));
    return factors;
  }
  std::vector<GroupFactor> power() {
    std::vector<GroupFactor> base;
    const bool enclosed = take("(");
    if (enclosed) {
      if (++depth_ > most_coordinates) fail("its parentheses are nested too deep");
      base = product();
      if (!take(")")) fail("a ')' is missing");
      --depth_;
    } else {
      base.push_back(factor());
    }
    if (!take("^")) return base;
    if (!enclosed && base.front().commutes())
      fail(fmt::format("a power of {0} is written ({0})^k", base.front().name()));
    const int times = count("a power");
    std::vector<GroupFactor> factors;
    for (int i = 0; i < times; ++i) factors.insert(factors.end(), base.begin(), base.end());
    return factors;
  }
  GroupFactor factor() {
    for (const NamedFactor& one : named_factors)
      if (take(one.name)) return one.factor;
    if (take("R^")) return {Kind::rn, count("the dimension of R^n")};
    unknown();
  }
  /// Reads a whole number or the name of one.
  int count(std::string_view what) {
    (void)peek();
    const std::size_t begin = at_;
    while (at_ < text_.text.size() &&
           (is_digit(text_.text[at_]) || (is_letter(text_.text[begin]) && is_letter(text_.text[at_]))))
      ++at_;
    const std::string word = text_.text.substr(begin, at_ - begin);
    if (word.empty()) fail(fmt::format("{} is a whole number or a dimension, which {} is not", what, quote(rest())));
    int value = most_coordinates + 1;
    if (is_letter(word.front())) {
      const auto found = std::ranges::find(counts_, word, &NamedCount::name);
      if (found == counts_.end()) {
        std::vector<std::string> known;
        for (const NamedCount& one : counts_) known.push_back(one.name);
        fail(fmt::format("{} is not a dimension of the system{}", quote(word), did_you_mean(word, known)));
      }
      value = found->value;
    } else if (word.size() < 4) {
      value = std::stoi(word);
    }
    if (value < 1 || value > most_coordinates)
      fail(fmt::format("{} is from 1 to {}, and {} is not", what, most_coordinates, word));
    return value;
  }
  [[noreturn]] void unknown() {
    const std::size_t begin = at_;
    for (int open = 0; at_ < text_.text.size(); ++at_) {
      const char c = text_.text[at_];
      if (c == ' ' || (c == 'x' && at_ > begin && !is_letter(text_.text[at_ - 1])) || (c == ')' && open == 0)) break;
      open += c == '(' ? 1 : c == ')' ? -1 : 0;
    }
    const std::string word = text_.text.substr(begin, at_ - begin);
    if (word.empty()) fail("a factor is missing");
    std::string upper;
    for (const char c : word)
      if (c != '(' && c != ')') upper += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    std::string hint;
    if (upper == "SO2" || upper == "U1" || upper == "S1" || upper == "T1" || upper == "T^1")
      hint = "; the circle is S^1";
    else if (upper.starts_with("T^"))
      hint = fmt::format("; a torus is (S^1){}", upper.substr(1));
    else if (upper.starts_with("S^") && upper != "S^1")
      hint = "; for a sphere take R^3 without group, and a constraint";
    else if (upper == "R")
      hint = "; a line is R^1";
    for (const NamedFactor& one : named_factors)
      if (upper == fmt::format("{}{}", one.name.substr(0, 2), one.name[3]) && one.name[2] == '(')
        hint = fmt::format("; did you mean {}?", one.name);
    fail(fmt::format("{} is not SO(3), SE(3), SE(2), S^1 or R^n{}", quote(word), hint));
  }

  const FormulaText& text_;
  std::span<const NamedCount> counts_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

std::string GroupFactor::name() const {
  const NamedFactor* found = named(*this);
  return found != nullptr ? std::string(found->name) : fmt::format("R^{}", size);
}

std::span<const std::string_view> GroupFactor::coordinates() const {
  if (has_matrix()) return std::span(rotation_and_place).first(static_cast<std::size_t>(elements()));
  if (kind == Kind::rn) return {};
  return kind == Kind::se2 ? std::span(plane_coordinates) : std::span(plane_coordinates).last(1);
}

std::span<const std::string_view> GroupFactor::velocities() const {
  if (has_matrix()) return std::span(body_velocities).first(static_cast<std::size_t>(size));
  if (kind == Kind::rn) return {};
  return kind == Kind::se2 ? std::span(plane_velocities) : std::span(plane_velocities).last(1);
}

BodyNames::BodyNames(const std::vector<GroupFactor>& group, std::vector<std::string> given)
    : given_(std::move(given)), count_(static_cast<std::size_t>(std::ranges::count_if(group, &GroupFactor::is_body))) {}

std::string BodyNames::operator()(std::size_t body, std::string_view name) const {
  if (given()) return fmt::format("{}_{}", given_[body], name);
  return numbered() ? fmt::format("{}_{}", name, body + 1) : std::string(name);
}

std::string BodyNames::of(std::size_t body) const {
  return given() ? given_[body] : fmt::format("{}{}", unnamed_body, body + 1);
}

std::vector<GroupFactor> parse_group(const FormulaText& group, std::span<const NamedCount> counts) {
  return GroupParser(group, counts)();
}

std::string text_of(const std::vector<GroupFactor>& group) {
  std::string text;
  for (std::size_t i = 0, next = 0; i < group.size(); i = next) {
    next = i + 1;
    while (group[i].is_body() && next < group.size() && group[next] == group[i]) ++next;
    const std::string name = group[i].name();
    if (!text.empty()) text += " x ";
    text += next == i + 1         ? name
            : group[i].commutes() ? fmt::format("({})^{}", name, next - i)
                                  : fmt::format("{}^{}", name, next - i);
  }
  return text;
}

std::string type_of(const std::vector<GroupFactor>& group) {
  std::vector<std::string> names;
  for (const GroupFactor& factor : group) {
    const NamedFactor* found = named(factor);
    names.push_back(found != nullptr ? std::string(found->type) : fmt::format("Rn<{}>", factor.size));
  }
  return names.size() == 1 ? names.front() : fmt::format("Product<{}>", join(names));
}

std::string_view header_of(const std::vector<GroupFactor>& group) {
  return group.size() > 1 ? "lie" : named(group.front())->header;
}

}  // namespace rattleback
