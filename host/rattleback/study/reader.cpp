#include "rattleback/study/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <set>
#include <string>

#include "rattleback/base/floating_point.hpp"
#include "rattleback/catalogue/catalogue.hpp"
#include "rattleback/files/text_file.hpp"
#include "rattleback/formulas/read.hpp"
#include "rattleback/study/formulas_text.hpp"
#include "rattleback/study/toml.hpp"

namespace rattleback {
namespace {

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

void read_values(const toml::table& parameters, Study::System& system) {
  for (const auto& [name, node] : parameters) {
    const std::string key(name.str());
    if (!node.is_table()) system.parameters[key] = to_value(node, "system.parameters." + key);
  }
}

/// Reads a system that is written as formulas in `table`.
void read_formulas(const toml::table& table, bool starts_there, Study::System& system) {
  system.formulas = std::make_shared<const SystemFormulas>(read_system_formulas(table, starts_there));
  system.formulas_text = formulas_as_toml(table);
  system.name = system.formulas->name;
  if (const toml::table* parameters = table["parameters"].as_table()) read_values(*parameters, system);
}

/// Reads the formulas in a file of their own. The study may give values of parameters.
void read_formulas_of(const std::filesystem::path& file, const toml::table& table, bool starts_there,
                      Study::System& system) {
  const Section section(table, "system", {"file", "name", "parameters"});
  system.where = section.where();
  constexpr std::size_t most = std::size_t{64} << 20;
  const std::string text = read_regular(file, most, place_of(section.find("file")->source()));
  const toml::table document = parse_document(text, file.string(), {});
  const toml::table* own = document["system"].as_table();
  read_formulas(own != nullptr ? *own : document, starts_there, system);
  std::string name = system.name;
  section.read("name", name, to_text);
  if (name != system.name)
    input_error(place_of(section.find("name")->source()),
                fmt::format("the system of {} is '{}' (got {}); leave the name out",
                            quote(file.string(), most_of_a_path), system.name, quote(name)));
  if (const toml::table* parameters = section.table("parameters")) read_values(*parameters, system);
}

/// Returns whether trajectories start in the default state of the system as it is.
bool starts_in_default_state(const toml::table& document) {
  const auto ensemble = document["ensemble"];
  return !ensemble["file"] && !ensemble["initial"]["q"] && !ensemble["project"].value_or(false);
}

void read_system(const toml::table& table, const std::filesystem::path& folder, bool starts_there,
                 Study::System& system) {
  if (has_formulas(table)) {
    system.where = place_of(table.source());
    read_formulas(table, starts_there, system);
    return;
  }
  if (const auto* own = table["file"].as_string(); own != nullptr && own->get().ends_with(".toml")) {
    read_formulas_of(folder / own->get(), table, starts_there, system);
    return;
  }
  const Section section(table, "system", {"name", "variant", "parameters", "file", "type", "digest"});
  system.where = section.where();
  std::string file;
  section.read("file", file, to_text);
  system.file = file;
  section.read("type", system.type, to_text);
  section.read("digest", system.digest, to_text);
  if (file.empty() && (section.find("type") != nullptr || section.find("digest") != nullptr))
    input_error(system.where, "system.file is missing; it names the C++ header of system.type");
  if (file.empty()) {
    section.require("name", system.name, to_text);
  } else {
    section.read("name", system.name, to_text);
    section.require("type", system.type, to_text);
  }
  section.read("variant", system.variant, to_text);
  if (const toml::table* parameters = section.table("parameters"))
    for (const auto& [name, node] : *parameters) {
      const std::string key(name.str());
      system.parameters[key] = to_value(node, section.path("parameters." + key));
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

/// Returns whether the method has an option `name` with "given" as a choice.
bool may_be_given(const std::string& method, std::string_view name) {
  const MethodEntry* entry = Catalogue::instance().method(method);
  return entry != nullptr && std::ranges::any_of(entry->options, [&](const OptionInfo& option) {
           return option.name == name &&
                  std::ranges::find(option.choices, std::string_view("given")) != option.choices.end();
         });
}

/// Reads an option. A table such as tableau = { a = .., b = .. } means tableau = "given" plus the options in the table.
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

/// Reads [method]. All keys except name and solver are options of the method.
void read_method(const toml::table& table, Study::Method& method) {
  std::vector<std::string> keys{"name", "solver"};
  for (const auto& [key, node] : table) keys.emplace_back(key.str());
  const Section section(table, "method", keys);
  method.where = section.where();
  section.require("name", method.name, to_text);
  for (const auto& [key, node] : table)
    if (key.str() != "name" && key.str() != "solver") read_option(section, key.str(), node, method);
  if (const toml::table* solver = section.table("solver")) {
    const Section options(*solver, "method.solver", {"tolerance", "max_iterations", "guess"});
    options.read("tolerance", method.tolerance, to_number);
    options.read("max_iterations", method.max_iterations, to_count);
    options.read("guess", method.guess, to_text);
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

/// The draws of "uniform" and "normal" are random. A quasi-random axis is normal if it has `mean` or `std`, else uniform.
void read_random_axis(const toml::table& table, const std::string& path, Axis& axis) {
  const std::string distribution = to_text(*table.get("distribution"), path + ".distribution");
  const std::vector<std::string> known{"uniform", "normal", "sobol", "lattice"};
  if (std::ranges::find(known, distribution) == known.end()) {
    input_error(place_of(table.get("distribution")->source()),
                fmt::format("unknown distribution {} (known: {}){}", quote(distribution), join(known),
                            did_you_mean(distribution, known)));
  }
  if (distribution == "sobol") axis.points = Axis::Points::sobol;
  if (distribution == "lattice") axis.points = Axis::Points::lattice;
  const bool quasi_random = axis.points != Axis::Points::random;
  const bool normal = distribution == "normal" || (quasi_random && (table.contains("mean") || table.contains("std")));
  axis.kind = normal ? Axis::Kind::normal : Axis::Kind::uniform;
  std::vector<std::string> keys{"name", "distribution"};
  if (quasi_random || !normal) keys.insert(keys.end(), {"from", "to"});
  if (quasi_random || normal) keys.insert(keys.end(), {"mean", "std"});
  keys.insert(keys.end(), {"seed", "draws"});
  const Section section(table, path, keys);
  if (normal && (section.find("from") != nullptr || section.find("to") != nullptr)) {
    input_error(section.where(), fmt::format("{} has {} and {} (a uniform axis has from and to, a normal axis mean and "
                                             "std); leave one of them out",
                                             path, section.find("from") != nullptr ? "from" : "to",
                                             section.find("mean") != nullptr ? "mean" : "std"));
  }
  section.require("name", axis.name, to_text);
  section.require("seed", axis.seed, to_count);
  section.read("draws", axis.draws, to_count);
  if (normal) {
    section.read("mean", axis.mean, to_value);
    section.read("std", axis.std, to_value);
  } else {
    section.require("from", axis.from, to_value);
    section.require("to", axis.to, to_value);
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
  const Section section(
      table, "ensemble",
      {"axes", "draws", "randomisations", "file", "group", "project", "frame", "group_by", "unused", "initial"});
  ensemble.where = section.where();
  ensemble.axes = section.elements("axes", "an array of tables", to_axis);
  section.read("draws", ensemble.draws, to_count);
  section.read("randomisations", ensemble.randomisations, to_count);
  section.read("file", ensemble.file, to_text);
  section.read("group", ensemble.group, to_text);
  section.read("project", ensemble.project, to_flag);
  section.read("frame", ensemble.frame, to_text);
  ensemble.group_by = section.elements("group_by", "an array of names of axes", to_text);
  ensemble.unused = section.elements("unused", "an array of names of axes and columns", to_text);
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
  const Section section(
      *table, path, {"name", "formula", "statistics", "quantiles", "histogram", "correlation", "reference", "values"});
  Observable observable;
  observable.where = section.where();
  section.require("name", observable.name, to_text);
  section.read("formula", observable.formula, to_text);
  observable.statistics = section.elements("statistics", "an array of names", to_text);
  if (section.find("statistics") == nullptr) observable.statistics = {"mean"};
  observable.quantiles = section.elements("quantiles", "an array of levels", to_number);
  section.read("histogram", observable.histogram, to_histogram);
  observable.correlation = section.elements("correlation", "an array of names of observables", to_text);
  if (const toml::node* reference = section.find("reference")) {
    if (reference->is_string() && reference->as_string()->get() != "initial") {
      input_error(place_of(reference->source()),
                  fmt::format("{} must be \"initial\" or a number (got {})", section.path("reference"),
                              quote(reference->as_string()->get())));
    }
    observable.reference = reference->is_string() ? ErrorReference::initial()
                                                  : ErrorReference(to_number(*reference, section.path("reference")));
  }
  section.read("values", observable.values, to_flag);
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
    input_error(
        place_of(section.find("direction")->source()),
        fmt::format("{} must be \"+\", \"-\" or \"both\" (got {})", section.path("direction"), quote(direction)));
  }
  result.direction = direction == "+" ? 1 : direction == "-" ? -1 : 0;
  return result;
}

Fit to_fit(const toml::node& node, const std::string& path) {
  const toml::table* table = node.as_table();
  if (table == nullptr) wrong_type(node, path, "a table");
  const Section section(*table, path, {"name", "observable", "statistic", "model", "from", "to"});
  Fit fit;
  fit.where = section.where();
  section.require("name", fit.name, to_text);
  section.require("observable", fit.observable, to_text);
  section.read("statistic", fit.statistic, to_text);
  section.read("from", fit.from, to_number);
  section.read("to", fit.to, to_number);
  std::string model = fit_models[0];
  section.read("model", model, to_text);
  const std::vector<std::string> known(std::begin(fit_models), std::end(fit_models));
  const auto found = std::ranges::find(known, model);
  if (found == known.end())
    input_error(
        place_of(section.find("model")->source()),
        fmt::format("unknown model {} of a fit (known: {}){}", quote(model), join(known), did_you_mean(model, known)));
  fit.model = static_cast<Fit::Model>(found - known.begin());
  return fit;
}

/// Reads "10min", "30s" or "2h" as time, a whole number as steps, or "off".
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

/// An override of method.name leaves out the options in the file that only the method of the file has. Options on the command
/// line stay, and are checked.
void drop_options_of_other_methods(toml::table& document) {
  toml::table* method = document.get_as<toml::table>("method");
  const auto* name = method == nullptr ? nullptr : method->get_as<std::string>("name");
  if (name == nullptr || !from_option(*name)) return;
  const MethodEntry* entry = Catalogue::instance().method(name->get());
  if (entry == nullptr) return;
  std::vector<std::string> dropped;
  for (const auto& [key, node] : *method)
    if (key.str() != "name" && key.str() != "solver" && !from_option(node) &&
        std::ranges::none_of(entry->options,
                             [&key = key](const OptionInfo& option) { return option.name == key.str(); }))
      dropped.emplace_back(key.str());
  for (const std::string& key : dropped) method->erase(key);
}

/// Collects the names in the texts of a node.
void collect_names(const toml::node& node, std::set<std::string>& names) {
  if (const toml::table* table = node.as_table()) {
    for (const auto& entry : *table) collect_names(entry.second, names);
  } else if (const toml::array* array = node.as_array()) {
    for (const toml::node& entry : *array) collect_names(entry, names);
  } else if (const auto* text = node.as_string()) {
    const auto in_name = [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; };
    const std::string& all = text->get();
    for (auto at = all.begin(); at != all.end();) {
      const auto begin = std::find_if(at, all.end(), in_name);
      at = std::find_if_not(begin, all.end(), in_name);
      if (begin != at) names.emplace(begin, at);
    }
  }
}

/// Returns the names in all values that may use an axis.
std::set<std::string> names_in_values(const toml::table& document) {
  std::set<std::string> names;
  for (const char* key : {"system", "time", "observable", "section"})
    if (const toml::node* node = document.get(key)) collect_names(*node, names);
  if (const toml::node* initial = document.at_path("ensemble.initial").node()) collect_names(*initial, names);
  return names;
}

/// Axes and columns that only values used which overrides have replaced, such as the step, are named in ensemble.unused.
void leave_what_overrides_replaced(const toml::table& file, toml::table& document) {
  toml::table* ensemble = document.get_as<toml::table>("ensemble");
  if (ensemble == nullptr) return;
  const std::set<std::string> now = names_in_values(document);
  for (const std::string& name : names_in_values(file)) {
    bool given = ensemble->contains("file");
    if (const toml::array* axes = ensemble->get_as<toml::array>("axes"))
      for (const toml::node& axis : *axes)
        given = given || (axis.is_table() && (*axis.as_table())["name"].value<std::string>() == name);
    if (!given || now.contains(name)) continue;
    if (!ensemble->contains("unused")) ensemble->insert("unused", toml::array());
    if (toml::array* unused = ensemble->get_as<toml::array>("unused")) unused->push_back(name);
  }
}

}  // namespace

Study read_study(std::string_view toml, std::string_view origin, std::span<const std::string> overrides,
                 bool states_follow) {
  const FloatingPointScope environment;
  toml::table document = parse_document(toml, origin, overrides);
  drop_options_of_other_methods(document);
  if (!overrides.empty()) leave_what_overrides_replaced(parse_document(toml, origin, {}), document);

  Study study;
  record_places(document, "", study);
  const Section root(document, "",
                     {"study", "system", "method", "time", "ensemble", "observable", "section", "fit", "output"});
  if (const toml::table* table = root.table("study")) {
    Section(*table, "study", {"name"}).read("name", study.name, to_text);
  }
  read_system(required_table(root, "system"), std::filesystem::path(origin).parent_path(),
              !states_follow && starts_in_default_state(document), study.system);
  read_method(required_table(root, "method"), study.method);
  read_time(required_table(root, "time"), study.time);
  if (const toml::table* table = root.table("ensemble")) read_ensemble(*table, study.ensemble);
  study.observables = root.elements("observable", "an array of tables ([[observable]])", to_observable);
  study.sections = root.elements("section", "an array of tables ([[section]])", to_section);
  study.fits = root.elements("fit", "an array of tables ([[fit]])", to_fit);
  if (const toml::table* table = root.table("output")) read_output(*table, study.output);
  return study;
}

}  // namespace rattleback
