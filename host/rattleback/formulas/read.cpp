#include "rattleback/formulas/read.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "rattleback/base/message.hpp"
#include "rattleback/catalogue/entry.hpp"
#include "rattleback/expression/expression.hpp"
#include "rattleback/formulas/system_graph.hpp"
#include "rattleback/lie/so3.hpp"

namespace rattleback {
namespace {

/// Observables that every run has.
constexpr std::string_view taken_observables[] = {"energy",   "constraint", "hidden_constraint", "iterations",
                                                  "residual", "lyapunov",   "p_projected"};

std::string place(const toml::source_region& source) {
  if (!source.path) return "";
  return source.path->starts_with(option_prefix) ? *source.path : fmt::format("{}:{}", *source.path, source.begin.line);
}
std::string place(const toml::node& node) { return place(node.source()); }

class Reader {
 public:
  explicit Reader(const toml::table& table) : table_(table) {}

  SystemFormulas operator()(bool starts_there) {
    check_keys();
    system_.where = place(table_);
    system_.name = text("name");
    if (!std::ranges::all_of(system_.name, [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_'; }) ||
        system_.name.size() > 64)
      fail("name",
           fmt::format("{} cannot name a system; take at most 64 letters, digits, - and _", quote(system_.name)));
    system_.summary = table_.contains("summary") ? text("summary") : "system written as formulas";
    system_.source = table_.contains("source") ? text("source") : "the study";
    if (table_.contains("time_scale")) system_.time_scale = number(*table_.get("time_scale"), "system.time_scale");
    if (!(system_.time_scale > 0.0)) fail("time_scale", "it must be positive");
    read_dimensions();
    read_names();
    read_parameters();
    check_names();
    read_mass();
    system_.vector_potential = formulas("vector_potential");
    if (!system_.vector_potential.empty()) count("vector_potential", system_.vector_potential.size(), system_.n());
    system_.potential = optional_formula("potential");
    system_.lagrangian = optional_formula("lagrangian");
    for (const char* key : {"mass", "inertia", "vector_potential", "potential"})
      if (table_.contains("lagrangian") && table_.contains(key))
        fail(key, "lagrangian is given too, and contains all of L; leave one of the two out");
    system_.force = formulas("force");
    if (table_.contains("force")) count("force", system_.force.size(), system_.n());
    system_.dissipation = optional_formula("dissipation");
    read_constraints();
    read_observables();
    read_initial();
    SystemGraph graph(system_);
    if (starts_there && !swept_) graph.check_default_state();
    return std::move(system_);
  }

 private:
  [[noreturn]] void fail(std::string_view key, std::string_view why) const {
    const toml::node* node = table_.get(key);
    input_error(node != nullptr ? place(*node) : place(table_), fmt::format("system.{}: {}", key, why));
  }
  [[noreturn]] static void wrong_type(const toml::node& node, std::string_view key, std::string_view wanted) {
    input_error(place(node), fmt::format("{} must be {}", key, wanted));
  }
  void check_keys() const {
    std::vector<std::string> known;
    for (const FormulaKey& row : keys_of_formulas()) known.emplace_back(row.key);
    check_keys(table_, "system", known);
  }
  static void check_keys(const toml::table& table, std::string_view path, const std::vector<std::string>& known) {
    for (const auto& [key, node] : table) {
      if (std::ranges::find(known, key.str()) != known.end()) continue;
      const toml::source_region& source = key.source().path ? key.source() : node.source();
      input_error(place(source), fmt::format("unknown key {} in [{}] (known: {}){}", quote(key.str()), path,
                                             join(known), did_you_mean(key.str(), known)));
    }
  }

  std::string text(std::string_view key) const {
    const toml::node* node = table_.get(key);
    if (node == nullptr) input_error(place(table_), fmt::format("system.{} is missing", key));
    return string(*node, fmt::format("system.{}", key));
  }
  static std::string string(const toml::node& node, std::string_view key) {
    const auto* value = node.as_string();
    if (value == nullptr) wrong_type(node, key, "a string");
    if (value->get().empty()) input_error(place(node), fmt::format("{} is empty; give it, or leave it out", key));
    if (!is_printable(value->get()))
      input_error(place(node), fmt::format("{} has characters that cannot be shown", key));
    return value->get();
  }
  [[nodiscard]] Expression expression(const toml::node& node, const std::string& key) const {
    Value value;
    value.where = place(node);
    if (const auto* integer = node.as_integer())
      value.content = static_cast<double>(integer->get());
    else if (const auto* real = node.as_floating_point())
      value.content = real->get();
    else if (const auto* words = node.as_string())
      value.content = words->get();
    else
      wrong_type(node, key, "a number or an expression");
    return Expression(value, key, known_, values_.data());
  }
  /// A number, or an expression in the names that have a value so far.
  [[nodiscard]] double number(const toml::node& node, const std::string& key) const { return expression(node, key)(); }

  static FormulaText formula(const toml::node& node, std::string key) {
    FormulaText result{"", std::move(key), place(node)};
    if (const auto* integer = node.as_integer())
      result.text = fmt::format("{}", integer->get());
    else if (const auto* real = node.as_floating_point(); real != nullptr && std::isfinite(real->get()))
      result.text = fmt::format("{}", real->get());
    else if (const auto* words = node.as_string())
      result.text = words->get();
    else
      wrong_type(node, result.key, "a formula or a finite number");
    return result;
  }
  FormulaText optional_formula(std::string_view key) const {
    const toml::node* node = table_.get(key);
    FormulaText result = node == nullptr ? FormulaText{} : formula(*node, fmt::format("system.{}", key));
    if (node != nullptr && result.text.empty()) fail(key, "it is empty; give it, or leave it out");
    return result;
  }
  static std::vector<FormulaText> formulas(const toml::node& node, const std::string& key) {
    const toml::array* array = node.as_array();
    if (array == nullptr) wrong_type(node, key, "an array of formulas");
    std::vector<FormulaText> result;
    for (std::size_t i = 0; i < array->size(); ++i)
      result.push_back(formula(*array->get(i), fmt::format("{}[{}]", key, i)));
    return result;
  }
  std::vector<FormulaText> formulas(std::string_view key) const {
    const toml::node* node = table_.get(key);
    return node == nullptr ? std::vector<FormulaText>{} : formulas(*node, fmt::format("system.{}", key));
  }
  void count(std::string_view key, std::size_t given, int needed) const {
    if (static_cast<int>(given) == needed) return;
    fail(key, fmt::format("it has {} {}, and {} {} needed, one for each velocity ({})", given, entries(given), needed,
                          needed == 1 ? "is" : "are", join(system_.velocities)));
  }
  static std::string_view entries(std::size_t count) { return count == 1 ? "entry" : "entries"; }

  void read_dimensions() {
    const toml::node* node = table_.get("dimensions");
    if (node == nullptr) return;
    if (!node->is_table()) wrong_type(*node, "system.dimensions", "a table of whole numbers, such as { m = 3 }");
    for (const auto& [name, value] : entries_of(*node->as_table())) {
      const auto* whole = value->as_integer();
      if (whole == nullptr || whole->get() < 0 || whole->get() > 1000)
        wrong_type(*value, fmt::format("system.dimensions.{}", name), "a whole number from 0 to 1000");
      system_.dimensions.push_back({name, static_cast<int>(whole->get())});
      add_known(name, static_cast<double>(whole->get()), place(*value), "a dimension");
    }
  }
  void add_known(const std::string& name, double value, const std::string& where, std::string_view what) {
    check_symbol(name, where, what);
    known_.push_back(name);
    values_.push_back(value);
  }
  static void check_symbol(const std::string& name, const std::string& where, std::string_view what) {
    if (const std::string fault = fault_of_symbol(name); !fault.empty())
      input_error(where, fmt::format("{} cannot name {} ({})", quote(name), what, fault));
  }

  /// Returns the names of an array; "y[1..m]" stands for several.
  std::vector<std::string> names(std::string_view key, std::string_view what) const {
    std::vector<std::string> result;
    const toml::node* node = table_.get(key);
    if (node == nullptr) return result;
    const toml::array* array = node->as_array();
    if (array == nullptr) wrong_type(*node, fmt::format("system.{}", key), "an array of names");
    for (const toml::node& entry : *array) {
      const std::string name = string(entry, fmt::format("system.{}", key));
      const std::size_t open = name.find('['), dots = name.find("..");
      if (open == std::string::npos || dots == std::string::npos || name.back() != ']') {
        check_symbol(name, place(entry), what);
        result.push_back(name);
      } else {
        const auto bound = [&](std::size_t begin, std::size_t end) {
          Value value(name.substr(begin, end - begin));
          value.where = place(entry);
          const double number = Expression(value, fmt::format("a bound of {}", quote(name)), known_, values_.data(),
                                           "; a bound is a whole number or a dimension")();
          if (number != std::floor(number) || number < 0 || number > 1000)
            input_error(value.where, fmt::format("a bound of {} must be a whole number from 0 to 1000 (got {})",
                                                 quote(name), number));
          return static_cast<int>(number);
        };
        const int first = bound(open + 1, dots), last = bound(dots + 2, name.size() - 1);
        check_symbol(name.substr(0, open), place(entry), what);
        for (int i = first; i <= last; ++i) result.push_back(fmt::format("{}{}", name.substr(0, open), i));
      }
      if (result.size() > most_coordinates)
        input_error(place(entry), fmt::format("there are more than {} names of {}s", most_coordinates, what.substr(2)));
    }
    return result;
  }

  void read_names() {
    const std::vector<std::string> plain = names("coordinates", "a coordinate"),
                                   rates = names("velocities", "a velocity");
    if (const toml::node* node = table_.get("group"))
      system_.group = parse_group({string(*node, "system.group"), "system.group", place(*node)});
    else
      system_.group = {{GroupFactor::Kind::rn, static_cast<int>(plain.size())}};
    if (!table_.contains("group") && plain.empty()) {
      if (table_.contains("coordinates")) fail("coordinates", "it names no coordinate; a system needs one at least");
      input_error(system_.where, "system.coordinates is missing; name the coordinates");
    }
    std::vector<std::string>& coordinates = system_.coordinates;
    std::vector<std::string> velocities;
    std::size_t next = 0;
    int named = 0;
    for (const GroupFactor& factor : system_.group) {
      if (factor.kind != GroupFactor::Kind::rn) {
        rotation_ = static_cast<int>(velocities.size());
        for (int i = 1; i <= 3; ++i)
          for (int j = 1; j <= 3; ++j) coordinates.push_back(fmt::format("R{}{}", i, j));
        velocities.insert(velocities.end(), {"w1", "w2", "w3"});
        if (factor.kind == GroupFactor::Kind::se3) {
          coordinates.insert(coordinates.end(), {"x", "y", "z"});
          velocities.insert(velocities.end(), {"u1", "u2", "u3"});
        }
      } else {
        for (int i = 0; i < factor.size && next < plain.size(); ++i, ++next) {
          coordinates.push_back(plain[next]);
          velocities.push_back("v_" + plain[next]);
        }
        named += factor.size;
      }
    }
    if (static_cast<int>(plain.size()) != named)
      fail("coordinates", fmt::format("it has {} name{}, and R^n of the group has {} coordinate{}", plain.size(),
                                      plain.size() == 1 ? "" : "s", named, named == 1 ? "" : "s"));
    system_.velocities = velocities;
    if (!rates.empty()) {
      count("velocities", rates.size(), static_cast<int>(velocities.size()));
      system_.velocities = rates;
    }
  }

  /// A number, or an expression of known numbers. Another expression is one of the ensemble, and has the value 1 here.
  double fixed_number(const toml::node& value, const std::string& key) {
    if (!value.is_string()) return number(value, key);
    try {
      return number(value, key);
    } catch (const Error&) {
      swept_ = true;
      return 1.0;
    }
  }

  void read_parameters() {
    const toml::node* node = table_.get("parameters");
    if (node == nullptr) return;
    if (!node->is_table()) wrong_type(*node, "system.parameters", "a table, such as { b = 0.25 }");
    for (const auto& [name, value] : entries_of(*node->as_table())) {
      const std::string key = fmt::format("system.parameters.{}", name);
      check_symbol(name, place(*value), "a parameter");
      SystemFormulas::Parameter parameter;
      parameter.name = name;
      if (const toml::table* table = value->as_table()) {
        check_keys(*table, key, {"value", "unit", "text"});
        if (!table->contains("value")) input_error(place(*value), fmt::format("{}.value is missing", key));
        parameter.value = number(*table->get("value"), key + ".value");
        if (const toml::node* unit = table->get("unit")) parameter.unit = string(*unit, key + ".unit");
        if (const toml::node* about = table->get("text")) parameter.text = string(*about, key + ".text");
      } else {
        parameter.value = fixed_number(*value, key);
      }
      system_.parameters.push_back(std::move(parameter));
    }
    for (const auto& parameter : system_.parameters)
      add_known(parameter.name, parameter.value, place(*node), "a parameter");
  }

  /// Checks that no name has two meanings.
  void check_names() const {
    std::vector<std::pair<std::string, std::string>> all;
    const auto add = [&](const std::string& name, std::string_view key, const std::string& what) {
      if (name == "t") fail(key, fmt::format("'t' is the time; choose another name for {}", what));
      const auto same = std::ranges::find(all, name, &std::pair<std::string, std::string>::first);
      if (same != all.end()) fail(key, fmt::format("{} is {} already; choose another name", quote(name), same->second));
      all.emplace_back(name, what);
    };
    for (const auto& dimension : system_.dimensions) add(dimension.name, "dimensions", "a dimension");
    for (const std::string& name : system_.coordinates) add(name, "coordinates", "a coordinate");
    for (const std::string& name : system_.velocities) add(name, "velocities", "a velocity");
    for (const auto& parameter : system_.parameters) add(parameter.name, "parameters", "a parameter");
  }

  /// Reads a number, a diagonal or rows for `size` velocities: size or size^2 formulas.
  std::vector<FormulaText> matrix(std::string_view name, int size) const {
    const toml::node& node = *table_.get(name);
    const std::string key = fmt::format("system.{}", name);
    const toml::array* array = node.as_array();
    if (array == nullptr) return std::vector<FormulaText>(static_cast<std::size_t>(size), formula(node, key));
    const auto length = [&](const toml::node& at, const toml::array& of, const std::string& what) {
      if (static_cast<int>(of.size()) != size)
        input_error(place(at), fmt::format("{} has {} {}, and {} {} needed", what, of.size(), entries(of.size()), size,
                                           size == 1 ? "is" : "are"));
    };
    length(node, *array, key);
    if (array->empty() || !array->get(0)->is_array()) return formulas(node, key);
    std::vector<FormulaText> rows;
    for (std::size_t i = 0; i < array->size(); ++i) {
      const std::string row_key = fmt::format("{}[{}]", key, i);
      if (!array->get(i)->is_array()) wrong_type(*array->get(i), row_key, "a row, like the first");
      length(*array->get(i), *array->get(i)->as_array(), row_key);
      for (FormulaText& entry : formulas(*array->get(i), row_key)) rows.push_back(std::move(entry));
    }
    return rows;
  }
  void read_mass() {
    const int n = system_.n();
    if (!table_.contains("inertia")) {
      if (table_.contains("mass")) system_.mass = matrix("mass", n);
      return;
    }
    if (rotation_ < 0) fail("inertia", "the system has no rotation; mass gives the inertia of coordinates");
    const std::vector<FormulaText> turning = matrix("inertia", 3);
    std::vector<FormulaText> moving(static_cast<std::size_t>(n - 3), {"1", "system.mass", system_.where});
    if (table_.contains("mass")) moving = matrix("mass", n - 3);
    if (static_cast<int>(moving.size()) != n - 3)
      fail("mass", "it has rows beside inertia; write all of M as rows of mass, or mass as a diagonal");
    const auto other = [&](int i) { return static_cast<std::size_t>(i < rotation_ ? i : i - 3); };
    const auto turns = [&](int i) { return i >= rotation_ && i < rotation_ + 3; };
    if (turning.size() == 3) {
      for (int i = 0; i < n; ++i)
        system_.mass.push_back(turns(i) ? turning[static_cast<std::size_t>(i - rotation_)] : moving[other(i)]);
      return;
    }
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        system_.mass.push_back(turns(i) && turns(j)
                                   ? turning[static_cast<std::size_t>(3 * (i - rotation_) + j - rotation_)]
                               : i == j ? moving[other(i)]
                                        : FormulaText{"0", "system.mass", system_.where});
  }

  void read_constraints() {
    system_.constraints = formulas("constraints");
    system_.velocity_constraints = formulas("velocity_constraints");
    const char* key = system_.constraints.empty() ? "velocity_constraints" : "constraints";
    if (system_.m() >= system_.n() && system_.m() > 0)
      fail(key, fmt::format("{} constraint{} leave{} no motion to {} velocit{}; give fewer", system_.m(),
                            system_.m() == 1 ? "" : "s", system_.m() == 1 ? "s" : "", system_.n(),
                            system_.n() == 1 ? "y" : "ies"));
  }

  void read_observables() {
    if (const toml::node* node = table_.get("observables")) {
      if (!node->is_table()) wrong_type(*node, "system.observables", "a table, such as { spin = \"x v_y - y v_x\" }");
      for (const auto& [name, value] : entries_of(*node->as_table())) {
        check_symbol(name, place(*value), "an observable");
        if (std::ranges::find(taken_observables, name) != std::end(taken_observables))
          input_error(place(*value),
                      fmt::format("{} cannot name an observable (every run has it); choose another name", quote(name)));
        FormulaText text = formula(*value, fmt::format("system.observables.{}", name));
        std::string about = one_line(text.text);
        system_.observables.push_back({name, std::move(text), false, std::move(about)});
      }
      if (system_.observables.size() > most_observables)
        fail("observables", fmt::format("it has {} observables, and a system has at most {}",
                                        system_.observables.size(), most_observables));
    }
    std::vector<std::string> known;
    for (const auto& observable : system_.observables) known.push_back(observable.name);
    for (const FormulaText& name : formulas("conserved")) {
      const auto found = std::ranges::find(system_.observables, name.text, &SystemFormulas::Observable::name);
      if (found == system_.observables.end())
        input_error(name.where, fmt::format("{} = {} is no observable of this system (known: {}){}", name.key,
                                            quote(name.text), join(known), did_you_mean(name.text, known)));
      if (found->conserved) input_error(name.where, fmt::format("{} = {} is given twice", name.key, quote(name.text)));
      found->conserved = true;
    }
  }

  void read_initial() {
    const toml::node* node = table_.get("initial");
    if (node != nullptr && !node->is_table())
      wrong_type(*node, "system.initial", "a table, such as { q = [1, 0], v = [0, 1] }");
    if (node != nullptr) check_keys(*node->as_table(), "system.initial", {"q", "v"});
    const auto numbers = [&](const char* key) {
      std::vector<double> result;
      const toml::node* list = node == nullptr ? nullptr : node->as_table()->get(key);
      if (list == nullptr) return result;
      const std::string path = fmt::format("system.initial.{}", key);
      if (!list->is_array()) wrong_type(*list, path, "an array of numbers");
      for (const toml::node& entry : *list->as_array())
        result.push_back(number(entry, fmt::format("{}[{}]", path, result.size())));
      if (static_cast<int>(result.size()) != system_.n() &&
          (*key == 'v' || static_cast<int>(result.size()) != system_.elements()))
        input_error(place(*list),
                    fmt::format("{} has {} number{}, and {} are needed", path, result.size(),
                                result.size() == 1 ? "" : "s", *key == 'q' ? system_.elements() : system_.n()));
      return result;
    };
    system_.q = numbers("q");
    system_.v = numbers("v");
    system_.v.resize(static_cast<std::size_t>(system_.n()));
    if (system_.q.empty() || static_cast<int>(system_.q.size()) != system_.elements()) {
      system_.q.resize(static_cast<std::size_t>(system_.n()));
      expand();
    }
    check_rotation(node);
  }
  /// Replaces n numbers by those of a configuration: rotation vectors become rotations.
  void expand() {
    std::vector<double> q;
    auto next = system_.q.begin();
    for (const GroupFactor& factor : system_.group) {
      if (factor.kind != GroupFactor::Kind::rn) {
        const auto rotation = SO3::expand(Vector<double, 3>{next[0], next[1], next[2]});
        q.insert(q.end(), rotation.entry, rotation.entry + 9);
        next += 3;
      }
      const int rest = factor.kind == GroupFactor::Kind::rn ? factor.size : factor.size - 3;
      q.insert(q.end(), next, next + rest);
      next += rest;
    }
    system_.q = std::move(q);
  }
  void check_rotation(const toml::node* initial) const {
    std::size_t first = 0;
    for (const GroupFactor& factor : system_.group) {
      if (factor.kind != GroupFactor::Kind::rn) {
        Vector<double, 9> rotation;
        std::copy_n(system_.q.begin() + static_cast<std::ptrdiff_t>(first), 9, rotation.entry);
        if (const double defect = SO3::defect(rotation); !(defect <= group_tolerance))
          input_error(place(*initial),
                      fmt::format("system.initial.q: the first 9 numbers of the rotation are no rotation "
                                  "matrix (R^T R - 1 has the norm {:.1e}); give 3 numbers, a rotation "
                                  "vector",
                                  defect));
      }
      first += static_cast<std::size_t>(factor.elements());
    }
  }

  const toml::table& table_;
  SystemFormulas system_;
  bool swept_ = false;              ///< a parameter has no fixed value
  int rotation_ = -1;               ///< index of w1 among the velocities
  std::vector<std::string> known_;  ///< dimensions and parameters
  std::vector<double> values_;
};

}  // namespace

std::vector<std::pair<std::string, const toml::node*>> entries_of(const toml::table& table) {
  std::vector<std::pair<std::string, const toml::node*>> entries;
  for (const auto& [key, node] : table) entries.emplace_back(std::string(key.str()), &node);
  std::ranges::stable_sort(entries, [](const auto& a, const auto& b) {
    const toml::source_position &first = a.second->source().begin, &second = b.second->source().begin;
    return std::pair(first.line, first.column) < std::pair(second.line, second.column);
  });
  return entries;
}

bool has_formulas(const toml::table& system) { return system.contains("coordinates") || system.contains("group"); }

SystemFormulas read_system_formulas(const toml::table& system, bool starts_there) {
  return Reader(system)(starts_there);
}

}  // namespace rattleback
