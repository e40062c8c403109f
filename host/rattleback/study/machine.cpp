#include "rattleback/study/machine.hpp"

#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "rattleback/base/message.hpp"
#include "rattleback/language/expression.hpp"
#include "rattleback/language/model.hpp"
#include "rattleback/lie/so3.hpp"
#include "rattleback/study/formulas_text.hpp"
#include "rattleback/study/machine_fields.hpp"
#include "rattleback/study/machine_parts.hpp"
#include "rattleback/study/tables.hpp"
#include "rattleback/study/toml.hpp"

namespace rattleback {

void Entries::read(const toml::node& node, const std::string& key, const FieldInfo& row, std::vector<Value>& values) {
  const toml::array* array = node.as_array();
  if (array == nullptr) {
    values.push_back(to_value(node, key));
    return;
  }
  for (std::size_t i = 0; i < array->size(); ++i) read(*array->get(i), fmt::format("{}[{}]", key, i), row, values);
}

void PairOfVectors::read(const toml::node& node, const std::string& key, const FieldInfo& row,
                         std::vector<std::vector<Value>>& values) {
  if (!node.is_array()) wrong_type(node, key, row.wanted);
  for (const toml::node& one : *node.as_array())
    if (!one.is_array()) wrong_type(one, key, row.wanted);
  Grammar<std::vector<std::vector<Value>>>::read(node, key, row, values);
}

namespace {

constexpr const char* keys_of_machines[] = {"gravity", "assemble", "redundant"};
/// Keys of a system that the bodies give.
constexpr const char* keys_of_bodies[] = {
    "coordinates", "velocities",       "group",       "bodies", "mass",    "inertia", "lagrangian",
    "momenta",     "vector_potential", "hamiltonian", "force",  "initial", "variant", "file",
    "type",        "digest",           "multipliers"};

/// A node whose place is one in the study.
class PlacedNode {
 public:
  PlacedNode(const std::string& text, const std::string& where)
      : document_(toml::parse(fmt::format("value = {}", text), fmt::format("{}{}", whole_place, where))) {}
  toml::node&& operator()() && { return std::move(*document_.get("value")); }

 private:
  toml::table document_;
};

/// Calls read(table, "body[2]", object) for each table of an array.
template <class Object, class Read>
std::vector<Object> read_tables(const toml::table& study, const char* key, Read read) {
  std::vector<Object> objects;
  const toml::node* node = study.get(key);
  if (node == nullptr) return objects;
  const toml::array* array = node->as_array();
  if (array == nullptr) wrong_type(*node, key, fmt::format("an array of tables ([[{}]])", key));
  for (std::size_t i = 0; i < array->size(); ++i) {
    const std::string path = fmt::format("{}[{}]", key, i);
    const toml::table* table = array->get(i)->as_table();
    if (table == nullptr) wrong_type(*array->get(i), path, "a table");
    Object& object = objects.emplace_back();
    object.where = place_of(table->source());
    read(*table, path, object);
  }
  return objects;
}

std::vector<Body> read_bodies(const toml::table& study) {
  return read_tables<Body>(study, "body", [](const toml::table& table, const std::string& path, Body& body) {
    read_fields<Body>(table, path, body_fields, body);
  });
}

/// Reads the joints, of which each kind has keys of its own.
std::vector<Joint> read_joints(const toml::table& study) {
  std::vector<Joint> joints =
      read_tables<Joint>(study, "joint", [](const toml::table& table, const std::string& path, Joint& joint) {
        unsigned kinds = ~0u;
        if (const toml::node* type = table.get("type")) {
          joint.type = to_text(*type, path_of(path, "type"));
          joint_fields[1].check(joint.type, path_of(path, "type"), place_of(type->source()));
          kinds = 1u << (std::ranges::find(joint_types, joint.type) - std::begin(joint_types));
        }
        read_fields<Joint>(table, path, joint_fields, joint, kinds);
      });
  for (std::size_t i = 0; i < joints.size(); ++i) {
    const Joint& joint = joints[i];
    if (const std::string fault = fault_of_symbol(joint.name); !fault.empty())
      input_error(joint.where, fmt::format("{} cannot name a joint ({})", quote(joint.name), fault));
    for (std::size_t k = 0; k < i; ++k)
      if (joints[k].name == joint.name)
        input_error(joint.where, fmt::format("two joints are called {}; choose another name", quote(joint.name)));
  }
  return joints;
}

/// The value that an axis begins with, for the state in which a machine is put together.
std::optional<Value> first_of(const toml::table& study, const std::string& name) {
  const toml::array* axes = study["ensemble"]["axes"].as_array();
  for (std::size_t i = 0; axes != nullptr && i < axes->size(); ++i) {
    const toml::table* axis = axes->get(i)->as_table();
    if (axis == nullptr || (*axis)["name"].value<std::string>() != name) continue;
    for (const char* key : {"from", "mean"})
      if (const toml::node* node = axis->get(key)) return to_value(*node, key);
    if (const toml::array* values = (*axis)["values"].as_array(); values != nullptr && !values->empty())
      return to_value(*values->get(0), "values");
    return Value(0.0);
  }
  return std::nullopt;
}

class MachineReader {
 public:
  explicit MachineReader(toml::table& study) : study_(study) {}

