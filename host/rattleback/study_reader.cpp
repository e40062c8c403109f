#include "rattleback/study_reader.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <climits>
#include <cmath>

#include "rattleback/expression.hpp"
#include "rattleback/message.hpp"

namespace rattleback {
namespace {

constexpr std::string_view option_prefix = "--set ";

bool from_option(const toml::node& node) {
  const auto& path = node.source().path;
  return path && path->starts_with(option_prefix);
}

std::string place_of(const toml::source_region& source) {
  if (!source.path) return "";
  // An option has no lines.
  if (source.path->starts_with(option_prefix)) return *source.path;
  return fmt::format("{}:{}", *source.path, source.begin.line);
}

std::string_view kind_of(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "an array";
    case toml::node_type::string:
      return "a string";
    case toml::node_type::integer:
      return "an integer";
    case toml::node_type::floating_point:
      return "a number";
    case toml::node_type::boolean:
      return "a boolean";
    default:
      return "a date or time";
  }
}

[[noreturn]] void wrong_type(const toml::node& node, std::string_view key, std::string_view wanted) {
  input_error(place_of(node.source()), fmt::format("{} must be {} (got {})", key, wanted, kind_of(node)));
}

// Conversion of single nodes; `key` is the full key, for messages.

std::string to_text(const toml::node& node, const std::string& key) {
  if (const auto* text = node.as_string()) return text->get();
  wrong_type(node, key, "a string");
}

bool to_flag(const toml::node& node, const std::string& key) {
  if (const auto* flag = node.as_boolean()) return flag->get();
  wrong_type(node, key, "true or false");
}

std::uint64_t to_count(const toml::node& node, const std::string& key) {
  if (const auto* integer = node.as_integer()) {
    if (integer->get() >= 0) return static_cast<std::uint64_t>(integer->get());
    input_error(place_of(node.source()), fmt::format("{} must not be negative (got {})", key, integer->get()));
  }
  // 1e6 is a number to TOML and a count to its author.
  if (const auto* number = node.as_floating_point()) {
    const double value = number->get();
    if (value >= 0 && value < 0x1p63 && std::trunc(value) == value) return static_cast<std::uint64_t>(value);
    input_error(place_of(node.source()), fmt::format("{} must be a whole number from 0 (got {})", key, value));
  }
  wrong_type(node, key, "a whole number");
}

int to_int(const toml::node& node, const std::string& key) {
  return static_cast<int>(std::min<std::uint64_t>(to_count(node, key), INT_MAX));
}

Value to_value(const toml::node& node, const std::string& key) {
  Value value;
  value.where = place_of(node.source());
  if (const auto* integer = node.as_integer()) {
    value.content = static_cast<double>(integer->get());
  } else if (const auto* number = node.as_floating_point()) {
    value.content = number->get();
    if (!std::isfinite(number->get())) {
      input_error(value.where, fmt::format("{} must be finite (got {})", key, number->get()));
    }
  } else if (const auto* text = node.as_string()) {
    value.content = text->get();
  } else {
    wrong_type(node, key, "a number or an expression");
  }
  return value;
}

double to_number(const toml::node& node, const std::string& key) { return constant(to_value(node, key), key); }

/// A table whose keys are all known.
class Section {
 public:
  Section(const toml::table& table, std::string path, std::vector<std::string> names)
      : table_(table), path_(std::move(path)) {
    for (const auto& [key, node] : table_) {
      if (std::ranges::find(names, key.str()) != names.end()) continue;
      const toml::source_region& source = key.source().path ? key.source() : node.source();
      const std::string inside = path_.empty() ? "at the top level" : fmt::format("in [{}]", path_);
      input_error(place_of(source), fmt::format("unknown key '{}' {} (known: {}){}", key.str(), inside, join(names),
                                                did_you_mean(key.str(), names)));
    }
  }

