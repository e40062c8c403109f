#!/usr/bin/python3
"""Lets every call of the CUDA runtime fail once in a run with checkpoints, and judges what the program makes of that.

    failures.py PROGRAM [STUDY] [--kinds launch,malloc,...] [--most N] [-- OPTIONS OF run]

The program must be built with the emulator. Kinds:
    launch, malloc, free, copy, synchronise   one call of this kind fails
    lost                                      from one call on all calls fail, as after the loss of the device
The default study has all kinds of output.

Prints a line per outcome: verdict, kind, exit code, number of calls, the first of these calls, message, with tabs
between. Good verdicts:
    resumed          the run ended with exit code 1 or 2 and one line on stderr that starts with "rattleback: ", and
                     `resume` gave the bits of the undisturbed run
    repeated         the same without a checkpoint: a new run into the same file gave these bits
    unnoticed        the run gave these bits at once; only calls of the kind free failed
Bad verdicts:
    unnoticed-call   the run gave these bits at once, but other calls failed
    signal, exit-code, message, no-resume, no-repeat, different
The exit code is 1 where a verdict was bad.
"""

import argparse
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

KINDS = ("launch", "malloc", "free", "copy", "synchronise", "load", "lost")
GOOD = ("resumed", "repeated", "unnoticed")
STUDY = """[system]
name = "chaotic"
parameters = { m = 2 }
[method]
name = "nonholonomic-lobatto"
stages = 2
[time]
step = 0.1
steps = 60
sample_every = 10
[ensemble]
axes = [ { name = "theta", from = 0.0, to = "pi/2", count = 24 } ]
[ensemble.initial]
q = ["cos(theta)", 0.6, 0.4, 1, 1]
v = [0, "sin(theta)", 0, 0, 0]
[[observable]]
name = "energy"
statistics = ["mse", "mean", "maxabs"]
quantiles = [0.5]
correlation = ["q[0]"]
[[section]]
surface = "q[0] - 0.5"
direction = "both"
[output]
trajectories = [0, 3]
checkpoint = 10
"""


class Trial:
    """Runs of one study in a folder of their own."""

    def __init__(self, program, study, options, folder, timeout):
        self.program, self.study, self.options, self.folder, self.timeout = program, study, options, folder, timeout
        self.result, self.calls, self.reference = folder / "result.h5", folder / "calls", folder / "reference.h5"
        self.counts = {}  # kind -> number of calls of the undisturbed run

    def command(self, *arguments, **emulator):
        """Exit code and lines of stderr of a command, without those of the emulator."""
        environment = {k: v for k, v in os.environ.items() if k not in ("PTXCPU_FAIL", "PTXCPU_CALLS")}
        environment.update({f"PTXCPU_{name.upper()}": value for name, value in emulator.items()})
        ended = subprocess.run([self.program, *arguments], env=environment, capture_output=True, text=True,
                               timeout=self.timeout, check=False)
        lines = [line for line in ended.stderr.splitlines() if not line.startswith("ptxcpu: ")]
        return ended.returncode, lines

    def run(self, **emulator):
        return self.command("run", self.study, "--backend", "cuda", "--quiet", "-o", self.result, *self.options,
                            **emulator)

    def resume(self):
        return self.command("resume", self.result, "--backend", "cuda", "--quiet")

    def is_same(self):
        code, _ = self.command("diff", self.reference, self.result)
        return code == 0

    def counted(self):
        """Calls of every kind in the last run, up to a loss of the device."""
        return {kind: int(count) for kind, count in re.findall(r"(\w+) (\d+)", self.calls.read_text(encoding="utf-8"))}

    def undisturbed(self):
        """Makes the reference and counts its calls."""
        code, lines = self.run(calls=str(self.calls))
        if not done(code):
            sys.exit(f"failures: the undisturbed run ended with {code}: {' | '.join(lines)}")
        self.result.rename(self.reference)
        self.counts = self.counted()

    def clear(self):
        for path in self.folder.glob("result.h5*"):
            path.unlink()

    def judge(self, kind, number):
        """(verdict, exit code, message) of a run in which a call fails."""
        self.clear()
        code, lines = self.run(fail=f"{kind}:{number}", calls=str(self.calls))
        message = " | ".join(lines).replace(str(self.folder), "FOLDER")
        return self.verdict(kind, code, lines), code, message

    def verdict(self, kind, code, lines):
        if code < 0:
            return "signal"
        if done(code):
            if not self.is_same():
                return "different"
            counts = self.counted()
            only_free = kind == "free" or kind == "lost" and all(
                counts[other] == count for other, count in self.counts.items() if other != "free")
            return "unnoticed" if only_free else "unnoticed-call"
        if code not in (1, 2):
            return "exit-code"
        if len(lines) != 1 or not lines[0].startswith("rattleback: "):
            return "message"
        checkpoint = pathlib.Path(f"{self.result}.checkpoint").exists()
        again, _ = self.resume() if checkpoint else self.run()
        if not done(again):
            return "no-resume" if checkpoint else "no-repeat"
        if not self.is_same():
            return "different"
        return "resumed" if checkpoint else "repeated"


def done(code):
    """Whether a run came to its end, with or without failed trajectories."""
    return code in (0, 3)


def spread(count, most):
    """At most so many of the numbers 1 .. count, the first and the last among them."""
    if count <= most:
        return list(range(1, count + 1))
    return sorted({1 + round(i * (count - 1) / (most - 1)) for i in range(most)})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("study", type=pathlib.Path, nargs="?")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--most", type=int, default=1000, help="at most so many calls of a kind (2 or more)")
    parser.add_argument("--timeout", type=float, default=300, help="seconds per run")
    parser.add_argument("options", nargs="*", help="options of run, after --")
    arguments = parser.parse_args()
    if not set(arguments.kinds.split(",")) <= set(KINDS) or arguments.most < 2:
        parser.error(f"kinds are {', '.join(KINDS)}")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        study = arguments.study.resolve() if arguments.study else folder / "study.toml"
        if not arguments.study:
            study.write_text(STUDY, encoding="utf-8")
        trial = Trial(arguments.program.resolve(), study, arguments.options, folder, arguments.timeout)
        trial.undisturbed()
        numbers = dict(trial.counts, lost=sum(trial.counts.values()))
        bad = False
        for kind in arguments.kinds.split(","):
            outcomes = collections.OrderedDict()  # (verdict, exit code, message) -> numbers of the calls
            for number in spread(numbers[kind], arguments.most):
                outcomes.setdefault(trial.judge(kind, number), []).append(number)
            for (verdict, code, message), its_numbers in outcomes.items():
                print("\t".join([verdict, kind, str(code), str(len(its_numbers)), str(its_numbers[0]), message]),
                      flush=True)
                bad = bad or verdict not in GOOD
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
