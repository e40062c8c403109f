#!/usr/bin/env python3
"""Writes the gallery, and the figures of the papers and of the comparison of nonholonomic methods: gallery.py PROGRAM SOURCE [--only REGEX].
Runs every study of examples/, takes its time, and draws its figure. SOURCE is the copy of the repository that the site is made from."""

import functools
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]


def comment(text):
    """The lines of `#` at the beginning, in paragraphs; lines of commands are apart."""
    words, commands = [], []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        line = line[1:].rstrip()
        if re.match(r"\s{2,}rattleback ", line):
            commands.append(line.strip())
        else:
            words.append(line.strip())
    return " ".join(words), commands


def escape(text):
    return re.sub(r"([\\`*_\[\]|<>$])", r"\\\1", text)


# Prints the number of samples and, where states are stored, how much the path of the first two coordinates turns from one sample to the
# next: the median angle in radians.
SAMPLES = """
import h5py, json, numpy, sys
with h5py.File(sys.argv[1]) as file:
    turn = None
    if "trajectories" in file and file["trajectories/q"].shape[2] > 1 and len(file["time"]) > 2:
        chords = numpy.diff(file["trajectories/q"][:, 0, :2], axis=0)
        directions = numpy.arctan2(chords[:, 1], chords[:, 0])
        turn = float(numpy.median(abs((numpy.diff(directions) + numpy.pi) % (2 * numpy.pi) - numpy.pi)))
    print(json.dumps([len(file["time"]), turn]))
"""


def figures_of(study, result, commands):
    """The words after `rattleback plot` for figures that may fit, the best one first: that of the comment, or one that its samples suggest.
    A path is drawn where its samples are so close that it is a curve and no star of chords."""
    for command in commands:
        if command.startswith("rattleback plot "):
            yield [result if word == pathlib.Path(result).name else word for word in shlex.split(command)[2:]]
    time = study.get("time", {})
    if "section" in study:
        yield ["section", result]
    samples, turn = json.loads(subprocess.run([sys.executable, "-c", SAMPLES, result], capture_output=True, text=True, check=True).stdout)
    if turn is not None and turn < 0.3 and 50 <= samples <= 5000:
        yield ["phase", result, "--components", "q[0],q[1]"]
    if samples > 2:
        yield ["time", result]
    if time:
        yield ["histogram", result]


def write(program, folder, only):
    images = folder / "gallery"
    images.mkdir(parents=True, exist_ok=True)
    parts = ["# Gallery\n", "Every study in `examples/`, with its command, its time and a figure. The times are those of the machine that built this page: "
             "the integration alone, without the compilation of the kernel.\n"]
    names = [path.stem for path in sorted((ROOT / "examples").glob("*.toml")) if re.search(only, path.stem)]
    parts.append(", ".join(f"[{name}](#{name})" for name in names) + "\n")
    with tempfile.TemporaryDirectory() as scratch:
        for name in names:
            file = ROOT / "examples" / f"{name}.toml"
            result = str(pathlib.Path(scratch) / f"{name}.h5")
            done = subprocess.run([program, "run", file, "-o", result, "--json"], capture_output=True, text=True)
            if done.returncode not in (0, 3):
                sys.exit(f"gallery: {name}: {done.stderr}")
            told = json.loads(done.stdout)
            words, commands = comment(file.read_text())
            parts.append(f"## {name}\n\n{escape(words)}\n")
            lines = dict.fromkeys([f"rattleback run examples/{name}.toml", *commands])  # the comment may have the first one, too
            parts.append("```text\n" + "\n".join(lines) + "\n```\n")
            parts.append(f"{told['trajectories']} trajector{'y' if told['trajectories'] == 1 else 'ies'}, {told['trajectory_steps']} steps in "
                         f"{told['wall_seconds']:.3g} s on {told['threads']} threads ({escape(told['device'])}).\n")
            for words in figures_of(tomllib.loads(file.read_text()), result, commands):
                figure = images / f"{name}.svg"
                if subprocess.run([program, "plot", *words, "-o", figure], capture_output=True).returncode == 0:
                    parts.append(f"![The figure of {name}](gallery/{name}.svg)\n")
                    break
            os.unlink(result)
    (folder / "gallery.md").write_text("\n".join(parts))


def write_figures(program, source):
    """Adds the figures to the pages of the papers and of the comparison of nonholonomic methods."""
    families = "examples/nonholonomic-families"
    for folder in ("examples/papers", families):
        sys.path.insert(0, str(ROOT / folder))
    sys.dont_write_bytecode = True
    import compare
    import reproduce

    program = str(pathlib.Path(program).resolve())
    pages = {source / "examples/papers" / key: functools.partial(reproduce.draw, program, key) for key in reproduce.keys()}
    pages[source / families] = functools.partial(compare.draw, program)
    for folder, draw in pages.items():
        parts = ["\n## Figures\n"]
        for file, caption in draw(folder).items():
            parts.append(f"![{escape(caption)}]({file.name})\n\n*{escape(caption)}.*\n")
        with (folder / "README.md").open("a") as page:
            page.write("\n".join(parts))


if __name__ == "__main__":
    source = pathlib.Path(sys.argv[2])
    write(sys.argv[1], source / "docs/learn", sys.argv[4] if len(sys.argv) > 4 else "")
    write_figures(sys.argv[1], source)