  [[nodiscard]] std::string path(std::string_view key) const {
    return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
  }
  [[nodiscard]] std::string where() const { return place_of(table_.source()); }
  [[nodiscard]] const toml::node* find(std::string_view key) const { return table_.get(key); }

  /// Stores convert(node, full key) in `target` if the key is there.
  template <class Target, class Convert>
  void read(std::string_view key, Target& target, Convert convert) const {
    if (const toml::node* node = find(key)) target = convert(*node, path(key));
  }
  template <class Target, class Convert>
  void require(std::string_view key, Target& target, Convert convert) const {
    if (find(key) == nullptr) input_error(where(), fmt::format("{} is missing", path(key)));
    read(key, target, convert);
  }

  void exclude(std::string_view a, std::string_view b) const {
    if (find(a) != nullptr && find(b) != nullptr) {
      input_error(
          place_of(find(b)->source()),
          fmt::format("{} and {} are both given (one follows from the other); leave one out", path(a), path(b)));
    }
  }

  [[nodiscard]] const toml::table* table(std::string_view key) const {
    const toml::node* node = find(key);
    if (node != nullptr && !node->is_table()) wrong_type(*node, path(key), "a table");
    return node != nullptr ? node->as_table() : nullptr;
  }

  /// The converted elements of an array; empty when the key is absent.
  template <class Convert>
  [[nodiscard]] auto elements(std::string_view key, std::string_view wanted, Convert convert) const {
    std::vector<decltype(convert(table_, path_))> result;
    const toml::node* node = find(key);
    if (node == nullptr) return result;
    const toml::array* array = node->as_array();
    if (array == nullptr) wrong_type(*node, path(key), wanted);
    for (std::size_t i = 0; i < array->size(); ++i) {
      result.push_back(convert(*array->get(i), fmt::format("{}[{}]", path(key), i)));
    }
    return result;
  }

 private:
  const toml::table& table_;
  std::string path_;
};

// Overrides

/// A key, or the index of an array element.
using Step = std::variant<std::string, std::size_t>;

/// "ensemble.axes[0].count" taken apart; empty when malformed.
std::vector<Step> parse_key(std::string_view key) {
  std::vector<Step> steps;
  std::size_t i = 0;
  while (i < key.size()) {
    if (key[i] == '[') {
      std::size_t index = 0;
      const auto [end, error] = std::from_chars(key.data() + i + 1, key.data() + key.size(), index);
      i = static_cast<std::size_t>(end - key.data());
      if (steps.empty() || error != std::errc() || i == key.size() || key[i] != ']') return {};
      steps.emplace_back(index);
      ++i;
    } else {
      if (steps.empty() == (key[i] == '.')) return {};
      if (key[i] == '.') ++i;
      const std::size_t begin = i;
      while (i < key.size() && (std::isalnum(static_cast<unsigned char>(key[i])) || key[i] == '_' || key[i] == '-'))
        ++i;
      if (i == begin) return {};
      steps.emplace_back(std::string(key.substr(begin, i - begin)));
    }
  }
  return steps;
}

/// A document `value = TEXT`; where TEXT is no TOML value, it is a string.
toml::table parse_value(std::string_view text, const std::string& where) {
  try {
    toml::table document = toml::parse(fmt::format("value = {}", text), where);
    if (document.size() == 1) return document;
  } catch (const toml::parse_error&) {
  }
  toml::table document = toml::parse("value = ''", where);
  **document.get_as<std::string>("value") = text;
  return document;
}

/// The key that excludes `key` of [time], or "".
std::string_view partner(std::string_view key) {
  if (key == "end") return "steps";
  if (key == "steps") return "end";
  if (key == "samples") return "sample_every";
  if (key == "sample_every") return "samples";
  return "";
}

void apply_override(toml::table& root, std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string key(text.substr(0, equals));
  const std::vector<Step> steps = parse_key(key);
  if (equals == std::string_view::npos || equals + 1 == text.size() || steps.empty()) {
    input_error(fmt::format("{}{}", option_prefix, text),
                "not of the form KEY=VALUE; write for example time.step=0.05");
  }
  const std::string where = fmt::format("{}{}", option_prefix, key);
  toml::node* node = &root;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const bool last = i + 1 == steps.size();
    const bool into_array = !last && std::holds_alternative<std::size_t>(steps[i + 1]);
    toml::table document = parse_value(last ? text.substr(equals + 1) : into_array ? "[]" : "{}", where);
    toml::node& fresh = *document.get("value");
    if (const auto* name = std::get_if<std::string>(&steps[i])) {
      toml::table* table = node->as_table();
      if (table == nullptr) input_error(where, fmt::format("'{}' is inside {}, not a table", *name, kind_of(*node)));
      if (last || !table->contains(*name)) table->insert_or_assign(*name, std::move(fresh));
      node = table->get(*name);
    } else {
      const std::size_t index = std::get<std::size_t>(steps[i]);
      toml::array* array = node->as_array();
      if (array == nullptr) input_error(where, fmt::format("[{}] is inside {}, not an array", index, kind_of(*node)));
      if (index > array->size()) {
        input_error(where, fmt::format("index {} is out of range (the array has {} elements)", index, array->size()));
      }
      if (index == array->size()) {
        array->push_back(std::move(fresh));
      } else if (last) {
        array->replace(array->cbegin() + static_cast<std::ptrdiff_t>(index), std::move(fresh));
      }
      node = array->get(index);
    }
  }
  // An override of end replaces the file's steps, and so on; two options that exclude each other stay an error.
  toml::table* time = root.get_as<toml::table>("time");
  if (steps.size() == 2 && steps[0] == Step("time") && time != nullptr) {
    const std::string_view other = partner(std::get<std::string>(steps[1]));
    if (time->contains(other) && !from_option(*time->get(other))) time->erase(other);
  }
}

