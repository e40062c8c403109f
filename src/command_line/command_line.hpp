#pragma once
// What the command line takes, read off the CLI11 application: the source of the completion scripts and of the manual page.

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace rattleback::program {

struct Argument {
  /// What a shell can offer as the value.
  enum class Value {
    none,     ///< takes no value: a flag
    file,     ///< files
    choices,  ///< `choices`
    list,     ///< some of `choices`, separated by commas
    entries,  ///< systems and methods of the catalogue
    other,    ///< nothing
  };

  std::vector<std::string> names;  ///< "-o", "--output"; none: an argument by position
  std::string label;               ///< stands for the value: "FILE", "STUDY"; empty for a flag
  std::string text;
  std::string preset;  ///< value when not given, where the option tells
  Value value = Value::none;
  std::vector<std::string> choices;
  bool required = false, repeated = false;
};

struct Command {
  std::string name, text, footer;
  std::vector<Argument> options, positionals;

  /// The lines of the footer that follow "Examples:", without their indentation.
  [[nodiscard]] std::vector<std::string> examples() const;
};

struct CommandLine {
  Command program;
  std::vector<Command> commands;
};

CommandLine read_command_line(const CLI::App& app);

}  // namespace rattleback::program
