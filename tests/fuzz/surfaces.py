"""Cases around a run: folders of parts, packs of kernels and the cache, names of any bytes, calls from Python."""

import contextlib
import json
import os
import pathlib
import shutil
import time

import files
from cases import ANYTHING, Case
from studies import NUMBERS, TEXTS, change_bytes

PARTS = "parts.h5.parts"
HOSTILE = [b"a\xff", b"\x1b[31m", b"a\nb", b"\xc2\x9b", b"-x", b" ", b"$(id)", b"%s{}", "é\u202e".encode(), b"'\"\\"]
AXES = """axes = [ { name = "y", from = -0.1, to = 0.3, count = 600 } ]
[ensemble.initial]
q = [0.01, "y"]
v = ["sqrt(0.25 - y^2 + 2*y^3/3)", 0]
"""


def make_corpus(good, corpus, rich):
    """A folder of three parts with their result, and a pack with the kernels of the small study."""
    (corpus / "parts.toml").write_text(rich.replace("AXES", AXES).replace("STEPS", "100"))
    good("run", "parts.toml", "-o", "whole.h5", "--quiet")
    for part in (1, 2, 3):
        good("run", "parts.toml", "-o", "parts.h5", "--part", f"{part}/3", "--quiet")
    good("compile", "small.toml", "--pack", "pack", "--quiet")


def any_json(rng, depth=0):
    kind = rng.randrange(9 if depth < 3 else 5)
    if kind < 5:
        return [rng.choice([0, -1, 1, 2**31, 2**53, 2**63, 2**64 - 1, 2**64, 1e308, -0.0, 0.5]), rng.choice(TEXTS), None, True,
                rng.choice(NUMBERS)][kind]
    if kind < 7:
        return [any_json(rng, depth + 1) for _ in range(rng.choice([0, 1, 3]))]
    return {rng.choice(TEXTS): any_json(rng, depth + 1) for _ in range(rng.choice([0, 1, 3]))}


def change_json(rng, path):
    """Changes a file of JSON: bytes, a value somewhere, or all of it."""
    kind = rng.random()
    if kind < 0.3:
        path.write_bytes(change_bytes(rng, path.read_bytes()))
    elif kind < 0.9:
        whole = json.loads(path.read_text())
        place = whole
        while True:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            if not keys:
                break
            key = rng.choice(keys)
            if isinstance(place[key], (dict, list)) and rng.random() < 0.8:
                place = place[key]
                continue
            if rng.random() < 0.2 and isinstance(place, dict):
                del place[key]
            else:
                place[key] = any_json(rng)
            break
        path.write_text(json.dumps(whole))
    else:
        path.write_bytes(rng.choice([b"", b"[" * 100_000, b"{}", b"null", b"\xff", b"1e999999", b'{"a":' * 5000]))


def replace_entry(rng, path):
    """Puts something else in place of a file or a folder, or beside nothing."""
    with contextlib.suppress(OSError):
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    kind = rng.randrange(6)
    if kind == 0:
        os.mkfifo(path)
    elif kind == 1:
        path.mkdir()
    elif kind == 2:
        path.symlink_to(rng.choice(["nowhere", path.name, "/dev/zero", ".", "/proc/self/mem"]))
    elif kind == 3:
        path.write_bytes(rng.choice([b"", b"mine", b"\0" * 4096]))


def change_claims(rng, folder):
    """Adds a claim, or what looks like one."""
    part = rng.choice([1, 2, 3, 3, 4])
    claim = folder / f"{part:03}-of-003.{rng.choice(['claim', 'claim', 'second', 'other'])}-{rng.choice([0, 0, 1, 2**32, 2**64 - 1, 2**64])}"
    if rng.random() < 0.3:
        return replace_entry(rng, claim)
    claim.mkdir(exist_ok=True)
    beat = claim / "heartbeat"
    if rng.random() < 0.3:
        return replace_entry(rng, beat)
    beat.write_text(json.dumps({"host": "h", "pid": 1, "machine": "m", "released": False, "seconds": 1.0, "steps": 1, "all_steps": 2,
                                "before": 0}))
    for _ in range(rng.choice([0, 1, 3])):
        with contextlib.suppress(ValueError, RuntimeError):
            change_json(rng, beat)
    when = time.time() + rng.choice([0, -100, 100, 1e6, 1e9, -1e9])
    os.utime(beat, (when, when))


def change_parts(rng, folder):
    for _ in range(rng.choice([1, 1, 2, 3])):
        names = sorted(path.name for path in folder.iterdir())
        path = folder / rng.choice(names or ["about.json"])
        kind = rng.randrange(8)
        with contextlib.suppress(OSError, ValueError, RuntimeError, KeyError):  # RecursionError is a RuntimeError
            if kind == 0:
                change_json(rng, folder / "about.json")
            elif kind == 1:
                path.write_bytes(change_bytes(rng, path.read_bytes()))
            elif kind == 2:
                replace_entry(rng, path)
            elif kind == 3:
                path.unlink()
            elif kind == 4:
                path.rename(folder / rng.choice(["002-of-003.h5", "002-of-004.h5", "000-of-003.h5", "4-of-003.h5", "001-of-003.h5"]))
            elif kind == 5:
                files.change_hdf5(rng, folder / "003-of-003.h5")
            else:
                change_claims(rng, folder)


