#!/usr/bin/env python3
"""Makes the completion scripts and the manual page of rattleback from its description of the command line:

    rattleback man --json | python3 shell_files.py FOLDER

The folder gets rattleback (bash), _rattleback (zsh), rattleback.fish and rattleback.1. The build runs this file as a script, and
`rattleback completion` and `rattleback man` print what it writes. In the Python package they call it.

An argument of the description has names ("-o", "--output"; none for a positional argument), a label ("FILE"), text, default,
required, repeated, choices, and `value`, which says what a shell can offer: none (a flag), file, choices, list (some of the
choices, separated by commas), entries (systems and methods), keys (of a study, for --set), or other (nothing)."""

import json
import pathlib
import sys


def quoted(text):
    """A single-quoted word of bash and zsh."""
    return "'" + text.replace("'", r"'\''") + "'"


def fish_quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def names_of(options):
    return [name for option in options for name in option["names"]]


def filled(template, **parts):
    """The template with @NAME@ replaced."""
    for name, text in parts.items():
        template = template.replace(f"@{name}@", text)
    return template


BASH = r"""# Completion of rattleback for bash; written by: rattleback completion bash
_rattleback() {
  local words=() word cur command='' option='' options=@OPTIONS@ valued=' ' values='' list='' prefix='' typed position=0
  # bash splits at : and =, which are part of backends and of --option=value
  for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
    if ((${#words[@]})) && [[ $word == [:=]* || ${words[-1]} == *[:=] ]]; then
      words[-1]+=$word
    else
      words+=("$word")
    fi
  done
  cur=${words[-1]}
  unset 'words[-1]'
  for word in "${words[@]}"; do
    if [[ -n $option ]]; then
      option=''
    elif [[ $word == -* ]]; then
      [[ $valued != *" $word "* ]] || option=$word
    elif [[ -n $command ]]; then
      ((++position))
    else
      command=$word
      case $command in
@COMMANDS@      esac
    fi
  done
  if [[ $cur == --*=* ]]; then
    option=${cur%%=*}
    cur=${cur#*=}
  elif [[ -z $option && $cur == -* ]]; then
    values=$options
  elif [[ -z $command ]]; then
    values=@NAMES@
  fi
  [[ -n $values ]] || case "$command ${option:-$position}" in
@ACTIONS@  esac
  compopt +o default 2> /dev/null  # no files from here on
  if [[ -n $list && $cur == *,* ]]; then
    prefix=${cur%,*},
    cur=${cur##*,}
  fi
  mapfile -t COMPREPLY < <(compgen -P "$prefix" -W "$values" -- "$cur")
  # only what follows the last : or = is replaced
  typed=$prefix$cur
  [[ $COMP_WORDBREAKS != *:* ]] || COMPREPLY=("${COMPREPLY[@]#"${typed%"${typed##*[:=]}"}"}")
}
complete -o default -F _rattleback rattleback
"""


def bash_action(argument):
    """Sets `values`, or leaves the completion of files to bash."""
    choices = quoted(" ".join(argument["choices"]))
    return {"choices": f"values={choices}", "list": f"list=yes values={choices}", "file": "return",
            "entries": 'values=$("${COMP_WORDS[0]}" list --names 2> /dev/null)',
            "keys": "compopt -o nospace 2> /dev/null; values=$(\"${COMP_WORDS[0]}\" list keys --names 2> /dev/null | sed 's/\\[]/[0]/; s/$/=/')",
            }[argument["value"]]


def bash(line):
    commands = actions = ""
    for command in line["commands"]:
        name, options = command["name"], command["options"]
        for option in options:
            if option["value"] not in ("none", "other"):
                patterns = " | ".join(quoted(f"{name} {word}") for word in option["names"])
                actions += f"    {patterns}) {bash_action(option)} ;;\n"
        for i, positional in enumerate(command["positionals"]):
            if positional["value"] != "other":
                pattern = quoted(f"{name} ") + "[0-9]*" if positional["repeated"] else quoted(f"{name} {i}")
                actions += f"    {pattern}) {bash_action(positional)} ;;\n"
        valued = " ".join(names_of(option for option in options if option["value"] != "none"))
        commands += f"        {name}) options={quoted(' '.join(names_of(options)))} valued={quoted(f' {valued} ')} ;;\n"
    return filled(BASH, OPTIONS=quoted(" ".join(names_of(line["program"]["options"]))), COMMANDS=commands,
                  NAMES=quoted(" ".join(command["name"] for command in line["commands"])), ACTIONS=actions)


