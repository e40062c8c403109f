#pragma once
// Grammars of values that are more than a number, a text or a list of these (grammar.cpp).

#include "rattleback/study/fields.hpp"
#include "rattleback/study/study.hpp"

namespace rattleback {

template <>
struct Grammar<std::map<std::string, Value>> {
  static constexpr const char *wanted = "a table",
                              *schema = R"({"type":"object","additionalProperties":{"type":["number","string"]}})";
  static void read(const toml::node&, const std::string& key, const FieldInfo&, std::map<std::string, Value>&);
  static std::string write(const FieldInfo&, const std::map<std::string, Value>&);
};

template <>
struct Grammar<ErrorReference> {
  static constexpr const char *wanted = "\"initial\" or a number", *schema = R"({"type":["number","string"]})";
  static void read(const toml::node&, const std::string& key, const FieldInfo&, ErrorReference&);
  static std::string write(const FieldInfo&, const ErrorReference&);
};

/// "10min", "30s" or "2h" as time, a whole number as steps, or "off".
template <>
struct Grammar<Study::Checkpoint> {
  static constexpr const char *
      wanted = "a time (\"10min\"; units ms, s, min, h, d), a number of steps, or \"off\"",
     *schema =
         R"({"anyOf":[{"type":"integer","minimum":1},{"type":"string","pattern":"^(off|[0-9.]+(e[+-]?[0-9]+)?(ms|s|min|h|d))$"}]})";
  static void read(const toml::node&, const std::string& key, const FieldInfo&, Study::Checkpoint&);
  static std::string write(const FieldInfo&, const Study::Checkpoint&);
};

template <>
struct Grammar<Axis> {
  static constexpr const char *wanted = "a table", *schema = "";
  static std::vector<FieldInfo> rows();
  static void read(const toml::node&, const std::string& key, const FieldInfo&, Axis&);
  static std::string write(const FieldInfo&, const Axis&);
};

/// The values of a part of the initial state: one per component, so not none.
struct Components : Grammar<std::vector<Value>> {
  static constexpr const char* schema =
      R"({"anyOf":[{"type":"string","pattern":"^for "},{"type":"array","items":{"type":["number","string"]}}]})";
  static constexpr bool list = false;
  static void read(const toml::node&, const std::string& key, const FieldInfo&, std::vector<Value>&);
};

/// The axes, one per line.
struct Axes : Grammar<std::vector<Axis>> {
  static std::string write(const FieldInfo&, const std::vector<Axis>&);
};

/// The kind of a random axis, and where its draws come from.
struct Distribution {
  static constexpr const char *wanted = "a string", *schema = R"({"type":"string"})";
  static void read(const toml::node&, const std::string& key, const FieldInfo&, Axis&);
  static std::string write(const FieldInfo&, const Axis&);
};

struct Direction {
  static constexpr const char *wanted = R"("+", "-" or "both")", *schema = R"({"type":"string"})";
  static void read(const toml::node&, const std::string& key, const FieldInfo&, int&);
  static std::string write(const FieldInfo&, int);
};

/// Indices of trajectories, or "all".
struct Trajectories {
  static constexpr const char
      *wanted = "an array of indices or \"all\"",
      *schema = R"({"anyOf":[{"const":"all"},{"type":"array","items":{"type":"integer","minimum":0}}]})";
  static void read(const toml::node&, const std::string& key, const FieldInfo&, Study::Output&);
  static std::string write(const FieldInfo&, const Study::Output&);
};

/// A table whose keys are members of the object.
template <class Object, const auto& fields>
struct TableOf {
  static constexpr const char *wanted = "a table", *schema = "";
  static void read(const toml::node& node, const std::string& key, const FieldInfo& row, Object& object) {
    if (!node.is_table()) wrong_type(node, key, row.wanted);
    if constexpr (requires { object.where; })
      if (object.where.empty()) object.where = place_of(node.source());
    read_fields<Object>(*node.as_table(), key, fields, object);
  }
  static std::string write(const FieldInfo&, const Object& object) { return inline_table<Object>(fields, object); }
  static std::vector<FieldInfo> rows() { return {std::begin(fields), std::end(fields)}; }
  static void check(const FieldInfo&, const Object& object, const std::string& key, const Study& study) {
    check_rows<Object>(fields, object, key, study);
  }
};

/// A table that more than its rows is read from.
template <class Object, const auto& fields>
struct Separate : TableOf<Object, fields> {
  static void read(const toml::node&, const std::string&, const FieldInfo&, Object&) {}
  static std::string write(const FieldInfo&, const Object&) { return ""; }
};

/// Tables that become others before the study is read.
template <const auto& fields>
struct Assembled {
  static constexpr const char *wanted = "an array of tables", *schema = "";
  static constexpr bool list = true;
  static void read(const toml::node&, const std::string&, const FieldInfo&, Study&) {}
  static std::string write(const FieldInfo&, const Study&) { return ""; }
  static std::vector<FieldInfo> rows() { return {std::begin(fields), std::end(fields)}; }
};

}  // namespace rattleback
