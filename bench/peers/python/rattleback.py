"""rattleback itself, through its command line: --program, methods s2 to s6 (the Lobatto pair of the system's constraints), by
their names compositions of s2, and explicit Runge-Kutta methods with projection, which take no velocity constraints."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import h5py

from problems import COMPOSITIONS, RUNGE_KUTTA, answer, arguments, skip, study

task = arguments(["s2", "s3", "s4", "s5", "s6", *COMPOSITIONS, *RUNGE_KUTTA], adaptive=False, program="build/release/rattleback")
with tempfile.TemporaryDirectory() as scratch:
    file, result = Path(scratch, "study.toml"), Path(scratch, "result.h5")
    file.write_text(study(task.system, task.method, task.step, task.end, task.count))
    backend = "cuda" if task.device == "gpu" else "cpu"
    run = subprocess.run([task.program, "run", file, "-o", result, "--backend", backend, "--threads", str(task.threads),
                          "--json", "--quiet"], capture_output=True, text=True)
    if run.returncode != 0:
        if task.device == "gpu":
            skip(task, "rattleback", run.stderr.strip().splitlines()[-1])
            raise SystemExit
        sys.exit(run.stderr)
    summary = json.loads(run.stdout)
    with h5py.File(result) as h5:
        version = f"{h5.attrs['version'].decode()} ({h5.attrs['git'].decode()})"
        final = [*h5["final/q"][:].T, *h5["final/v"][:].T]
answer(task, "rattleback", version, final, summary["wall_seconds"])