// Sections

void record_places(const toml::node& node, const std::string& key, Study& study) {
  if (!key.empty()) study.places[key] = place_of(node.source());
  if (const toml::table* table = node.as_table()) {
    for (const auto& [name, child] : *table) {
      record_places(child, key.empty() ? std::string(name.str()) : fmt::format("{}.{}", key, name.str()), study);
    }
  } else if (const toml::array* array = node.as_array()) {
    for (std::size_t i = 0; i < array->size(); ++i) {
      if (array->get(i)->is_table()) record_places(*array->get(i), fmt::format("{}[{}]", key, i), study);
    }
  }
}

const toml::table& required_table(const Section& root, std::string_view key) {
  const toml::table* table = root.table(key);
  if (table == nullptr) input_error(root.where(), fmt::format("[{}] is missing", key));
  return *table;
}

void read_system(const toml::table& table, Study::System& system) {
  const Section section(table, "system", {"name", "variant", "parameters"});
  system.where = section.where();
  section.require("name", system.name, to_text);
  section.read("variant", system.variant, to_text);
  if (const toml::table* parameters = section.table("parameters")) {
    for (const auto& [name, node] : *parameters) {
      const std::string key(name.str());
      system.parameters[key] = to_value(node, section.path("parameters." + key));
    }
  }
}

std::vector<double> to_numbers(const toml::array& array, const std::string& key) {
  std::vector<double> numbers;
  for (std::size_t i = 0; i < array.size(); ++i)
    numbers.push_back(to_number(*array.get(i), fmt::format("{}[{}]", key, i)));
  return numbers;
}

MethodOption to_option(const toml::node& node, const std::string& key) {
  if (const auto* integer = node.as_integer()) return integer->get();
  if (const auto* number = node.as_floating_point()) return number->get();
  if (const auto* flag = node.as_boolean()) return flag->get();
  if (const auto* text = node.as_string()) return text->get();
  const toml::array* array = node.as_array();
  if (array == nullptr) wrong_type(node, key, "a number, a string, true or false, or an array of numbers");
  if (array->empty() || !array->get(0)->is_array()) return to_numbers(*array, key);
  std::vector<std::vector<double>> rows;
  for (std::size_t i = 0; i < array->size(); ++i) {
    const std::string row_key = fmt::format("{}[{}]", key, i);
    const toml::array* row = array->get(i)->as_array();
    if (row == nullptr) wrong_type(*array->get(i), row_key, "an array of numbers, as the first row is");
    rows.push_back(to_numbers(*row, row_key));
  }
  return rows;
}

