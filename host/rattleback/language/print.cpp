#include "rattleback/language/print.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "rattleback/base/message.hpp"
#include "rattleback/language/function_printer.hpp"

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

class Printer : FunctionPrinter {
 public:
  explicit Printer(const SystemFormulas& system) : FunctionPrinter(system) {}

  PrintedSystem operator()() {
    find_form();
    heading();
    line("");
    print_parts_of_time();
    if (graph_.hamiltonian >= 0) {
      print_hamiltonian();
    } else {
      graph_.separable ? print_separable() : print_lagrangian();
    }
    if (!graph_.force.empty()) print_force();
    if (graph_.m > 0) print_constraint();
    print_observables();
    line("};");
    line("");
    line("}  // namespace formulas");
    line("RB_NAMESPACE_END");
    printed_.header = finished();
    return std::move(printed_);
  }

 private:
  /// Sets the form, but for what follows from the functions that are printed.
  void find_form() {
    const auto in_time = [this](int node) { return graph_.depends_on_t(node); };
    SystemForm& form = printed_.form;
    form.constraint = system_.mixed()      ? ConstraintKind::mixed
                      : graph_.holonomic() ? ConstraintKind::holonomic
                      : graph_.m > 0       ? ConstraintKind::velocity
                                           : ConstraintKind::none;
    form.on_group = system_.on_group();
    form.driven = graph_.driven() || std::ranges::any_of(graph_.observables, in_time);
    form.of_momentum = graph_.hamiltonian >= 0;
    form.hamiltonian_alone = form.of_momentum && graph_.degenerate;
    form.separable = form.separable_form = !form.of_momentum && graph_.separable;
    form.affine = graph_.m == 0 || (form.constraint == ConstraintKind::velocity && graph_.affine);
    form.offset = !system_.velocity_constraints.empty() && graph_.affine &&
                  std::ranges::any_of(graph_.offset, [this](int node) { return !algebra_.is_zero(node); });
    form.explicit_velocity = !form.on_group && (form.separable || (form.of_momentum && !graph_.degenerate));
    form.conserves_energy = !form.driven && (graph_.m == 0 || form.constraint == ConstraintKind::holonomic ||
                                             (form.affine && !form.offset));
    printed_.without_quotient = graph_.without_difference_quotient();
    printed_.force_of_velocity =
        std::ranges::any_of(graph_.force, [this](int entry) { return graph_.depends_on_v(entry); });
  }
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
    if (!system_.momenta.empty()) comment("p", system_.momenta);
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
    if (!graph_.force.empty() && !printed_.force_of_velocity)
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
    if (graph_.hamiltonian >= 0 && !system_.p.empty()) numbers("default_p", system_.p);
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
      print_mass_entries();
    }
  }

  void print_mass_entries() {
    std::vector<std::string> entries;
    for (const int entry : graph_.mass) entries.emplace_back(algebra_.is_zero(entry) ? "0" : "1");
    print_table("bool mass_entry(int row, int column)", "n * n", entries, "table[row * n + column]");
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
    print_motion(print_parts(momentum_at_rest));
  }
  /// The derivatives of L that steps take where M varies with many coordinates. For few they are shorter as those of M.
  void print_motion(const std::vector<int>& active) {
    constexpr std::size_t many = 5;
    if (active.size() < many || is_diagonal() ||
        std::ranges::none_of(graph_.mass, [this](int entry) { return graph_.depends_on_q(entry); }))
      return;
    std::vector<int> momentum, first, coupling;
    for (int i = 0; i < graph_.n; ++i) momentum.push_back(algebra_.derivative(graph_.lagrangian, graph_.v(i)));
    first = momentum;
    for (const int k : active) {
      first.push_back(graph_.by_q(graph_.lagrangian, k));
      for (const int p : momentum) coupling.push_back(graph_.by_q(p, k));
    }
    function({fmt::format("Vector<S, {}>", first.size()), "momentum_and_force", "qv"}, first);
    function({fmt::format("Matrix<S, {}, n>", active.size()), "momentum_by_coordinates", "qv"}, coupling, graph_.n);
  }
  /// A system that stays one of its Hamiltonian. A regular one gives its Lagrangian by a solve for the momenta.
  void print_hamiltonian() {
    function({"S", "hamiltonian", "qp"}, {graph_.hamiltonian});
    if (graph_.degenerate) return;
    const int n = graph_.n;
    const std::string time = time_of_hamiltonian(), takes = time.empty() ? "" : "const S& t, ",
                      state = takes + "const Vector<S, {}>& q, const Vector<S, n>& v";
    const std::string arguments =
        fmt::format(fmt::runtime(state), system_.on_group() ? std::to_string(graph_.elements) : "n");
    line("  static constexpr bool by_hamiltonian = true, quadratic = false;");
    of_hamiltonian({"Vector<S, n>", "velocity", "qp"}, graph_.velocity);
    of_hamiltonian({"Matrix<S, n, n>", "inverse_mass", "qp"}, graph_.mass, n);
    line("  template <class S>");
    line(fmt::format("  RB_HD Vector<S, n> momentum({}) const {{", arguments));
    line(fmt::format("    return detail::momentum_by_hamiltonian(*this, v, {}q);", time));
    line("  }");
    line("  template <class S>");
    line(fmt::format("  RB_HD S lagrangian({}) const {{", arguments));
    line(fmt::format("    const Vector<S, n> p = momentum({}q, v);", time));
    line(fmt::format("    return dot(v, p) - hamiltonian({}q, p);", time));
    line("  }");
    if (system_.on_group()) return;
    const std::vector<int> active = print_active(graph_.coordinates_of({&graph_.hamiltonian, 1}));
    std::vector<int> entries;
    for (const int k : active) entries.push_back(graph_.by_q(graph_.hamiltonian, k));
    for (int i = 0; i < n; ++i)
      for (int j = i; j < n; ++j) entries.push_back(graph_.mass[at(i * n + j)]);
    for (const int k : active)
      for (const int rate : graph_.velocity) entries.push_back(graph_.by_q(rate, k));
    of_hamiltonian({fmt::format("Vector<S, {}>", entries.size()), "hamiltonian_derivatives", "qp"}, entries);
    line("  template <class S>");
    line(fmt::format("  RB_HD Vector<S, {}> lagrangian_derivatives({}) const {{",
                     static_cast<std::size_t>(n) + entries.size(), arguments));
    line(fmt::format("    const Vector<S, n> p = momentum({}q, v);", time));
    line(fmt::format("    return detail::derivatives_by_hamiltonian<{}>(p, hamiltonian_derivatives({}q, p));",
                     active.size(), time));
    line("  }");
  }
  /// Writes a function that takes the time where the Hamiltonian does, so that others can call it.
  void of_hamiltonian(Signature signature, const std::vector<int>& nodes, int columns = 0) {
    if (!time_of_hamiltonian().empty()) signature.arguments = "t" + signature.arguments;
    function(signature, nodes, columns);
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

  /// What mechanics/quadratic.hpp takes besides M and U: A, the active coordinates, which it returns, and the places of zeros.
  std::vector<int> print_parts(const std::vector<int>& vector_potential) {
    const auto bits = [this](std::span<const int> nodes) { return graph_.coordinates_of(nodes); };
    std::vector<std::string> varies, vector_varies;
    line("\n  // The parts of L (mechanics/system.hpp).");
    const std::vector<int> active =
        print_active(bits(graph_.mass) | bits(vector_potential) | bits({&graph_.potential, 1}));
    for (const int& entry : graph_.mass) varies.push_back(cpp_number(bits({&entry, 1})));
    for (const int& entry : vector_potential) vector_varies.push_back(cpp_number(bits({&entry, 1})));
    print_mass_entries();
    print_table("bool mass_varies(int row, int column, int k)", "n * n", varies, "table[row * n + column] >> k & 1");
    print_table("bool vector_potential_varies(int i, int k)", "n", vector_varies, "table[i] >> k & 1");
    print_table("bool potential_varies(int k)", "1", {cpp_number(bits({&graph_.potential, 1}))}, "table[0] >> k & 1");
    return active;
  }
  /// Where M is constant, and the terms linear in v vanish with one parameter, L is separable without this parameter.
  /// Returns whether L has this form.
  bool print_separable_form(const std::vector<int>& momentum_at_rest) {
    const auto varies = [&](int entry) { return graph_.depends_on_q(entry) || graph_.depends_on_t(entry); };
    if (std::ranges::any_of(graph_.mass, varies)) return false;
    for (int i = 0; i < static_cast<int>(system_.parameters.size()); ++i) {
      const auto vanishes = [&](int node) { return algebra_.is_zero(graph_.without(i, node)); };
      if (!std::ranges::all_of(momentum_at_rest, vanishes)) continue;
      line("");
      line("  /// L is separable where this parameter is 0.");
      line(fmt::format("  static constexpr std::array<const char*, 1> separable_without{{{}}};",
                       cpp_string(system_.parameters[at(i)].name)));
      print_potential_and_mass();
      printed_.separable_without = {system_.parameters[at(i)].name};
      printed_.form.separable_form = true;
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
    printed_.form.explicit_velocity = true;
  }

  /// The applied force, a function of three arguments; `force` of q alone is -grad U.
  void print_force() { function({"Vector<S, n>", "force", "tqv"}, graph_.force); }

  void print_velocity_constraint(const std::string& rows) {
    const auto first = graph_.constraints.begin() + graph_.positions();
    if (!graph_.affine)
      return function({fmt::format("Vector<S, {}>", rows), "constraint", "qv"}, {first, graph_.constraints.end()});
    function({fmt::format("Matrix<S, {}, n>", rows), "constraint_matrix", "q"},
             {graph_.forms.begin() + graph_.positions() * graph_.n, graph_.forms.end()}, graph_.n);
    if (printed_.form.offset) function({fmt::format("Vector<S, {}>", rows), "constraint_offset", "q"}, graph_.offset);
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
    function({.result = fmt::format("Vector<S, {}>", graph_.observables.size()),
              .name = "evaluate_invariants",
              .arguments = graph_.hamiltonian >= 0 ? "qvp" : "qv",
              .every_time = true},
             graph_.observables);
  }

  [[nodiscard]] int velocity(int i) { return algebra_.graph().variable(graph_.v(i)); }
  [[nodiscard]] bool is_diagonal() const { return is_diagonal_mass(graph_); }
  [[nodiscard]] std::vector<int> diagonal_of_mass() const {
    std::vector<int> diagonal;
    for (int i = 0; i < graph_.n; ++i) diagonal.push_back(graph_.mass[at(i * graph_.n + i)]);
    return diagonal;
  }

  PrintedSystem printed_;
};

}  // namespace

PrintedSystem print_system(const SystemFormulas& system) { return Printer(system)(); }

std::string system_header(const SystemFormulas& system) { return print_system(system).header; }

std::string system_type(const SystemFormulas& system) { return fmt::format("formulas::{}<T>", struct_name(system)); }

}  // namespace rattleback
