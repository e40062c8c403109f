"""What the stages share: the other scripts, the variants of the kernels, tables."""
import importlib.machinery, pathlib, types

ROOT = pathlib.Path(__file__).resolve().parents[2]


def load(path):
    """A script as a module."""
    module = types.ModuleType(path.name)
    module.__file__ = str(path)
    importlib.machinery.SourceFileLoader(path.name, str(path)).exec_module(module)
    return module


suite, sweep = load(ROOT / "bench/suite"), load(ROOT / "tests/ptxcpu/sweep.py")

# Options of NVRTC (RATTLEBACK_NVRTCFLAGS), and the rows of bench/suite that are measured with them.
TEAM_ROWS = "^four-particle (ggl-vi-a|energy-momentum)|^heavy-top-directors ggl-vi-s"
LAUNCH_ROWS = "^chaotic printed m = 3 nonholonomic-lobatto|^henon-heiles lobatto"
TEAMS = {f"teams-{lanes}": f"-DRATTLEBACK_TEAM_LANES={lanes}" for lanes in (1, 8, 16, 32)}
LAUNCHES = {f"launch-{threads}x{blocks}": f"-DRATTLEBACK_BLOCK_THREADS={threads} -DRATTLEBACK_BLOCKS={blocks}"
            for threads, blocks in ((32, 8), (64, 2), (64, 3), (64, 6), (64, 8), (128, 2), (128, 4), (256, 1))}


def wanted(context, flags):
    """The variants to run: of a tiny run those that an emulator can do in seconds."""
    return {name: flag for name, flag in flags.items() if not context.tiny or name in ("teams-32", "launch-32x8")}


def table(heads, rows):
    return "\n".join("| " + " | ".join(map(str, cells)) + " |" for cells in (heads, ["---"] * len(heads), *rows)) + "\n"
