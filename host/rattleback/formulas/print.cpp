#include "rattleback/formulas/print.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "rattleback/algebra/code.hpp"
#include "rattleback/algebra/header_text.hpp"
#include "rattleback/algebra/scaled.hpp"
#include "rattleback/base/message.hpp"
#include "rattleback/formulas/blocks.hpp"

namespace rattleback {
namespace {

std::string struct_name(const SystemFormulas& system) {
  std::string result;
  bool upper = true;
  for (const char c : system.name) {
    if (c == '-' || c == '_') {
      upper = true;
      continue;
    }
    if (result.empty() && std::isdigit(static_cast<unsigned char>(c)) != 0) result = "N";
    result += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = false;
  }
  return result + "System";
}

/// What a member function takes.
struct Signature {
  std::string result, name;
  std::string arguments;       ///< letters of t, q, v, p and a; t is added where the function depends on it
  bool of_parameters = false;  ///< no template; scalars of the type T
};

class Printer : HeaderText {
 public:
  explicit Printer(const SystemFormulas& system)
      : system_(system), graph_(system), algebra_(graph_.algebra()), blocks_(find_blocks(graph_)) {
    for (const auto& parameter : system.parameters) names_.push_back("parameter_" + parameter.name);
    for (int i = 0; i < graph_.elements; ++i) names_.push_back(fmt::format("q[{}]", i));
    for (int i = 0; i < graph_.n; ++i) names_.push_back(fmt::format("v[{}]", i));
    names_.emplace_back("t");
    for (int i = 0; i < std::max(graph_.n, graph_.m); ++i) names_.push_back("");  // p or a, by function
  }

  std::string operator()() {
    heading();
    line("");
    graph_.separable ? print_separable() : print_lagrangian();
    if (!graph_.force.empty()) print_force();
    if (graph_.m > 0) print_constraint();
    print_observables();
    line("};");
    line("");
    line("}  // namespace formulas");
    line("RB_NAMESPACE_END");
    return finished();
  }

