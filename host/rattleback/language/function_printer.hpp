#pragma once
// Writes the member functions of a system of formulas, from the nodes of its graph.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "rattleback/base/message.hpp"
#include "rattleback/language/blocks.hpp"
#include "rattleback/language/code.hpp"
#include "rattleback/language/header_text.hpp"
#include "rattleback/language/parts_of_time.hpp"
#include "rattleback/language/rolled.hpp"
#include "rattleback/language/scaled.hpp"

namespace rattleback {

/// What a member function takes.
struct Signature {
  std::string result, name;
  std::string arguments;       ///< letters of t, q, v, p and a; t is added where the function depends on it
  bool of_parameters = false;  ///< no template; scalars of the type T
  bool every_time = false;     ///< takes nothing from parts_of_time: steps do not call it
};

class FunctionPrinter : protected HeaderText {
 protected:
  /// Statements of a function that stay straight code: up to there loops are not faster, and compilers are done soon.
  static constexpr std::size_t most_of_straight_code = 150;

  explicit FunctionPrinter(const SystemFormulas& system)
      : system_(system), graph_(system), algebra_(graph_.algebra()), blocks_(find_blocks(graph_)) {
    for (const auto& parameter : system.parameters) names_.push_back("parameter_" + parameter.name);
    for (int i = 0; i < graph_.elements; ++i) names_.push_back(fmt::format("q[{}]", i));
    for (int i = 0; i < graph_.n; ++i) names_.push_back(fmt::format("v[{}]", i));
    names_.emplace_back("t");
    for (int i = 0; i < std::max(graph_.n, graph_.m); ++i) names_.push_back("");  // p or a, by function
    parts_ = parts_of_time(graph_);
  }

  /// The function of the time from which others take their parts; nothing where there are none.
  void print_parts_of_time() {
    if (parts_.empty()) return;
    line("  /// What the functions below take from the time alone (rattleback/mechanics/driven.hpp).");
    line("  template <class S>");
    line(fmt::format("  RB_HD Vector<S, {}> parts_of_time(const S& t) const {{", parts_.size()));
    body({fmt::format("Vector<S, {}>", parts_.size()), "parts_of_time", "t"}, parts_, 0, {});
    line("");
  }