  void operator()() {
    toml::node* node = study_.get("system");
    if (node == nullptr)
      input_error(place_of(study_.source()), "[system] is missing; it names the machine of the bodies");
    if (!node->is_table()) wrong_type(*node, "system", "a table");
    where_ = place_of(node->source());
    system_ = std::move(*node->as_table());  // a copy would forget the places of its nodes
    bodies_ = read_bodies(study_);
    joints_ = read_joints(study_);
    if (bodies_.empty()) input_error(where_, "the study has joints and no bodies; give [[body]] tables");
    for (const char* key : keys_of_bodies)
      if (const toml::node* given = system_.get(key))
        input_error(place_of(given->source()),
                    fmt::format("system.{} is given, and the bodies and joints of the study say "
                                "it; leave it out",
                                key));
    read_parameters();
    place_bodies();
    read_gravity();
    name_state();
    for (std::size_t i = 0; i < joints_.size(); ++i) add_joint(machine_, joints_[i], fmt::format("joint[{}]", i));
    const bool assemble = choice("assemble"), drop = choice("redundant");
    for (const char* key : keys_of_machines) system_.erase(key);
    write_system();
    const MachineStart start = start_of(machine_, system_, assemble, drop);
    write_rows("constraints", machine_.positions);
    write_rows("velocity_constraints", machine_.velocities);
    write_multipliers(start);
    if (!start.dropped.empty() && !system_.contains("summary"))
      put("summary",
          basic_string(fmt::format("a machine without the constraints that others imply: {}", join(start.dropped))),
          where_);
    put("initial", fmt::format("{{ q = [{}], v = [{}] }}", numbers(start.q), numbers(start.v)), where_);
    study_.insert_or_assign("system", std::move(system_));
    study_.erase("body");
    study_.erase("joint");
  }

 private:
  static std::string numbers(const std::vector<double>& values) {
    std::string text;
    for (const double x : values) text += (text.empty() ? "" : ", ") + toml_of(x);
    return text;
  }
  void put(const std::string& key, const std::string& text, const std::string& where) {
    system_.insert_or_assign(key, PlacedNode(text, where)());
  }
  /// A key that is one of two words.
  bool choice(const std::string& key) {
    const toml::node* node = system_.get(key);
    if (node == nullptr) return false;
    if (key == "assemble") return to_flag(*node, "system.assemble");
    const std::string text = to_text(*node, "system.redundant");
    if (text != "error" && text != "drop")
      input_error(place_of(node->source()),
                  fmt::format("unknown system.redundant {} (known: error, drop)", quote(text)));
    return text == "drop";
  }

