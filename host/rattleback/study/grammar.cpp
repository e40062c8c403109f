// The values of a study file that are more than a number, a text or a list of these.

#include <algorithm>
#include <charconv>
#include <cmath>

#include "rattleback/study/formulas_text.hpp"
#include "rattleback/study/tables.hpp"

namespace rattleback {
namespace {

const toml::table& to_table(const toml::node& node, const std::string& key) {
  if (!node.is_table()) wrong_type(node, key, "a table");
  return *node.as_table();
}

/// Returns the kinds whose rows the effective study has.
unsigned kinds_of(const Axis& axis) {
  constexpr AxisKinds kinds[] = {range_axis, values_axis, uniform_axis, normal_axis};
  return kinds[static_cast<int>(axis.kind)];
}

}  // namespace

std::string toml_of(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string toml_of(const std::string& text) { return basic_string(text); }

std::string toml_of(const Value& value) {
  return std::visit([](const auto& content) { return toml_of(content); }, value.content);
}

std::string_view name_of(Axis::Points points) {
  return points == Axis::Points::sobol ? "sobol" : points == Axis::Points::lattice ? "lattice" : "random";
}

void Grammar<std::map<std::string, Value>>::read(const toml::node& node, const std::string& key, const FieldInfo&,
                                                 std::map<std::string, Value>& target) {
  for (const auto& [name, value] : to_table(node, key))
    target[std::string(name.str())] = to_value(value, fmt::format("{}.{}", key, name.str()));
}

std::string Grammar<std::map<std::string, Value>>::write(const FieldInfo&, const std::map<std::string, Value>& values) {
  std::string text;
  for (const auto& [name, value] : values)
    text += fmt::format("{} {} = {}", text.empty() ? "" : ",", name, toml_of(value));
  return fmt::format("{{{} }}", text);
}

void Grammar<ErrorReference>::read(const toml::node& node, const std::string& key, const FieldInfo& row,
                                   ErrorReference& reference) {
  const auto* text = node.as_string();
  if (text != nullptr && text->get() != "initial")
    input_error(place_of(node.source()), fmt::format("{} must be {} (got {})", key, row.wanted, quote(text->get())));
  reference = text != nullptr ? ErrorReference::initial() : ErrorReference(to_number(node, key));
}

std::string Grammar<ErrorReference>::write(const FieldInfo&, const ErrorReference& reference) {
  return reference == ErrorReference::initial() ? "\"initial\"" : toml_of(reference.number);
}

void Grammar<Study::Checkpoint>::read(const toml::node& node, const std::string& key, const FieldInfo& row,
                                      Study::Checkpoint& checkpoint) {
  checkpoint = {0.0, 0};
  if (node.is_integer() || node.is_floating_point()) {
    checkpoint.steps = to_count(node, key);
    if (checkpoint.steps > 0) return;
  } else {
    const std::string text = to_text(node, key);
    if (text == "off") return;
    static constexpr std::pair<std::string_view, double> units[] = {
        {"ms", 1e-3}, {"min", 60.0}, {"s", 1.0}, {"h", 3600.0}, {"d", 86400.0}};
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
    for (const auto& [name, seconds] : units)
      if (error == std::errc() && unit == name) checkpoint.seconds = number * seconds;
    if (checkpoint.seconds > 0 && std::isfinite(checkpoint.seconds)) return;
  }
  input_error(place_of(node.source()), fmt::format("{} must be {}", key, row.wanted));
}

std::string Grammar<Study::Checkpoint>::write(const FieldInfo&, const Study::Checkpoint& checkpoint) {
  if (checkpoint.steps > 0) return fmt::format("{}", checkpoint.steps);
  if (checkpoint.seconds == 0) return "\"off\"";
  const double minutes = checkpoint.seconds / 60;
  return std::trunc(minutes) == minutes ? fmt::format("\"{}min\"", minutes)
                                        : fmt::format("\"{}s\"", checkpoint.seconds);
}

void Distribution::read(const toml::node& node, const std::string& key, const FieldInfo& row, Axis& axis) {
  const std::string name = to_text(node, key);
  row.check(name, row.key, place_of(node.source()));
  if (name == "normal") axis.kind = Axis::Kind::normal;
  if (name == "uniform") axis.kind = Axis::Kind::uniform;  // a quasi-random axis may be either
  axis.points = name == "sobol"     ? Axis::Points::sobol
                : name == "lattice" ? Axis::Points::lattice
                                    : Axis::Points::random;
}

std::string Distribution::write(const FieldInfo&, const Axis& axis) {
  if (axis.points != Axis::Points::random) return toml_of(std::string(name_of(axis.points)));
  return axis.kind == Axis::Kind::normal ? "\"normal\"" : "\"uniform\"";
}

/// The draws of "uniform" and "normal" are random. A quasi-random axis is normal if it has `mean` or `std`, else uniform.
void Grammar<Axis>::read(const toml::node& node, const std::string& key, const FieldInfo&, Axis& axis) {
  const toml::table& table = to_table(node, key);
  axis.where = place_of(node.source());
  if (const toml::node* distribution = table.get("distribution")) {
    Distribution::read(*distribution, key + ".distribution", axis_fields[1], axis);
    const bool quasi_random = axis.points != Axis::Points::random;
    const bool normal =
        axis.kind == Axis::Kind::normal || (quasi_random && (table.contains("mean") || table.contains("std")));
    axis.kind = normal ? Axis::Kind::normal : Axis::Kind::uniform;
    if (quasi_random) {
      check_known(table, key, rows_of<Axis>(axis_fields, uniform_axis | normal_axis));
      const char* bound = table.contains("from") ? "from" : table.contains("to") ? "to" : nullptr;
      if (normal && bound != nullptr)
        input_error(axis.where,
                    fmt::format("{} has {} and {} (a uniform axis has from and to, a normal axis mean and std); leave "
                                "one of them out",
                                key, bound, table.contains("mean") ? "mean" : "std"));
    }
  } else {
    axis.kind = table.contains("values") ? Axis::Kind::values : Axis::Kind::range;
  }
  read_fields<Axis>(table, key, axis_fields, axis, kinds_of(axis));
}

std::vector<FieldInfo> Grammar<Axis>::rows() { return {std::begin(axis_fields), std::end(axis_fields)}; }

std::string Grammar<Axis>::write(const FieldInfo&, const Axis& axis) {
  return inline_table<Axis>(axis_fields, axis, kinds_of(axis));
}

std::string Axes::write(const FieldInfo& row, const std::vector<Axis>& axes) {
  std::string text;
  for (const Axis& axis : axes) text += fmt::format("  {},\n", Grammar<Axis>::write(row, axis));
  return fmt::format("[\n{}]", text);
}

void Components::read(const toml::node& node, const std::string& key, const FieldInfo& row,
                      std::vector<Value>& values) {
  if (const auto* text = node.as_string(); text != nullptr && text->get().starts_with("for ")) {
    values = {to_value(node, key)};
    return;
  }
  Grammar<std::vector<Value>>::read(node, key, row, values);
  if (values.empty())
    input_error(place_of(node.source()),
                fmt::format("{} is empty; leave the key out or give a value per component", key));
}

void Direction::read(const toml::node& node, const std::string& key, const FieldInfo& row, int& direction) {
  const std::string name = to_text(node, key);
  if (std::ranges::find(row.choices, name) == row.choices.end())
    input_error(place_of(node.source()), fmt::format("{} must be {} (got {})", key, row.wanted, quote(name)));
  direction = name == "+" ? 1 : name == "-" ? -1 : 0;
}

std::string Direction::write(const FieldInfo&, int direction) {
  return direction == 0 ? "\"both\"" : direction > 0 ? "\"+\"" : "\"-\"";
}

void Trajectories::read(const toml::node& node, const std::string& key, const FieldInfo& row, Study::Output& output) {
  output.all_trajectories = node.is_string() && node.as_string()->get() == "all";
  if (!output.all_trajectories) Grammar<std::vector<std::uint64_t>>::read(node, key, row, output.trajectories);
}

std::string Trajectories::write(const FieldInfo& row, const Study::Output& output) {
  return output.all_trajectories ? "\"all\"" : Grammar<std::vector<std::uint64_t>>::write(row, output.trajectories);
}

}  // namespace rattleback
