#include "rattleback/language/read.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "rattleback/base/message.hpp"
#include "rattleback/catalogue/entry.hpp"
#include "rattleback/language/expression.hpp"
#include "rattleback/language/system_graph.hpp"
#include "rattleback/language/table_reader.hpp"
#include "rattleback/lie/so3.hpp"

namespace rattleback {
namespace {

/// Observables that every run has, and those of a driven system.
constexpr std::string_view taken_observables[] = {
    "energy", "constraint", "hidden_constraint", "iterations", "residual", "lyapunov", "p_projected",
    "sali",   "megno",      "megno_mean",        "fli"};
constexpr std::string_view observables_of_drive[] = {"power", "work", "energy_balance"};

class Reader : TableReader {
 public:
  explicit Reader(const toml::table& table) : TableReader(table) {}

  SystemFormulas operator()(bool starts_there) {
    check_all_keys();
    system_.where = place(table_);
    if (!table_.contains("name"))
      input_error(system_.where, "system.name is missing; give the system a name of its own, as name = \"crane\"");
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
    read_multipliers();
    check_names();
    read_mass(BodyNames(system_.group, body_names()));
    system_.vector_potential = formulas("vector_potential");
    if (!system_.vector_potential.empty()) count("vector_potential", system_.vector_potential.size(), system_.n());
    system_.potential = optional_formula("potential");
    system_.lagrangian = optional_formula("lagrangian");
    system_.hamiltonian = optional_formula("hamiltonian");
    for (const char* whole : {"hamiltonian", "lagrangian"})
      for (const char* key : {"mass", "inertia", "vector_potential", "potential", "lagrangian"})
        if (table_.contains(whole) && table_.contains(key) && std::string_view(whole) != key)
          fail(key, fmt::format("{} is given too, and contains all of {}; leave one of the two out", whole,
                                whole[0] == 'l' ? "L" : "the system"));
    system_.force = formulas("force");
    if (table_.contains("force")) count("force", system_.force.size(), system_.n());
    system_.dissipation = optional_formula("dissipation");
    read_constraints();
    read_observables();
    read_initial();
    SystemGraph graph(system_);
    if (graph.driven())
      for (const auto& observable : system_.observables)
        if (std::ranges::find(observables_of_drive, observable.name) != std::end(observables_of_drive))
          refuse_observable(observable.name, observable.formula.where, "every driven system");
    system_.degenerate = graph.degenerate;
    if (graph.degenerate && system_.p.empty())
      fail("initial", "the Hamiltonian is degenerate, so v does not determine the momenta; give p in place of v");
    if (!system_.p.empty()) system_.v = graph.default_velocity();
    if (starts_there && !swept_) graph.check_default_state();
    return std::move(system_);
  }

 private:
  void check_all_keys() const {
    std::vector<std::string> known;
    for (const FormulaKey& row : keys_of_formulas()) known.emplace_back(row.key);
    check_keys(table_, "system", known);
    for (const char* key : {"gravity", "assemble", "redundant"})
      if (table_.contains(key))
        fail(key, "it belongs to bodies and joints, and the study has no [[body]]; leave it out");
  }
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
  void read_names() {
    const std::vector<std::string> plain = names("coordinates", "a coordinate"),
                                   rates = names("velocities", "a velocity");
    if (const toml::node* node = table_.get("group"))
      system_.group = parse_group({string(*node, "system.group"), "system.group", place(*node)}, system_.dimensions);
    else
      system_.group = {{GroupFactor::Kind::rn, static_cast<int>(plain.size())}};
    if (!table_.contains("group") && plain.empty()) {
      if (table_.contains("coordinates")) fail("coordinates", "it names no coordinate; a system needs at least one");
      input_error(system_.where, "system.coordinates is missing; name the coordinates");
    }
    const BodyNames bodies = read_bodies();
    std::vector<std::string>& coordinates = system_.coordinates;
    std::size_t next = 0, body = 0;
    int named = 0;
    for (const GroupFactor& factor : system_.group) {
      for (const std::string_view name : factor.coordinates()) coordinates.push_back(bodies(body, name));
      for (const std::string_view name : factor.velocities()) system_.velocities.push_back(bodies(body, name));
      if (factor.is_body()) {
        ++body;
        continue;
      }
      for (int i = 0; i < factor.size && next < plain.size(); ++i, ++next) {
        coordinates.push_back(plain[next]);
        system_.velocities.push_back("v_" + plain[next]);
      }
      named += factor.size;
    }
    if (static_cast<int>(plain.size()) != named)
      fail("coordinates", fmt::format("it has {} name{}, and R^n of the group has {} coordinate{}", plain.size(),
                                      plain.size() == 1 ? "" : "s", named, named == 1 ? "" : "s"));
    read_momenta();
    if (!rates.empty()) {
      count("velocities", rates.size(), system_.n());
      system_.velocities = rates;
    }
  }
  BodyNames read_bodies() const {
    const std::vector<std::string> given = body_names();
    BodyNames bodies(system_.group, given);
    if (!table_.contains("bodies")) return bodies;
    if (bodies.count() == 0) fail("bodies", "R^n has no bodies; coordinates names its coordinates");
    if (given.size() != bodies.count()) {
      std::vector<std::string> factors;
      for (const GroupFactor& factor : system_.group)
        if (factor.is_body()) factors.push_back(factor.name());
      fail("bodies",
           fmt::format("it has {} name{}, and the group has {} bod{} ({})", given.size(), given.size() == 1 ? "" : "s",
                       bodies.count(), bodies.count() == 1 ? "y" : "ies", join(factors)));
    }
    for (auto name = given.begin(); name != given.end(); ++name)
      if (std::find(given.begin(), name, *name) != name) fail("bodies", fmt::format("{} is given twice", quote(*name)));
    return bodies;
  }

