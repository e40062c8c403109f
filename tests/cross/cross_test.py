#!/usr/bin/env python3
"""Programs of g++, clang++ and g++ for aarch64 (run by qemu), for each instruction set, print the same bits.

    cross_test.py [--flags "-ffp-contract=off .."] [--work FOLDER]

--flags are those that decide the bits (RATTLEBACK_KERNEL_FLAGS). The programs stay in the folder. g++ is needed; what another
missing tool would do is left out.
"""
import argparse, pathlib, platform, shutil, subprocess, sys, tempfile

HERE = pathlib.Path(__file__).resolve().parent
X86 = {"scalar": ["-mfma"], "avx2": ["-mavx2", "-mfma", "-DRATTLEBACK_PACK=4"],
       "avx512": ["-mavx512f", "-mavx512dq", "-mavx512vl", "-mavx2", "-mfma", "-DRATTLEBACK_PACK=8"]}
NEEDS = {"scalar": {"fma"}, "avx2": {"fma", "avx2"}, "avx512": {"fma", "avx512f", "avx512dq", "avx512vl"}}
ARM = {"scalar": [], "neon": ["-DRATTLEBACK_PACK=2"]}
PROGRAMS = ["functions", "trajectories"]
CACHE = [name for name in ["ccache"] if shutil.which(name)]  # most runs of the test find nothing to compile


def left_out(what, why):
    print(f"left out: {what} ({why})")


def native_sets():
    """The instruction sets of this machine, with their flags."""
    if platform.machine() in ("aarch64", "arm64"):
        return ARM
    features = set()
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("flags"):
            features = set(line.split(":", 1)[1].split())
            break
    sets = {}
    for isa, flags in X86.items():
        if NEEDS[isa] <= features:
            sets[isa] = flags
        else:
            left_out(isa, "this processor has no " + " ".join(sorted(NEEDS[isa] - features)))
    return sets


def machines():
    """Yields the compiler, the command that runs its programs, and its instruction sets."""
    native = native_sets()
    if shutil.which("g++") is None:
        sys.exit("cross_test: g++ is not installed; install the Debian package g++")
    yield "g++", [], native
    if shutil.which("clang++"):  # the widest set; compilers_test.py has kernels without packs
        yield "clang++", [], dict(list(native.items())[-1:])
    else:
        left_out("clang++", "not installed; Debian package clang")
    if native is ARM:
        return
    cross, emulator = "aarch64-linux-gnu-g++", shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static")
    if shutil.which(cross) and emulator:
        yield cross, [emulator], ARM
    else:
        left_out("aarch64", f"{cross} or qemu-aarch64 is not installed; "
                            "Debian packages g++-aarch64-linux-gnu and qemu-user")


def output(compiler, runner, isa, flags, program, work):
    """The lines that the program prints, compiled for one instruction set."""
    executable = work / f"{program}-{compiler}-{isa}"
    command = [*CACHE, compiler, "-std=c++20", "-O2" if program == "functions" and "clang" not in compiler else "-O1", *flags, f"-DRATTLEBACK_ISA={isa}",
               f"-I{HERE.parents[1] / 'kernels'}", str(HERE / f"{program}.cpp"), "-o", str(executable)]
    if isa in ("scalar", "avx2"):
        command.append("-DRATTLEBACK_SMALL_CODE")  # half the time to compile; the widest packs have the code as it is used
    if runner:
        command.append("-static")  # the emulator has no libraries of the other machine
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"cross_test: {' '.join(command)}\n{done.stderr}")
    done = subprocess.run([*runner, str(executable)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"cross_test: {executable} ended with {done.returncode}\n{done.stderr}")
    return done.stdout.splitlines()


def require_trajectories(lines):
    """Most trajectories must be good, and some must fail, so that both are compared."""
    counts = {line.rsplit(", failed ", 1)[0]: int(line.rsplit(" ", 1)[1]) for line in lines if ", failed " in line}
    if len(counts) < 5 or not all(0 < count < 64 for count in counts.values()):
        sys.exit(f"cross_test: numbers of failed trajectories of 256 should be in 1..63: {counts}")


def differences(name, lines, reference):
    """Reports where the lines differ; returns whether they do."""
    if lines == reference:
        return False
    pairs = [(a, b) for a, b in zip(reference, lines) if a != b]
    print(f"DIFFERENT: {name}: {len(pairs)} of {len(reference)} lines; number of lines {len(lines)}")
    for expected, found in pairs[:5]:
        print(f"  expected {expected}\n  found    {found}")
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--flags", default="-ffp-contract=off -fno-tree-vectorize -fno-math-errno -fno-trapping-math")
    parser.add_argument("--work", type=pathlib.Path)
    arguments = parser.parse_args()
    work = arguments.work or pathlib.Path(tempfile.mkdtemp(prefix="cross-"))
    work.mkdir(parents=True, exist_ok=True)
    references, different = {}, False
    for compiler, runner, sets in machines():
        for isa, flags in sets.items():
            for program in PROGRAMS:
                name = f"{program}, {compiler}, {isa}"
                lines = output(compiler, runner, isa, flags + arguments.flags.split(), program, work)
                reference = references.setdefault(program, lines)
                if program == "trajectories":
                    require_trajectories(lines)
                if reference is lines:
                    print(f"reference: {name}, {len(lines)} lines")
                elif differences(name, lines, reference):
                    different = True
                else:
                    print(f"same: {name}")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