class Surfaces:
    """Cases of the Fuzzer."""

    def parts(self, rng, place):
        shutil.copyfile(self.corpus / "parts.toml", place / "study.toml")
        shutil.copytree(self.corpus / PARTS, place / PARTS)
        if rng.random() < 0.4:
            (place / PARTS / "003-of-003.h5").unlink()
        change_parts(rng, place / PARTS)
        run = ["run", "study.toml", "-o", "parts.h5", "--quiet", "--threads", "1", "--stale", "0"]
        words = rng.choice([["status", "parts.h5"], ["status", "parts.h5", "--json"], ["merge", "parts.h5", "--quiet"],
                            ["merge", "parts.h5", "--virtual", "--json"], [*run, "--part", "3/3"], [*run, "--parts", "3", "--worker"]])
        whole = words[0] == "merge" and "--virtual" not in words
        return Case("parts", words, (0, 2) if words[0] in ("merge", "status") else (0, 1, 2), "parts.h5" if words[0] == "merge" else "",
                    "whole.h5" if whole else "")

    def packs(self, rng, place):
        """A pack or a cache that is damaged has other kernels in no case."""
        shutil.copyfile(self.corpus / "small.toml", place / "study.toml")
        cache = rng.random() < 0.4
        folder = place / ("rattleback/kernels" if cache else "pack")
        shutil.copytree(self.corpus / "pack", folder)
        entries = sorted(folder.rglob("*"))
        for _ in range(rng.choice([1, 1, 2, 3])):
            path, kind = rng.choice(entries), rng.randrange(5)
            with contextlib.suppress(OSError, ValueError, RuntimeError):
                if kind <= 1:
                    change_json(rng, rng.choice(sorted(folder.rglob("*.json"))))
                elif kind == 2:
                    path.write_bytes(change_bytes(rng, path.read_bytes()))
                elif kind == 3:
                    replace_entry(rng, path)
                else:
                    path.rename(path.with_name(rng.choice(["x", "manifest.json", rng.choice(entries).name])))
        if cache:
            return Case("packs", ["cache", *rng.choice([[], ["--json"], ["--trim"]])], (0, 2), ANYTHING,
                        environment={"XDG_CACHE_HOME": str(place)})
        return Case("packs", ["run", "study.toml", "-o", "r.h5", "--quiet", "--threads", "1"], (0,), "r.h5", "result.h5",
                    environment={"RATTLEBACK_KERNEL_PATH": "pack"})

    def names(self, rng, place):
        """Files and folders whose names have any bytes."""
        name = b"".join(rng.choice(HOSTILE) for _ in range(rng.choice([1, 1, 2])))
        folder = pathlib.Path(os.fsdecode(os.fsencode(place) + b"/" + name))
        folder.mkdir()
        shutil.copyfile(self.corpus / "result.h5", folder / os.fsdecode(name + b".h5"))
        shutil.copyfile(self.corpus / "small.toml", folder / os.fsdecode(name + b".toml"))
        shutil.copytree(self.corpus / PARTS, folder / os.fsdecode(name + b".h5.parts"))
        result, study = b"./" + name + b"/" + name + b".h5", b"./" + name + b"/" + name + b".toml"
        output = b"./" + name + b"/new.h5"
        words = rng.choice([["run", study, "-o", output, "--json", "--threads", "1"], ["run", study, "-o", output, "--part", "1/1", "--json"],
                            ["diff", result, result], ["diff", "--json", result, result], ["diff", "--fingerprint", "--json", result],
                            ["status", result], ["status", "--json", result], ["compare", "--json", result, result],
                            ["compare", result, result], ["cite", "--json", result], ["cite", result], ["check", study],
                            ["order", study, "--steps", "0.1,0.05", "--set", "time.steps=2", "--json", "--quiet"], ["describe", "--json", study],
                            ["report", result, "--figures", "0", "-o", b"./" + name + b"/r.html"], ["resume", result],
                            ["job", study, "--parts", "1", rng.choice(["--slurm", "--mpi", "--hyperqueue"]), "-o", output]])
        return Case("names", words, (0, 2, 3), ANYTHING)

    def python(self, rng, place):
        """Calls of the package, whose faults are exceptions."""
        if not self.python_path:
            return self.names(rng, place)
        (place / "study.toml").write_bytes(self.known.structure(rng))
        (place / "good.toml").write_bytes((self.corpus / "small.toml").read_bytes())
        shutil.copyfile(self.corpus / "result.h5", place / "a.h5")
        if rng.random() < 0.5:
            files.change_hdf5(rng, place / "a.h5")
        calls = pathlib.Path(__file__).with_name("calls.py")
        return Case("python", [str(rng.randrange(2**32))], (0,), ANYTHING, program=[self.python_program, str(calls)],
                    environment={"PYTHONPATH": self.python_path, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONWARNINGS": "ignore"})


def output_faults(case, outcome):
    """What is wrong with the text on stdout."""
    if case.arguments[0] in ("completion", "man") or "--header" in case.arguments or case.kind == "python":
        return []
    try:
        text = outcome.out.decode()
    except UnicodeDecodeError:
        return ["prints something that is not UTF-8"]
    if any(c != "\n" and (c < " " or "\x7f" <= c < "\xa0" or c in "\u2028\u2029") for c in text):
        return ["prints a control character"]
    speaks = {"-h", "--help", "--version"}.isdisjoint(case.arguments)
    if "--json" in case.arguments and speaks and outcome.code in (0, 3) and text:
        try:
            json.loads(text)
        except ValueError:
            return ["prints something that is no JSON"]
    return []