ZSH = r"""#compdef rattleback
# Completion of rattleback for zsh; written by: rattleback completion zsh
_rattleback_entries() {
  local -a entries=(${(f)"$(_call_program entries rattleback list --names)"})
  _describe 'system or method' entries
}

_rattleback_keys() {
  local -a keys=(${(f)"$(_call_program keys rattleback list keys --names)"})
  compadd -S = - ${keys//\[\]/[0]}
}

_rattleback() {
  local context state state_descr line
  typeset -A opt_args
  _arguments -C@ARGUMENTS@ \
    ':command:->command' '*::argument:->argument'
  case $state in
    command)
      local -a commands=(
@NAMES@      )
      _describe command commands
      ;;
    argument)
      case $words[1] in
@CASES@      esac
      ;;
  esac
}

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  _rattleback "$@"
else
  compdef _rattleback rattleback
fi
"""


def zsh_text(text):
    """Escapes a text for a specification of _arguments."""
    for special in "\\[]:":
        text = text.replace(special, "\\" + special)
    return text


def zsh_value(argument):
    """Returns ":message:action"."""
    if argument["value"] == "none":
        return ""
    choices = " ".join(argument["choices"])
    return f":{zsh_text(argument['label'])}:" + {
        "choices": "(" + choices.replace(":", "\\:") + ")", "list": f"_sequence compadd - {choices}",
        "entries": "_rattleback_entries", "keys": "_rattleback_keys", "file": "_files", "other": "( )"}[argument["value"]]


def zsh_arguments(command, indent):
    specifications = []
    for option in command["options"]:
        before = "*" if option["repeated"] else "(" + " ".join(option["names"]) + ")"
        for name in option["names"]:
            sign = "" if option["value"] == "none" else "=" if name.startswith("--") else "+"
            specifications.append(f"{before}{name}{sign}[{zsh_text(option['text'])}]{zsh_value(option)}")
    for positional in command["positionals"]:
        specifications.append(("*" if positional["repeated"] else "" if positional["required"] else ":") + zsh_value(positional))
    return "".join(f" \\\n{indent}{quoted(specification)}" for specification in specifications)


def zsh(line):
    names = cases = ""
    for command in line["commands"]:
        escaped = command["name"].replace(":", "\\:")
        names += f"        {quoted(escaped + ':' + command['text'])}\n"
        cases += f"        {command['name']})\n          _arguments -S{zsh_arguments(command, '            ')}\n          ;;\n"
    return filled(ZSH, ARGUMENTS=zsh_arguments(line["program"], "    "), NAMES=names, CASES=cases)


def fish_values(argument):
    choices = " ".join(argument["choices"])
    return {"none": "", "choices": " -x -a " + fish_quoted(choices), "list": " -x -a " + fish_quoted(f"(__fish_append , {choices})"),
            "entries": " -x -a '(rattleback list --names 2> /dev/null)'", "file": " -r -F", "other": " -x",
            "keys": " -x -a '(rattleback list keys --names 2> /dev/null | string replace \"[]\" \"[0]\")='"}[argument["value"]]


def fish_options(command, condition):
    text = ""
    for option in command["options"]:
        names = "".join(f" -l {name[2:]}" if name.startswith("--") else f" -s {name[1:]}" for name in option["names"])
        text += f"complete -c rattleback -n {fish_quoted(condition)}{names}{fish_values(option)} -d {fish_quoted(option['text'])}\n"
    return text


def fish(line):
    text = "# Completion of rattleback for fish; written by: rattleback completion fish\ncomplete -c rattleback -f\n"
    text += fish_options(line["program"], "__fish_use_subcommand")
    for command in line["commands"]:
        text += f"complete -c rattleback -n __fish_use_subcommand -a {command['name']} -d {fish_quoted(command['text'])}\n"
        condition = f"__fish_seen_subcommand_from {command['name']}"
        text += fish_options(command, condition)
        for positional in command["positionals"]:
            values = " -F" if positional["value"] == "file" else fish_values(positional)
            text += f"complete -c rattleback -n {fish_quoted(condition)}{values}\n"
    return text


