#include "rattleback/language/parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <numbers>
#include <optional>

#include "rattleback/base/message.hpp"
#include "rattleback/language/characters.hpp"
#include "rattleback/language/familiar_notation.hpp"

namespace rattleback {
namespace {

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool has_meaning(std::string_view name) { return name == "pi" || find_function(name) != nullptr; }

/// Reads a text word by word.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  /// Returns the next character that is not blank; NUL at the end.
  [[nodiscard]] char peek() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  [[nodiscard]] std::size_t at() const { return at_; }
  void go_to(std::size_t at) { at_ = at; }
  void skip() { ++at_; }
  [[nodiscard]] bool next_is(std::string_view symbol) {
    return peek() != '\0' && text_.substr(at_).starts_with(symbol);
  }
  /// Takes a symbol if the symbol comes next.
  bool take(std::string_view symbol) {
    if (!next_is(symbol)) return false;
    at_ += symbol.size();
    return true;
  }
  /// Takes a name that begins here, with indices if present: y[2], link[2]_x, R[1][3].
  std::string_view name() {
    const std::size_t begin = at_;
    do {
      while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
      if (at_ >= text_.size() || text_[at_] != '[') break;
      const std::size_t end = text_.find(']', at_);
      at_ = end == std::string_view::npos ? text_.size() : end + 1;
    } while (at_ < text_.size() && (text_[at_] == '_' || text_[at_] == '['));
    return text_.substr(begin, at_ - begin);
  }
  /// Takes a number that begins here.
  double number() {
    double value = 0.0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error == std::errc::result_out_of_range)
      throw SyntaxError(fmt::format("{} is beyond the range of a double", std::string_view(begin, end)), at_);
    if (error != std::errc()) throw SyntaxError(fmt::format("{} is not a number", quote(rest())), at_);
    at_ += static_cast<std::size_t>(end - begin);
    return value;
  }
  [[nodiscard]] std::string_view rest() const { return text_.substr(std::min(at_, text_.size()), 40); }
  [[nodiscard]] std::string_view text() const { return text_; }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

struct TooManyTerms : SyntaxError {
  using SyntaxError::SyntaxError;
};

/// Parses by recursive descent. `fault_of_expression` limits the depth of parentheses.
class Parser {
 public:
  /// `terms` counts the terms of all sums, also of those in indices.
  Parser(std::string_view text, std::size_t begin, Graph& graph, const NameResolver& resolve, const Indices& indices,
         int& terms, bool unused = false)
      : scan_(text), graph_(graph), resolve_(resolve), indices_(indices), terms_(terms), empty_(unused ? 1 : 0) {
    scan_.go_to(begin);
  }

  int all() {
    const int node = expression();
    switch (scan_.peek()) {
      case '\0':
        return node;
      case ',': {
        int values = 1;
        while (scan_.take(",")) {
          (void)expression();
          ++values;
        }
        fail(fmt::format("it has {} values, and one is needed", values));
      }
      case '=':
        fail("it assigns, and an expression only computes a value");
      default:
        fail(fmt::format("{} is not expected{}", quote(scan_.rest()), advice_on_notation(scan_.rest())));
    }
  }

 private:
  [[noreturn]] void fail(const std::string& fault) const { throw SyntaxError(fault, scan_.at()); }

  /// Counts the operators ^ and ? around this place, which nest without parentheses.
  class Nesting {
   public:
    explicit Nesting(Parser& parser) : nested_(parser.nested_) {
      if (++nested_ > most_nested)
        parser.fail(fmt::format("more than {} operators ^ and ? are nested; use fewer", most_nested));
    }
    ~Nesting() { --nested_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    int& nested_;
  };

