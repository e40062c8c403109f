#!/usr/bin/env python3
"""Writes the pages that the program tells: generate.py PROGRAM FOLDER. Systems, methods with their options, observables, statistics,
commands, bibliography. So these pages say what the program does."""

import json
import pathlib
import re
import subprocess
import sys


def ask(program, *words):
    return json.loads(subprocess.run([program, *words, "--json"], check=True, capture_output=True, text=True).stdout)


def plain(text):
    """Text of the program for Markdown."""
    return re.sub(r"([\\`*_\[\]|<>$#])", r"\\\1", str(text))


def code(text):
    return f"`{text}`" if text != "" else ""


def value(x):
    return code(json.dumps(x))


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    lines += ["| " + " | ".join(str(cell).replace("\n", " ") for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def reference(entry):
    text = plain(entry["text"])
    if entry.get("doi"):
        text = text.replace(plain(f"doi:{entry['doi']}"), f"[doi:{plain(entry['doi'])}](https://doi.org/{entry['doi']})")
    return text + (f" ({plain(entry['place'])})" if entry.get("place") else "")


def references(entries):
    return "".join(f"- {reference(entry)}\n" for entry in entries) or "None.\n"


def system_page(system):
    parts = [f"# {system['name']}\n", f"{plain(system['instances'][0]['summary'])}.\n",
             f"Configuration space: {plain(system['configuration'])}.\n", "## References\n", references(system["references"])]
    many = len(system["instances"]) > 1
    if many:
        rows = [[code(i["variant"]), ", ".join(f"{k} = {v:g}" for k, v in i.get("structure", {}).items()),
                 i["configuration_dimension"], i["constraints"]] for i in system["instances"]]
        parts += ["## Instances\n", table(["variant", "structure", "dimension", "constraints"], rows)]
    first = system["instances"][0]
    if many:
        parts.append("The following is about the first instance; `rattleback describe` shows all of them.\n")
    parts.append("## State\n")
    parts.append("State: " + ", ".join(map(code, first["state"])) + ". ")
    if first["coordinates"]:
        parts.append("Coordinates: " + ", ".join(map(code, first["coordinates"])) + ". ")
    parts.append(f"\n\nDefault q: {value(first['default_q'])}\n\nDefault v: {value(first['default_v'])}\n\n"
                 f"The motion changes much within the time {first['time_scale']:g}.\n")
    parts.append("## Parameters\n")
    parts.append(table(["name", "default", "unit", ""], [[code(p["name"]), value(p["default"]), plain(p["unit"]), plain(p["text"])]
                                                           for p in first["parameters"]]) if first["parameters"] else "None.\n")
    parts.append("## Observables\n")
    parts.append("Besides those of every run ([observables](observables.md)):\n\n")
    parts.append(table(["name", "conserved", ""], [[code(o["name"]), "yes" if o["conserved"] else "", plain(o["text"])]
                                                   for o in first["observables"]]))
    parts.append("\n## Methods\n")
    parts.append(", ".join(f"[{m}](method-{m}.md)" for m in first["methods"]) + "\n")
    return "\n".join(parts)


def method_page(method):
    frame = "space (right trivialised)" if method["frame"] == "space" else "the body (left trivialised)"
    rows = []
    for option in method["options"]:
        text = option["text"] + (f"; {option['range']}" if option.get("range") else "")
        text += {"groups-only": "; for systems on Lie groups",
                 "rn-only": "; for systems on R^n",
                 "holonomic-only": "; for holonomic constraints"}.get(option.get("systems"), "")
        rows.append([code(option["name"]), value(option["default"]) if "default" in option else "", plain(text)])
    return "\n".join([
        f"# {method['name']}\n", f"{plain(method['summary'])}.\n",
        table(["", ""], [["order", plain(method["order"])], ["takes", plain(method["takes"])],
                           ["state", ", ".join(map(code, method["state"]))], ["v and p on Lie groups are in", frame]]),
        "## References\n", references(method["references"]), "## Options\n", table(["option", "default", ""], rows),
        *(["## Observables of a step\n", ", ".join(map(code, method["step_observables"])) + "\n"]
          if method["step_observables"] else []),
        "## Systems\n", ", ".join(f"[{s}](system-{s}.md)" for s in method["systems"]) + "\n"])


def toc(names):
    return "```{toctree}\n:maxdepth: 1\n:hidden:\n\n" + "\n".join(names) + "\n```\n"


def write(program, folder):
    listed = ask(program, "list")
    for system in listed["systems"]:
        (folder / f"system-{system['name']}.md").write_text(system_page(ask(program, "describe", system["name"])))
    for method in listed["methods"]:
        (folder / f"method-{method['name']}.md").write_text(method_page(ask(program, "describe", method["name"])))
    rows = [[f"[{s['name']}](system-{s['name']}.md)", plain(s["configuration"]), plain(s["summary"])] for s in listed["systems"]]
    (folder / "systems.md").write_text(
        f"# Systems\n\nThe catalogue has {len(rows)} systems. [A system of your own](../learn/own-system.md) is a few lines of a study.\n\n"
        + table(["system", "configuration", ""], rows) + "\n" + toc([f"system-{s['name']}" for s in listed["systems"]]))
    rows = [[f"[{m['name']}](method-{m['name']}.md)", plain(m["order"]), plain(m["takes"])] for m in listed["methods"]]
    (folder / "methods.md").write_text(
        f"# Methods\n\nThere are {len(rows)} methods. [Choosing a method](../learn/choosing.md) compares them; the [theory](../theory/index.md) "
        "has their formulas.\n\n" + table(["method", "order", "takes"], rows) + "\n"
        + toc([f"method-{m['name']}" for m in listed["methods"]]))
    observables = ask(program, "list", "observables")["observables"]
    (folder / "observables.md").write_text(
        "# Observables\n\nEvery run has these observables, besides those of its system.\n\n"
        + table(["name", "of the last step", ""], [[code(o["name"]), "yes" if o["of_step"] else "", plain(o["text"])] for o in observables]))
    statistics = ask(program, "list", "statistics")["statistics"]
    (folder / "statistics.md").write_text(
        "# Statistics\n\nStatistics of values x with references r, over the c trajectories that count. [Ensembles and honest "
        "errors](../learn/ensembles.md) explains their errors.\n\n"
        + table(["name", ""], [[code(s["name"]), plain(s["text"])] for s in statistics]))
    bibliography = ask(program, "cite", "--all")["references"]
    (folder / "bibliography.md").write_text(
        "# Bibliography\n\n`rattleback cite STUDY.toml` prints the references of a study as BibTeX, `rattleback cite --all` all of them.\n\n"
        + "".join(f"- **{entry['key']}**: {reference(entry)}\n" for entry in bibliography if entry["type"] != "software"))
    help_text = subprocess.run([program, "--help"], check=True, capture_output=True, text=True).stdout
    commands = re.findall(r"^  ([a-z]+) +\S", help_text[help_text.index("Subcommands:"):], re.M)
    parts = ["# Commands\n\nThe program prints these texts with `--help`. `rattleback man` prints them as a manual page.\n"]
    for command in commands:
        text = subprocess.run([program, command, "--help"], check=True, capture_output=True, text=True).stdout
        parts.append(f"## rattleback {command}\n\n```text\n{text.rstrip()}\n```\n")
    (folder / "commands.md").write_text("\n".join(parts))


if __name__ == "__main__":
    target = pathlib.Path(sys.argv[2])
    target.mkdir(parents=True, exist_ok=True)
    write(sys.argv[1], target)