 private:
  void heading() {
    const int n = graph_.n, m = graph_.m;
    line("#pragma once");
    line("// Written by rattleback from the formulas of a study.");
    line("");
    if (system_.on_group()) line(fmt::format("#include \"rattleback/lie/{}.hpp\"", header_of(system_.group)));
    line("#include \"rattleback/mechanics/system.hpp\"");
    line("");
    line("RB_NAMESPACE_BEGIN");
    line("namespace formulas {");
    line("");
    comment("q", system_.coordinates);
    comment("v", system_.velocities);
    line("template <class T>");
    line(fmt::format("struct {} {{", struct_name(system_)));
    line("  using scalar = T;");
    if (system_.on_group()) line(fmt::format("  using Group = {};", type_of(system_.group)));
    if (!system_.parameters.empty()) {
      std::vector<std::string> members;
      for (const auto& parameter : system_.parameters) members.push_back("parameter_" + parameter.name);
      line(fmt::format("  T {};", join(members)));
    }
    line("");
    line(fmt::format("  static constexpr int n = {}, m = {}{};", n, m,
                     system_.mixed() ? fmt::format(", positions = {}", graph_.positions()) : ""));
    if (graph_.driven()) line("  static constexpr bool conserves_energy = false;");
    if (!graph_.force.empty() &&
        std::ranges::none_of(graph_.force, [&](int entry) { return graph_.depends_on_v(entry); }))
      line("  static constexpr bool force_of_velocity = false;");
    line("");
    text("name", system_.name);
    text("summary", system_.summary);
    text("configuration", system_.configuration());
    std::vector<std::string> quoted;
    for (const std::string& name : system_.coordinates) quoted.push_back(cpp_string(name));
    line(fmt::format("  static constexpr std::array<const char*, {}> coordinates{{{}}};", graph_.elements,
                     join(quoted)));
    text("source", system_.source);
    if (system_.time_scale != 1.0)
      line(fmt::format("  static constexpr double time_scale = {};", cpp_number(system_.time_scale)));
    numbers("default_q", system_.q);
    numbers("default_v", system_.v);
    std::vector<std::string> entries;
    for (const auto& parameter : system_.parameters)
      entries.push_back(fmt::format("{{{}, {}, {}, {}}}", cpp_string(parameter.name), cpp_number(parameter.value),
                                    cpp_string(parameter.unit), cpp_string(parameter.text)));
    list("ParameterInfo", "parameters", entries);
    entries.clear();
    for (const auto& dimension : system_.dimensions)
      entries.push_back(fmt::format("{{{}, {}}}", cpp_string(dimension.name), dimension.value));
    list("StructureInfo", "structure", entries);
    entries.clear();
    for (const auto& observable : system_.observables)
      entries.push_back(fmt::format("{{{}, {}, {}}}", cpp_string(observable.name), observable.conserved,
                                    cpp_string(observable.text)));
    list("ObservableInfo", "invariants", entries);
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
      if (third == 'p' || third == 'a' || third == 'c') names_[at(free) + i] = fmt::format("{}[{}]", third, i);
    if (!signature.of_parameters) line("  template <class S>");
    std::vector<std::string> arguments;
    const bool timed = std::ranges::any_of(nodes, [this](int node) { return graph_.depends_on_t(node); });
    if (timed || signature.arguments.front() == 't') arguments.push_back(fmt::format("const S&{}", timed ? " t" : ""));
    for (const char letter : signature.arguments) {
      if (signature.of_parameters) break;
      if (letter == 't') continue;
      const int first = letter == 'q' ? graph_.q(0) : letter == 'v' ? graph_.v(0) : free;
      const int size = letter == 'q'   ? graph_.elements
                       : letter == 'a' ? graph_.m
                       : letter == 'c' ? static_cast<int>(blocks_.terms.size())
                                       : graph_.n;
      const bool used =
          std::ranges::any_of(nodes, [&](int node) { return algebra_.depends(node, first, first + size); });
      const std::string length = letter == 'q' && graph_.elements != graph_.n ? std::to_string(size)
                                 : letter == 'a'                              ? "m"
                                 : letter == 'c'                              ? "terms"
                                                                              : "n";
      arguments.push_back(fmt::format("const Vector<S, {}>&{}", length, used ? fmt::format(" {}", letter) : ""));
    }
    line(fmt::format("  RB_HD {} {}({}) const {{", signature.result, signature.name, join(arguments)));
    with_and_without_overflow(nodes, "    ", [&](const std::vector<int>& written, const std::string& indent) {
      const Code code = CodeWriter(algebra_, names_)(written, signature.of_parameters);
      for (const std::string& statement : code.statements) line(indent + statement);
      return_values(signature, nodes, code.values, columns, indent);
    });
    line("  }");
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
      const std::string entry =
          columns == 0 ? fmt::format("[{}]", i) : fmt::format("[{}][{}]", i / at(columns), i % at(columns));
      line(fmt::format("{}r{} = {};", indent, entry, values[i]));
    }
    line(indent + "return r;");
  }

  void print_separable() {
    print_potential_and_mass();
    // Energy-momentum methods take the structure of blocks or the velocity.
    if (!system_.on_group() && graph_.holonomic() && is_diagonal() && blocks_.size == 0) print_velocity({});
  }
  void print_potential_and_mass() {
    const int n = graph_.n;
    function({"S", "potential", "q"}, {graph_.potential});
    std::vector<int> force;
    for (int k = 0; k < n; ++k) force.push_back(algebra_.negative(graph_.by_q(graph_.potential, k)));
    function({"Vector<S, n>", "force", "q"}, force);
    if (is_diagonal()) {
      const std::vector<int> diagonal = diagonal_of_mass();
      if (!std::ranges::all_of(diagonal, [&](int entry) { return algebra_.is_one(entry); }))
        function({"Vector<T, n>", "mass_diagonal", "q", true}, diagonal);
    } else {
      function({"Matrix<T, n, n>", "mass_matrix", "q", true}, graph_.mass, n);
    }
  }

