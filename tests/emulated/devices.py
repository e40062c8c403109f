#!/usr/bin/python3
"""What the program does with GPUs that cannot be used, or have little memory, on the emulator.

    devices.py PROGRAM
"""

import os
import pathlib
import subprocess
import sys
import tempfile

STUDY = """[system]
name = "chaotic"
parameters = { m = 2 }
[method]
name = "nonholonomic-lobatto"
[time]
step = 0.1
end = 1
[ensemble]
axes = [ { name = "a", from = 0, to = 1, count = 20000 } ]
[ensemble.initial]
q = [0, "cos(a)", 0, 0, 0]
v = [0, 0, 0, 0, 0]
"""


class Program:
    def __init__(self, program, folder):
        self.program, self.folder, self.faults = program, folder, 0
        (folder / "s.toml").write_text(STUDY, encoding="utf-8")

    def run(self, name, arguments, code, *says, **options):
        """Runs a command of the program; the exit code and the lines on stderr must be as told."""
        environment = dict(os.environ, **{f"PTXCPU_{key}": str(value) for key, value in options.items()})
        done = subprocess.run([self.program, *arguments.split()], cwd=self.folder, env=environment, capture_output=True,
                              text=True, timeout=120, check=False)
        lines = [line for line in done.stderr.splitlines() if not line.startswith("ptxcpu: ")]
        good = done.returncode == code and len(lines) == len(says) and all(
            line.startswith("rattleback: ") and text in line for line, text in zip(lines, says))
        print(f"{'ok  ' if good else 'FAIL'} {name}")
        if not good:
            self.faults += 1
            print(f"     exit code {done.returncode}, not {code}; stderr:\n{done.stderr}")
        return good


def main():
    with tempfile.TemporaryDirectory(prefix="rattleback-devices-") as folder:
        program = Program(str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(folder))
        program.run("reference", "run s.toml -o cpu.h5 --quiet --backend cpu", 0)
        old = "has compute capability 8.0, and this build has kernels for 90"
        program.run("old architecture, auto", "run s.toml -o a.h5 --quiet", 0, "no GPU is used", ARCHITECTURE=80)
        program.run("old architecture, cuda", "run s.toml -o b.h5 --quiet --backend cuda", 2, old, ARCHITECTURE=80)
        program.run("exclusive, auto", "run s.toml -o c.h5 --quiet", 0, "no GPU is used", EXCLUSIVE=1)
        program.run("exclusive, cuda", "run s.toml -o d.h5 --quiet --backend cuda", 2, "is not available", EXCLUSIVE=1)
        program.run("no device", "run s.toml -o e.h5 --quiet --backend cuda", 2, "no CUDA device", DEVICES=0)
        program.run("little memory", "run s.toml -o f.h5 --quiet --backend cuda --tile 20000", 0,
                    "the device has too little memory for a tile; it is halved", MEMORY=1)
        program.run("the same bits", "diff cpu.h5 f.h5 --quiet", 0)
        program.run("self-test", "selftest --backend cuda --match chaotic_printed_m2.*_s2 --seconds 0 --quiet", 0)
        return 1 if program.faults else 0


if __name__ == "__main__":
    sys.exit(main())
