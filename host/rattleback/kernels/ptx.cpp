#include "rattleback/kernels/ptx.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace rattleback {
namespace {

constexpr std::array<std::string_view, 8> rounded{"add", "sub", "mul", "fma", "mad", "div", "rcp", "sqrt"};
constexpr std::array<std::string_view, 7> inexact{"sin", "cos", "tan", "ex2", "lg2", "tanh", "rsqrt"};  // no exact form
constexpr std::array<std::string_view, 7> floats{"f64", "f32", "f32x2", "f16", "f16x2", "bf16", "bf16x2"};

bool one_of(std::string_view word, const auto& words) { return std::ranges::find(words, word) != words.end(); }

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == text.npos) return parts;
    text.remove_prefix(at + 1);
  }
}

/// What is wrong with an opcode and its modifiers; empty: nothing.
std::string_view fault_of(std::string_view opcode) {
  const std::vector<std::string_view> parts = split(opcode, '.');
  const auto has = [&](std::string_view modifier) {
    return std::find(parts.begin() + 1, parts.end(), modifier) != parts.end();
  };
  if (std::none_of(parts.begin() + 1, parts.end(), [](std::string_view part) { return one_of(part, floats); }))
    return "";
  if (one_of(parts[0], inexact) || has("approx") || has("full")) return "approximates";
  if (has("ftz")) return "flushes to zero";
  if (one_of(parts[0], rounded) && !has("rn")) return "does not round to nearest (.rn)";
  return "";
}

std::string_view without_blanks(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r{");  // a block may begin on the line
  return begin == text.npos ? std::string_view() : text.substr(begin);
}

/// The opcode of an instruction, "add.rn.f64"; empty where the statement is none.
std::string_view opcode_of(std::string_view statement) {
  statement = without_blanks(statement);
  if (statement.starts_with('@')) {  // a predicate comes first
    const std::size_t blank = statement.find_first_of(" \t");
    statement = blank == statement.npos ? std::string_view() : without_blanks(statement.substr(blank));
  }
  const auto is_part = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == ':';
  };
  const auto end = std::ranges::find_if_not(statement, is_part);
  return std::islower(static_cast<unsigned char>(statement.empty() ? ' ' : statement[0])) != 0
             ? statement.substr(0, static_cast<std::size_t>(end - statement.begin()))
             : std::string_view();
}

}  // namespace

std::string fault_of_ptx(std::string_view ptx) {
  while (!ptx.empty()) {
    const std::size_t end = std::min(ptx.find_first_of(";\n"), ptx.size());
    const std::string_view opcode = opcode_of(ptx.substr(0, end));
    if (const std::string_view fault = fault_of(opcode); !fault.empty())
      return std::string(opcode) + " " + std::string(fault);
    ptx.remove_prefix(std::min(end + 1, ptx.size()));
  }
  return {};
}

}  // namespace rattleback
