#include "rattleback/expression/surface.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>

#include "rattleback/base/message.hpp"
#include "rattleback/expression/parser.hpp"

namespace rattleback {
namespace {

/// Returns the operation of the stack machine (loop/surface.hpp) for a node; empty when the machine has no such
/// operation.
std::optional<Operation> operation_of(Op op) {
  switch (op) {
    case Op::constant:
      return Operation::constant;
    case Op::add:
      return Operation::add;
    case Op::subtract:
      return Operation::subtract;
    case Op::multiply:
      return Operation::multiply;
    case Op::divide:
      return Operation::divide;
    case Op::negate:
      return Operation::negate;
    case Op::whole_power:
      return Operation::power;
    case Op::sin:
      return Operation::sine;
    case Op::cos:
      return Operation::cosine;
    case Op::exp:
      return Operation::exponential;
    case Op::sqrt:
      return Operation::root;
    case Op::abs:
      return Operation::magnitude;
    default:
      return std::nullopt;
  }
}

/// The meanings of the names in a surface. Each name is one variable of the graph.
class Names {
 public:
  explicit Names(const SystemEntry& system) {
    const auto add_state = [&](const char* letter, Operation operation, int size) {
      for (int i = 0; i < size; ++i) {
        add(fmt::format("{}[{}]", letter, i), {operation, i, 0.0});
        add(fmt::format("{}{}", letter, i), {operation, i, 0.0});
      }
    };
    add_state("q", Operation::q, system.elements);
    add_state("v", Operation::v, system.n);
    add_state("p", Operation::p, system.n);
    for (int i = 0; i < static_cast<int>(system.coordinates.size()); ++i)
      add(system.coordinates[static_cast<std::size_t>(i)], {Operation::q, i, 0.0});
    for (int i = 0; i < static_cast<int>(system.parameters.size()); ++i)
      add(system.parameters[static_cast<std::size_t>(i)].name, {Operation::parameter, i, 0.0});
    for (const StructureInfo& info : system.structure) add(info.name, {Operation::constant, 0, info.value});
  }

  [[nodiscard]] const int* find(const std::string& name) const {
    const auto found = index_.find(name);
    return found == index_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] const Instruction& operator[](int index) const { return meaning_[static_cast<std::size_t>(index)]; }
  /// Returns the names to list: q[0] without the short form q0.
  [[nodiscard]] std::vector<std::string> listed() const {
    std::vector<std::string> names{"pi"};
    for (const auto& [name, index] : index_)
      if (name.size() < 2 || std::isdigit(static_cast<unsigned char>(name[1])) == 0 ||
          std::string_view("qvp").find(name[0]) == std::string_view::npos)
        names.push_back(name);
    std::ranges::sort(names);
    return names;
  }

 private:
  void add(const std::string& name, Instruction meaning) {
    index_[name] = static_cast<int>(meaning_.size());
    meaning_.push_back(meaning);
  }

  std::map<std::string, int> index_;
  std::vector<Instruction> meaning_;
};

/// Writes the graph of one surface as a program of the stack machine.
class Compiler {
 public:
  Compiler(const Names& names, const SurfaceText& section, Surfaces& surfaces)
      : names_(names), section_(section), surfaces_(surfaces) {
    size_ = surfaces.count == 0 ? 0 : surfaces.end[surfaces.count - 1];
  }

  void operator()() {
    const std::string& text = section_.surface;
    if (const std::string fault = fault_of_expression(text); !fault.empty()) refuse(fault);
    const auto resolve = [&](const std::string& name) {
      if (const int* index = names_.find(name)) return graph_.variable(*index);
      const std::vector<std::string> known = names_.listed();
      refuse(fmt::format("unknown name {} (known: {}){}", quote(name), join(known), did_you_mean(name, known)));
    };
    int root = 0;
    try {
      root = parse_expression(text, graph_, resolve);
    } catch (const SyntaxError& error) {
      fail(fmt::format("is not an expression (column {}: {})", error.column, error.what()));
    }
    emit(root);
    if (!uses_state_) refuse("it does not depend on the state");
    surfaces_.end[surfaces_.count] = size_;
    surfaces_.direction[surfaces_.count] = section_.direction;
    ++surfaces_.count;
  }

 private:
  [[noreturn]] void fail(std::string_view why) const {
    input_error(section_.where,
                fmt::format("surface {} of section {} {}", quote(section_.surface), quote(section_.name), why));
  }
  [[noreturn]] void refuse(std::string_view why) const { fail(fmt::format("cannot be used: {}", why)); }

  /// Emits the operands from left to right, then the operation.
  void emit(int root) {
    const Node& node = graph_[root];
    if (node.op == Op::variable) return put(names_[node.index]);
    if (node.op == Op::power) refuse("exponents are whole numbers from 1 to 16");
    const auto operation = operation_of(node.op);
    if (!operation)
      refuse(
          fmt::format("{} is not for surfaces, which are evaluated after every step; they take + - * / ^, sin, cos, "
                      "exp, sqrt and abs",
                      name_of(node.op)));
    for (int i = 0; i < arity(node.op); ++i) emit(node.operand[static_cast<std::size_t>(i)]);
    put({*operation, node.index, node.number});
    if (arity(node.op) == 2) --depth_;
  }
  void put(const Instruction& instruction) {
    if (size_ == max_instructions)
      refuse(fmt::format("all sections together take more than {} operations", max_instructions));
    const Operation operation = instruction.operation;
    if (operation <= Operation::parameter && ++depth_ > surface_stack) refuse("it is nested too deeply");
    uses_state_ = uses_state_ || operation == Operation::q || operation == Operation::v || operation == Operation::p;
    surfaces_.code[size_++] = instruction;
  }
  static std::string name_of(Op op) {
    for (const FunctionInfo& function : functions())
      if (function.op == op) return std::string(function.name);
    return "a comparison";
  }

  const Names& names_;
  const SurfaceText& section_;
  Surfaces& surfaces_;
  Graph graph_;
  int size_ = 0, depth_ = 0;
  bool uses_state_ = false;
};

}  // namespace

Surfaces compile_surfaces(std::span<const SurfaceText> sections, const SystemEntry& system) {
  Surfaces surfaces{};
  if (sections.size() > max_surfaces)
    input_error(sections[max_surfaces].where,
                fmt::format("{} sections are too many; a study takes {}", sections.size(), max_surfaces));
  const Names names(system);
  for (const SurfaceText& section : sections) Compiler(names, section, surfaces)();
  return surfaces;
}

}  // namespace rattleback
