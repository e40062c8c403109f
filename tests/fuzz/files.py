"""Files of numbers that are not what a program expects: tables of initial states and results."""

import contextlib
import shutil

import h5py
import numpy as np

from studies import NUMBERS, TEXTS, change_bytes

TYPES = ["f4", "f2", ">f8", "i1", "i8", "u8", "?", "S7", "c16", [("re", "f8"), ("im", "f8")], h5py.string_dtype(), "V5",
         h5py.ref_dtype, h5py.vlen_dtype(np.float64)]


def change_csv(rng, data):
    """A CSV table with cells, lines or bytes changed."""
    if rng.random() < 0.4:
        return change_bytes(rng, data)
    lines = [line.split(b",") for line in data.split(b"\n")]
    for _ in range(rng.choice([1, 1, 2, 4])):
        line = rng.choice(lines)
        kind = rng.randrange(6)
        if kind <= 2:
            line[rng.randrange(len(line))] = rng.choice(NUMBERS + TEXTS + ['"1"', "1;2", "1e", "+1", "0x1p3", "q[0]", "lambda9"]).encode()
        elif kind == 3:
            line.insert(rng.randrange(len(line) + 1), rng.choice([b"", b"1", b"q[1]"]))
        elif kind == 4:
            line.pop(rng.randrange(len(line))) if len(line) > 1 else lines.remove(line)
        else:
            lines.insert(rng.randrange(len(lines) + 1), list(rng.choice(lines)) * rng.choice([1, 1, 200]))
        if not lines:
            break
    return rng.choice([b"\n", b"\n", b"\r\n", b"\r"]).join(b",".join(line) for line in lines)


def _values(rng, old):
    values = np.array(old, dtype=float)
    if values.size:
        values.flat[rng.randrange(values.size)] = float(rng.choice(["nan", "inf", "-inf", "1e308", "0", "-1", "5e-324"]))
    return values


def _replace(rng, file, name):
    """Puts something else in place of a dataset or a group."""
    old = file[name][()] if isinstance(file[name], h5py.Dataset) else np.arange(6.0).reshape(2, 3)
    del file[name]
    shape = np.shape(old)
    kind = rng.randrange(12)
    if kind == 0:
        return
    if kind == 1:
        file[name] = _values(rng, old if np.asarray(old).dtype.kind in "fiu" else [0.0])
    elif kind <= 3:
        try:
            file.create_dataset(name, shape, dtype=np.dtype(rng.choice(TYPES)))
        except (TypeError, ValueError, OSError):
            file[name] = "text"
    elif kind == 4:
        file[name] = np.zeros(rng.choice([(0,), (1,), (), (0,) * max(1, len(shape)), (*shape, 2), shape[::-1], (*shape[:-1], 0), (3, 1, 2, 2)]))
    elif kind == 5:
        file[name] = h5py.Empty("f8")
    elif kind == 6:  # rows without storage
        file.create_dataset(name, (2**rng.choice([20, 40, 62]), *shape[1:]), dtype="f8", chunks=True, maxshape=(None, *shape[1:]))
    elif kind == 7:
        file.create_group(name)
    elif kind == 8:
        file[name] = h5py.SoftLink(rng.choice(["/nowhere", "/", "/" + name, ".", "/q"]))
    elif kind == 9:
        file[name] = h5py.ExternalLink(rng.choice(["nowhere.h5", "points.h5", "a.h5", "."]), "/" + name)
    elif kind == 10:
        file[name] = file["/"]
    elif np.ndim(old):
        file.create_dataset(name, data=_values(rng, np.zeros(shape)), compression=rng.choice(["gzip", "lzf"]), fletcher32=True, chunks=True)


def _change(rng, file, name):
    kind = rng.random()
    if kind < 0.15:
        file.attrs[rng.choice([*file.attrs, "study", "x"])] = rng.choice([0, -1, 2**63 - 1, "x", "", "[study]\n", np.zeros(3), np.nan])
    elif kind < 0.25:
        file[rng.choice(["x", "axes/x", "lambda", "p", "v", "initial/q", "é", "a b", "x/y/z", "\x1b[1m"])] = np.zeros(3)
    else:
        _replace(rng, file, name)


def change_hdf5(rng, path):
    """Changes an HDF5 file, in its structure or in its bytes."""
    if rng.random() < 0.5:
        path.write_bytes(change_bytes(rng, path.read_bytes()))
        return
    with h5py.File(path, "r+") as file:
        for _ in range(rng.choice([1, 1, 2, 3])):
            names = []
            file.visit(names.append)
            name = rng.choice(names)
            # a change that those before it make impossible is left out
            with contextlib.suppress(OSError, KeyError, ValueError, TypeError, RuntimeError, MemoryError):
                _change(rng, file, name)
    if rng.random() < 0.1:
        path.write_bytes(change_bytes(rng, path.read_bytes()))


def change_one_of(rng, directory, names):
    """Damages one of a run's files: its bytes, its length, its name."""
    name = rng.choice(names)
    path, kind = directory / name, rng.random()
    if kind < 0.7:
        path.write_bytes(change_bytes(rng, path.read_bytes()))
    elif kind < 0.8:
        path.unlink()
    elif kind < 0.9:
        data = path.read_bytes()
        path.write_bytes(rng.choice([b"", b"\0" * len(data), data[:len(data) // 2], data + b"\0" * 4096, data + data]))
    else:
        shutil.copyfile(directory / rng.choice(names), new_path := path.with_name(path.name + ".new"))
        new_path.replace(path)
