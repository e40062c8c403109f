#pragma once
// A key of a study file is one row of a table: its name, its type, its range, its default, and what it means. The reader, the
// effective study, the checks of ranges, `--set`, `rattleback list keys`, the JSON schema and the tests of docs/study-file.md
// follow from the rows (tables.cpp). How values of a type stand in the file is the type's Grammar.

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rattleback/study/study.hpp"
#include "rattleback/study/toml.hpp"

namespace rattleback {

/// When the effective study has a key.
enum class Shown {
  given,    ///< unless the value is empty: no text, no elements, an optional without value
  always,   ///< also an array without elements
  changed,  ///< unless the value is the default
  apart,    ///< in a table of its own
};

/// What is known of a key without the object that has its value.
struct FieldInfo {
  const char* key;
  const char* standard;     ///< the default in Markdown; "required" where the key must be given
  const char* text;         ///< what the value means, in Markdown
  const char* wanted = "";  ///< the type for messages, where it says more than the grammar: "an array of levels"
  double minimum = -std::numeric_limits<double>::infinity(), maximum = std::numeric_limits<double>::infinity();
  bool above = false;  ///< the minimum itself is out of range
  std::span<const char* const> choices = {};
  const char* excludes = "";  ///< the key of the same table from which the value would follow
  Shown shown = Shown::given;
  unsigned kinds = ~0u;     ///< of an axis: the kinds that have the key (AxisKinds)
  bool list = false;        ///< of the grammar: `schema` is that of an element
  const char* schema = "";  ///< of the grammar: the JSON schema of a value; "" for a table with rows of its own
  std::vector<FieldInfo> (*table)() = nullptr;  ///< of the grammar: these rows

  [[nodiscard]] bool required() const { return std::string_view(standard) == "required"; }
  /// Returns "above 0 and at most 1e-6", "in 1 to 10000", "at least 1"; "" without bounds.
  [[nodiscard]] std::string range() const;
  /// Returns whether the row allows only some numbers or texts.
  [[nodiscard]] bool limits() const;
  /// These two throw Error(input) when the row does not allow a value. An empty text is no choice, and allowed.
  void check(double number, const std::string& key, const std::string& where) const;
  void check(const std::string& choice, const std::string& key, const std::string& where) const;
};

/// A row: the key, and how it is read into an object and written from it.
template <class Object>
struct Field : FieldInfo {
  void (*read)(const toml::node&, const std::string& key, const FieldInfo&, Object&);
  std::string (*write)(const FieldInfo&, const Object&);  ///< "" where the effective study lacks the key
  /// Throws Error(input) when a number is out of range, or a text is no choice, also in the tables of the value.
  void (*check_value)(const FieldInfo&, const Object&, const std::string& key, const Study&);
};

// Grammars. Each has the words of its type for messages, the JSON schema, and functions that read a node and write TOML.

/// Returns the shortest decimal that reads back as the same double, in the form of a TOML float.
[[nodiscard]] std::string toml_of(double value);
[[nodiscard]] std::string toml_of(const std::string& text);
[[nodiscard]] std::string toml_of(const Value& value);

template <class T>
struct Grammar;

namespace field_parts {

/// Checks a value that the grammar G reads.
template <class G, class T>
void check_value(const FieldInfo& row, const T& value, const std::string& key, const Study& study) {
  if constexpr (requires { G::check(row, value, key, study); }) {
    G::check(row, value, key, study);
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!row.choices.empty() && !value.empty()) row.check(value, key, study.place(key));
  } else if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
    row.check(static_cast<double>(value), key, study.place(key));
  }
}

}  // namespace field_parts

template <>
struct Grammar<std::string> {
  static constexpr const char *wanted = "a string", *schema = R"({"type":"string","minLength":1})";
  static void read(const toml::node& node, const std::string& key, const FieldInfo&, std::string& target) {
    target = to_text(node, key);
  }
  static std::string write(const FieldInfo&, const std::string& text) { return toml_of(text); }
};

template <>
struct Grammar<std::filesystem::path> : Grammar<std::string> {
  static void read(const toml::node& node, const std::string& key, const FieldInfo&, std::filesystem::path& target) {
    target = to_text(node, key);
  }
  static std::string write(const FieldInfo&, const std::filesystem::path& path) { return toml_of(path.string()); }
};

template <>
struct Grammar<bool> {
  static constexpr const char *wanted = "true or false", *schema = R"({"type":"boolean"})";
  static void read(const toml::node& node, const std::string& key, const FieldInfo&, bool& target) {
    target = to_flag(node, key);
  }
  static std::string write(const FieldInfo&, bool flag) { return flag ? "true" : "false"; }
};