  void read_parameters() {
    const toml::table* parameters = system_["parameters"].as_table();
    if (parameters == nullptr) return;
    for (const auto& [name, node] : *parameters) {
      const std::string key = fmt::format("system.parameters.{}", name.str());
      const toml::table* table = node.as_table();
      const toml::node* value_node = table != nullptr ? table->get("value") : &node;
      if (value_node == nullptr) continue;  // the reader of the system reports it
      const Value value = to_value(*value_node, key);
      double number = 1.0;
      if (std::get_if<double>(&value.content) != nullptr) {
        number = std::get<double>(value.content);
      } else {
        StartValues axes;
        for (const std::string& axis : variables_of(value))
          axes.add(axis, machine_.numbers(first_of(study_, axis).value_or(Value(1.0)), axis));
        number = axes(value, key);
        if (!variables_of(value).empty()) varying_.insert(std::string(name.str()));
      }
      machine_.numbers.add(std::string(name.str()), number);
    }
  }

  /// Refuses a start that depends on a parameter of the ensemble, and that the trajectories would not get: the machine is put together once.
  void check_start(const Body& body) const {
    const auto ensemble = study_["ensemble"];
    if (ensemble["initial"]["q"]) return;
    const auto check = [&](const std::vector<Value>& values, const char* key) {
      for (const Value& value : values)
        for (const std::string& name : variables_of(value))
          if (varying_.contains(name))
            input_error(
                value.where,
                fmt::format("body {}: {} depends on {}, which varies over the ensemble, and the machine is put "
                            "together once, for the first value of each axis; give q and v of the trajectories in "
                            "[ensemble.initial], where 'rattleback describe STUDY' says what they are without",
                            quote(body.name), key, quote(name)));
    };
    check(body.velocity, "velocity");
    check(body.spin, "spin");
    if (ensemble["project"].value<bool>() == true) return;
    check(body.position, "position");
    check(body.rotation, "rotation");
  }

  void place_bodies() {
    machine_.planar = bodies_.front().inertia.size() == 1;
    machine_.parts.emplace_back().name = "ground";
    for (Body& body : bodies_) {
      if (const std::string fault = fault_of_symbol(body.name); !fault.empty() || body.name == "ground")
        input_error(body.where, fmt::format("{} cannot name a body ({})", quote(body.name),
                                            fault.empty() ? "it is the space in which bodies move" : fault));
      for (const Part& other : machine_.parts)
        if (other.name == body.name)
          input_error(body.where, fmt::format("two bodies are called {}; choose another name", quote(body.name)));
      const auto fail = [&](const std::string& why) {
        input_error(body.where, fmt::format("body {}: {}", quote(body.name), why));
      };
      if (machine_.planar != (body.inertia.size() == 1))
        fail(fmt::format(
            "it has {} of inertia, and body {} has {}; all bodies move in the plane (one moment), or all in "
            "space (three moments or three rows)",
            body.inertia.size() == 1 ? "one moment" : "a tensor", quote(bodies_.front().name),
            machine_.planar ? "one moment" : "a tensor"));
      if (!machine_.planar && body.inertia.size() != 3 && body.inertia.size() != 9)
        fail(fmt::format("inertia has {} entries; give three moments or three rows of three", body.inertia.size()));
      const auto positive = [&](const Value& value, const char* key) {
        const double number = machine_.numbers(value, path_of("body", key));
        if (!(number > 0.0))
          input_error(value.where, fmt::format("body {}: {} = {} must be above 0", quote(body.name), key, number));
      };
      positive(body.mass, "mass");
      for (std::size_t i = 0; i < body.inertia.size(); i += body.inertia.size() == 9 ? 4 : 1)
        positive(body.inertia[i], "inertia");
      if (body.inertia.size() == 9) check_tensor(body);
      check_start(body);
      machine_.parts.push_back(part_of(body));
    }
    if (machine_.bodies() * (machine_.planar ? 3 : 6) > most_coordinates)
      input_error(bodies_.back().where,
                  fmt::format("{} bodies have more than {} velocities; at most {} are possible", bodies_.size(),
                              most_coordinates, most_coordinates / (machine_.planar ? 3 : 6)));
    Part& ground = machine_.parts.front();
    for (std::size_t i = 0; i < 3; ++i) ground.R[i][i] = 1.0, ground.turn[i][i] = 1.0;
  }