  void print_lagrangian() {
    const int n = graph_.n;
    if (!graph_.quadratic) return print_regular();
    const std::vector<int> diagonal = diagonal_of_mass();
    if (!is_diagonal())
      function({"Matrix<S, n, n>", "mass_matrix", "q"}, graph_.mass, n);
    else if (std::ranges::all_of(diagonal, [&](int entry) { return entry == diagonal.front(); }))
      function({"S", "mass_matrix", "q"}, {diagonal.front()});
    else
      function({"Vector<S, n>", "mass_matrix", "q"}, diagonal);
    std::vector<int> force, momentum_at_rest;
    for (int i = 0; i < n; ++i) {
      const int momentum = algebra_.derivative(graph_.lagrangian, graph_.v(i));
      momentum_at_rest.push_back(graph_.at_rest(momentum));
      int entry = graph_.by_q(graph_.lagrangian, i);
      for (int j = 0; j < n; ++j)
        entry = algebra_.difference(entry, algebra_.product(graph_.by_q(momentum, j), velocity(j)));
      force.push_back(entry);
    }
    if (std::ranges::any_of(momentum_at_rest, [&](int entry) { return !algebra_.is_zero(entry); }))
      function({"Vector<S, n>", "vector_potential", "q"}, momentum_at_rest);
    const bool printed = !system_.on_group() && print_separable_form(momentum_at_rest);
    if (!printed && !algebra_.is_zero(graph_.potential)) function({"S", "potential", "q"}, {graph_.potential});
    if (system_.on_group()) return;  // L follows from its parts
    function({"S", "lagrangian", "qv"}, {graph_.lagrangian});
    function({"Vector<S, n>", "generalized_force", "qv"}, force);
    print_velocity(momentum_at_rest);
    print_parts(momentum_at_rest);
  }
  void print_regular() {
    function({"S", "lagrangian", "qv"}, {graph_.lagrangian});
    line("  static constexpr bool quadratic = false;  // in the velocities");
    if (system_.on_group()) return;
    const std::vector<int> active = print_active(graph_.coordinates_of({&graph_.lagrangian, 1}));
    // L_v, L_q, the upper triangle of L_vv, L_vq
    const int n = graph_.n;
    std::vector<int> momentum, entries;
    for (int i = 0; i < n; ++i) momentum.push_back(algebra_.derivative(graph_.lagrangian, graph_.v(i)));
    entries = momentum;
    for (const int k : active) entries.push_back(graph_.by_q(graph_.lagrangian, k));
    for (int i = 0; i < n; ++i)
      for (int j = i; j < n; ++j) entries.push_back(algebra_.derivative(momentum[at(i)], graph_.v(j)));
    for (const int k : active)
      for (const int p : momentum) entries.push_back(graph_.by_q(p, k));
    function({fmt::format("Vector<S, {}>", entries.size()), "lagrangian_derivatives", "qv"}, entries);
  }

  /// The coordinates in `bits`, with those of a velocity constraint; returns them.
  std::vector<int> print_active(std::uint64_t bits) {
    if (!graph_.holonomic() || system_.mixed()) bits |= graph_.coordinates_of(graph_.constraints);
    std::vector<int> active;
    std::vector<std::string> words;
    for (int k = 0; k < graph_.n; ++k) {
      if ((bits >> k & 1) == 0) continue;
      active.push_back(k);
      words.push_back(std::to_string(k));
    }
    line(fmt::format("  static constexpr std::array<int, {}> active{{{}}};", active.size(), join(words)));
    return active;
  }