  /// Writes a member function that returns the nodes: a scalar, a vector, or a matrix with rows of `columns` entries.
  void function(const Signature& signature, const std::vector<int>& nodes, int columns = 0) {
    if (const std::string fault = fault_of_numbers(algebra_, nodes); !fault.empty())
      input_error(system_.where,
                  fmt::format("{} of the system {}, which follows from its formulas, cannot be computed: {}",
                              signature.name, quote(system_.name), fault));
    const char third = signature.arguments.back();
    const int free = graph_.more(0);
    for (std::size_t i = 0; at(free) + i < names_.size(); ++i)
      names_[at(free) + i] = fmt::format("{}[{}]", third == 'a' || third == 'c' ? third : 'p', i);
    if (!signature.of_parameters) line("  template <class S>");
    std::vector<std::string> arguments;
    // A function of q and v may name the momenta of a Hamiltonian.
    const bool of_momenta =
        third == 'v' && std::ranges::any_of(nodes, [this](int node) { return graph_.depends_on_p(node); });
    const bool timed = (of_momenta && !time_of_hamiltonian().empty()) ||
                       std::ranges::any_of(nodes, [this](int node) { return graph_.depends_on_t(node); });
    const std::map<int, std::string> given = of_momenta || signature.every_time ? decltype(given)() : parts_in(nodes);
    if (timed || signature.arguments.front() == 't')
      arguments.push_back(given.empty() ? fmt::format("const S&{}", timed ? " t" : "")
                                        : fmt::format("const Instant<S, {}>& t", parts_.size()));
    for (const char letter : signature.arguments) {
      if (signature.of_parameters) break;
      if (letter == 't') continue;
      const int first = letter == 'q' ? graph_.q(0) : letter == 'v' ? graph_.v(0) : free;
      const int size = letter == 'q'   ? graph_.elements
                       : letter == 'a' ? graph_.m
                       : letter == 'c' ? static_cast<int>(blocks_.terms.size())
                                       : graph_.n;
      const bool used = of_momenta || std::ranges::any_of(
                                          nodes, [&](int node) { return algebra_.depends(node, first, first + size); });
      const std::string length = letter == 'q' && graph_.elements != graph_.n ? std::to_string(size)
                                 : letter == 'a'                              ? "m"
                                 : letter == 'c'                              ? "terms"
                                                                              : "n";
      arguments.push_back(fmt::format("const Vector<S, {}>&{}", length, used ? fmt::format(" {}", letter) : ""));
    }
    const std::string name =
        given.empty() ? std::string(signature.name) : fmt::format("RB_AT_INSTANT({})", signature.name);
    line(fmt::format("  RB_HD {} {}({}) const {{", signature.result, name, join(arguments)));
    if (of_momenta) line(fmt::format("    const Vector<S, n> p = momentum({}q, v);", time_of_hamiltonian()));
    std::string& time = names_[at(graph_.t())];
    if (!given.empty()) time = "t.time";
    body(signature, nodes, columns, given);
    time = "t";
    if (given.empty()) return;
    // the same of the time itself
    std::vector<std::string> passed{"instant_of(*this, t)"};
    arguments[0] = "const S& t";
    for (std::size_t i = 1; i < arguments.size(); ++i) {
      passed.push_back(fmt::format("x{}", i));
      arguments[i] = arguments[i].substr(0, arguments[i].find('&')) + "& " + passed.back();
    }
    line("  template <class S>");
    line(fmt::format("  RB_HD {} {}({}) const {{", signature.result, signature.name, join(arguments)));
    line(fmt::format("    return {}({});", name, join(passed)));
    line("  }");
  }
  /// Writes what a function does, down to its end.
  void body(const Signature& signature, const std::vector<int>& nodes, int columns,
            const std::map<int, std::string>& given) {
    with_and_without_overflow(nodes, "    ", [&](const std::vector<int>& written, const std::string& indent) {
      const Code code = CodeWriter(algebra_, names_, given)(written, signature.of_parameters);
      if (!signature.of_parameters && code.statements.size() > most_of_straight_code &&
          write_rolled(signature, written, columns, indent, code.statements.size(), given))
        return;
      for (const std::string& statement : code.statements) line(indent + statement);
      return_values(signature, nodes, code.values, columns, indent);
    });
    line("  }");
  }
  /// Writes long code as loops. Returns false, and writes nothing, where that is not much shorter than `straight` statements.
  bool write_rolled(const Signature& signature, const std::vector<int>& nodes, int columns, const std::string& indent,
                    std::size_t straight, const std::map<int, std::string>& given) {
    const bool scalar = columns == 0 && signature.result.size() == 1;
    Code code = CodeWriter(algebra_, names_, given, true)(nodes);
    if (scalar) code.statements.push_back(fmt::format("return {};", code.values.front()));
    for (std::size_t i = 0; !scalar && i < nodes.size(); ++i)
      if (!algebra_.is_zero(nodes[i]))
        code.statements.push_back(fmt::format("r{} = {};", entry(i, columns), code.values[i]));
    const std::vector<std::string> statements = rolled(code.statements);
    if (2 * statements.size() > straight) return false;
    if (!scalar) line(fmt::format("{}auto r = {}::zero();", indent, signature.result));
    for (const std::string& statement : statements) line(indent + statement);
    if (!scalar) line(indent + "return r;");
    return true;
  }
  /// The parts of the time in nodes, also as they are written without overflow.
  [[nodiscard]] std::map<int, std::string> parts_in(const std::vector<int>& nodes) {
    std::map<int, std::string> given;
    const std::vector<int> found = parts_of_time(graph_, nodes);
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (std::ranges::find(found, parts_[i]) == found.end()) continue;
      const std::string name = fmt::format("t.part[{}]", i);
      given.emplace(parts_[i], name);
      given.emplace(without_overflow(algebra_, parts_[i]), name);
    }
    return given;
  }
  /// Writes nodes of the type S, for secants as they are.
  template <class Write>
  void with_and_without_overflow(const std::vector<int>& nodes, const std::string& indent, Write&& write) {
    std::vector<int> written;
    for (const int node : nodes) written.push_back(without_overflow(algebra_, node));
    if (written == nodes) return write(nodes, indent);
    line(indent + "if constexpr (requires(S s) { s < s; }) {");
    write(written, indent + "  ");
    line(indent + "} else {  // secants (rattleback/real/secant.hpp)");
    write(nodes, indent + "  ");
    line(indent + "}");
  }
  void return_values(const Signature& signature, const std::vector<int>& nodes, const std::vector<std::string>& values,
                     int columns, const std::string& indent) {
    if (columns == 0 && signature.result.size() == 1) return line(fmt::format("{}return {};", indent, values.front()));
    const auto zeros = std::ranges::count_if(nodes, [&](int node) { return algebra_.is_zero(node); });
    if (zeros == static_cast<std::ptrdiff_t>(nodes.size()))
      return line(fmt::format("{}return {}::zero();", indent, signature.result));
    if (columns == 0) {
      std::size_t length = indent.size() + 10;
      for (const std::string& value : values) length += value.size() + 2;
      if (length < width && (zeros < 3 || 2 * zeros < static_cast<std::ptrdiff_t>(nodes.size())))
        return line(fmt::format("{}return {{{}}};", indent, join(values)));
    }
    line(fmt::format("{}auto r = {}::zero();", indent, signature.result));
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (algebra_.is_zero(nodes[i])) continue;
      line(fmt::format("{}r{} = {};", indent, entry(i, columns), values[i]));
    }
    line(indent + "return r;");
  }
  /// The indices of entry i of a vector, or of a matrix with rows of `columns` entries.
  static std::string entry(std::size_t i, int columns) {
    return columns == 0 ? fmt::format("[{}]", i) : fmt::format("[{}][{}]", i / at(columns), i % at(columns));
  }
  [[nodiscard]] std::string time_of_hamiltonian() { return graph_.depends_on_t(graph_.hamiltonian) ? "t, " : ""; }

  const SystemFormulas& system_;
  SystemGraph graph_;
  ExpressionAlgebra& algebra_;
  const BlockStructure blocks_;
  std::vector<std::string> names_;
  std::vector<int> parts_;  ///< nodes that depend on the time alone
};

}  // namespace rattleback
