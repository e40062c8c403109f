#!/usr/bin/python3
"""Runs on an emulated GPU that are interrupted or killed at random moments, and resumed there or on the processor.

    interrupts.py PROGRAM [--times N]

The result in the end has the bits of an undisturbed run on the processor. The exit code is 1 where it has not.
"""

import argparse
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "ptxcpu"))
from failures import STUDY  # noqa: E402  all kinds of output

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
DEVICES = ("cuda", "cuda", "cpu")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--times", type=int, default=12, help="interruptions")
    arguments = parser.parse_args()
    arguments.program = arguments.program.resolve()
    with tempfile.TemporaryDirectory(prefix="rattleback-interrupts-") as name:
        folder, steps = pathlib.Path(name), ["--set", "time.steps=4000"]
        (folder / "s.toml").write_text(STUDY, encoding="utf-8")

        def start(*words):
            return subprocess.Popen([arguments.program, *words, "--quiet"], cwd=folder, stderr=subprocess.PIPE, text=True)

        if start("run", "s.toml", "-o", "reference.h5", "--backend", "cpu", *steps).wait() != 0:
            sys.exit("the undisturbed run failed")
        begin = time.monotonic()
        if start("run", "s.toml", "-o", "whole.h5", "--backend", "cuda", *steps).wait() != 0:
            sys.exit("the undisturbed run on the device failed")
        whole = time.monotonic() - begin
        random.seed(1)
        stopped, finished, resumed = 0, 0, 0
        while stopped < arguments.times or resumed < 3:
            if stopped > 20 * arguments.times:
                sys.exit(f"only {resumed} of {stopped} interruptions left a checkpoint")
            (folder / "a.h5").unlink(missing_ok=True)
            while not (folder / "a.h5").exists():
                again = (folder / "a.h5.checkpoint").exists()
                words = ["resume", "a.h5"] if again else ["run", "s.toml", "-o", "a.h5", *steps]
                resumed += again
                child = start(*words, "--backend", random.choice(DEVICES))
                try:
                    child.wait(random.uniform(0.0, 1.1 * whole))
                except subprocess.TimeoutExpired:
                    child.send_signal(random.choice(SIGNALS))
                said = child.communicate()[1]
                if child.returncode not in (0, 1, *(-number for number in SIGNALS)):  # a signal may come before main
                    sys.exit(f"exit code {child.returncode}: {said}")
                stopped += child.returncode != 0
            finished += 1
            different = subprocess.run([arguments.program, "diff", "a.h5", "reference.h5"], cwd=folder, capture_output=True,
                                       text=True, check=False)
            if different.returncode != 0:
                sys.exit(f"after {stopped} interruptions:\n{different.stdout}{different.stderr}")
        print(f"{stopped} interruptions, {resumed} resumed, {finished} results, all the same")


if __name__ == "__main__":
    main()
