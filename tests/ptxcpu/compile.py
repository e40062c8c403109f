"""Compiles translated kernels with g++. Where there is ccache, ccache keeps what g++ compiles.

    PTXCPU_CXX, PTXCPU_CXXFLAGS   compiler of the translated code (g++) and its optimisation (-O1)
"""

import os
import pathlib
import shlex
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
# Flags that the bits depend on. No vectoriser: it contracts sums of products (GCC bug 106902).
FLAGS = ["-mfma", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fno-tree-vectorize",
         "-fno-strict-aliasing", "-fwrapv", "-w"]


class Failed(Exception):
    """A command failed; the argument is the exit code of the command."""


def run(command, **options):
    code = subprocess.run(command, check=False, **options).returncode
    if code != 0:
        raise Failed(code)


def emulator_files(script):
    """What compiled kernels depend on: the translator, the headers, this file and the script that uses them."""
    translator = [path for path in sorted((HERE / "translate").glob("*.py")) if path.name != "__main__.py"]
    return list(map(str, [HERE / script, HERE / "compile.py", *translator, *sorted((HERE / "device").glob("*.hpp"))]))


def compiler():
    """Compiler and flags of the translated code."""
    return [*shlex.split(os.environ.get("PTXCPU_CXX", "g++")), "-std=c++20",
            *shlex.split(os.environ.get("PTXCPU_CXXFLAGS", "-O1")), *FLAGS, f"-I{HERE / 'device'}"]


def compile_code(code, work, *flags):
    """Compiles C++ in a folder to unit.o. g++ runs there, with the name of the file alone: ccache sees the same command
    for the same code."""
    (work / "unit.cpp").write_text(code, encoding="utf-8")
    cache = [shutil.which("ccache")] if shutil.which("ccache") else []
    run([*cache, *compiler(), *flags, "-c", "unit.cpp", "-o", "unit.o"], cwd=work)