/// A whole number from 0.
template <std::integral T>
struct Grammar<T> {
  static constexpr const char *wanted = "a whole number", *schema = R"({"type":"integer","minimum":0})";
  static void read(const toml::node& node, const std::string& key, const FieldInfo&, T& target) {
    target = static_cast<T>(to_count(node, key));
  }
  static std::string write(const FieldInfo&, T value) { return fmt::format("{}", value); }
};

/// A constant.
template <>
struct Grammar<double> {
  static constexpr const char *wanted = "a number or a constant", *schema = R"({"type":["number","string"]})";
  static void read(const toml::node& node, const std::string& key, const FieldInfo&, double& target) {
    target = to_number(node, key);
  }
  static std::string write(const FieldInfo&, double value) { return toml_of(value); }
};

/// A number, or an expression in the axes.
template <>
struct Grammar<Value> {
  static constexpr const char *wanted = "a number or an expression", *schema = R"({"type":["number","string"]})";
  static void read(const toml::node& node, const std::string& key, const FieldInfo&, Value& target) {
    target = to_value(node, key);
  }
  static std::string write(const FieldInfo&, const Value& value) { return toml_of(value); }
};

template <class T>
struct Grammar<std::optional<T>> : Grammar<T> {
  static void read(const toml::node& node, const std::string& key, const FieldInfo& row, std::optional<T>& target) {
    Grammar<T>::read(node, key, row, target.emplace());
  }
  static std::string write(const FieldInfo& row, const std::optional<T>& value) {
    return Grammar<T>::write(row, *value);
  }
  static void check(const FieldInfo& row, const std::optional<T>& value, const std::string& key, const Study& study) {
    if (value) field_parts::check_value<Grammar<T>>(row, *value, key, study);
  }
};

template <class T>
struct Grammar<std::vector<T>> {
  static constexpr const char *wanted = "an array", *schema = Grammar<T>::schema;
  static constexpr bool list = true;
  static void read(const toml::node& node, const std::string& key, const FieldInfo& row, std::vector<T>& target) {
    const toml::array* array = node.as_array();
    if (array == nullptr) wrong_type(node, key, row.wanted);
    target.clear();
    for (std::size_t i = 0; i < array->size(); ++i)
      Grammar<T>::read(*array->get(i), fmt::format("{}[{}]", key, i), row, target.emplace_back());
  }
  static std::string write(const FieldInfo& row, const std::vector<T>& values) {
    std::string text = "[";
    for (const T& value : values) text += (text.size() > 1 ? ", " : "") + Grammar<T>::write(row, value);
    return text + "]";
  }
  static std::vector<FieldInfo> rows()
    requires requires { Grammar<T>::rows(); }
  {
    return Grammar<T>::rows();
  }
  static void check(const FieldInfo& row, const std::vector<T>& values, const std::string& key, const Study& study) {
    constexpr bool tables = requires { Grammar<T>::rows(); };
    if (!tables && !row.limits()) return;
    for (std::size_t i = 0; i < values.size(); ++i)
      field_parts::check_value<Grammar<T>>(row, values[i], fmt::format("{}[{}]", key, i), study);
  }
};

/// One of the choices of the row, as an enumeration in their order.
template <class Enum>
struct Choice {
  static constexpr const char *wanted = "a string", *schema = R"({"type":"string"})";
  static void read(const toml::node& node, const std::string& key, const FieldInfo& row, Enum& target) {
    const std::string name = to_text(node, key);
    row.check(name, row.key, place_of(node.source()));
    target = static_cast<Enum>(std::ranges::find(row.choices, name) - row.choices.begin());
  }
  static std::string write(const FieldInfo& row, const Enum& value) {
    return toml_of(std::string(row.choices[static_cast<std::size_t>(value)]));
  }
};

namespace field_parts {

template <class Pointer>
struct MemberOf;
template <class Class, class Member>
struct MemberOf<Member Class::*> {
  using object = Class;
  using type = Member;
};

template <class T>
bool is_empty(const T& value) {
  if constexpr (requires { value.empty(); }) return value.empty();
  if constexpr (requires { value.has_value(); }) return !value.has_value();
  return false;
}

template <class G>
consteval FieldInfo with_grammar(FieldInfo info) {
  info.schema = G::schema;
  if constexpr (requires { G::list; }) info.list = G::list;
  if constexpr (requires { G::rows(); }) info.table = &G::rows;
  if (*info.wanted == '\0') info.wanted = G::wanted;
  return info;
}

}  // namespace field_parts

