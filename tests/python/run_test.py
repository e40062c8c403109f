"""Runs: bits, Ctrl-C, progress, warnings, threads."""

import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
import unittest

import numpy as np

import rattleback as rb
from common import PENDULUM, Case, program

LONG = {"time.end": 2e6, "time.sample_every": 1_000_000}


class Runs(Case):
    def test_bits_of_the_program(self):
        self.write("pendulum.toml", PENDULUM)
        study = rb.Study.load("pendulum.toml")
        program("run", "pendulum.toml", "-o", "program.h5", "--quiet")
        for options in ({}, {"threads": 1}, {"backend": "cpu:scalar"}, {"tile": 256}, {"output": "file.h5"}):
            with self.subTest(options):
                self.assertTrue(rb.diff(rb.run(study, **options), "program.h5").identical)
        self.assertEqual(rb.open("file.h5").file, pathlib.Path("file.h5"))

    def interrupted(self, action, after):
        """Interrupts an action after some seconds. Returns the message."""
        timer = threading.Timer(after, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        start = time.monotonic()
        with self.assertRaises(KeyboardInterrupt) as caught:
            action()
        self.assertLess(time.monotonic() - start, after + 10.0)
        timer.join()
        return str(caught.exception)

    def interrupted_early(self, study, *arguments):
        """Interrupts a run when its first tenth is done. Returns the message."""

        def show(share):
            if share > 0.1:
                os.kill(os.getpid(), signal.SIGINT)

        with self.assertRaises(KeyboardInterrupt) as caught:
            rb.run(study, *arguments, threads=1, progress=show)
        return str(caught.exception)

    def test_an_interrupt_leaves_a_checkpoint(self):
        study = rb.Study.parse(PENDULUM).replace({"time.end": 4000.0, "time.sample_every": 100, "ensemble.axes[0].count": 2000})
        whole = rb.run(study)
        for output in (None, "file.h5"):
            with self.subTest(output):
                name = output or "pendulum.h5"
                self.assertIn(f"rattleback.resume('{name}') continues it", self.interrupted_early(study, output))
                self.assertTrue(pathlib.Path(f"{name}.checkpoint").exists())
                self.assertTrue(rb.diff(rb.resume(name), whole).identical)
                with self.assertRaisesRegex(rb.InputError, "finished"):
                    rb.resume(name)

    def test_a_checkpoint_knows_borrowed_states(self):
        study = rb.Study.parse(PENDULUM).replace({"time.end": 4000.0, "time.sample_every": 100})
        angle = np.linspace(0.5, 1.0, 2000)
        study.states(q=np.stack([np.sin(angle), 0 * angle, -np.cos(angle)], axis=1), v=np.tile([0.0, 0.8, 0.0], (2000, 1)))
        whole = rb.run(study)
        self.interrupted_early(study)
        del study
        self.assertTrue(rb.diff(rb.resume("pendulum.h5"), whole).identical)

    def test_an_interrupt_ends_the_compiler(self):
        name = f"a{os.getpid()}"  # of a kernel that is in no cache
        system = rb.System("never-seen", coordinates="x y", potential=f"x^4 + {name} y^4", parameters={name: 1.5},
                           initial={"q": [1, 0.2], "v": [0, 0]})
        self.interrupted(lambda: rb.run(rb.Study(system=system, method={"name": "lobatto", "stages": 3}, time={"step": 0.1, "steps": 2})), 0.7)
        self.assertEqual(list(self.folder.iterdir()), [])
        study = rb.Study.parse(PENDULUM)  # the next run compiles and runs as always
        self.assertEqual(rb.run(study).failed, 0)

    def test_progress(self):
        shares = []
        rb.run(rb.Study.parse(PENDULUM).replace({"time.end": 2000.0, "ensemble.axes[0].count": 4000}), progress=shares.append)
        self.assertTrue(shares == sorted(shares) and 0 <= shares[0] and shares[-1] <= 1)

        def complain(share):
            raise ZeroDivisionError("of the function")

        with self.assertRaisesRegex(ZeroDivisionError, "of the function"):
            rb.run(rb.Study.parse(PENDULUM).replace(LONG), progress=complain)
        self.assertEqual(list(self.folder.iterdir()), [])  # nobody is told of a checkpoint

    def test_the_end_of_the_interpreter_ends_runs(self):
        """A thread that is a daemon may be in the midst of a call when the interpreter ends."""
        script = f"""import threading, rattleback as rb
study = rb.Study.parse({PENDULUM!r}).replace({LONG})
started = threading.Event()
def work():
    CALL
threading.Thread(target=work, daemon=True).start()
started.wait()
"""
        short = "result = rb.run(study.replace({'time.end': 4.0, 'time.sample_every': 4}))"
        for call in ("rb.run(study, progress=lambda share: started.set())", "started.set(); rb.run(study, 'a.h5')",
                     "started.set(); rb.run(study)", "started.set()\n    while True: rb.Study.parse(study.toml())",
                     f"{short}; started.set()\n    while True: result.fingerprint()"):
            with self.subTest(call):
                ended = subprocess.run([sys.executable, "-c", script.replace("CALL", call)], capture_output=True, text=True, timeout=60)
                self.assertEqual(ended.returncode, 0, ended.stderr)
                self.assertNotIn("terminate", ended.stderr)
        # A child of a fork has no thread to wait for, also where its parent had one.
        forked = script.replace("CALL", "rb.run(study, progress=lambda share: started.set())") + "import os, sys\nif os.fork() == 0: sys.exit(7)\nprint(os.wait()[1] >> 8)\n"
        ended = subprocess.run([sys.executable, "-c", forked], capture_output=True, text=True, timeout=60)
        self.assertEqual((ended.returncode, ended.stdout), (0, "7\n"), ended.stderr)
        self.assertEqual([path.name for path in self.folder.iterdir() if not path.name.startswith("a.h5")], [])

    def test_a_result_without_memory_is_refused_at_once(self):
        for count in (10**9, 10**12):
            study = rb.Study.parse(PENDULUM).replace({"ensemble.axes[0].count": count})
            begin = time.monotonic()
            with self.assertRaisesRegex(rb.InputError, "MiB of memory and .* MiB are free; run into a file"):
                rb.run(study)
            self.assertLess(time.monotonic() - begin, 10)

    def test_warnings_and_faults(self):
        study = rb.Study.parse(PENDULUM).replace({"fit": [{"name": "growth", "observable": "energy"}], "ensemble.axes[0].count": 1,
                                                  "output.trajectories": None})
        with self.assertWarnsRegex(rb.RattlebackWarning, "an error needs more than one trajectory") as caught:
            rb.run(study)
        self.assertEqual(caught.filename, __file__)
        with self.assertRaisesRegex(rb.InputError, "unknown backend|backend"):
            rb.run(study, backend="abacus")
        with self.assertRaisesRegex(rb.InputError, "no such directory"):
            rb.run(study, "nowhere/a.h5")

    def test_no_compiler_is_one_message(self):
        script = f"import rattleback as rb\nstudy = rb.Study.parse('''{PENDULUM}''')\ntry:\n  rb.run(study)\nexcept rb.InputError as e:\n  print(e)"
        environment = {**os.environ, "PATH": "/nonexistent", "RATTLEBACK_CXX": "/nonexistent", "XDG_CACHE_HOME": str(self.folder / "cache")}
        told = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True).stdout
        self.assertEqual(told.count("\n"), 1)
        self.assertIn("compile", told)

    def test_a_pack_that_is_gone_is_a_warning(self):
        script = ("import warnings, rattleback as rb\nwith warnings.catch_warnings(record=True) as caught:\n    warnings.simplefilter('always')\n"
                  f"    rb.run(rb.Study.parse({PENDULUM!r}))\nprint([(warning.category.__name__, str(warning.message)) for warning in caught])")
        environment = {**os.environ, "RATTLEBACK_KERNEL_PATH": "/nope"}
        told = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True, timeout=60).stdout
        self.assertEqual(told.count("is left out (it is no folder)"), 1, told)
        self.assertIn("RattlebackWarning", told)

    def test_threads_are_those_of_the_affinity(self):
        script = ("import os\nfrom rattleback import _core\nos.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
                  "print(_core.usable_processors())")
        told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
        self.assertEqual(told.strip(), "1")

    def test_locks_of_hdf5(self):
        script = (f"import rattleback as rb\nstudy = rb.Study.parse({PENDULUM!r}).replace({{'ensemble.axes[0].count': 8, 'output.trajectories': []}})\n"
                  "print(rb.diff(rb.run(study, 'a.h5'), rb.run(study)).identical)")
        for value in ("TRUE", "1", "BEST_EFFORT", "FALSE"):
            told = subprocess.run([sys.executable, "-c", script], env={**os.environ, "HDF5_USE_FILE_LOCKING": value},
                                  capture_output=True, text=True)
            self.assertEqual(told.stdout, "True\n", f"{value}: {told.stderr}")

    def test_threads(self):
        """Runs in several threads at once, into files and in memory, are those of one thread."""
        study = rb.Study.parse(PENDULUM)
        whole, results, faults = rb.run(study), {}, []

        def work(number):
            try:
                results[number] = rb.run(study, f"{number}.h5" if number % 2 else None, threads=1)
                results[number].to_xarray()
            except Exception as error:
                faults.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        ticks = 0
        while any(thread.is_alive() for thread in threads):  # other threads run meanwhile
            ticks += 1
            time.sleep(0.001)
        self.assertEqual(faults, [])
        self.assertGreater(ticks, 3)
        for result in results.values():
            self.assertTrue(rb.diff(result, whole).identical)


if __name__ == "__main__":
    unittest.main()
