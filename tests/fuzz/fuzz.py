#!/usr/bin/python3
"""Throws damaged input at the program, and fails where the program does something that it does not promise.

    fuzz.py PROGRAM [--cases N] [--seed S]     N cases; the seed and the number of a case make the case
    fuzz.py PROGRAM --seed S --case K          this case alone, with all that it says

Promised are: exit code 0, 3 (run, resume: some trajectories failed), or 2 with one line on stderr (and, for a formula, two
lines that show the place of the fault), nothing on stdout and no file made or changed; no crash, no endless loop, no control character in a message. diff may also exit with 1: different. A
resumed run that ends has the bits of one that was not interrupted. What `check` prints, `check` takes and prints again.
"""

import argparse
import collections
import contextlib
import hashlib
import multiprocessing
import os
import pathlib
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import unicodedata

sys.dont_write_bytecode = True

import files  # noqa: E402
import studies  # noqa: E402
import surfaces  # noqa: E402
from cases import ANYTHING, Case, Outcome  # noqa: E402

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent.parent / "examples"
CPU_SECONDS, WALL_SECONDS, MEMORY, FILE_SIZE = 40, 60, 3 << 30, 64 << 20
LONGEST_LINE = 3000  # bytes of a message
# One system with all kinds of output, and starts from a file.
RICH = """[study]
name = "rich"
[system]
name = "henon-heiles"
[method]
name = "lobatto"
stages = 2
[time]
step = 0.05
steps = STEPS
sample_every = 100
[ensemble]
AXES
[[observable]]
name = "energy"
statistics = ["mean", "mse"]
quantiles = [0.5]
correlation = ["q[0]"]
[[observable]]
name = "q[0]"
histogram = { from = -1, to = 1, bins = 4 }
values = true
[[section]]
surface = "x"
[output]
trajectories = [0, 2]
covariance = ["q"]
checkpoint = 200
"""
AXES = """axes = [ { name = "y", from = -0.1, to = 0.3, count = 8 } ]
[ensemble.initial]
q = [0.01, "y"]
v = ["sqrt(0.25 - y^2 + 2*y^3/3)", 0]
"""
START = ["q[0],q[1],v[0],v[1],e", "0.01,-0.1,0.48,0,1", "0.02,0.1,0.4,0.1,2", "0.03,0.3,0.3,0,-1e-3", ""]


COMMANDS = ["run", "check", "list", "describe", "resume", "order", "diff", "compare", "cite", "report", "completion", "man", "", "-h", "rum", "\x1b[1m"]
WORDS = ["study.toml", "study.toml", "study.toml", "a.h5", "a.h5", "b.h5", "nowhere.toml", ".", "", "é", b"\xff", "a\nb", "--", "-",
         "--set", "time.steps=2", "time.steps", "=", "--steps", "0.1,0.05", "nan", "-1", "0", "99999999999999999999", "x",
         "-o", "x.h5", "x.csv", "x.json", "x", "--json", "--quiet", "--names", "systems", "methods", "henon-heiles", "lobatto", "bash",
         "--backend", "cpu:scalar", "cpu:scalar,threads=1", "cpu,threads=0", "cuda:99", "--backends", "cpu:scalar,cpu", "--threads",
         "1", "--tile", "1e3", "--reference-step", "--exact", "--help", "--version", "--no-such", "--plot", "x.gif"]