MAN = r""".TH RATTLEBACK 1 "" "rattleback @VERSION@" "User Commands"
.SH NAME
rattleback \- @ABOUT@
.SH SYNOPSIS
.nf
@SYNOPSES@\fBrattleback \-\-version\fR
.fi
.SH DESCRIPTION
A study is a TOML file that names a system, a method, initial states and parameters, times and statistics.
\fBrattleback run\fR
advances all its trajectories on the GPU or on the CPU, reduces over the ensemble while it runs, and writes one
HDF5 file.
The numbers in it are a function of the study alone, to the last bit.
.SH OPTIONS
@OPTIONS@.SH COMMANDS
@COMMANDS@.SH EXIT STATUS
@CODES@.SH ENVIRONMENT
.TP
\fBTMPDIR\fR
directory for the intermediate results of compare; default: /tmp
.TP
\fBRATTLEBACK_PLOT\fR
the tool that draws figures and writes reports, where the installed one will not do
.SH FILES
.TP
\fISTUDY.toml\fR
a study; rattleback check prints it with every key
.TP
\fIRESULT.h5\fR
a result: HDF5, written under a temporary name and renamed when it is complete
.TP
\fIRESULT.h5.checkpoint, RESULT.h5.part, ..\fR
an interrupted run; rattleback resume continues it
.SH EXAMPLES
.nf
@EXAMPLES@.fi
.SH SEE ALSO
.BR h5dump (1),
.BR h5diff (1)
"""


def roff(text):
    """Escapes a text so that roff shows it unchanged."""
    escaped = "".join({"\\": "\\e", "-": "\\-", "'": "\\(aq", "`": "\\(ga", "^": "\\(ha", "~": "\\(ti"}.get(c, c) for c in text)
    return "\\&" + escaped if escaped.startswith(".") else escaped


def bold(text):
    return f"\\fB{roff(text)}\\fR"


def italic(text):
    return f"\\fI{roff(text)}\\fR"


def head(option):
    """Returns "-o, --output FILE"."""
    return ", ".join(map(bold, option["names"])) + (f" {italic(option['label'])}" if option["label"] else "")


def synopsis(command):
    """Returns "run STUDY [OPTIONS]". Required options appear by name."""
    text = bold(f"rattleback {command['name']}")
    for positional in command["positionals"]:
        word = italic(positional["label"]) + "..." * positional["repeated"]
        text += f" {word}" if positional["required"] else f" [{word}]"
    text += "".join(f" {head(option)}" for option in command["options"] if option["required"])
    return text + (f" [{italic('OPTIONS')}]" if any(not option["required"] for option in command["options"]) else "")


def entries(arguments):
    text = ""
    for argument in arguments:
        words = argument["text"] + (f"; default: {argument['default']}" if argument["default"] else "")
        words += "; may be repeated" if argument["repeated"] and argument["names"] else ""
        text += f".TP\n{head(argument) if argument['names'] else italic(argument['label'])}\n{roff(words)}\n"
    return text


def man(line):
    shared = [option["names"] for option in line["program"]["options"]]  # the page describes --help once
    commands = [{**command, "options": [option for option in command["options"] if option["names"] not in shared]}
                for command in line["commands"]]
    return filled(MAN, VERSION=line["version"], ABOUT=roff(line["program"]["text"].partition(": ")[2]),
                  SYNOPSES="".join(f"{synopsis(command)}\n" for command in commands),
                  OPTIONS=entries(line["program"]["options"]),
                  COMMANDS="".join(f".SS {roff(command['name'])}\n{roff(command['text'])}\n"
                                   + entries(command["positionals"]) + entries(command["options"]) for command in commands),
                  CODES="".join(f".TP\n{bold(str(code['code']))}\n{roff(code['text'])}\n" for code in line["exit_codes"]),
                  EXAMPLES="".join(f"{roff(example)}\n" for command in commands for example in command["examples"]))


WRITERS = {"rattleback": bash, "_rattleback": zsh, "rattleback.fish": fish, "rattleback.1": man}


def text(name, line):
    """The text of a file for a description of the command line."""
    return WRITERS[name](line)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(f"usage: rattleback man --json | {sys.argv[0]} FOLDER")
    described = json.load(sys.stdin)
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in WRITERS:
        (folder / name).write_text(text(name, described), encoding="utf-8")
