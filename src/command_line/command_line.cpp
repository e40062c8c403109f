// The command line as JSON, and what python/rattleback/shell_files.py makes of it: completion scripts and the manual page.

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>

#include <fmt/format.h>

#include "commands/commands.hpp"
#include "launch.hpp"
#include "output/output.hpp"
#include "rattleback/base/error.hpp"
#include "rattleback/base/version.hpp"
#include "rattleback/kernels/isa.hpp"
#include "rattleback/kernels/trust.hpp"

namespace rattleback::program {
namespace {

/// Returns "systems", "methods" from a type name that ends in "{systems,methods}".
std::vector<std::string> set_in(const std::string& type) {
  const std::size_t open = type.find('{'), close = type.find('}');
  std::vector<std::string> words;
  if (open == std::string::npos || close == std::string::npos || close < open) return words;
  std::istringstream list(type.substr(open + 1, close - open - 1));
  for (std::string word; std::getline(list, word, ',');) words.push_back(word);
  return words;
}

/// Returns what a shell can offer for a value of this type: its kind, and choices.
std::pair<const char*, std::vector<std::string>> offers(const std::string& full, const std::string& type) {
  std::vector<std::string> choices = set_in(full);
  if (!choices.empty()) return {"choices", choices};
  if (type == value::backend || type == value::backends) {
    choices = {"auto", "cpu", "cuda"};
    for (const Isa isa : all_isas()) choices.push_back(std::string("cpu:") + to_string(isa));
    return {type == value::backend ? "choices" : "list", choices};
  }
  if (type == value::isas) {
    choices = {"all"};
    for (const Isa isa : all_isas()) choices.emplace_back(to_string(isa));
    return {"list", choices};
  }
  if (type == value::entry) return {"entries", {}};
  if (type == value::assignment) return {"keys", {}};
  return {type == value::file || type == value::folder || type == "TEXT" ? "file" : "other", {}};
}

Json json_of(const CLI::Option& option) {
  Json json{{"names", Json::array()}, {"text", option.get_description()}, {"required", option.get_required()}};
  for (const std::string& name : option.get_snames()) json["names"].push_back("-" + name);
  for (const std::string& name : option.get_lnames()) json["names"].push_back("--" + name);
  const bool flag = option.get_items_expected_max() == 0;
  const std::string full = flag ? "" : option.get_type_name(), type = full.substr(0, full.find(':'));
  std::string label = flag ? "" : type.empty() ? "VALUE" : type;
  if (json["names"].empty()) {
    label = option.get_name();
    std::ranges::transform(label, label.begin(), [](unsigned char c) { return std::toupper(c); });
  }
  const auto [value, choices] = flag ? std::pair{"none", std::vector<std::string>()} : offers(full, type);
  json.update({{"label", label},
               {"default", flag ? "" : option.get_default_str()},
               {"repeated", option.get_items_expected_max() > 1},
               {"value", value},
               {"choices", choices}});
  return json;
}

Json json_of(const CLI::App& app) {
  Json json{{"name", app.get_name()},
            {"text", app.get_description()},
            {"examples", Json::array()},
            {"options", Json::array()},
            {"positionals", Json::array()}};
  std::istringstream footer(app.get_footer());
  bool found = false;
  for (std::string line; std::getline(footer, line); found = found || line == "Examples:")
    if (found && line.starts_with("  ")) json["examples"].push_back(line.substr(2));
  for (const CLI::Option* option : app.get_options())
    json[option->get_snames().empty() && option->get_lnames().empty() ? "positionals" : "options"].push_back(
        json_of(*option));
  return json;
}

Json command_line(const CLI::App& app) {
  Json json{
      {"version", version()}, {"program", json_of(app)}, {"commands", Json::array()}, {"exit_codes", Json::array()}};
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    json["commands"].push_back(json_of(*command));
  for (const ExitCodeText& code : exit_codes) json["exit_codes"].push_back({{"code", code.code}, {"text", code.text}});
  return json;
}

/// Prints what shell_files.py makes of the command line: from a file of the installed tree, or of the build tree, or now.
void print_shell_file(const char* name, const CLI::App& app) {
  if (launch().shell_file) return print_stdout_bytes(launch().shell_file(name, json_text(command_line(app))));
  const std::filesystem::path installed = path_from_program(std::filesystem::path(RATTLEBACK_SHELL_FOLDER) / name);
  std::ifstream stream(installed, std::ios::binary);
  if (!stream) stream.open(path_from_program(std::filesystem::path("shell") / name), std::ios::binary);
  if (!stream)
    throw Error(
        Error::Kind::runtime,
        fmt::format("{}: is missing (a build of the program makes it where it can run the program and Python); "
                    "install the program as a whole, or take python/rattleback/shell_files.py of the sources, as in "
                    "'rattleback man --json | python3 shell_files.py {}'",
                    installed.string(), installed.parent_path().string()));
  print_stdout_bytes(std::string{std::istreambuf_iterator<char>(stream), {}});
}

}  // namespace

void add_completion(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("completion", "print a completion script for a shell");
  auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->footer(
      "Examples:\n  source <(rattleback completion bash)\n"
      "  rattleback completion fish > ~/.config/fish/completions/rattleback.fish");
  command->callback([&app, shell, &exit_code] {
    print_shell_file(*shell == "bash" ? "rattleback" : *shell == "zsh" ? "_rattleback" : "rattleback.fish", app);
    exit_code = exit_done;
  });
}

void add_man(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("man", "print the manual page (roff)");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "commands and options as one JSON object, from which the page is made");
  command->footer("Examples:\n  rattleback man | man -l -");
  command->callback([&app, json, &exit_code] {
    if (*json)
      print_stdout_json(command_line(app));
    else
      print_shell_file("rattleback.1", app);
    exit_code = exit_done;
  });
}

}  // namespace rattleback::program
