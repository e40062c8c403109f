"""A wheel, built and installed in a fresh environment, and the types of the package.

The wheel takes the library of the build in RATTLEBACK_BUILD, which `pip install .` would compile.
"""

import os
import pathlib
import pty
import re
import subprocess
import sys
import unittest
import zipfile

from common import PENDULUM, PROGRAM, ROOT, Case

BUILD = pathlib.Path(os.environ["RATTLEBACK_BUILD"])


def call(*words, **options):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise AssertionError(f"{words}: {done.stdout}{done.stderr}")
    return done.stdout


class Wheel(Case):
    def test_wheel_in_a_fresh_environment(self):
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        # ccache then has the objects of the build.
        compiling = {key: value for key, value in environment.items() if key != "XDG_CACHE_HOME"}
        call(sys.executable, "-m", "pip", "wheel", ROOT, "--no-deps", "--no-build-isolation", "--wheel-dir", "dist", "--quiet",
             f"--config-settings=build-dir={BUILD / 'wheel'}", f"--config-settings=cmake.define.RATTLEBACK_BUILD={BUILD}", env=compiling)
        wheel, = pathlib.Path("dist").iterdir()
        names = zipfile.ZipFile(wheel).namelist()
        for name in ("rattleback/__init__.py", "rattleback/_core.pyi", "rattleback/py.typed", "rattleback/plot/main.py"):
            self.assertIn(name, names)
        self.assertEqual([name for name in names if not name.startswith(("rattleback/", "rattleback_ensembles-"))], [])
        self.assertLess(wheel.stat().st_size, 10 << 20)
        # Nothing in it names a folder of the build, which may be gone or anybody's later.
        with zipfile.ZipFile(wheel) as archive:
            for name in names:
                data = archive.read(name)
                for folder in (ROOT, BUILD, self.folder.resolve(), sys.prefix):
                    self.assertNotIn(str(folder).encode() + b"/", data, f"{name} names {folder}")
                self.assertIsNone(re.search(rb"/(?:tmp|var/tmp|home|root)/[\w.-]+", data), name)
        call(sys.executable, "-m", "uv", "venv", "--quiet", "--python", sys.executable, "fresh", env=environment)
        python = pathlib.Path("fresh/bin/python")
        call(sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", python, "--cache-dir", ROOT / "build/cache/uv", wheel,
             env=environment)
        installed = call(sys.executable, "-m", "uv", "pip", "list", "--quiet", "--python", python, env=environment)
        self.assertEqual([line.split()[0] for line in installed.splitlines()[2:]], ["numpy", "rattleback-ensembles"])
        script = (f"import rattleback as rb\nresult = rb.run(rb.Study.parse('''{PENDULUM}'''))\nresult.save('fresh.h5')\n"
                  "print(rb.__file__, rb.__version__, result.failed)\n"
                  "try:\n    rb.plot.time(result)\nexcept ImportError as error:\n    print(error)\n")
        told = call(python, "-c", script, env=environment)
        self.assertIn(str(self.folder.resolve() / "fresh"), told)
        self.assertIn("figures need matplotlib and h5py", told)
        call(PROGRAM, "run", self.write("pendulum.toml", PENDULUM), "-o", "program.h5", "--quiet")
        call(PROGRAM, "diff", "fresh.h5", "program.h5")
        # The command is the whole program, with the messages and the exit codes that it has.
        command = pathlib.Path("fresh/bin/rattleback")
        self.assertEqual(call(command, "--version", env=environment).splitlines()[0], call(PROGRAM, "--version").splitlines()[0])
        call(command, "run", "pendulum.toml", "-o", "command.h5", "--quiet", env=environment)
        call(PROGRAM, "diff", "command.h5", "program.h5")
        for words, code in ((("run", "no-such.toml"), 2), (("diff", "command.h5", "pendulum.toml"), 2), (("list", "sistems"), 2)):
            done = [subprocess.run([program, *words], capture_output=True, text=True, env=environment, check=False) for program in (command, PROGRAM)]
            self.assertEqual((done[0].returncode, done[0].stderr), (code, done[1].stderr))
        for words in (("completion", "bash"), ("completion", "zsh"), ("completion", "fish"), ("man",), ("list", "--schema")):
            self.assertEqual(call(command, *words, env=environment), call(PROGRAM, *words), words)
        self.assertIn(f"'{python.absolute()}' '-m' 'rattleback' run", call(command, "job", "pendulum.toml", "--parts", "2", "--mpi", env=environment))
        self.write("elsewhere/json.py", "raise SystemExit('a module of the working directory')")
        with self.assertRaisesRegex(AssertionError, r"figures, reports and exports need numpy, h5py and matplotlib.*'rattleback-ensembles\[plot\]'"):
            call(command.absolute(), "plot", "../command.h5", env=environment, cwd="elsewhere")
        # Kernels beside the extension, where the wheel rattleback-ensembles-kernels has them, serve where there is no compiler.
        bare = {**environment, "PATH": "/nonexistent", "XDG_CACHE_HOME": str(self.folder / "empty")}
        with self.assertRaisesRegex(AssertionError, "there is no C\\+\\+ compiler.*the wheel rattleback-ensembles-kernels"):
            call(python.absolute(), "-c", script, env=bare)
        call(PROGRAM, "compile", "pendulum.toml", "--quiet", "--pack", pathlib.Path(told.split()[0]).parent / "kernels")
        call(python.absolute(), "-c", script, env=bare)
        call(PROGRAM, "diff", "fresh.h5", "program.h5")