class Fuzzer(surfaces.Surfaces):
    """Makes and judges cases; those around a run are in surfaces.py. The corpus is in `corpus`; each process works in a directory of its own."""

    def __init__(self, arguments, corpus):
        self.program, self.seed, self.corpus, self.only = arguments.program, arguments.seed, corpus, arguments.only
        self.slow = arguments.sanitized
        self.python_program, self.python_path = arguments.python or ("", "")
        self.known = studies.Corpus(usable_examples(self.program))

    # Cases

    def make(self, number, place):
        """The case, its files in the empty directory `place`."""
        rng = random.Random(f"{self.seed}:{number}")
        kind = self.only or rng.choices(list(KINDS), KINDS.values())[0]
        return getattr(self, kind)(rng, place)

    def check(self, rng, place):
        (place / "study.toml").write_bytes(self.known.structure(rng))
        return Case("check", ["check", "study.toml"], (0, 2))

    def check_bytes(self, rng, place):
        (place / "study.toml").write_bytes(self.known.bytes(rng, rng.random() < 0.5))
        return Case("check_bytes", ["check", "study.toml"], (0, 2))

    def check_set(self, rng, place):
        text, words = self.known.overrides(rng)
        (place / "study.toml").write_bytes(text)
        return Case("check_set", ["check", "study.toml", *words], (0, 2))

    def run(self, rng, place):
        make = rng.choice([self.known.structure, self.known.numbers, self.known.numbers, lambda rng: self.known.bytes(rng, True)])
        (place / "study.toml").write_bytes(make(rng))
        limits = [] if rng.random() < 0.3 else ["--set", "time.steps=3", "--set", "time.sample_every=2"]
        return Case("run", ["run", "study.toml", "-o", "r.h5", "--quiet", "--threads", "1", *limits], (0, 2, 3), "r.h5",
                    endless=not limits)

    def starts(self, rng, place, name, change):
        """A study whose initial states are in a file."""
        shutil.copyfile(self.corpus / name, place / name)
        change(place / name)
        axes = f'file = "{name}"' + rng.choice(["", "\nproject = true", '\ngroup = "/"' if name.endswith("5") else ""])
        (place / "study.toml").write_text(RICH.replace("AXES", axes).replace("STEPS", "4"))
        if rng.random() < 0.7:
            return Case(name, ["check", "study.toml"], (0, 2))
        return Case(name, ["run", "study.toml", "-o", "r.h5", "--quiet", "--threads", "1"], (0, 2, 3), "r.h5")

    def csv(self, rng, place):
        return self.starts(rng, place, "points.csv", lambda path: path.write_bytes(files.change_csv(rng, path.read_bytes())))

    def hdf5(self, rng, place):
        return self.starts(rng, place, "points.h5", lambda path: files.change_hdf5(rng, path))

    def diff(self, rng, place):
        for name in ("a.h5", "b.h5"):
            shutil.copyfile(self.corpus / "result.h5", place / name)
        files.change_hdf5(rng, place / "b.h5")
        names = ["a.h5", "b.h5"]
        rng.shuffle(names)
        return Case("diff", ["diff", *names, *rng.choice([[], ["--json"], ["--quiet"]])], (0, 1, 2))

    def citing(self, rng, place):
        """What reads a result without running anything."""
        shutil.copyfile(self.corpus / "result.h5", place / "a.h5")
        files.change_hdf5(rng, place / "a.h5")
        words = rng.choice([["cite", "a.h5"], ["cite", "a.h5", "--json"], ["diff", "--fingerprint", "a.h5"],
                            ["report", "a.h5", "-o", "r.html", "--figures", "0"]])
        return Case("citing", words, (0, 1, 2) if words[0] == "diff" else (0, 2), "r.html" if words[0] == "report" else "")

    def usage(self, rng, place):
        """Words in any order after the name of a command."""
        (place / "study.toml").write_text(rng.choice(self.known.texts))
        shutil.copyfile(self.corpus / "result.h5", place / "a.h5")
        command = rng.choice(COMMANDS)
        words = [rng.choice(WORDS) for _ in range(rng.choice([0, 1, 1, 2, 3, 4, 6]))]
        return Case("usage", [command, *words], (0, 1, 2, 3) if command in ("diff", "compare") else (0, 2, 3), ANYTHING)

    def resume(self, rng, place):
        names = [path.name for path in sorted((self.corpus / "interrupted").iterdir())]
        for name in names:
            shutil.copyfile(self.corpus / "interrupted" / name, place / name)
        files.change_one_of(rng, place, names)
        return Case("resume", ["resume", "a.h5", "--quiet", "--threads", "1"], (0, 2), "a.h5", "reference.h5")

    # Judgement

    def call(self, arguments, place, seconds=CPU_SECONDS, case=None):
        """The outcome of the program, or of that of a case; other resources are those of `limit`."""
        outcome = Outcome(0, b"", b"")
        process = subprocess.Popen([*(case and case.program or [self.program]), *arguments], cwd=place, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, restore_signals=False,  # SIGXFSZ stays ignored
                                   env={**os.environ, **(case.environment if case else {})})
        with contextlib.suppress(ProcessLookupError):
            seconds *= 10 if self.slow else 1
            resource.prlimit(process.pid, resource.RLIMIT_CPU, (seconds, seconds + 5))
        try:
            outcome.out, outcome.err = process.communicate(timeout=WALL_SECONDS * (10 if self.slow else 1))
        except subprocess.TimeoutExpired:
            process.kill()
            outcome.out, outcome.err = process.communicate()
            outcome.faults.append(f"waits for more than {WALL_SECONDS} s")
        outcome.code = process.returncode
        if outcome.code in (-signal.SIGXCPU, -signal.SIGKILL):
            outcome.faults.append(f"computes for more than {CPU_SECONDS} s")
        elif outcome.code < 0:
            outcome.faults.append(f"is killed by {signal.Signals(-outcome.code).name}")
        return outcome

    def judge(self, case, place):
        """Runs the case and lists its faults."""
        before = contents(place)
        outcome = self.call(case.arguments, place, 1 if case.endless else CPU_SECONDS, case)
        if case.endless and (outcome.code in (-signal.SIGXCPU, -signal.SIGKILL) or b": CPU time limit exceeded" in outcome.err):
            outcome.faults.clear()  # the compiler of a kernel has the limit of the program
            return outcome
        if outcome.faults:
            return outcome
        faults, code = outcome.faults, outcome.code
        if code == 2:  # kernels of a system may be compiled first; a fault in a formula is also shown, with a caret
            outcome.err = re.sub(rb"(?m)^rattleback: compiling [^\n]*(, once|\) \.\.)\n", b"", outcome.err)
            outcome.err = re.sub(rb"(column \d+\)[^\n]*\n)  ([^\n]*)\n {2,}\^\n\Z", rb"\1", outcome.err)
        after = contents(place)
        if code not in case.codes:
            faults.append(f"exits with {code}")
        if code == 2:
            faults += [f"writes {name} although the exit code is 2" for name in sorted(after)
                       if after[name] != before.get(name)]
            faults += [f"removes {name} although the exit code is 2" for name in sorted(before) if name not in after]
            if outcome.out:
                faults.append("prints on stdout although the exit code is 2")
            if outcome.err.count(b"\n") != 1 or not outcome.err.endswith(b"\n"):
                faults.append("says something other than one line on stderr")
        elif case.kind == "resume" and set(after) != {case.result}:
            faults.append(f"leaves {', '.join(sorted(set(after) ^ {case.result}))}")
        elif case.result == ANYTHING:
            faults += [f"changes {name}" for name in before if after.get(name) != before[name]]
        elif case.kind != "resume" and set(after) - set(before) != ({case.result} if case.result and code != 1 else set()):
            faults.append(f"leaves {', '.join(sorted(set(after) - set(before))) or 'no result'}")
        if case.reference and code == 0 and self.call(["diff", case.result, self.corpus / case.reference, "--quiet"], place).code != 0:
            faults.append("ends with other bits than a run that nothing has happened to")
        if case.kind != "python":
            faults += message_faults(outcome.err)
        faults += surfaces.output_faults(case, outcome)
        if case.arguments[0] == "check" and code == 0:
            faults += self.check_again(outcome.out, place)
        return outcome

    def check_again(self, effective, place):
        (place / "effective.toml").write_bytes(effective)
        again = self.call(["check", "effective.toml"], place)
        if again.code != 0:
            return [f"prints a study that 'check' does not take: {again.err.decode(errors='replace').strip()}"]
        return ["prints another study when it gets that which it prints"] if again.out != effective else []


