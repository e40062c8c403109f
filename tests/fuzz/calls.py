"""Calls of the Python package with what nobody meant.  calls.py SEED, in a folder with study.toml, good.toml and a.h5

Whatever the arguments are, a call returns or raises an exception of Python; a crash or any other exception ends this process with
an exit code of its own."""

import contextlib
import random
import sys
import threading

import numpy as np

import rattleback as rb

EXPECTED = (rb.InputError, rb.RunError, ValueError, TypeError, KeyError, IndexError, AttributeError, OSError, OverflowError, ImportError, MemoryError)
TEXTS = ["", "x", "q", "energy", "\0", "\x1b", "é", "\ud800", "a/b", "..", "time.step", "ensemble.axes[0].count", "observable[9].name", "[" * 200,
         "nowhere.h5", "/final/q", "lobatto", "henon-heiles", "cpu", "cuda:99", "cpu:scalar,threads=0", "1e999", "nan"]
ARRAYS = [np.array(1.0), np.zeros(0), np.zeros((0, 2)), np.zeros((3, 2)), np.zeros((3, 2, 2)), np.zeros((3, 2), "f4"), np.zeros((2, 3)).T,
          np.full((3, 2), np.nan), np.zeros((3, 2), "i8"), np.zeros((3, 2), ">f8"), np.zeros(3, complex), np.zeros((3, 2))[::2], np.zeros((300, 2))]


def anything(rng):
    return rng.choice([None, True, 0, -1, 2**63, 2**70, 1.5, float("nan"), [], {}, [[]], {"a": {}}, b"\xff", object(), *TEXTS, *ARRAYS])


def named(rng, count):
    return {rng.choice(["q", "v", "p", "lambda", "a", "", "\0"]): rng.choice([*ARRAYS, *ARRAYS, anything(rng)]) for _ in range(count)}


def call(rng, study, result):
    text = open("study.toml", "rb").read().decode(errors="replace")
    calls = [
        lambda: rb.Study.parse(text).toml(),
        lambda: rb.Study.parse(anything(rng)),
        lambda: rb.Study.load(rng.choice(["study.toml", anything(rng)])),
        lambda: study.replace({rng.choice(TEXTS): anything(rng)}).toml(),
        lambda: study.states(**named(rng, rng.randrange(4))),
        lambda: rb._core.resolve(rng.choice([text, study.toml()]), "study", "", named(rng, rng.randrange(1, 3))),
        lambda: rb._core.build(named(rng, 2), {rng.choice(TEXTS): {rng.choice(TEXTS): anything(rng)}}),
        lambda: rb.open("a.h5"),
        lambda: rb.open(anything(rng)),
        lambda: rb.diff(rb.open("a.h5"), result),
        lambda: result._stored.array(rng.choice([*result._stored.shapes(), *TEXTS])),
        lambda: result._stored.attributes(rng.choice([*result._stored.shapes(), *TEXTS])),
        lambda: result.save(rng.choice(["s.h5", "study.toml", ".", anything(rng)])),
        lambda: rb.run(study, backend=anything(rng), threads=rng.choice([1, -1, 2**40])),
        lambda: rb.run(study, rng.choice(["r.h5", "study.toml", ".", anything(rng)]), progress=rng.choice([True, anything(rng), lambda share: 1 / 0])),
        lambda: rb.describe(anything(rng)),
        lambda: rb._core.merge(rng.choice(TEXTS), False, 1, None),
        lambda: threading.Thread(target=lambda: rb.run(study.replace({"time.steps": 10**9})), daemon=True).start(),
    ]
    with contextlib.suppress(ZeroDivisionError, *EXPECTED):
        rng.choice(calls)()


def main():
    rng = random.Random(int(sys.argv[1]))
    study = rb.Study.load("good.toml")
    result = rb.run(study, threads=1)
    fingerprint = result._stored.fingerprint()
    threading.excepthook = lambda _: None
    for _ in range(12):
        call(rng, study, result)
    assert rb.run(rb.Study.load("good.toml"), threads=1)._stored.fingerprint() == fingerprint


if __name__ == "__main__":
    main()
