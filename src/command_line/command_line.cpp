#include "command_line/command_line.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "commands/commands.hpp"
#include "rattleback/catalogue/catalogue.hpp"
#include "rattleback/isa/isa.hpp"

namespace rattleback::program {
namespace {

std::vector<std::string> backend_names() {
  std::vector<std::string> names{"auto", "cpu", "cuda"};
  for (const Isa isa : all_isas()) names.push_back(std::string("cpu:") + to_string(isa));
  return names;
}

/// Returns "systems", "methods" from a type name that ends in "{systems,methods}".
std::vector<std::string> set_in(const std::string& type) {
  const std::size_t open = type.find('{'), close = type.find('}');
  std::vector<std::string> words;
  if (open == std::string::npos || close == std::string::npos || close < open) return words;
  std::istringstream list(type.substr(open + 1, close - open - 1));
  for (std::string word; std::getline(list, word, ',');) words.push_back(word);
  return words;
}

Argument read_argument(const CLI::Option& option) {
  using Value = Argument::Value;
  Argument argument;
  for (const std::string& name : option.get_snames()) argument.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) argument.names.push_back("--" + name);
  argument.text = option.get_description();
  argument.required = option.get_required();
  if (option.get_items_expected_max() == 0) return argument;

  argument.preset = option.get_default_str();
  argument.repeated = option.get_items_expected_max() > 1;
  const std::string full = option.get_type_name(), type = full.substr(0, full.find(':'));
  argument.choices = set_in(full);
  if (!argument.choices.empty()) {
    argument.value = Value::choices;
  } else if (type == value::backend || type == value::backends) {
    argument.value = type == value::backend ? Value::choices : Value::list;
    argument.choices = backend_names();
  } else if (type == value::isas) {
    argument.value = Value::list;
    argument.choices = {"all"};
    for (const Isa isa : all_isas()) argument.choices.emplace_back(to_string(isa));
  } else if (type == value::entry) {
    argument.value = Value::entries;
  } else {
    const bool names_a_file = type == value::file || type == value::folder || type == "TEXT";
    argument.value = names_a_file ? Value::file : Value::other;
  }
  argument.label = type.empty() ? "VALUE" : type;
  if (argument.names.empty()) {
    argument.label = option.get_name();
    std::ranges::transform(argument.label, argument.label.begin(), [](unsigned char c) { return std::toupper(c); });
  }
  return argument;
}

Command read_command(const CLI::App& app) {
  Command command{app.get_name(), app.get_description(), app.get_footer(), {}, {}};
  for (const CLI::Option* option : app.get_options()) {
    Argument argument = read_argument(*option);
    (argument.names.empty() ? command.positionals : command.options).push_back(std::move(argument));
  }
  return command;
}

}  // namespace

std::vector<std::string> Command::examples() const {
  std::vector<std::string> lines;
  std::istringstream text(footer);
  bool found = false;
  for (std::string line; std::getline(text, line);) {
    if (found && line.starts_with("  ")) lines.push_back(line.substr(2));
    if (line == "Examples:") found = true;
  }
  return lines;
}

CommandLine read_command_line(const CLI::App& app) {
  CommandLine line{read_command(app), {}};
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    line.commands.push_back(read_command(*command));
  return line;
}

}  // namespace rattleback::program