# Kinds of cases and how many of 1085 there are.
KINDS = {"check": 350, "check_bytes": 150, "check_set": 100, "run": 100, "csv": 60, "hdf5": 35, "diff": 30, "citing": 35, "resume": 40, "usage": 50,
         "parts": 50, "packs": 30, "names": 47, "python": 8}


def message_faults(err):
    """What is wrong with the lines on stderr."""
    try:
        text = err.decode()
    except UnicodeDecodeError:
        return ["says something that is not UTF-8"]
    faults = set()
    for line in text.removesuffix("\n").split("\n") if text else []:
        if not line.startswith("rattleback: "):
            faults.add("says a line that does not start with 'rattleback: '")
        if any(unicodedata.category(c) == "Cc" or c in "\u2028\u2029" for c in line):
            faults.add("says a control character")
        if len(line.encode()) > LONGEST_LINE:
            faults.add("says a line of thousands of characters")
    return sorted(faults)


def contents(place):
    """The files of a directory and what is in them."""
    return {os.fsencode(path.name).decode(errors="backslashreplace"): hashlib.sha1(path.read_bytes()).digest() if path.is_file() else b""
            for path in place.iterdir()}


def limit(sanitized):
    """Limits that the children of this process inherit. A sanitizer takes more addresses than there is memory."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_SIZE, FILE_SIZE))
    if not sanitized:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def usable_examples(program):
    """The examples that this build has the system and the method for."""
    found = [path for path in sorted(EXAMPLES.glob("*.toml"))
             if "\nfile = " not in path.read_text()
             and subprocess.run([program, "check", path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0]
    if len(found) < 5:
        sys.exit("fuzz.py: fewer than five examples pass 'check'; is this the program?")
    return found


def make_corpus(program, corpus):
    """The files that cases change: initial states, a result, a run that is interrupted when it has a checkpoint."""
    def good(*arguments):
        subprocess.run([program, *arguments], cwd=corpus, check=True)

    (corpus / "points.csv").write_text("\n".join(START))
    (corpus / "small.toml").write_text(RICH.replace("AXES", AXES).replace("STEPS", "400"))
    good("run", "small.toml", "-o", "result.h5", "--quiet")
    surfaces.make_corpus(good, corpus, RICH)
    with files.h5py.File(corpus / "points.h5", "w") as file:
        rows = files.np.array([[float(x) for x in line.split(",")] for line in START[1:-1]])
        file["q"], file["v"], file["e"] = rows[:, :2], rows[:, 2:4], rows[:, 4]
    place = corpus / "interrupted"
    for steps in (20000, 60000, 200000, 600000, 2000000):
        (corpus / "long.toml").write_text(RICH.replace("AXES", AXES).replace("STEPS", str(steps)))
        good("run", "long.toml", "-o", "reference.h5", "--quiet", "--threads", "1")
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        process = subprocess.Popen([program, "run", "../long.toml", "-o", "a.h5", "--quiet", "--threads", "1"], cwd=place,
                                   stderr=subprocess.DEVNULL)
        while process.poll() is None and not (place / "a.h5.checkpoint").exists():
            time.sleep(0.001)
        time.sleep(0.02)
        process.kill()
        process.wait()
        if (place / "a.h5.checkpoint").exists() and not (place / "a.h5").exists():  # a run that is finished removes it last
            return
    sys.exit("fuzz.py: no run could be interrupted")


# Processes that work through the cases

def work(fuzzer, numbers, keep):
    """Yields (number, kind, exit code, faults) of each case; the files of a faulty one are kept in `keep`."""
    limit(fuzzer.slow)
    with tempfile.TemporaryDirectory(prefix="rattleback-fuzz-") as scratch:
        for number in numbers:
            place = pathlib.Path(scratch) / "case"
            place.mkdir()
            case = fuzzer.make(number, place)
            outcome = fuzzer.judge(case, place)
            if outcome.faults:
                save(fuzzer, number, outcome, keep)
            shutil.rmtree(place)
            said = outcome.err[:300].decode(errors="backslashreplace")
            yield number, case.kind, outcome.code, outcome.faults, "".join(c if c.isprintable() else repr(c)[1:-1] for c in said)


def save(fuzzer, number, outcome, keep):
    """The files of the case before it ran, made once more, and what the program said."""
    kept = keep / f"{fuzzer.seed}-{number}"
    shutil.rmtree(kept, ignore_errors=True)
    kept.mkdir(parents=True)
    case = fuzzer.make(number, kept)
    words = [word if isinstance(word, bytes) else str(word).encode() for word in [fuzzer.program, *case.arguments]]
    (kept / "command").write_bytes(b" ".join(shlex.quote(os.fsdecode(word)).encode(errors="surrogateescape") for word in words) + b"\n")
    (kept / "stderr").write_bytes(outcome.err)
    (kept / "faults").write_text("".join(f"{fault}\n" for fault in outcome.faults))


def worker(fuzzer, numbers, keep, queue):
    try:
        for report in work(fuzzer, numbers, keep):
            queue.put(report)
        queue.put(None)
    except BaseException:
        queue.put(traceback.format_exc())


def run_all(fuzzer, cases, keep, jobs):
    """Reports of all cases, as they come."""
    queue = multiprocessing.Queue()
    processes = [multiprocessing.Process(target=worker, args=(fuzzer, range(i, cases, jobs), keep, queue), daemon=True) for i in range(jobs)]
    for process in processes:
        process.start()
    running = jobs
    while running:
        report = queue.get()
        if isinstance(report, str):
            sys.exit(f"fuzz.py: {report}")
        if report is None:
            running -= 1
        else:
            yield report
    for process in processes:
        process.join()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=lambda text: str(pathlib.Path(text).resolve()))
    parser.add_argument("--cases", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", type=int, help="this one alone")
    parser.add_argument("--only", choices=KINDS, help="cases of this kind alone")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", type=pathlib.Path, default=pathlib.Path("build/fuzz-failures"),
                        help="where faulty cases are saved")
    parser.add_argument("--python", nargs=2, metavar=("INTERPRETER", "PATH"), help="an interpreter, and the folder of the package for it")
    parser.add_argument("--sanitized", action="store_true", help="the program is built with a sanitizer")
    arguments = parser.parse_args()
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="rattleback-fuzz-corpus-") as corpus:
        make_corpus(arguments.program, pathlib.Path(corpus))
        fuzzer = Fuzzer(arguments, pathlib.Path(corpus))
        if arguments.case is not None:
            for number, kind, code, faults, err in work(fuzzer, [arguments.case], arguments.keep):
                print(f"case {number} ({kind}) exits with {code}\n{err}")
                print("\n".join(faults) or "no fault")
            return bool(faults)
        kinds, faulty = collections.Counter(), collections.defaultdict(list)
        for number, kind, code, faults, err in run_all(fuzzer, arguments.cases, arguments.keep, arguments.jobs):
            kinds[kind, code] += 1
            for fault in faults:
                faulty[kind, re.sub(r"\d+", "N", fault)[:200]].append((number, fault, err))
    for (kind, _), found in sorted(faulty.items(), key=lambda item: -len(item[1])):
        number, fault, err = min(found)
        print(f"{len(found)} x {kind}: {fault}\n    {err.rstrip() or 'nothing on stderr'}")
        print(f"    cases {', '.join(str(n) for n, _, _ in sorted(found)[:8])}; files: {(arguments.keep / f'{fuzzer.seed}-{number}').resolve()}")
        print(f"    again: {sys.argv[0]} {arguments.program} --seed {fuzzer.seed} --case {number}"
              + (f" --only {arguments.only}" if arguments.only else ""))
    print(f"{sum(kinds.values())} cases, {sum(map(len, faulty.values()))} faults, seed {fuzzer.seed}, {time.monotonic() - start:.0f} s; "
          "exit codes: " + ", ".join(f"{kind} {code}: {count}" for (kind, code), count in sorted(kinds.items())))
    return bool(faulty)


if __name__ == "__main__":
    sys.exit(main())
