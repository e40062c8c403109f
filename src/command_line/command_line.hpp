#pragma once
// Reads the description of the command line from the CLI11 application. The completion scripts and the manual page use
// this description.

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace rattleback::program {

struct Argument {
  /// The values that a shell can offer.
  enum class Value {
    none,     ///< takes no value: a flag
    file,     ///< files
    choices,  ///< `choices`
    list,     ///< some of `choices`, separated by commas
    entries,  ///< systems and methods of the catalogue
    other,    ///< no completion
  };

  std::vector<std::string> names;  ///< "-o", "--output"; empty for a positional argument
  std::string label;               ///< name of the value: "FILE", "STUDY"; empty for a flag
  std::string text;
  std::string preset;  ///< default value, where the option states one
  Value value = Value::none;
  std::vector<std::string> choices;
  bool required = false, repeated = false;
};

struct Command {
  std::string name, text, footer;
  std::vector<Argument> options, positionals;

  /// Returns the lines of the footer after "Examples:", without indentation.
  [[nodiscard]] std::vector<std::string> examples() const;
};

struct CommandLine {
  Command program;
  std::vector<Command> commands;
};

CommandLine read_command_line(const CLI::App& app);

}  // namespace rattleback::program
