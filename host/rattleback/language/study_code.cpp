#include "rattleback/language/study_code.hpp"

#include <map>
#include <set>

#include <fmt/format.h>

#include "rattleback/base/message.hpp"
#include "rattleback/language/code.hpp"
#include "rattleback/language/familiar_notation.hpp"
#include "rattleback/language/model.hpp"
#include "rattleback/language/parser.hpp"

namespace rattleback {
namespace {

/// The variables of the graph of the formulas, and what they are in C++.
class Variables {
 public:
  Variables(const FormulaNames& names, Graph& graph) : graph_(graph) {
    const SystemEntry& system = names.system;
    std::vector<std::string> rest{"pi"};
    const auto add_state = [&](const std::string& letter, const std::string& text, int size) {
      for (int i = 0; i < size; ++i) {
        const int node = add(fmt::format("{}[{}]", text, i), true);
        known_[fmt::format("{}{}", letter, i)] = known_[fmt::format("{}[{}]", letter, i)] = node;
      }
      if (size > 0) rest.push_back(letter + "[i]");
    };
    add_state("q", "x.q", system.elements);
    add_state("v", "velocity", system.n);
    add_state("p", "x.p", system.n);
    if (names.multiplier) add_state("lambda", "lambda", system.m);
    known_["t"] = add("time", true);
    rest.emplace_back("t");
    for (std::size_t i = 0; i < system.observables.size(); ++i) {
      const std::string name = system.observables[i].name;
      if (!is_variable_name(name)) continue;
      known_[name] = add(fmt::format("observables[{}]", i), true);
      rest.push_back(name);
    }
    if (system.driven) {
      known_["power"] = add("power", true);
      known_["work"] = add("work", true);
      known_["energy_balance"] = add("energy_balance", true);
      rest.insert(rest.end(), {"power", "work", "energy_balance"});
    }
    // Names of the system come last, so that they win.
    const auto add_name = [&](const std::string& name, int node) {
      known_[name] = node;
      list_.push_back(name);
    };
    for (std::size_t i = 0; i < system.coordinates.size(); ++i)
      add_name(system.coordinates[i], graph_.variable(static_cast<int>(i)));
    for (std::size_t i = 0; i < names.velocities.size(); ++i)
      add_name(names.velocities[i], graph_.variable(system.elements + static_cast<int>(i)));
    for (std::size_t i = 0; i < names.momenta.size(); ++i)
      add_name(names.momenta[i], graph_.variable(system.elements + system.n + static_cast<int>(i)));
    for (std::size_t i = 0; names.multiplier && i < names.multipliers.size(); ++i)
      if (!names.multipliers[i].empty()) add_name(names.multipliers[i], known_.at(fmt::format("lambda[{}]", i)));
    for (std::size_t i = 0; i < system.parameters.size(); ++i)
      add_name(system.parameters[i].name, add(fmt::format("parameter_{}", i), false));
    for (const StructureInfo& info : system.structure) add_name(info.name, graph_.constant(info.value));
    list_.insert(list_.end(), rest.begin(), rest.end());
  }

  /// Returns the node for a name; y[2] is also y2 or y_2.
  int operator()(const std::string& written) const {
    if (const auto found = known_.find(written); found != known_.end()) return found->second;
    for (const std::string& name : meanings_of(written))
      if (const auto found = known_.find(name); found != known_.end()) return found->second;
    std::vector<std::string> candidates;
    for (const auto& [name, node] : known_) candidates.push_back(name);
    for (const FunctionInfo& function : functions()) candidates.emplace_back(function.name);
    throw NameError(
        fmt::format("unknown name {} (known: {}){}", quote(written), join(list_), advice_on_name(written, candidates)));
  }

  /// Returns whether a node reads the state or the time.
  [[nodiscard]] bool reads_state(ExpressionAlgebra& algebra, int node) const {
    for (std::size_t i = 0; i < of_state_.size(); ++i)
      if (of_state_[i] && algebra.depends(node, static_cast<int>(i), static_cast<int>(i) + 1)) return true;
    return false;
  }
  /// Returns whether a node reads more than coordinates and parameters.
  [[nodiscard]] bool reads_motion(ExpressionAlgebra& algebra, int node) const {
    for (int i = 0; i < static_cast<int>(texts_.size()); ++i)
      if (of_state_[static_cast<std::size_t>(i)] && !texts_[static_cast<std::size_t>(i)].starts_with("x.q[") &&
          algebra.depends(node, i, i + 1))
        return true;
    return false;
  }
  [[nodiscard]] const std::vector<std::string>& texts() const { return texts_; }