/// Whether an option is a choice among which "given" is one.
bool may_be_given(const std::string& method, std::string_view name) {
  const MethodEntry* entry = Catalogue::instance().method(method);
  return entry != nullptr && std::ranges::any_of(entry->options, [&](const OptionInfo& option) {
           return option.name == name &&
                  std::ranges::find(option.choices, std::string_view("given")) != option.choices.end();
         });
}

/// A table, tableau = { a = .., b = .. }, stands for tableau = "given" and the options in it.
void read_option(const Section& section, std::string_view key, const toml::node& node, Study::Method& method) {
  const toml::table* table = node.as_table();
  if (table == nullptr || !may_be_given(method.name, key)) {
    method.options[std::string(key)] = to_option(node, section.path(key));
    return;
  }
  method.options[std::string(key)] = "given";
  for (const auto& [part, value] : *table) {
    if (section.find(part.str()) != nullptr)
      input_error(place_of(value.source()), fmt::format("{} is given in {} and beside it; leave one out",
                                                        section.path(part.str()), section.path(key)));
    method.options[std::string(part.str())] = to_option(value, section.path(part.str()));
  }
}

/// All keys but name and solver are options, which the method knows.
void read_method(const toml::table& table, Study::Method& method) {
  std::vector<std::string> keys{"name", "solver"};
  for (const auto& [key, node] : table) keys.emplace_back(key.str());
  const Section section(table, "method", keys);
  method.where = section.where();
  section.require("name", method.name, to_text);
  for (const auto& [key, node] : table)
    if (key.str() != "name" && key.str() != "solver") read_option(section, key.str(), node, method);
  if (const toml::table* solver = section.table("solver")) {
    const Section options(*solver, "method.solver", {"tolerance", "max_iterations"});
    options.read("tolerance", method.tolerance, to_number);
    options.read("max_iterations", method.max_iterations, to_int);
  }
}

void read_time(const toml::table& table, Study::Time& time) {
  const Section section(table, "time", {"start", "step", "end", "steps", "sample_every", "samples"});
  time.where = section.where();
  section.exclude("end", "steps");
  section.exclude("sample_every", "samples");
  section.read("start", time.start, to_number);
  section.require("step", time.step, to_value);
  section.read("end", time.end, to_number);
  section.read("steps", time.steps, to_count);
  section.read("sample_every", time.sample_every, to_count);
  section.read("samples", time.samples, to_count);
}

void read_random_axis(const toml::table& table, const std::string& path, Axis& axis) {
  const std::string distribution = to_text(*table.get("distribution"), path + ".distribution");
  const auto read_common = [&](const Section& section) {
    section.require("name", axis.name, to_text);
    section.require("seed", axis.seed, to_count);
    section.read("draws", axis.draws, to_count);
  };
  if (distribution == "uniform") {
    axis.kind = Axis::Kind::uniform;
    const Section section(table, path, {"name", "distribution", "from", "to", "seed", "draws"});
    read_common(section);
    section.require("from", axis.from, to_value);
    section.require("to", axis.to, to_value);
  } else if (distribution == "normal") {
    axis.kind = Axis::Kind::normal;
    const Section section(table, path, {"name", "distribution", "mean", "std", "seed", "draws"});
    read_common(section);
    section.read("mean", axis.mean, to_value);
    section.read("std", axis.std, to_value);
  } else {
    const std::vector<std::string> known{"uniform", "normal"};
    input_error(place_of(table.get("distribution")->source()),
                fmt::format("unknown distribution '{}' (known: {}){}", distribution, join(known),
                            did_you_mean(distribution, known)));
  }
}