  int expression() {
    const int condition = either();
    if (!scan_.take("?")) return condition;
    const Nesting nesting(*this);
    const int yes = expression();
    if (!scan_.take(":")) fail("a ':' is missing after '?'");
    return graph_.apply(Op::choose, condition, yes, expression());
  }
  int either() {
    int node = both();
    while (scan_.take("||")) node = graph_.apply(Op::either, node, both());
    return node;
  }
  int both() {
    int node = comparison();
    while (scan_.take("&&")) node = graph_.apply(Op::both, node, comparison());
    return node;
  }
  int comparison() {
    int node = sum();
    bool compared = false;
    for (;; compared = true) {
      const std::size_t begin = scan_.at();
      const int left = node;
      if (scan_.take("<="))
        node = graph_.apply(Op::less_equal, left, sum());
      else if (scan_.take(">="))
        node = graph_.apply(Op::less_equal, sum(), left);
      else if (scan_.take("=="))
        node = graph_.apply(Op::equal, left, sum());
      else if (scan_.take("!="))
        node = graph_.apply(Op::not_equal, left, sum());
      else if (scan_.take("<"))
        node = graph_.apply(Op::less, left, sum());
      else if (scan_.take(">"))
        node = graph_.apply(Op::less, sum(), left);
      else
        return node;
      if (compared)  // 0 < x < 1 would compare the truth of 0 < x with 1
        throw SyntaxError("comparisons cannot be chained; join two by &&, as in 0 < x && x < 1", begin);
    }
  }
  int sum() {
    int node = product();
    for (;;) {
      if (scan_.take("+"))
        node = graph_.apply(Op::add, node, product());
      else if (scan_.take("-"))
        node = graph_.apply(Op::subtract, node, product());
      else
        return node;
    }
  }
  int product() {
    int node = with_sign();
    for (;;) {
      if (scan_.next_is("**")) fail(fmt::format("'**' is not expected{}", advice_on_notation("**")));
      if (scan_.take("*"))
        node = graph_.apply(Op::multiply, node, with_sign());
      else if (scan_.take("/"))
        node = graph_.apply(Op::divide, node, with_sign());
      else if (const char c = scan_.peek(); is_letter(c) || c == '(')
        node = graph_.apply(Op::multiply, node, power());
      else
        return node;
    }
  }
  int with_sign() {
    bool minus = false;
    for (;;) {
      if (scan_.take("-"))
        minus = !minus;
      else if (!scan_.take("+"))
        break;
    }
    const int node = power();
    return minus ? graph_.apply(Op::negate, node) : node;
  }
  int power() {
    const int base = atom();
    if (!scan_.take("^")) return base;
    const Nesting nesting(*this);
    return graph_.power(base, with_sign());
  }
  int atom() {
    const char c = scan_.peek();
    if (scan_.take("(")) {
      const int node = expression();
      close();
      return node;
    }
    if (is_digit(c) || c == '.') return graph_.constant(scan_.number());
    if (is_letter(c)) return name();
    if (c == '\0') fail("it ends where a value is expected");
    fail(fmt::format("a value is expected at {}{}", quote(scan_.rest()), advice_on_notation(scan_.rest())));
  }
  void close() {
    if (!scan_.take(")")) fail("a ')' is missing");
  }
  int name() {
    const std::size_t begin = scan_.at();
    const std::string word(scan_.name());
    if (word == "pi") return graph_.constant(std::numbers::pi);
    const FunctionInfo* function = find_function(word);
    if (function == nullptr) return variable(word, begin);
    if (word == "sum" && begins_indexed_sum()) return indexed_sum();
    if (!scan_.take("(")) throw SyntaxError(fmt::format("{0} is a function; write {0}(..)", word), begin);
    int node = expression(), count = 1;
    if (function->most == 1) node = graph_.apply(function->op, node);
    for (; count < function->most && scan_.take(","); ++count) node = graph_.apply(function->op, node, expression());
    if (count < function->least || scan_.peek() == ',') fail(fmt::format("{} takes {}", word, arguments(*function)));
    if (function->mean) node = graph_.apply(Op::divide, node, graph_.constant(count));
    close();
    return node;
  }
  /// Returns the node of a name that is not a function. The index of the name is computed: y[i + 1].
  int variable(const std::string& word, std::size_t begin) {
    if (const auto index = indices_.find(word); index != indices_.end()) return graph_.constant(index->second);
    const std::string name = with_whole_indices(word, begin);
    try {
      return resolve_(name);
    } catch (const std::exception& error) {
      if (empty_ > 0 && name.find('[') != std::string::npos) return graph_.constant(1.0);
      if (dynamic_cast<const NameError*>(&error) != nullptr) throw SyntaxError(error.what(), begin);
      throw;
    }
  }
  /// Computes the indices of a name.
  std::string with_whole_indices(const std::string& word, std::size_t begin) {
    std::string name;
    std::size_t at = 0;
    for (std::size_t open; (open = word.find('[', at)) != std::string::npos;) {
      const std::size_t close = word.find(']', open);
      if (close == std::string::npos) return word;
      const std::optional<std::string> index = whole_index(word.substr(open + 1, close - open - 1), begin);
      if (!index) {
        if (indices_.empty()) return word;
        throw SyntaxError(fmt::format("the index in {} is not a whole number", quote(word)), begin);
      }
      name += fmt::format("{}[{}]", word.substr(at, open - at), *index);
      at = close + 1;
    }
    return name + word.substr(at);
  }
  std::optional<std::string> whole_index(const std::string& inside, std::size_t begin) {
    if (std::ranges::all_of(inside, is_digit)) return inside;
    try {
      const Node& node = graph_[Parser(inside, 0, graph_, resolve_, indices_, terms_).all()];
      if (is_whole(node)) return fmt::format("{}", static_cast<int>(node.number));
    } catch (const TooManyTerms& error) {
      throw SyntaxError(error.what(), begin);
    } catch (const std::exception&) {
    }
    return std::nullopt;
  }
  static bool is_whole(const Node& node) {
    return node.op == Op::constant && node.number == std::floor(node.number) && std::abs(node.number) <= 10000.0;
  }