  /// What mechanics/quadratic.hpp takes besides M and U: A, the active coordinates, and the places of zeros.
  void print_parts(const std::vector<int>& vector_potential) {
    const auto bits = [this](std::span<const int> nodes) { return graph_.coordinates_of(nodes); };
    std::vector<std::string> entries, varies, vector_varies;
    line("\n  // The parts of L (mechanics/system.hpp).");
    print_active(bits(graph_.mass) | bits(vector_potential) | bits({&graph_.potential, 1}));
    for (const int& entry : graph_.mass) {
      entries.push_back(algebra_.is_zero(entry) ? "0" : "1");
      varies.push_back(cpp_number(bits({&entry, 1})));
    }
    for (const int& entry : vector_potential) vector_varies.push_back(cpp_number(bits({&entry, 1})));
    print_table("bool mass_entry(int row, int column)", "n * n", entries, "table[row * n + column]");
    print_table("bool mass_varies(int row, int column, int k)", "n * n", varies, "table[row * n + column] >> k & 1");
    print_table("bool vector_potential_varies(int i, int k)", "n", vector_varies, "table[i] >> k & 1");
    print_table("bool potential_varies(int k)", "1", {cpp_number(bits({&graph_.potential, 1}))}, "table[0] >> k & 1");
  }
  /// Where M is constant, and the terms linear in v vanish with one parameter, L is separable without this parameter.
  /// Returns whether L has this form.
  bool print_separable_form(const std::vector<int>& momentum_at_rest) {
    if (std::ranges::any_of(graph_.mass, [&](int entry) { return graph_.depends_on_q(entry); })) return false;
    for (int i = 0; i < static_cast<int>(system_.parameters.size()); ++i) {
      const auto vanishes = [&](int node) { return algebra_.is_zero(graph_.without(i, node)); };
      if (!std::ranges::all_of(momentum_at_rest, vanishes)) continue;
      line("");
      line("  /// L is separable where this parameter is 0.");
      line(fmt::format("  static constexpr std::array<const char*, 1> separable_without{{{}}};",
                       cpp_string(system_.parameters[at(i)].name)));
      print_potential_and_mass();
      return true;
    }
    return false;
  }

  /// The inverse of p = M v + b. Larger full matrices are left to Newton's method of mechanics/lagrangian.hpp.
  void print_velocity(const std::vector<int>& momentum_at_rest) {
    const int n = graph_.n;
    std::vector<int> p, v;
    for (int i = 0; i < n; ++i) {
      p.push_back(algebra_.graph().variable(graph_.more(i)));
      if (!momentum_at_rest.empty()) p.back() = algebra_.difference(p.back(), momentum_at_rest[at(i)]);
    }
    const auto mass = [&](int i, int j) { return graph_.mass[at(i * n + j)]; };
    if (is_diagonal()) {
      for (int i = 0; i < n; ++i) v.push_back(algebra_.quotient(p[at(i)], mass(i, i)));
    } else if (n == 2) {
      const int determinant =
          algebra_.difference(algebra_.product(mass(0, 0), mass(1, 1)), algebra_.product(mass(0, 1), mass(1, 0)));
      for (int i = 0; i < 2; ++i)
        v.push_back(algebra_.quotient(algebra_.difference(algebra_.product(mass(1 - i, 1 - i), p[at(i)]),
                                                          algebra_.product(mass(0, 1), p[at(1 - i)])),
                                      determinant));
    } else {
      return;
    }
    function({"Vector<S, n>", "velocity", "qp"}, v);
  }

  /// The applied force, a function of three arguments; `force` of q alone is -grad U.
  void print_force() { function({"Vector<S, n>", "force", "tqv"}, graph_.force); }