  /// The rows of a tensor of inertia are symmetric and, with the parameters at the start, positive definite.
  void check_tensor(const Body& body) const {
    std::array<double, 9> entries{};
    for (std::size_t i = 0; i < 9; ++i) entries[i] = machine_.numbers(body.inertia[i], "body.inertia");
    const auto at = [&](std::size_t row, std::size_t column) { return entries[3 * row + column]; };
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (!(std::abs(at(i, j) - at(j, i)) <= 1e-12 * std::sqrt(at(i, i) * at(j, j))))  // more than rounding
          input_error(body.inertia[3 * i + j].where,
                      fmt::format("body {}: inertia is not symmetric: row {} has {} where row {} has {}",
                                  quote(body.name), i + 1, at(i, j), j + 1, at(j, i)));
    const double minor = at(0, 0) * at(1, 1) - at(0, 1) * at(0, 1),
                 determinant = at(2, 2) * minor - at(0, 0) * at(1, 2) * at(1, 2) - at(1, 1) * at(0, 2) * at(0, 2) +
                               2.0 * at(0, 1) * at(1, 2) * at(0, 2);
    if (!(minor > 0.0 && determinant > 0.0))
      input_error(body.inertia.front().where,
                  fmt::format("body {}: inertia is not positive definite, as that of a body is; correct the products "
                              "of inertia, which stand beside the diagonal",
                              quote(body.name)));
  }

  Part part_of(const Body& body) {
    Part part;
    part.name = body.name;
    part.body = &body;
    const std::string key = fmt::format("body '{}': ", body.name), &name = body.name;
    const auto named = [&](const std::string& what) { return Term(fmt::format("{}_{}", name, what)); };
    if (!body.position.empty()) part.start = machine_.start_vector(body.position, key + "position", body.where);
    if (!body.center.empty()) {
      part.center = machine_.vector(body.center, key + "center", body.where);
      part.start_center = machine_.start_vector(body.center, key + "center", body.where);
    }
    std::vector<double> turn;
    for (const Value& value : body.rotation) turn.push_back(machine_.numbers(value, key + "rotation"));
    Vector<double, 9> rotation = SO3::identity<double>();
    if (machine_.planar ? turn.size() > 1 : !turn.empty() && turn.size() != 3 && turn.size() != 9)
      input_error(body.where, fmt::format("{}rotation has {} numbers, and {} needed", key, turn.size(),
                                          machine_.planar ? "one angle is" : "3 or 9 are"));
    if (machine_.planar) {
      if (!turn.empty()) rotation = SO3::expand(Vector<double, 3>{0.0, 0.0, turn[0]});
    } else if (turn.size() == 3) {
      rotation = SO3::expand(Vector<double, 3>{turn[0], turn[1], turn[2]});
    } else if (turn.size() == 9) {
      std::copy(turn.begin(), turn.end(), rotation.entry);
      if (!(SO3::defect(rotation) <= 1e-6)) input_error(body.where, key + "rotation is not a rotation matrix");
      for (int i = 0; i < 4; ++i) rotation = SO3::normalise(rotation);
    }
    if (!(SO3::defect(rotation) <= 1e-12))
      input_error(body.where, key + "rotation is too large for an angle in radians; give one of a few turns");
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j) part.turn[i][j] = rotation.entry[3 * i + j];
    if (machine_.planar) {
      const Term angle = named("theta"), c = call("cos", angle), s = call("sin", angle);
      part.R = {Vec{c, -s, 0.0}, Vec{s, c, 0.0}, Vec{0.0, 0.0, 1.0}};
      part.x = {named("x"), named("y"), 0.0};
      part.v = {Term(fmt::format("v_{}_x", name)), Term(fmt::format("v_{}_y", name)), 0.0};
      part.omega = {0.0, 0.0, Term(fmt::format("v_{}_theta", name))};
      return part;
    }
    part.x = {named("x"), named("y"), named("z")};
    part.v = {Term(fmt::format("v_{}_x", name)), Term(fmt::format("v_{}_y", name)), Term(fmt::format("v_{}_z", name))};
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j) part.R[i][j] = named(fmt::format("R{}{}", i + 1, j + 1));
    part.omega = part.R * Vec{named("w1"), named("w2"), named("w3")};
    return part;
  }