  [[nodiscard]] bool has_value(const std::string& name) const {
    if (indices_.contains(name)) return true;
    try {
      (void)resolve_(name);
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }
  /// Returns whether `(NAME,` comes next with a name that has no meaning yet: the index of a sum.
  bool begins_indexed_sum() {
    const std::size_t begin = scan_.at();
    const auto look = [&] {
      if (!scan_.take("(") || !is_letter(scan_.peek())) return false;
      const std::size_t at = scan_.at();
      const std::string word(scan_.name());
      const bool listed = scan_.peek() == ',';
      if (!is_variable_name(word) || (!listed && scan_.name() != "in")) return false;
      if (!has_value(word)) return true;
      if (!listed && scan_.peek() != '\0' && scan_.text().find("..", scan_.at()) != std::string_view::npos)
        throw SyntaxError(fmt::format("{} already has a meaning; choose another name for the index", quote(word)), at);
      return false;
    };
    const bool found = look();
    scan_.go_to(begin);
    return found;
  }
  int indexed_sum() {
    (void)scan_.take("(");
    (void)scan_.peek();
    const std::string index(scan_.name());
    const auto [first, last] = scan_.peek() == ',' ? listed_bounds(index) : range();
    const std::size_t begin = scan_.at();
    int node = graph_.constant(0.0);
    for (int i = first; i <= last; ++i) {
      count_term();
      scan_.go_to(begin);
      indices_[index] = i;
      const int term = expression();
      node = i == first ? term : graph_.apply(Op::add, node, term);
    }
    if (last < first) check_term(index, first);
    indices_.erase(index);
    close();
    return node;
  }
  std::pair<int, int> listed_bounds(const std::string& index) {
    const int first = bound(index), last = bound(index);
    if (!scan_.take(",")) fail(fmt::format("a sum over {0} is sum({0}, first, last, term)", index));
    return {first, last};
  }
  /// Reads "in 1..m:".
  std::pair<int, int> range() {
    (void)scan_.name();
    const std::size_t begin = scan_.at(), dots = scan_.text().find("..", begin), colon = scan_.text().find(':', dots);
    if (dots == std::string_view::npos || colon == std::string_view::npos)
      fail("a sum over a range is sum(i in first..last: term)");
    const auto number = [&](std::size_t from, std::size_t to) {
      return whole(Parser(scan_.text().substr(0, to), from, graph_, resolve_, indices_, terms_).all(), from);
    };
    const std::pair bounds{number(begin, dots), number(dots + 2, colon)};
    scan_.go_to(colon + 1);
    return bounds;
  }
  /// Reads the term of a sum without terms, so that a fault in it is found. A name with an index need not exist there.
  void check_term(const std::string& index, int value) {
    count_term();
    indices_[index] = value;
    ++empty_;
    (void)expression();
    --empty_;
  }
  void count_term() {
    if (++terms_ > most_terms)
      throw TooManyTerms(fmt::format("its sums have more than {} terms", most_terms), scan_.at());
  }
  int bound(const std::string& index) {
    if (!scan_.take(",")) fail(fmt::format("a sum over {0} is sum({0}, first, last, term)", index));
    (void)scan_.peek();
    const std::size_t begin = scan_.at();
    return whole(expression(), begin);
  }
  [[nodiscard]] int whole(int bound, std::size_t begin) const {
    const Node& node = graph_[bound];
    if (!is_whole(node)) throw SyntaxError("the bounds of a sum are whole numbers that the study fixes", begin);
    return static_cast<int>(node.number);
  }
  static std::string arguments(const FunctionInfo& function) {
    if (function.least < function.most) return fmt::format("at most {} arguments", function.most);
    return fmt::format("{} argument{}", function.most, function.most == 1 ? "" : "s");
  }

  static constexpr int most_terms = 4096, most_nested = 256;
  Scanner scan_;
  Graph& graph_;
  const NameResolver& resolve_;
  Indices indices_;  ///< of the sums around this place
  int& terms_;
  int empty_;  ///< sums and ranges without terms around this place
  int nested_ = 0;
};

}  // namespace

int parse_expression(std::string_view text, Graph& graph, const NameResolver& resolve, const Indices& indices,
                     std::size_t begin, bool unused) {
  int terms = 0;
  return Parser(text, begin, graph, resolve, indices, terms, unused).all();
}

std::string fault_of_expression(std::string_view text) {
  constexpr std::size_t most = 32768, levels = 64;
  if (text.size() > most) return fmt::format("it has {} bytes; an expression has at most {}", text.size(), most);
  if (text.find('\0') != std::string_view::npos) return "it has a character NUL; take it out";
  std::size_t level = 0;
  for (const char c : text) {
    if (c == '(' && ++level > levels)
      return fmt::format("its parentheses are nested deeper than {} levels; use fewer", levels);
    if (c == ')' && level > 0) --level;
  }
  return "";
}

std::vector<std::string> names_in(std::string_view text) {
  std::vector<std::string> names;
  Scanner scan(text);
  while (const char c = scan.peek()) {
    if (is_letter(c)) {
      std::string name(scan.name());
      if (!has_meaning(name) && std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
    } else if (is_digit(c)) {
      try {
        (void)scan.number();
      } catch (const SyntaxError&) {  // a number beyond the range of a double; the parser reports the error
        scan.skip();
      }
    } else {
      scan.skip();
    }
  }
  return names;
}

std::string vector_of(std::string_view name) { return std::string(name.substr(0, name.find('['))); }

bool is_variable_name(std::string_view name) {
  return !name.empty() && is_letter(name.front()) &&
         std::ranges::all_of(name, [](char c) { return is_letter(c) || is_digit(c); }) && !has_meaning(name);
}

}  // namespace rattleback
