// Writes completion scripts for the shells from the description of the command line.

#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "command_line/command_line.hpp"
#include "commands/commands.hpp"
#include "output/output.hpp"

namespace rattleback::program {
namespace {

using Value = Argument::Value;

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (std::size_t i = 0; (i = text.find(what, i)) != std::string::npos; i += by.size())
    text.replace(i, what.size(), by);
  return text;
}

std::string join(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); }

/// Returns a single-quoted word of bash and zsh, or of fish.
std::string quoted(const std::string& text) { return "'" + replaced(text, "'", R"('\'')") + "'"; }
std::string fish_quoted(const std::string& text) {
  return "'" + replaced(replaced(text, "\\", "\\\\"), "'", "\\'") + "'";
}

std::vector<std::string> names_of(const std::vector<Argument>& options) {
  std::vector<std::string> names;
  for (const Argument& option : options) names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

std::vector<std::string> names_of(const std::vector<Command>& commands) {
  std::vector<std::string> names;
  for (const Command& command : commands) names.push_back(command.name);
  return names;
}

/// Returns the bash action for an argument. The action sets `values`, or leaves the completion of files to bash.
std::string bash_action(const Argument& argument) {
  switch (argument.value) {
    case Value::choices:
      return "values=" + quoted(join(argument.choices));
    case Value::list:
      return "list=yes values=" + quoted(join(argument.choices));
    case Value::entries:
      return "values=$(\"${COMP_WORDS[0]}\" list --names 2> /dev/null)";
    case Value::file:
      return "return";
    case Value::none:
    case Value::other:
      break;
  }
  return "";
}

std::string bash(const CommandLine& line) {
  std::string commands, actions;
  for (const Command& command : line.commands) {
    std::vector<std::string> valued;
    for (const Argument& option : command.options) {
      if (option.value == Value::none) continue;
      valued.insert(valued.end(), option.names.begin(), option.names.end());
      if (option.value == Value::other) continue;
      std::vector<std::string> patterns;
      for (const std::string& name : option.names) patterns.push_back(quoted(command.name + " " + name));
      actions += fmt::format("    {}) {} ;;\n", fmt::join(patterns, " | "), bash_action(option));
    }
    for (std::size_t i = 0; i < command.positionals.size(); ++i) {
      const Argument& positional = command.positionals[i];
      if (positional.value == Value::other) continue;
      const std::string pattern =
          positional.repeated ? quoted(command.name + " ") + "[0-9]*" : quoted(fmt::format("{} {}", command.name, i));
      actions += fmt::format("    {}) {} ;;\n", pattern, bash_action(positional));
    }
    commands += fmt::format("        {}) options={} valued={} ;;\n", command.name,
                            quoted(join(names_of(command.options))), quoted(" " + join(valued) + " "));
  }
  return fmt::format(R"bash(# Completion of rattleback for bash; written by: rattleback completion bash
_rattleback() {{
  local words=() word cur command='' option='' options={} valued=' ' values='' list='' prefix='' typed position=0
  # bash splits at : and =, which are part of backends and of --option=value
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD}}"; do
    if ((${{#words[@]}})) && [[ $word == [:=]* || ${{words[-1]}} == *[:=] ]]; then
      words[-1]+=$word
    else
      words+=("$word")
    fi
  done
  cur=${{words[-1]}}
  unset 'words[-1]'
  for word in "${{words[@]}}"; do
    if [[ -n $option ]]; then
      option=''
    elif [[ $word == -* ]]; then
      [[ $valued != *" $word "* ]] || option=$word
    elif [[ -n $command ]]; then
      ((++position))
    else
      command=$word
      case $command in
{}      esac
    fi
  done
  if [[ $cur == --*=* ]]; then
    option=${{cur%%=*}}
    cur=${{cur#*=}}
  elif [[ -z $option && $cur == -* ]]; then
    values=$options
  elif [[ -z $command ]]; then
    values={}
  fi
  [[ -n $values ]] || case "$command ${{option:-$position}}" in
{}  esac
  compopt +o default 2> /dev/null  # no files from here on
  if [[ -n $list && $cur == *,* ]]; then
    prefix=${{cur%,*}},
    cur=${{cur##*,}}
  fi
  mapfile -t COMPREPLY < <(compgen -P "$prefix" -W "$values" -- "$cur")
  # only what follows the last : or = is replaced
  typed=$prefix$cur
  [[ $COMP_WORDBREAKS != *:* ]] || COMPREPLY=("${{COMPREPLY[@]#"${{typed%"${{typed##*[:=]}}"}}"}}")
}}
complete -o default -F _rattleback rattleback
)bash",
                     quoted(join(names_of(line.program.options))), commands, quoted(join(names_of(line.commands))),
                     actions);
}

/// Escapes a text for a specification of zsh's _arguments.
std::string zsh_text(const std::string& text) {
  std::string escaped = replaced(text, "\\", "\\\\");
  for (const char* special : {"[", "]", ":"}) escaped = replaced(escaped, special, std::string("\\") + special);
  return escaped;
}

/// Returns ":message:action".
std::string zsh_value(const Argument& argument) {
  const std::string message = ":" + zsh_text(argument.label) + ":",
                    choices = replaced(join(argument.choices), ":", "\\:");
  switch (argument.value) {
    case Value::none:
      return "";
    case Value::choices:
      return message + "(" + choices + ")";
    case Value::list:
      return message + "_sequence compadd - " + join(argument.choices);
    case Value::entries:
      return message + "_rattleback_entries";
    case Value::file:
      return message + "_files";
    case Value::other:
      break;
  }
  return message + "( )";
}

std::string zsh_arguments(const Command& command, const std::string& indent) {
  std::string text;
  const auto add = [&](const std::string& specification) {
    text += fmt::format(" \\\n{}{}", indent, quoted(specification));
  };
  for (const Argument& option : command.options) {
    const std::string others = "(" + join(option.names) + ")";
    for (const std::string& name : option.names)
      add((option.repeated ? "*" : others) + name +
          (option.value == Value::none ? ""
           : name.starts_with("--")    ? "="
                                       : "+") +
          "[" + zsh_text(option.text) + "]" + zsh_value(option));
  }
  for (const Argument& positional : command.positionals)
    add((positional.repeated ? "*" : positional.required ? "" : ":") + zsh_value(positional));
  return text;
}

std::string zsh(const CommandLine& line) {
  std::string names, cases;
  for (const Command& command : line.commands) {
    names += fmt::format("        {}\n", quoted(replaced(command.name, ":", "\\:") + ":" + command.text));
    cases += fmt::format("        {})\n          _arguments -S{}\n          ;;\n", command.name,
                         zsh_arguments(command, "            "));
  }
  return fmt::format(R"zsh(#compdef rattleback
# Completion of rattleback for zsh; written by: rattleback completion zsh
_rattleback_entries() {{
  local -a entries=(${{(f)"$(_call_program entries rattleback list --names)"}})
  _describe 'system or method' entries
}}

_rattleback() {{
  local context state state_descr line
  typeset -A opt_args
  _arguments -C{} \
    ':command:->command' '*::argument:->argument'
  case $state in
    command)
      local -a commands=(
{}      )
      _describe command commands
      ;;
    argument)
      case $words[1] in
{}      esac
      ;;
  esac
}}

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  _rattleback "$@"
else
  compdef _rattleback rattleback
fi
)zsh",
                     zsh_arguments(line.program, "    "), names, cases);
}

std::string fish_values(const Argument& argument) {
  switch (argument.value) {
    case Value::none:
      return "";
    case Value::choices:
      return " -x -a " + fish_quoted(join(argument.choices));
    case Value::list:
      return " -x -a " + fish_quoted("(__fish_append , " + join(argument.choices) + ")");
    case Value::entries:
      return " -x -a '(rattleback list --names 2> /dev/null)'";
    case Value::file:
      return " -r -F";
    case Value::other:
      break;
  }
  return " -x";
}

std::string fish_options(const Command& command, const std::string& condition) {
  std::string text;
  for (const Argument& option : command.options) {
    text += "complete -c rattleback -n " + fish_quoted(condition);
    for (const std::string& name : option.names)
      text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    text += fish_values(option) + " -d " + fish_quoted(option.text) + "\n";
  }
  return text;
}

std::string fish(const CommandLine& line) {
  std::string text =
      "# Completion of rattleback for fish; written by: rattleback completion fish\ncomplete -c rattleback -f\n";
  text += fish_options(line.program, "__fish_use_subcommand");
  for (const Command& command : line.commands) {
    text += fmt::format("complete -c rattleback -n __fish_use_subcommand -a {} -d {}\n", command.name,
                        fish_quoted(command.text));
    const std::string condition = "__fish_seen_subcommand_from " + command.name;
    text += fish_options(command, condition);
    for (const Argument& positional : command.positionals)
      text += fmt::format("complete -c rattleback -n {}{}\n", fish_quoted(condition),
                          positional.value == Value::file ? " -F" : fish_values(positional));
  }
  return text;
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
    print_stdout_bytes((*shell == "bash" ? bash : *shell == "zsh" ? zsh : fish)(read_command_line(app)));
    exit_code = exit_done;
  });
}

}  // namespace rattleback::program
