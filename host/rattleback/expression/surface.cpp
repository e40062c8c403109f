#include "rattleback/expression/surface.hpp"

#include <cctype>
#include <charconv>
#include <map>
#include <numbers>

#include <fmt/format.h>

#include "rattleback/base/message.hpp"
#include "rattleback/expression/expression.hpp"

namespace rattleback {
namespace {

/// Recursive descent over
///   sum = product {(+|-) product},  product = factor {(*|/) factor},  factor = {-} power,
///   power = atom [^ whole number],  atom = number | name | function(sum) | (sum)
class Compiler {
 public:
  Compiler(const SystemEntry& system, const Study::Section& section, Surfaces& surfaces)
      : section_(section), surfaces_(surfaces), text_(section.surface) {
    const auto add = [&](const char* letter, Operation operation, int size) {
      for (int i = 0; i < size; ++i) {
        names_[fmt::format("{}[{}]", letter, i)] = {operation, i, 0.0};
        names_[fmt::format("{}{}", letter, i)] = {operation, i, 0.0};
      }
    };
    add("q", Operation::q, system.elements);
    add("v", Operation::v, system.n);
    add("p", Operation::p, system.n);
    for (int i = 0; i < static_cast<int>(system.coordinates.size()); ++i)
      names_[system.coordinates[static_cast<std::size_t>(i)]] = {Operation::q, i, 0.0};
    for (int i = 0; i < static_cast<int>(system.parameters.size()); ++i)
      names_[system.parameters[static_cast<std::size_t>(i)].name] = {Operation::parameter, i, 0.0};
    for (const StructureInfo& info : system.structure) names_[info.name] = {Operation::constant, 0, info.value};
    names_["pi"] = {Operation::constant, 0, std::numbers::pi};
  }

  void operator()() {
    if (const std::string fault = fault_of_expression(text_); !fault.empty()) fail(fault);
    sum();
    if (peek() != '\0') fail(fmt::format("{} is not expected", quote(text_.substr(at_))));
    if (!uses_state_) fail("it does not depend on the state");
    surfaces_.end[surfaces_.count] = size();
    surfaces_.direction[surfaces_.count] = section_.direction;
    ++surfaces_.count;
  }

  /// Instructions so far, of all surfaces.
  int size_before = 0;

 private:
  [[noreturn]] void fail(std::string_view why) const {
    input_error(section_.where, fmt::format("surface {} of section {} cannot be used: {}", quote(section_.surface),
                                            quote(section_.name), why));
  }

  int size() const { return size_before + emitted_; }

  void emit(Operation operation, int index = 0, double number = 0.0) {
    if (size() == max_instructions)
      fail(fmt::format("all sections together take more than {} operations", max_instructions));
    if (operation <= Operation::parameter && ++depth_ > surface_stack) fail("it is nested too deeply");
    if (operation == Operation::add || operation == Operation::subtract || operation == Operation::multiply ||
        operation == Operation::divide)
      --depth_;
    uses_state_ = uses_state_ || operation == Operation::q || operation == Operation::v || operation == Operation::p;
    surfaces_.code[size()] = {operation, index, number};
    ++emitted_;
  }

  char peek() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  void sum() {
    product();
    for (;;) {
      if (take('+')) {
        product();
        emit(Operation::add);
      } else if (take('-')) {
        product();
        emit(Operation::subtract);
      } else {
        return;
      }
    }
  }

  void product() {
    factor();
    for (;;) {
      if (take('*')) {
        factor();
        emit(Operation::multiply);
      } else if (take('/')) {
        factor();
        emit(Operation::divide);
      } else {
        return;
      }
    }
  }

  void factor() {
    int signs = 0;
    while (take('-')) ++signs;
    power();
    for (; signs > 0; --signs) emit(Operation::negate);
  }

  void power() {
    atom();
    if (!take('^')) return;
    peek();
    int exponent = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), exponent);
    at_ = static_cast<std::size_t>(end - text_.data());
    if (error != std::errc() || exponent < 1 || exponent > 16 || peek() == '.')
      fail("exponents are whole numbers from 1 to 16");
    emit(Operation::power, exponent);
  }

  void atom() {
    if (take('(')) {
      sum();
      close();
      return;
    }
    const char c = peek();
    if (std::isdigit(static_cast<unsigned char>(c)) || c == '.') {
      double number = 0;
      const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
      if (error != std::errc()) fail(fmt::format("{} is not a number", quote(text_.substr(at_))));
      at_ = static_cast<std::size_t>(end - text_.data());
      emit(Operation::constant, 0, number);
    } else if (std::isalpha(static_cast<unsigned char>(c)) || c == '_') {
      name();
    } else if (c == '\0') {
      fail("it ends where a value is expected");
    } else {
      fail(fmt::format("a value is expected at {}", quote(text_.substr(at_))));
    }
  }

  void close() {
    if (!take(')')) fail("a ')' is missing");
  }

  void name() {
    const std::size_t begin = at_;
    const auto in_word = [&] {
      return at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_');
    };
    while (in_word()) ++at_;
    if (at_ < text_.size() && text_[at_] == '[') at_ = std::min(text_.size(), text_.find(']', at_) + 1);
    const std::string word(text_.substr(begin, at_ - begin));
    static const std::map<std::string, Operation> functions{{"sin", Operation::sine},
                                                            {"cos", Operation::cosine},
                                                            {"exp", Operation::exponential},
                                                            {"sqrt", Operation::root},
                                                            {"abs", Operation::magnitude}};
    if (const auto function = functions.find(word); function != functions.end() && take('(')) {
      sum();
      close();
      emit(function->second);
      return;
    }
    const auto found = names_.find(word);
    if (found == names_.end()) {
      std::vector<std::string> known;
      for (const auto& [known_name, instruction] : names_)
        if (known_name.size() < 2 || !std::isdigit(static_cast<unsigned char>(known_name[1])) ||
            std::string_view("qvp").find(known_name[0]) == std::string_view::npos)
          known.push_back(known_name);
      fail(fmt::format("unknown name {} (known: {}){}", quote(word), join(known), did_you_mean(word, known)));
    }
    emit(found->second.operation, found->second.index, found->second.number);
  }

  const Study::Section& section_;
  Surfaces& surfaces_;
  std::string_view text_;
  std::map<std::string, Instruction> names_;
  std::size_t at_ = 0;
  int emitted_ = 0, depth_ = 0;
  bool uses_state_ = false;
};

}  // namespace

Surfaces compile_surfaces(const Study& study, const SystemEntry& system) {
  Surfaces surfaces{};
  if (study.sections.size() > max_surfaces)
    input_error(study.sections[max_surfaces].where,
                fmt::format("{} sections are too many; a study takes {}", study.sections.size(), max_surfaces));
  for (const Study::Section& section : study.sections) {
    Compiler compiler(system, section, surfaces);
    compiler.size_before = surfaces.count == 0 ? 0 : surfaces.end[surfaces.count - 1];
    compiler();
  }
  return surfaces;
}

}  // namespace rattleback