Axis to_axis(const toml::node& node, const std::string& path) {
  const toml::table* table = node.as_table();
  if (table == nullptr) wrong_type(node, path, "a table");
  Axis axis;
  axis.where = place_of(node.source());
  if (table->contains("distribution")) {
    read_random_axis(*table, path, axis);
  } else if (table->contains("values")) {
    axis.kind = Axis::Kind::values;
    const Section section(*table, path, {"name", "values"});
    section.require("name", axis.name, to_text);
    axis.values = section.elements("values", "an array of numbers", to_number);
  } else {
    const Section section(*table, path, {"name", "from", "to", "count"});
    section.require("name", axis.name, to_text);
    section.require("from", axis.from, to_value);
    section.require("to", axis.to, to_value);
    section.require("count", axis.count, to_count);
  }
  return axis;
}

void read_initial(const toml::table& table, Study::Ensemble& ensemble) {
  const Section section(table, "ensemble.initial", {"q", "v", "p", "lambda"});
  const auto read = [&](std::string_view key, std::vector<Value>& target) {
    target = section.elements(key, "an array", to_value);
    if (section.find(key) != nullptr && target.empty()) {
      input_error(place_of(section.find(key)->source()),
                  fmt::format("{} is empty; leave the key out or give a value per component", section.path(key)));
    }
  };
  read("q", ensemble.q);
  read("v", ensemble.v);
  read("p", ensemble.p);
  read("lambda", ensemble.lambda);
}

void read_ensemble(const toml::table& table, Study::Ensemble& ensemble) {
  const Section section(table, "ensemble", {"axes", "draws", "file", "group", "project", "frame", "initial"});
  ensemble.where = section.where();
  ensemble.axes = section.elements("axes", "an array of tables", to_axis);
  section.read("draws", ensemble.draws, to_count);
  section.read("file", ensemble.file, to_text);
  section.read("group", ensemble.group, to_text);
  section.read("project", ensemble.project, to_flag);
  section.read("frame", ensemble.frame, to_text);
  if (const toml::table* initial = section.table("initial")) read_initial(*initial, ensemble);
}

Histogram to_histogram(const toml::node& node, const std::string& path) {
  const toml::table* table = node.as_table();
  if (table == nullptr) wrong_type(node, path, "a table { from, to, bins }");
  const Section section(*table, path, {"from", "to", "bins"});
  Histogram histogram;
  section.require("from", histogram.from, to_number);
  section.require("to", histogram.to, to_number);
  section.require("bins", histogram.bins, to_count);
  return histogram;
}

Observable to_observable(const toml::node& node, const std::string& path) {
  const toml::table* table = node.as_table();
  if (table == nullptr) wrong_type(node, path, "a table");
  const Section section(*table, path, {"name", "statistics", "quantiles", "histogram", "correlation", "reference"});
  Observable observable;
  observable.where = section.where();
  section.require("name", observable.name, to_text);
  observable.statistics = section.elements("statistics", "an array of names", to_text);
  if (section.find("statistics") == nullptr) observable.statistics = {"mean"};
  observable.quantiles = section.elements("quantiles", "an array of levels", to_number);
  section.read("histogram", observable.histogram, to_histogram);
  observable.correlation = section.elements("correlation", "an array of names of observables", to_text);
  if (const toml::node* reference = section.find("reference")) {
    if (reference->is_string() && reference->as_string()->get() != "initial") {
      input_error(place_of(reference->source()), fmt::format("{} must be \"initial\" or a number (got \"{}\")",
                                                             section.path("reference"), reference->as_string()->get()));
    }
    if (!reference->is_string()) observable.reference = to_number(*reference, section.path("reference"));
  }
  return observable;
}