  /// The names that formulas of the state may use.
  void name_state() {
    machine_.state.emplace_back("t");
    for (const Part& part : machine_.parts) {
      if (part.body == nullptr) continue;
      for (const Vec* vector : {&part.x, &part.v})
        for (const Term& one : *vector)
          if (!one.plain()) machine_.state.push_back(one.text);
      const std::vector<std::string> plane{"theta"},
          space{"R11", "R12", "R13", "R21", "R22", "R23", "R31", "R32", "R33", "w1", "w2", "w3"};
      for (const std::string& name : machine_.planar ? plane : space)
        machine_.state.push_back(fmt::format("{}_{}", part.name, name));
      if (machine_.planar) machine_.state.push_back(fmt::format("v_{}_theta", part.name));
    }
  }

  void read_gravity() {
    const toml::node* node = system_.get("gravity");
    if (node == nullptr) return;
    std::vector<Value> values;
    Entries::read(*node, "system.gravity", body_fields[0], values);
    const Vec gravity = machine_.vector(values, "system.gravity", place_of(node->source()));
    for (std::size_t i = 1; i < machine_.parts.size(); ++i) {
      const Part& part = machine_.parts[i];
      machine_.potential =
          machine_.potential + machine_.numbers.term(part.body->mass, "body.mass") * dot(-1.0 * gravity, part.x);
    }
  }

  /// Adds a formula to the one that the study gives.
  void add_formula(const char* key, const Term& term) {
    if (term.is(0.0)) return;
    std::string text = term.formula(), where = where_;
    if (const toml::node* node = system_.get(key)) {
      const Value own = to_value(*node, fmt::format("system.{}", key));
      where = own.where;
      const auto* words = std::get_if<std::string>(&own.content);
      text += words != nullptr ? fmt::format(" + ({})", *words) : fmt::format(" + {}", std::get<double>(own.content));
    }
    put(key, basic_string(text), where);
  }