class Bar(Case):
    def test_a_build_draws_a_bar_on_the_terminal_and_passes_its_output_on(self):
        script = ("import os, sys\nsys.path.insert(0, sys.argv[1])\nimport build_backend as backend\n"
                  "with backend.told():\n    os.write(1, b'[1/4] Building a.o\\n')\n    os.write(1, b'[2/')\n    os.write(1, b'4] Linking\\n')\n")
        child, terminal = pty.fork()
        if child == 0:
            os.dup2(os.open("output", os.O_WRONLY | os.O_CREAT, 0o600), 1)
            os.execv(sys.executable, [sys.executable, "-c", script, str(ROOT / "tools")])
        drawn = b""
        try:
            while block := os.read(terminal, 4096):
                drawn += block
        except OSError:  # the end, on Linux
            pass
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0, drawn)
        os.close(terminal)
        self.assertRegex(drawn.decode(), r"rattleback: compiling the extension for Python.*\[#{10} {10}\] 2/4, \d+ s")
        self.assertEqual(pathlib.Path("output").read_text(), "[1/4] Building a.o\n[2/4] Linking\n")


class Nvrtc(Case):
    def named(self, **variables):
        """The NVRTC that the package names to the library, where nvidia-* packages are among those of the interpreter."""
        self.write("packages/nvidia/cu13/lib/libnvrtc.so.13", "")
        environment = {key: value for key, value in os.environ.items() if key not in ("CONDA_PREFIX", "RATTLEBACK_NVRTC")}
        script = "import os, rattleback as rb\nrb.Study\nprint(os.environ.get('RATTLEBACK_NVRTC'))"
        return call(sys.executable, "-c", f"import sys\nsys.path.append('packages')\n{script}", env={**environment, **variables}).strip()

    def test_order(self):
        """What the user names goes first, then an active conda environment, then the packages of the interpreter."""
        packages = str(pathlib.Path("packages/nvidia/cu13/lib/libnvrtc.so.13"))
        self.assertTrue(self.named().endswith(packages))
        self.assertTrue(self.named(CONDA_PREFIX="conda").endswith(packages), "an environment without NVRTC")
        self.write("conda/lib/libnvrtc.so.12", "")
        self.assertEqual(self.named(CONDA_PREFIX="conda"), "None")
        self.assertEqual(self.named(RATTLEBACK_NVRTC="/mine"), "/mine")


class Types(Case):
    def test_types(self):
        """The package and its users have consistent types, and mypy sees the faults of a user."""
        good = ("import rattleback as rb\nstudy = rb.Study.load('a.toml')\nresult: rb.Result = rb.run(study, threads=2)\n"
                "slope: float = result.fit('energy').slope\nslopes: dict[str, float] = rb.order(study, [0.1]).slopes\n"
                "mse: rb.Statistics = result.observable('energy')\nq: float = result.final.q[0, 0]\nversion: str = rb.__version__\n")
        self.write("user.py", good)
        options = ("--config-file", ROOT / "pyproject.toml", "--cache-dir", BUILD / "mypy")
        environment = {**os.environ, "MYPYPATH": os.environ["PYTHONPATH"]}
        call(sys.executable, "-m", "mypy", *options, "-p", "rattleback", env=environment)
        call(sys.executable, "-m", "mypy", *options, "user.py", env=environment)
        self.write("bad.py", good + "rb.run('a.toml')\nresult.fit(1)\n")
        with self.assertRaisesRegex(AssertionError, r'(?s)"run" has incompatible type.*"fit" of "Result" has incompatible'):
            call(sys.executable, "-m", "mypy", *options, "bad.py", env=environment)


if __name__ == "__main__":
    unittest.main()
