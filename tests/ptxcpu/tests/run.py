#!/usr/bin/python3
"""The emulator's own tests: what the translator refuses, what the runtime returns, what the machine finds.

    run.py --library LIBCUDART_STATIC.A --work FOLDER [--nvcc NVCC]

Prints a line per check. The exit code is 1 where a check failed.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
EMULATOR = HERE.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(EMULATOR))

from translate import Unsupported, translate  # noqa: E402

NVCC_FLAGS = ["-std=c++20", "-O1", "--fmad=false", "--expt-relaxed-constexpr", "-Xcompiler=-ffp-contract=off",
              "--generate-code=arch=compute_90,code=[compute_90]"]
BODY = """.version 9.0
.target sm_90
.address_size 64
.visible .entry kernel(.param .u64 x)
{{
  .reg .f64 %fd<4>;
  .reg .f32 %f<4>;
  .reg .b32 %r<4>;
  {}
  ret;
}}
"""
# PTX, and what the translator says of line 9
REFUSED = [
    ("add.f64 %fd1, %fd2, %fd3;", r"line 9: add\.f64 .*a sum without \.rn"),
    ("sub.f32 %f1, %f2, %f3;", r"line 9: .*a sum without \.rn"),
    ("mul.f64 %fd1, %fd2, %fd3;", r"line 9: .*a product without \.rn"),
    ("fma.rn.ftz.f32 %f1, %f2, %f3, %f1;", r"line 9: .*modifier '\.ftz'"),
    ("fma.rz.f64 %fd1, %fd2, %fd3, %fd1;", r"line 9: .*modifier '\.rz'"),
    ("div.approx.f32 %f1, %f2, %f3;", r"line 9: .*modifier '\.approx'"),
    ("div.full.f32 %f1, %f2, %f3;", r"line 9: .*modifier '\.full'"),
    ("rcp.approx.ftz.f64 %fd1, %fd2;", r"line 9: .*modifier '\.approx'"),
    ("sqrt.approx.f32 %f1, %f2;", r"line 9: .*modifier '\.approx'"),
    ("ex2.approx.f32 %f1, %f2;", r"line 9: .*opcode 'ex2\.approx\.f32'"),
    ("cvt.rz.f32.f64 %f1, %fd1;", r"line 9: .*rounding of a conversion"),
    ("mov.b32 %r1, %r9;", r"line 9: .*unknown name '%r9'"),
    ("atom.global.inc.u32 %r1, [%r2], %r3;", r"line 9: .*atomic operation '\.inc'"),
    ("ld.global.mmio.u32 %r1, [%r2];", r"line 9: .*modifier '\.mmio'"),
    ("match.any.sync.b32 %r1, %r2, %r3;", r"line 9: .*opcode 'match"),
    ("bar.arrive 0, 32;", r"line 9: .*modifier '\.arrive'"),
    ("ld.param.u64 %fd1, [x+8];", r"line 9: .*an access outside its variable"),
]
OK = "cudaSuccess"
FINE = "cudaSuccess 2528 6 31"
TILES = "cudaSuccess 1 1 4"
NO_IMAGE = "cudaErrorNoKernelImageForDevice"
BUSY = "cudaErrorDevicesUnavailable"
LOST = "cudaErrorECCUncorrectable"
NO_MEMORY = "cudaErrorMemoryAllocation"
INVALID = "cudaErrorInvalidValue"
CUB = "^" + "\n".join(f"{n} cudaSuccess cudaSuccess cudaSuccess same" for n in (1, 31, 1000, 70001)) + "$"
STEPS = ("malloc", "copy", "launch", "synchronise", "free", "after", "last")


def outcome(**errors):
    """What `runtime calls` prints: success but for some steps."""
    return "\n".join(f"{step}={errors.get(step, 'cudaSuccess')}" for step in STEPS)


def lost_from(number, error):
    """The same where every step fails from one on."""
    return outcome(**{step: error for step in STEPS[number:]})


def launched(numbers):
    """What `libraries` prints of a launch."""
    return f"kernel={OK}\nlaunch={OK}\ncopy={OK}\n{numbers}\n"


# program, arguments, options (PTXCPU_...), pattern that the output (stdout, stderr) must have
PROGRAMS = [
    *[("faults", name, f"ORDER={order}", f"^{result}$") for name, result in (("fine", FINE), ("tiles", TILES))
      for order in ("forwards", "backwards", "random")],
    ("faults", "fine", "RACES=1", f"^{FINE}$"),
    ("faults", "tiles", "RACES=1", f"^{TILES}$"),
    ("faults", "fine", "DEFER=1", f"^{FINE}$"),
    ("faults", "reductions", "ORDER=random", r"^cudaSuccess -20 11 4\.29497e\+09$"),
    ("faults", "missing_syncwarp", "RACES=1", "race at"),
    ("faults", "missing_sync_in_global_memory", "RACES=1", "race at"),
    ("faults", "missing_sync_in_global_memory", "RACES=2", "^cudaSuccess"),
    ("faults", "half_a_barrier", "", "deadlock"),
    ("faults", "half_a_barrier", "", "cudaErrorLaunchTimeout"),
    ("faults", "half_a_warp", "", "deadlock"),
    ("faults", "outside", "", r"access outside every allocation.*thread \(0, 0, 0\)"),
    ("faults", "outside", "", "cudaErrorIllegalAddress"),
    ("faults", "outside_shared", "", r"outside the block's shared memory.*thread \(32, 0, 0\)"),
    ("faults", "misaligned", "", "misaligned access"),
    ("faults", "misaligned", "", "cudaErrorMisalignedAddress"),
    ("faults", "divided_by_zero", "", "integer division by zero"),
    ("faults", "asserted", "", r"assertion 'x\[0\] > 0'"),
    ("faults", "asserted", "", "cudaErrorAssert"),
    ("faults", "too_many", "", "^cudaErrorLaunchOutOfResources"),
    ("faults", "too_many", "DEFER=1", "^cudaErrorLaunchOutOfResources"),
    ("faults", "no_blocks", "", "^cudaErrorInvalidConfiguration"),
    ("faults", "never_written", "", "^cudaSuccess -?nan"),
    ("faults", "never_written", "POISON=0", "^cudaSuccess 0"),
    ("faults", "wrong_way", "", "^cudaErrorInvalidValue"),
    ("faults", "fine", "COLOUR=1", "PTXCPU_COLOUR=1: expected another name"),
    ("faults", "fine", "DEFER=yes", "PTXCPU_DEFER=yes: expected a number from 0 to 1"),
    ("faults", "fine", "FAIL=coffee:1", "PTXCPU_FAIL=coffee:1: expected KIND:NUMBER"),
    ("runtime", "texts", "", "(?s)^cudaSuccess: no error\n.*: out of memory\n"
                             ".*: an illegal memory access was encountered\n"
                             ".*: no kernel image is available for execution on the device\n"
                             ".*: too many resources requested for launch\n.*: unspecified launch failure\n"
                             ".*: misaligned address\n.*: uncorrectable ECC error encountered\n.*: invalid argument\n"
                             r".*: CUDA-capable device\(s\) is/are busy or unavailable\n"
                             ".*: no CUDA-capable device is detected\n.*: unrecognized error code$"),
    ("runtime", "device", "", "(?s)capability=9.0 9.0\n.*attributes=cudaSuccess\nlaunch=cudaSuccess"),
    ("runtime", "device", "ARCHITECTURE=80", f"(?s)capability=8.0 8.0\n.*malloc=cudaSuccess\nattributes={NO_IMAGE}\n"
                                             f"launch={NO_IMAGE}\nstream=cudaSuccess"),
    ("runtime", "device", "ARCHITECTURE=100", "(?s)capability=10.0 10.0\n.*launch=cudaSuccess"),
    ("runtime", "device", "EXCLUSIVE=1", f"(?s)properties=cudaSuccess\n.*choice=cudaSuccess\nmalloc={BUSY}\n"
                                         f".*stream={BUSY}"),
    ("runtime", "device", "DEVICES=0", "properties=cudaErrorInvalidDevice"),
    ("runtime", "calls", "", f"^{outcome()}$"),
    ("runtime", "calls", "FAIL=malloc:2", f"^{outcome(after=NO_MEMORY, last=NO_MEMORY)}$"),
    # `launch` is what cudaGetLastError says, also of the copy
    ("runtime", "calls", "FAIL=copy:1", f"^{outcome(copy=INVALID, launch=INVALID)}$"),
    ("runtime", "calls", "FAIL=launch:1", f"^{outcome(launch='cudaErrorLaunchOutOfResources')}$"),
    ("runtime", "calls", "FAIL=launch:2", f"^{outcome()}$"),
    ("runtime", "calls", "FAIL=synchronise:1", f"^{lost_from(3, 'cudaErrorLaunchFailure')}$"),
    ("runtime", "calls", "FAIL=free:1", f"^{outcome(free=INVALID, last=INVALID)}$"),
    *[("runtime", "calls", f"FAIL=lost:{n}", f"^{lost_from(n - 1, LOST)}$") for n in (1, 2, 3, 4, 5)],
    *[("runtime", "polls", options, f"^5001 {waits}$") for options, waits in (("", "at once"), ("DEFER=1", "waited"))],
    ("runtime", "streams", "", "not waited for: 1\nordered by an event: 1\nordered by the default stream: 2\n"
                               "copied after the call: no"),
    ("runtime", "streams", "DEFER=1", "not waited for: 0\nordered by an event: 1\nordered by the default stream: 2\n"
                                      "copied after the call: yes"),
    ("runtime", "memory", "MEMORY=1", "^large=cudaErrorMemoryAllocation\nsmall=cudaSuccess\nfree=524288 total=1048576\n"
                                      "twice=cudaErrorInvalidValue$"),
    ("runtime", "variables", "", "^to=cudaSuccess\nfrom=cudaSuccess\n8 8\nbeyond=cudaErrorInvalidValue$"),
    ("runtime", "devices", "DEVICES=2", r"(?s)\(memory of another device\).*^devices=2\nchoice=cudaSuccess\n"
                                       "memory of another=cudaErrorIllegalAddress\nnone=cudaErrorInvalidDevice"),
    ("libraries", "two", "", f"^load={OK}\nload={OK}\n{launched('0 4 10')}{launched('0 7 16')}{launched('0 4 10')}"
                             f"variable={OK}\n8 9$"),
    ("libraries", "unloaded", "", f"^load={OK}\nattributes={OK}\n32\nunknown kernel=cudaErrorSymbolNotFound\n"
                                  f"unknown variable=cudaErrorSymbolNotFound\nunload={OK}\n"
                                  "kernel=cudaErrorInvalidResourceHandle\nlaunch=cudaErrorInvalidDeviceFunction\n"
                                  "unload=cudaErrorInvalidResourceHandle$"),
    ("libraries", "refused", "", r"(?s)is no PTX.*line 16: .*a product without \.rn.*"
                                 "load=cudaErrorInvalidKernelImage\nload=cudaErrorInvalidPtx"),
    ("libraries", "older", "ARCHITECTURE=80", f"^load={OK}\n{launched('0 4 10').strip()}$"),
    ("libraries", "newer", "", "^load=cudaErrorNoKernelImageForDevice$"),
    ("libraries", "two", "FAIL=load:2", f"(?s)^load={OK}\nload=cudaErrorInvalidKernelImage\n"),
    ("instructions", "", "", "^4096 inputs, [0-9]+ results each, 0 different$"),
    *[("cub", "", options, CUB) for options in ("", "DEFER=1", "ORDER=random")],
]


class Checks:
    """Counts checks and prints a line for each."""

    def __init__(self):
        self.failed = 0

    def check(self, name, good, said=""):
        print(f"{'ok  ' if good else 'FAIL'} {name}" + ("" if good else f": {said}"), flush=True)
        self.failed += not good


def check_refusals(checks):
    for instruction, pattern in REFUSED:
        try:
            translate(BODY.format(instruction), "symbol")
            said = "was accepted"
        except Unsupported as error:
            said = str(error)
        checks.check(f"refuses {instruction}", re.search(pattern, said), said)
    code, census = translate(BODY.format("add.rn.f64 %fd1, %fd2, %fd3;"), "symbol")
    checks.check("translates add.rn.f64", "v_fd1 = rounded(v_fd2 + v_fd3);" in code and census["add.rn.f64"] == 1, code)


def build(nvcc, library, work, name, **options):
    """Compiles a program with the launcher, unless the program is newer than all that it depends on."""
    program, dependencies = work / name, work / f"{name}.d"
    inputs = [library, HERE / f"{name}.cu", *EMULATOR.glob("translate/*.py"), *EMULATOR.glob("device/*.hpp"),
              EMULATOR / "launcher"]
    if program.exists() and all(program.stat().st_mtime > path.stat().st_mtime for path in inputs):
        return program
    unit = work / f"{name}.o"
    subprocess.run([EMULATOR / "launcher", nvcc, *NVCC_FLAGS, "-MD", "-MT", str(unit), "-MF", dependencies, "-x", "cu",
                    "-c", HERE / f"{name}.cu", "-o", unit], check=True, env={**os.environ, **options})
    subprocess.run(["g++", "-rdynamic", unit, library, "-o", program], check=True)
    return program


def run(program, argument, options):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PTXCPU_")}
    environment["PTXCPU_CACHE"] = str(program.parent / "cache")
    for option in options.split():
        environment["PTXCPU_" + option.split("=")[0]] = option.split("=", 1)[1]
    result = subprocess.run([program, *argument.split()], env=environment, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, timeout=120, check=False)
    return result.returncode, result.stdout.strip()


def check_census(checks, program, file):
    """Executed instructions of all threads, and issued ones of the warp, which takes as long as its slowest lane."""
    file.unlink(missing_ok=True)
    run(program, "", f"CENSUS={file}")
    said = file.read_text(encoding="utf-8")
    row = json.loads(said)
    checks.check("counts instructions", (row["threads"], row["executed"]["fma"], row["issued"]["fma"],
                                         row["executed"]["global"], row["issued"]["global"]) == (32, 70, 8, 32, 1), said)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True, type=pathlib.Path, help="the emulator's libcudart_static.a")
    parser.add_argument("--work", required=True, type=pathlib.Path, help="a folder for the programs")
    parser.add_argument("--nvcc", default="nvcc")
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    checks = Checks()
    check_refusals(checks)
    programs = {name: build(arguments.nvcc, arguments.library, arguments.work, name)
                for name in ("faults", "runtime", "libraries", "instructions", "cub")}
    for name, argument, options, pattern in PROGRAMS:
        code, said = run(programs[name], argument, options)
        good = code >= 0 and re.search(pattern, said, re.M)
        checks.check(f"{name} {argument} {options}".strip(), good,
                     f"exit code {code}, expected '{pattern}', said:\n{said}")
    check_census(checks, build(arguments.nvcc, arguments.library, arguments.work, "census", PTXCPU_COUNT="1"),
                 arguments.work / "census.jsonl")
    calls = arguments.work / "calls"
    run(programs["runtime"], "calls", f"CALLS={calls}")
    said = calls.read_text(encoding="utf-8")
    checks.check("counts calls", said == "launch 1\nmalloc 2\nfree 1\ncopy 1\nsynchronise 1\nload 0\n", said)
    said = (arguments.work / "cub.d").read_text(encoding="utf-8")
    checks.check("names its own files as dependencies", all(f"{EMULATOR}/{path}" in said for path in (
        "launcher", "translate/body.py", "device/instructions.hpp")), said)
    print(f"{checks.failed} checks failed")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