  void print_velocity_constraint(const std::string& rows) {
    const auto first = graph_.constraints.begin() + graph_.positions();
    if (!graph_.affine)
      return function({fmt::format("Vector<S, {}>", rows), "constraint", "qv"}, {first, graph_.constraints.end()});
    function({fmt::format("Matrix<S, {}, n>", rows), "constraint_matrix", "q"},
             {graph_.forms.begin() + graph_.positions() * graph_.n, graph_.forms.end()}, graph_.n);
    if (std::ranges::any_of(graph_.offset, [&](int node) { return !algebra_.is_zero(node); }))
      function({fmt::format("Vector<S, {}>", rows), "constraint_offset", "q"}, graph_.offset);
  }
  void print_constraint() {
    const int n = graph_.n, m = graph_.m;
    if (system_.mixed()) {
      const auto positions = graph_.constraints.begin() + graph_.positions();
      function({"Vector<S, positions>", "position_constraint", "q"}, {graph_.constraints.begin(), positions});
      function({"Matrix<S, positions, n>", "position_jacobian", "q"},
               {graph_.forms.begin(), graph_.forms.begin() + graph_.positions() * n}, n);
      return print_velocity_constraint("m - positions");
    }
    if (!graph_.holonomic()) {
      print_velocity_constraint("m");
      if (graph_.affine) print_entries();
      return;
    }
    function({"Vector<S, m>", "position_constraint", "q"}, graph_.constraints);
    function({"Matrix<S, m, n>", "position_jacobian", "q"}, graph_.forms, n);
    print_entries();
    if (system_.on_group()) return;
    print_opposites();
    if (std::ranges::any_of(graph_.constraints, [this](int node) { return graph_.depends_on_t(node); })) return;
    std::vector<int> curvature(at(m), algebra_.number(0.0));
    std::vector<std::string> curved(at(n * n), "0");
    for (int entry = 0; entry < m * n * n; ++entry) {
      const int k = entry / (n * n), i = entry / n % n, j = entry % n;
      const int second = graph_.by_q(graph_.forms[at(k * n + i)], j);
      if (!algebra_.is_zero(second)) curved[at(i * n + j)] = "1";
      curvature[at(k)] =
          algebra_.sum(curvature[at(k)], algebra_.product(second, algebra_.product(velocity(i), velocity(j))));
    }
    function({"Vector<S, m>", "position_curvature", "qv"}, curvature);
    print_table("bool constraint_hessian_entry(int row, int column)", "n * n", curved, "table[row * n + column]");
    print_blocks();
  }
  /// The places in `forms` that are not 0, as a table.
  void print_entries() {
    if (std::ranges::none_of(graph_.forms, [&](int node) { return algebra_.is_zero(node); })) return;
    std::vector<std::string> table;
    for (const int node : graph_.forms) table.push_back(algebra_.is_zero(node) ? "0" : "1");
    print_table("bool constraint_entry(int row, int column)", "m * n", table, "table[row * n + column]");
  }
  void print_opposites() {
    std::vector<std::string> table;
    bool any = false;
    for (int k = 0; k < graph_.m; ++k)
      for (int i = 0; i < graph_.n; ++i) {
        const int entry = graph_.forms[at(k * graph_.n + i)], negated = algebra_.negative(entry);
        int other = i;
        for (int j = 0; j < graph_.n && !algebra_.is_zero(entry); ++j)
          if (graph_.forms[at(k * graph_.n + j)] == negated && (other == i || j < other)) other = j;
        table.push_back(std::to_string(other));
        any = any || other != i;
      }
    if (any) print_table("int constraint_opposite(int row, int column)", "m * n", table, "table[row * n + column]");
  }