/// The row of a member of the object. `G` replaces the grammar of the member's type.
template <auto member, class G = Grammar<typename field_parts::MemberOf<decltype(member)>::type>>
consteval auto field(FieldInfo info) {
  using Object = typename field_parts::MemberOf<decltype(member)>::object;
  return Field<Object>{field_parts::with_grammar<G>(info),
                       [](const toml::node& node, const std::string& key, const FieldInfo& row, Object& object) {
                         G::read(node, key, row, object.*member);
                       },
                       [](const FieldInfo& row, const Object& object) -> std::string {
                         const auto& value = object.*member;
                         if (row.shown != Shown::always && field_parts::is_empty(value)) return "";
                         if (row.shown == Shown::changed && G::write(row, value) == G::write(row, Object{}.*member))
                           return "";
                         return G::write(row, value);
                       },
                       [](const FieldInfo& row, const Object& object, const std::string& key, const Study& study) {
                         field_parts::check_value<G>(row, object.*member, key, study);
                       }};
}

/// The row of a value that several members make up. `G` reads and writes the object.
template <class Object, class G>
consteval Field<Object> field_of(FieldInfo info) {
  return {field_parts::with_grammar<G>(info), &G::read, &G::write, &field_parts::check_value<G, Object>};
}

/// Returns the full name of a key: "time.step".
[[nodiscard]] std::string path_of(std::string_view table, std::string_view key);

/// Throws Error(input) with the nearest key for one that no row names.
void check_known(const toml::table& table, std::string_view path, std::span<const FieldInfo* const> rows);
/// Throws Error(input) also for keys that exclude each other and for required keys that are missing.
void check_keys(const toml::table& table, std::string_view path, std::span<const FieldInfo* const> rows);

/// Returns the rows that one of the `kinds` has.
template <class Object>
std::vector<const FieldInfo*> rows_of(std::span<const Field<Object>> fields, unsigned kinds) {
  std::vector<const FieldInfo*> rows;
  for (const Field<Object>& field : fields)
    if ((field.kinds & kinds) != 0) rows.push_back(&field);
  return rows;
}

/// Reads the keys of a table that rows have into an object.
template <class Object>
void read_rows(const toml::table& table, const std::string& path, std::span<const Field<Object>> fields, Object& object,
               unsigned kinds = ~0u) {
  for (const Field<Object>& field : fields)
    if (const toml::node* node = table.get(field.key); node != nullptr && (field.kinds & kinds) != 0)
      field.read(*node, path_of(path, field.key), field, object);
}

/// Reads the keys of a table into an object, after check_keys.
template <class Object>
void read_fields(const toml::table& table, const std::string& path, std::span<const Field<Object>> fields,
                 Object& object, unsigned kinds = ~0u) {
  check_keys(table, path, rows_of(fields, kinds));
  read_rows(table, path, fields, object, kinds);
}

/// Calls write(key, value as TOML) for the keys that the effective study has.
template <class Object, class Write>
void write_fields(std::span<const Field<Object>> fields, const Object& object, Write write, unsigned kinds = ~0u) {
  for (const Field<Object>& field : fields)
    if ((field.kinds & kinds) != 0 && field.shown != Shown::apart)
      if (const std::string value = field.write(field, object); !value.empty()) write(field.key, value);
}

/// Returns an object as an inline table: "{ from = 0.0, to = 1.0 }".
template <class Object>
std::string inline_table(std::span<const Field<Object>> fields, const Object& object, unsigned kinds = ~0u) {
  std::string text;
  write_fields(
      fields, object,
      [&](const char* key, const std::string& value) {
        text += fmt::format("{} {} = {}", text.empty() ? "" : ",", key, value);
      },
      kinds);
  return fmt::format("{{{} }}", text);
}

/// Checks the ranges and choices of all rows.
template <class Object>
void check_rows(std::span<const Field<Object>> fields, const Object& object, const std::string& path,
                const Study& study) {
  for (const Field<Object>& field : fields) field.check_value(field, object, path_of(path, field.key), study);
}

/// A table of a study file. "[]" marks an element of an array: "observable[]", "ensemble.axes[]".
struct TableInfo {
  std::string path;
  std::vector<FieldInfo> fields;
};
/// Returns all tables that the rows lead to; a table inside of another one follows it.
[[nodiscard]] const std::vector<TableInfo>& study_tables();

/// Checks the ranges and choices of all keys, also in a study that comes from no file. Throws Error(input).
void check_fields(const Study& study);

}  // namespace rattleback
