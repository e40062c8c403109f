// Writes the manual page from the description of the command line.

#include <algorithm>

#include <fmt/format.h>

#include "command_line/command_line.hpp"
#include "commands/commands.hpp"
#include "output/output.hpp"
#include "rattleback/base/version.hpp"

namespace rattleback::program {
namespace {

/// Escapes a text so that roff shows the text unchanged.
std::string roff(const std::string& text) {
  std::string escaped;
  for (const char c : text) switch (c) {
      case '\\':
        escaped += "\\e";
        break;
      case '-':
        escaped += "\\-";
        break;
      case '\'':
        escaped += "\\(aq";
        break;
      case '`':
        escaped += "\\(ga";
        break;
      case '^':
        escaped += "\\(ha";
        break;
      case '~':
        escaped += "\\(ti";
        break;
      default:
        escaped += c;
    }
  return escaped.starts_with('.') ? "\\&" + escaped : escaped;
}

std::string bold(const std::string& text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + roff(text) + "\\fR"; }

/// Returns "-o, --output FILE".
std::string head(const Argument& option) {
  std::string text;
  for (const std::string& name : option.names) text += (text.empty() ? "" : ", ") + bold(name);
  return option.label.empty() ? text : text + " " + italic(option.label);
}

/// Returns "run STUDY [OPTIONS]". Required options appear by name.
std::string synopsis(const Command& command) {
  std::string text = bold("rattleback " + command.name);
  for (const Argument& positional : command.positionals) {
    const std::string word = italic(positional.label) + (positional.repeated ? "..." : "");
    text += positional.required ? " " + word : " [" + word + "]";
  }
  for (const Argument& option : command.options)
    if (option.required) text += " " + head(option);
  return text + (std::ranges::any_of(command.options, [](const Argument& option) { return !option.required; })
                     ? " [" + italic("OPTIONS") + "]"
                     : "");
}

std::string entry(const std::string& title, const std::string& text) {
  return fmt::format(".TP\n{}\n{}\n", title, roff(text));
}

std::string entries(const std::vector<Argument>& arguments) {
  std::string text;
  for (const Argument& argument : arguments) {
    std::string words = argument.text;
    if (!argument.preset.empty()) words += "; default: " + argument.preset;
    if (argument.repeated && !argument.names.empty()) words += "; may be repeated";
    text += entry(argument.names.empty() ? italic(argument.label) : head(argument), words);
  }
  return text;
}

std::string page(CommandLine line) {
  for (Command& command : line.commands)  // the page describes --help once
    std::erase_if(command.options, [&line](const Argument& option) {
      return std::ranges::find(line.program.options, option.names, &Argument::names) != line.program.options.end();
    });
  const std::string& about = line.program.text;  // "rattleback: what it is"
  std::string text = fmt::format(".TH RATTLEBACK 1 \"\" \"rattleback {}\" \"User Commands\"\n", version());
  text += fmt::format(".SH NAME\nrattleback \\- {}\n", roff(about.substr(about.find(": ") + 2)));
  text += ".SH SYNOPSIS\n.nf\n";
  for (const Command& command : line.commands) text += synopsis(command) + "\n";
  text += bold("rattleback --version") + "\n.fi\n";
  text +=
      ".SH DESCRIPTION\n"
      "A study is a TOML file that names a system, a method, initial states and parameters, times and statistics.\n" +
      bold("rattleback run") +
      "\nadvances all its trajectories on the GPU or on the CPU, reduces over the ensemble while it runs, and writes "
      "one\nHDF5 file.\nThe numbers in it are a function of the study alone, to the last bit.\n";
  text += ".SH OPTIONS\n" + entries(line.program.options);
  text += ".SH COMMANDS\n";
  for (const Command& command : line.commands)
    text += fmt::format(".SS {}\n{}\n{}{}", roff(command.name), roff(command.text), entries(command.positionals),
                        entries(command.options));
  text += ".SH EXIT STATUS\n";
  for (const ExitCodeText& code : exit_codes) text += entry(bold(std::to_string(code.code)), code.text);
  text += ".SH ENVIRONMENT\n" +
          entry(bold("TMPDIR"), "directory for the intermediate results of compare; default: /tmp") +
          entry(bold("RATTLEBACK_PLOT"), "the plotting tool, where the installed one will not do");
  text += ".SH FILES\n" + entry(italic("STUDY.toml"), "a study; rattleback check prints it with every key") +
          entry(italic("RESULT.h5"), "a result: HDF5, written under a temporary name and renamed when it is complete") +
          entry(italic("RESULT.h5.checkpoint, RESULT.h5.part, .."),
                "an interrupted run; rattleback resume goes on with it");
  text += ".SH EXAMPLES\n.nf\n";
  for (const Command& command : line.commands)
    for (const std::string& example : command.examples()) text += roff(example) + "\n";
  text += ".fi\n.SH SEE ALSO\n.BR h5dump (1),\n.BR h5diff (1)\n";
  return text;
}

}  // namespace

void add_man(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("man", "print the manual page (roff)");
  command->footer("Examples:\n  rattleback man | man -l -");
  command->callback([&app, &exit_code] {
    print_stdout_lines(page(read_command_line(app)));
    exit_code = exit_done;
  });
}

}  // namespace rattleback::program