  /// Returns the statements that fetch what the nodes read.
  [[nodiscard]] std::vector<std::string> fetches(ExpressionAlgebra& algebra, std::span<const int> nodes) const {
    std::set<std::string> read;
    for (int i = 0; i < static_cast<int>(texts_.size()); ++i)
      for (const int node : nodes)
        if (algebra.depends(node, i, i + 1)) read.insert(texts_[static_cast<std::size_t>(i)]);
    std::set<std::string> statements;
    for (const std::string& text : read) {
      if (text.starts_with("velocity[")) statements.insert("const auto velocity = x.velocity();");
      if (text.starts_with("lambda[")) statements.insert("const auto lambda = x.multiplier();");
      if (text.starts_with("observables[")) statements.insert("const auto observables = x.observables();");
      if (text == "power" || text == "work") statements.insert(fmt::format("const T {0} = x.{0}();", text));
      if (text == "energy_balance") statements.insert("const T energy_balance = x.observables()[0] - x.work();");
      if (text == "time") statements.insert("const T time = x.time();");
      if (text.starts_with("parameter_"))
        statements.insert(fmt::format("const T {} = x.parameter({});", text, text.substr(text.find('_') + 1)));
    }
    return {statements.begin(), statements.end()};
  }

 private:
  /// Returns the node of a new variable, whose C++ is `text`.
  int add(const std::string& text, bool of_state) {
    texts_.push_back(text);
    of_state_.push_back(of_state);
    return graph_.variable(static_cast<int>(texts_.size()) - 1);
  }

  Graph& graph_;
  std::map<std::string, int> known_;
  std::vector<std::string> list_;   ///< for messages
  std::vector<std::string> texts_;  ///< of each variable
  std::vector<bool> of_state_;
};

/// Formulas as nodes of a graph.
struct ParsedFormulas {
  Graph graph;
  ExpressionAlgebra algebra{graph, 0};
  Variables variables;
  std::vector<int> nodes;

  ParsedFormulas(std::span<const FormulaText> formulas, const FormulaNames& names) : variables(names, graph) {
    for (const FormulaText& formula : formulas) {
      if (const std::string fault = fault_of_expression(formula.text); !fault.empty())
        throw FormulaError(formula, 0, fault);
      try {
        const int node = parse_expression(formula.text, graph, variables);
        for (const int made : {node, algebra.simplified(node)})
          if (const std::string fault = fault_of_operations(algebra, made); !fault.empty())
            throw FormulaError(formula, 0, fault);
        nodes.push_back(algebra.simplified(node));
      } catch (const SyntaxError& error) {
        throw FormulaError(formula, error.column, error.what());
      }
    }
  }

  /// Returns the struct template `name` of the formulas.
  std::string code(const std::string& name, const std::string& constants) {
    const Code code = CodeWriter(algebra, variables.texts())(nodes);
    std::string text = fmt::format(
        "template <class T>\nstruct {} {{\n  using S = T;\n  static constexpr int count = {};\n{}"
        "  template <class Point>\n  RB_HD static Vector<T, count> evaluate(const Point& x) {{\n",
        name, nodes.size(), constants.empty() ? "" : fmt::format("  static constexpr {};\n", constants));
    for (const std::string& statement : variables.fetches(algebra, nodes)) text += "    " + statement + "\n";
    for (const std::string& statement : code.statements) text += "    " + statement + "\n";
    return text + fmt::format("    return {{{}}};\n  }}\n}};\n", join(code.values));
  }
};

}  // namespace

std::string study_code(const std::string& name, std::span<const FormulaText> formulas, const FormulaNames& names,
                       bool of_state, const std::string& constants) {
  ParsedFormulas parsed(formulas, names);
  for (std::size_t i = 0; i < formulas.size(); ++i)
    if (of_state && !parsed.variables.reads_state(parsed.algebra, parsed.nodes[i]))
      throw FormulaError(formulas[i], 0, "it depends neither on the state nor on the time");
  return parsed.code(name, constants);
}

std::string density_code(const FormulaText& formula, const FormulaNames& names) {
  ParsedFormulas parsed(std::span(&formula, 1), names);
  if (parsed.variables.reads_motion(parsed.algebra, parsed.nodes[0]))
    throw FormulaError(formula, 0,
                       "a density may depend on the coordinates and parameters alone, because steps are reversible "
                       "only then");
  return parsed.code("StudyDensity", "");
}

}  // namespace rattleback