Study::Section to_section(const toml::node& node, const std::string& path) {
  const toml::table* table = node.as_table();
  if (table == nullptr) wrong_type(node, path, "a table");
  const Section section(*table, path, {"name", "surface", "direction"});
  Study::Section result;
  result.where = section.where();
  result.name = path.substr(path.find('['), std::string::npos);  // [0], [1], ..
  result.name = result.name.substr(1, result.name.size() - 2);
  section.read("name", result.name, to_text);
  section.require("surface", result.surface, to_text);
  std::string direction = "+";
  section.read("direction", direction, to_text);
  if (direction != "+" && direction != "-" && direction != "both") {
    input_error(place_of(section.find("direction")->source()),
                fmt::format("{} must be \"+\", \"-\" or \"both\" (got \"{}\")", section.path("direction"), direction));
  }
  result.direction = direction == "+" ? 1 : direction == "-" ? -1 : 0;
  return result;
}

/// "10min", "30s", "2h": seconds; a whole number: steps; "off".
Study::Checkpoint to_checkpoint(const toml::node& node, const std::string& key) {
  Study::Checkpoint checkpoint{0.0, 0};
  if (node.is_integer() || node.is_floating_point()) {
    checkpoint.steps = to_count(node, key);
    if (checkpoint.steps > 0) return checkpoint;
  } else {
    const std::string text = to_text(node, key);
    if (text == "off") return checkpoint;
    static constexpr std::pair<std::string_view, double> units[] = {
        {"ms", 1e-3}, {"min", 60.0}, {"s", 1.0}, {"h", 3600.0}, {"d", 86400.0}};
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
    for (const auto& [name, seconds] : units)
      if (error == std::errc() && unit == name) checkpoint.seconds = number * seconds;
    if (checkpoint.seconds > 0 && std::isfinite(checkpoint.seconds)) return checkpoint;
  }
  input_error(place_of(node.source()),
              fmt::format("{} must be a time (\"10min\"; units ms, s, min, h, d), a number of steps, or \"off\"", key));
}

void read_output(const toml::table& table, Study::Output& output) {
  const Section section(table, "output", {"trajectories", "initial_state", "final_state", "covariance", "checkpoint"});
  output.where = section.where();
  section.read("initial_state", output.initial_state, to_flag);
  section.read("final_state", output.final_state, to_flag);
  output.covariance = section.elements("covariance", "an array of parts of the state", to_text);
  section.read("checkpoint", output.checkpoint, to_checkpoint);
  const toml::node* trajectories = section.find("trajectories");
  output.all_trajectories =
      trajectories != nullptr && trajectories->is_string() && trajectories->as_string()->get() == "all";
  if (!output.all_trajectories) {
    output.trajectories = section.elements("trajectories", "an array of indices or \"all\"", to_count);
  }
}

}  // namespace

Study read_study(std::string_view toml, std::string_view origin, std::span<const std::string> overrides) {
  toml::table document;
  try {
    document = toml::parse(toml, origin);
  } catch (const toml::parse_error& error) {
    input_error(place_of(error.source()), fmt::format("not TOML: {} (column {})", error.description(),
                                                      static_cast<unsigned>(error.source().begin.column)));
  }
  for (const std::string& text : overrides) apply_override(document, text);

  Study study;
  record_places(document, "", study);
  const Section root(document, "",
                     {"study", "system", "method", "time", "ensemble", "observable", "section", "output"});
  if (const toml::table* table = root.table("study")) {
    Section(*table, "study", {"name"}).read("name", study.name, to_text);
  }
  read_system(required_table(root, "system"), study.system);
  read_method(required_table(root, "method"), study.method);
  read_time(required_table(root, "time"), study.time);
  if (const toml::table* table = root.table("ensemble")) read_ensemble(*table, study.ensemble);
  study.observables = root.elements("observable", "an array of tables ([[observable]])", to_observable);
  study.sections = root.elements("section", "an array of tables ([[section]])", to_section);
  if (const toml::table* table = root.table("output")) read_output(*table, study.output);
  return study;
}

}  // namespace rattleback