  /// The momentum of a velocity v_x is p_x, and that of w1 is p_w1.
  void read_momenta() {
    const std::vector<std::string> given = names("momenta", "a momentum");
    if (!table_.contains("hamiltonian")) {
      if (!given.empty()) fail("momenta", "it names what a hamiltonian depends on, and there is none; leave it out");
      return;
    }
    for (const std::string& name : system_.velocities)
      system_.momenta.push_back("p_" + (name.starts_with("v_") ? name.substr(2) : name));
    if (given.empty()) return;
    count("momenta", given.size(), system_.n());
    system_.momenta = given;
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

  void read_multipliers() {
    const toml::node* node = table_.get("multipliers");
    if (node == nullptr) return;
    if (!node->is_array()) wrong_type(*node, "system.multipliers", "an array of names or tables");
    for (const toml::node& entry : *node->as_array()) {
      const std::string key = fmt::format("system.multipliers[{}]", system_.multipliers.size());
      auto& multiplier = system_.multipliers.emplace_back();
      if (const toml::table* table = entry.as_table()) {
        check_keys(*table, key, {"name", "joint", "unit", "text"});
        const auto read = [&](const char* part, std::string& text) {
          if (const toml::node* given = table->get(part)) text = string(*given, fmt::format("{}.{}", key, part));
        };
        read("name", multiplier.name);
        read("joint", multiplier.joint);
        read("unit", multiplier.unit);
        read("text", multiplier.text);
      } else {
        multiplier.name = string(entry, key);
      }
      if (!multiplier.name.empty()) check_symbol(multiplier.name, place(entry), "a multiplier");
    }
  }

  /// Checks that no name has two meanings.
  void check_names() const {
    std::vector<std::pair<std::string, std::string>> all;
    const auto add = [&](const std::string& name, std::string_view key, const std::string& what) {
      if (name == "t") fail(key, fmt::format("'t' is the time; choose another name for {}", what));
      const auto same = std::ranges::find(all, name, &std::pair<std::string, std::string>::first);
      if (same != all.end()) fail(key, fmt::format("{} is already {}; choose another name", quote(name), same->second));
      all.emplace_back(name, what);
    };
    for (const auto& dimension : system_.dimensions) add(dimension.name, "dimensions", "a dimension");
    for (const std::string& name : system_.coordinates) add(name, "coordinates", "a coordinate");
    for (const std::string& name : system_.velocities) add(name, "velocities", "a velocity");
    for (const std::string& name : system_.momenta) add(name, "momenta", "a momentum");
    for (const auto& parameter : system_.parameters) add(parameter.name, "parameters", "a parameter");
    for (const auto& multiplier : system_.multipliers)
      if (!multiplier.name.empty()) add(multiplier.name, "multipliers", "a multiplier");
    if (!BodyNames(system_.group, body_names()).numbered()) return;
    for (const auto& [name, what] : all) {  // R33_2 is R33[2], and so would be R332
      const std::size_t end = name.rfind('_');
      if (end == std::string::npos) continue;
      const std::string other = name.substr(0, end) + name.substr(end + 1);
      const auto same = std::ranges::find(all, other, &std::pair<std::string, std::string>::first);
      if (same != all.end())
        fail(table_.contains("coordinates") ? "coordinates" : "parameters",
             fmt::format("{} is {} and {} is {}, and both would be {}[{}]; choose another name", quote(other),
                         same->second, quote(name), what, name.substr(0, end), name.substr(end + 1)));
    }
  }
  std::vector<std::string> body_names() const { return names("bodies", "a body"); }

  void read_constraints() {
    system_.constraints = formulas("constraints");
    system_.velocity_constraints = formulas("velocity_constraints");
    if (table_.contains("multipliers") && static_cast<int>(system_.multipliers.size()) != system_.m())
      fail("multipliers",
           fmt::format("it has {} {}, and {} {} needed, one for each constraint", system_.multipliers.size(),
                       entries(system_.multipliers.size()), system_.m(), system_.m() == 1 ? "is" : "are"));
    const char* key = system_.constraints.empty() ? "velocity_constraints" : "constraints";
    if (system_.m() >= system_.n() && system_.m() > 0)
      fail(key, fmt::format("{} constraint{} leave{} no motion to {} velocit{}; give fewer", system_.m(),
                            system_.m() == 1 ? "" : "s", system_.m() == 1 ? "s" : "", system_.n(),
                            system_.n() == 1 ? "y" : "ies"));
  }

  [[noreturn]] static void refuse_observable(const std::string& name, const std::string& where, std::string_view who) {
    input_error(where, fmt::format("{} cannot name an observable ({} has one of this name); choose another name",
                                   quote(name), who));
  }
  void read_observables() {
    if (const toml::node* node = table_.get("observables")) {
      if (!node->is_table()) wrong_type(*node, "system.observables", "a table, such as { spin = \"x v_y - y v_x\" }");
      for (const auto& [name, value] : entries_of(*node->as_table())) {
        check_symbol(name, place(*value), "an observable");
        if (name == "t") fail("observables", "'t' is the time; choose another name for an observable");
        if (std::ranges::find(taken_observables, name) != std::end(taken_observables))
          refuse_observable(name, place(*value), "every run");
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
        input_error(name.where,
                    fmt::format("{} = {} is not an observable of this system (known: {}){}", name.key, quote(name.text),
                                known.empty() ? "none" : join(known), did_you_mean(name.text, known)));
      if (found->conserved) input_error(name.where, fmt::format("{} = {} is given twice", name.key, quote(name.text)));
      found->conserved = true;
    }
  }

  void read_initial() {
    const toml::node* node = table_.get("initial");
    if (node != nullptr && !node->is_table())
      wrong_type(*node, "system.initial", "a table, such as { q = [1, 0], v = [0, 1] }");
    if (node != nullptr) check_keys(*node->as_table(), "system.initial", {"q", "v", "p"});
    const auto numbers = [&](const char* key) {
      std::vector<double> result;
      const toml::node* list = node == nullptr ? nullptr : node->as_table()->get(key);
      if (list == nullptr) return result;
      const std::string path = fmt::format("system.initial.{}", key);
      if (!list->is_array()) wrong_type(*list, path, "an array of numbers");
      for (const toml::node& entry : *list->as_array())
        result.push_back(number(entry, fmt::format("{}[{}]", path, result.size())));
      if (static_cast<int>(result.size()) != system_.n() &&
          (*key != 'q' || static_cast<int>(result.size()) != system_.elements()))
        input_error(place(*list),
                    fmt::format("{} has {} number{}, and {} are needed", path, result.size(),
                                result.size() == 1 ? "" : "s", *key == 'q' ? system_.elements() : system_.n()));
      return result;
    };
    system_.q = numbers("q");
    system_.v = numbers("v");
    system_.p = numbers("p");
    if (!system_.p.empty() && (system_.momenta.empty() || !system_.v.empty()))
      fail("initial",
           "p is given, beside v or without a hamiltonian; give one of v and p, and p with a hamiltonian only");
    if (!system_.momenta.empty() && system_.v.empty()) system_.p.resize(static_cast<std::size_t>(system_.n()));
    system_.v.resize(static_cast<std::size_t>(system_.n()));
    if (system_.q.empty() || static_cast<int>(system_.q.size()) != system_.elements()) {
      system_.q.resize(static_cast<std::size_t>(system_.n()));
      expand();
    }
    check_rotations(node);
  }
  /// Replaces n numbers by those of a configuration: rotation vectors become rotations.
  void expand() {
    std::vector<double> q;
    auto next = system_.q.begin();
    for (const GroupFactor& factor : system_.group) {
      if (factor.has_matrix()) {
        const auto rotation = SO3::expand(Vector<double, 3>{next[0], next[1], next[2]});
        q.insert(q.end(), rotation.entry, rotation.entry + 9);
        next += 3;
      }
      const int rest = factor.has_matrix() ? factor.size - 3 : factor.size;
      q.insert(q.end(), next, next + rest);
      next += rest;
    }
    system_.q = std::move(q);
  }
  void check_rotations(const toml::node* initial) const {
    const BodyNames bodies(system_.group, body_names());
    std::size_t first = 0, body = 0;
    for (const GroupFactor& factor : system_.group) {
      if (factor.has_matrix()) {
        Vector<double, 9> rotation;
        std::copy_n(system_.q.begin() + static_cast<std::ptrdiff_t>(first), 9, rotation.entry);
        if (const double defect = SO3::defect(rotation); !(defect <= group_tolerance))
          input_error(place(*initial),
                      fmt::format("system.initial.q: the first 9 numbers of the rotation{} are not a rotation "
                                  "matrix (R^T R - 1 has the norm {:.1e}); give 3 numbers, a rotation "
                                  "vector",
                                  bodies.count() > 1 ? fmt::format(" of {}", bodies.of(body)) : "", defect));
      }
      body += factor.is_body() ? 1 : 0;
      first += static_cast<std::size_t>(factor.elements());
    }
  }

  bool swept_ = false;  ///< a parameter has no fixed value
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