  void print_blocks() {
    const BlockStructure& blocks = blocks_;
    if (blocks.size == 0) return;
    if (std::ranges::all_of(diagonal_of_mass(), [&](int entry) { return algebra_.is_one(entry); }))
      function({"Vector<T, n>", "mass_diagonal", "q", true}, diagonal_of_mass());
    const int terms = static_cast<int>(blocks.terms.size());
    line("\n  // The structure for condensed methods (system.hpp).");
    line(fmt::format("  static constexpr int block = {}, terms = {};", blocks.size, terms));
    print_hessian("constraint_hessian", "a", blocks.constraint_hessian);
    if (terms == 0) return;
    print_terms(blocks.terms);
    function({"Vector<S, terms>", "potential_invariants", "q"}, blocks.invariants);
    std::vector<int> jacobian;
    for (const int invariant : blocks.invariants)
      for (int i = 0; i < graph_.n; ++i) jacobian.push_back(graph_.by_q(invariant, i));
    function({"Matrix<S, terms, n>", "potential_invariants_jacobian", "q"}, jacobian, graph_.n);
    print_hessian("potential_invariants_hessian", "c", blocks.invariant_hessian);
  }
  /// The sum of matrices with the factors a[0], a[1], ..
  void print_hessian(std::string_view name, std::string_view letter, const std::vector<std::vector<int>>& matrices) {
    const int groups = graph_.n / blocks_.size;
    std::vector<int> total;
    for (std::size_t entry = 0; entry < at(groups * groups); ++entry) {
      total.push_back(algebra_.number(0.0));
      for (std::size_t k = 0; k < matrices.size(); ++k)
        total.back() = algebra_.sum(
            total.back(),
            algebra_.product(matrices[k][entry], algebra_.graph().variable(graph_.more(static_cast<int>(k)))));
    }
    function({fmt::format("Matrix<S, {0}, {0}>", groups), std::string(name), std::string(letter)}, total, groups);
  }
  void print_terms(const std::vector<int>& terms) {
    names_[at(graph_.more(0))] = "pi";
    line("  template <int term, class S>");
    line("  RB_HD S potential_term(const S& pi) const {");
    for (std::size_t i = 0; i < terms.size(); ++i) {
      const bool last = i + 1 == terms.size();
      if (terms.size() > 1)
        line(fmt::format("    {}{} {{", i > 0 ? "} else" : "",
                         last ? "" : fmt::format("{}if constexpr (term == {})", i > 0 ? " " : "", i)));
      const std::string indent(terms.size() > 1 ? 6 : 4, ' ');
      with_and_without_overflow({terms[i]}, indent, [&](const std::vector<int>& term, const std::string& inner) {
        const Code code = CodeWriter(algebra_, names_)(term);
        for (const std::string& statement : code.statements) line(inner + statement);
        line(fmt::format("{}return {};", inner, code.values.front()));
      });
    }
    if (terms.size() > 1) line("    }");
    line("  }");
  }

  void print_observables() {
    if (graph_.observables.empty()) return;
    function({fmt::format("Vector<S, {}>", graph_.observables.size()), "evaluate_invariants", "qv"},
             graph_.observables);
  }

  [[nodiscard]] int velocity(int i) { return algebra_.graph().variable(graph_.v(i)); }
  [[nodiscard]] bool is_diagonal() const { return is_diagonal_mass(graph_); }
  [[nodiscard]] std::vector<int> diagonal_of_mass() const {
    std::vector<int> diagonal;
    for (int i = 0; i < graph_.n; ++i) diagonal.push_back(graph_.mass[at(i * graph_.n + i)]);
    return diagonal;
  }

  const SystemFormulas& system_;
  SystemGraph graph_;
  ExpressionAlgebra& algebra_;
  const BlockStructure blocks_;
  std::vector<std::string> names_;
};

}  // namespace

std::string system_header(const SystemFormulas& system) { return Printer(system)(); }

std::string system_type(const SystemFormulas& system) { return fmt::format("formulas::{}<T>", struct_name(system)); }

std::string system_kind(const SystemFormulas& system) {
  return system.mixed()                         ? "mixed"
         : !system.constraints.empty()          ? "holonomic"
         : !system.velocity_constraints.empty() ? "velocity"
                                                : "none";
}

}  // namespace rattleback