  void write_system() {
    std::vector<std::string> names, coordinates, mass, inertia, force;
    bool acts = false;
    const auto text = [&](const Value& value, const char* key) {
      const Term term = machine_.numbers.term(value, key);
      return term.plain() ? toml_of(term.number) : basic_string(term.text);
    };
    for (std::size_t i = 1; i < machine_.parts.size(); ++i) {
      const Part& part = machine_.parts[i];
      names.push_back(basic_string(part.name));
      const std::string weight = text(part.body->mass, "body.mass");
      for (const char* axis : {"x", "y", "z"}) {
        if (machine_.planar && *axis == 'z') continue;
        coordinates.push_back(basic_string(fmt::format("{}_{}", part.name, axis)));
        mass.push_back(machine_.planar ? weight : fmt::format("{}_{} = {}", part.name, axis, weight));
      }
      std::vector<std::string> moments;
      for (const Value& value : part.body->inertia) moments.push_back(text(value, "body.inertia"));
      if (moments.size() == 9)  // symmetric but for rounding
        for (const auto [to, from] : {std::pair{3, 1}, {6, 2}, {7, 5}}) moments[to] = moments[from];
      if (machine_.planar) {
        coordinates.push_back(basic_string(part.name + "_theta"));
        mass.push_back(moments.front());
      } else if (moments.size() == 3) {
        inertia.push_back(fmt::format("{} = [{}]", part.name, fmt::join(moments, ", ")));
      } else {
        std::vector<std::string> rows;
        for (std::size_t row = 0; row < 9; row += 3)
          rows.push_back(fmt::format("[{}, {}, {}]", moments[row], moments[row + 1], moments[row + 2]));
        inertia.push_back(fmt::format("{} = [{}]", part.name, fmt::join(rows, ", ")));
      }
    }
    const auto add = [&](const Term& term) {
      acts = acts || !term.is(0.0);
      force.push_back(basic_string(term.formula()));
    };
    const auto each = [&](auto&& of) {
      for (std::size_t i = 1; i < machine_.parts.size(); ++i) of(machine_.parts[i]);
    };
    if (machine_.planar) {
      each([&](const Part& part) { add(part.force[0]), add(part.force[1]), add(part.torque[2]); });
      put("mass", fmt::format("[{}]", fmt::join(mass, ", ")), where_);
    } else {
      each([&](const Part& part) {
        for (const Term& one : part.torque) add(one);
      });
      each([&](const Part& part) {
        for (const Term& one : part.force) add(one);
      });
      put("group", basic_string(fmt::format("SO(3)^{} x R^{}", machine_.bodies(), 3 * machine_.bodies())), where_);
      put("bodies", fmt::format("[{}]", fmt::join(names, ", ")), where_);
      put("mass", fmt::format("{{ {} }}", fmt::join(mass, ", ")), where_);
      put("inertia", fmt::format("{{ {} }}", fmt::join(inertia, ", ")), where_);
    }
    put("coordinates", fmt::format("[{}]", fmt::join(coordinates, ", ")), where_);
    if (acts) put("force", fmt::format("[{}]", fmt::join(force, ", ")), where_);
    add_formula("potential", machine_.potential);
    add_formula("dissipation", machine_.dissipation);
    if (!system_.contains("observables")) system_.insert("observables", toml::table());
    if (toml::table* observables = system_["observables"].as_table())
      for (const auto& [name, formula] : machine_.observables)
        if (!observables->contains(name) && observables->size() < static_cast<std::size_t>(most_observables))
          observables->insert(name, PlacedNode(basic_string(formula), where_)());
  }

  void write_rows(const char* key, const std::vector<JointRow>& rows) {
    toml::array formulas;
    for (const JointRow& row : rows) formulas.push_back(PlacedNode(basic_string(row.formula), row.joint->where)());
    if (toml::node* own = system_.get(key)) {
      if (!own->is_array()) wrong_type(*own, fmt::format("system.{}", key), "an array of formulas");
      for (toml::node& one : *own->as_array()) formulas.push_back(std::move(one));
    }
    if (!formulas.empty()) system_.insert_or_assign(key, std::move(formulas));
  }

  /// Names the multipliers: lambda_pin_0, lambda_pin_1, .. are those of the joint 'pin'.
  void write_multipliers(const MachineStart& start) {
    std::vector<std::string> all;
    std::map<std::string, int> of_joint;
    const auto add = [&](const std::vector<JointRow>& rows, std::size_t others) {
      for (const JointRow& row : rows)
        all.push_back(fmt::format("{{ name = \"lambda_{0}_{1}\", joint = \"{0}\", unit = \"{2}\", text = {3} }}",
                                  row.joint->name, of_joint[row.joint->name]++, row.unit, basic_string(row.text)));
      all.insert(all.end(), others, "{ }");
    };
    add(machine_.positions, start.other_positions);
    add(machine_.velocities, start.other_velocities);
    if (!all.empty()) put("multipliers", fmt::format("[{}]", fmt::join(all, ", ")), where_);
  }

  toml::table& study_;
  toml::table system_;
  std::string where_;
  std::vector<Body> bodies_;
  std::vector<Joint> joints_;
  std::set<std::string> varying_;  ///< parameters that depend on the axes of the ensemble
  Machine machine_;
};

}  // namespace

void assemble_machine(toml::table& study) {
  if (!study.contains("body") && !study.contains("joint")) return;
  MachineReader read(study);
  read();
}

}  // namespace rattleback
