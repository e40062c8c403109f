"""The command line: ``rattleback``, or ``python -m rattleback``."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

from . import shell_files
from .environment import name_nvrtc

# Starts the tool that draws in an interpreter of its own, because HDF5 crashes on some damaged files. The working directory, which may
# have modules of any name, is not among the places that are searched.
_DRAW = "import sys; sys.path[:] = [*filter(None, sys.path), sys.argv.pop(1)]; from rattleback.__main__ import draw; sys.exit(draw())"


def draw() -> int:
    """Runs the tool behind ``rattleback plot``, ``report``, ``export`` and ``import`` with the words of the command line."""
    try:
        from .plot.main import main as run

        return int(run(sys.argv[1:]))
    except ImportError as error:
        print(f"rattleback: figures, reports and exports need numpy, h5py and matplotlib ({error}); install them: "
              "pip install 'rattleback-ensembles[plot]'", file=sys.stderr)
        return 1


def shell_file(name: str, described: str) -> str:
    return shell_files.text(name, json.loads(described))


def main() -> int:
    """Runs the command that the words of the command line name; returns the exit code."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a run has handlers of its own
    from . import _core

    name_nvrtc()
    place = str(Path(__file__).resolve().parents[1])
    return _core.command_line(list(map(os.fsencode, ["rattleback", *sys.argv[1:]])), list(map(os.fsencode, [sys.executable, "-m", "rattleback"])),
                              list(map(os.fsencode, [sys.executable, "-c", _DRAW, place])), shell_file)


if __name__ == "__main__":
    sys.exit(main())
