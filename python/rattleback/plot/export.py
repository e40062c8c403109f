"""`rattleback export`: results as tables (CSV, Parquet) and as arrays (Zarr), for programs that do not read HDF5.

A table is written block by block, so that memory does not grow with the result. Whatever is written has a temporary name until it is complete,
and nothing that exists is replaced.
"""

import contextlib
import pathlib
import shutil
import tempfile
from collections.abc import Iterator

import numpy as np

from .base import InputError, choose
from .results import Result, text_of

ROWS = 1 << 17  # of a block
Block = dict[str, np.ndarray]
STATE = ("q", "v", "p", "lambda")
ACCOUNT = ("status", "steps", "iterations", "residual")  # of a trajectory or a crossing, without a prefix
LAST = STATE + ACCOUNT


def columns(result: Result, part: str, width: int, prefix: str = "") -> list[str]:
    """The names of the components of q, v, p or lambda: those of the coordinates where there are some."""
    names = result.coordinates
    if part == "lambda" or len(names) != width:
        return [f"{prefix}{part}_{i}" for i in range(width)]
    return [prefix + (name if part == "q" else f"{part}_{name}") for name in names]


def split(result: Result, group, prefix: str, rows) -> Block:
    """One column per number of the datasets of a group, for some of the rows."""
    block: Block = {}
    for name in sorted(group, key=lambda name: LAST.index(name) if name in LAST else -1):
        dataset = group[name]
        if not hasattr(dataset, "ndim"):
            continue  # a group: returns, derivatives
        if dataset.ndim == 1:
            block[name if name in ACCOUNT else prefix + name] = dataset[rows]
        elif dataset.ndim == 2 and name in STATE:
            block |= dict(zip(columns(result, name, dataset.shape[1], prefix), dataset[rows].T))
    return block


def derivatives(result: Result, group, prefix: str, rows) -> Block:
    """The same of the derivatives in a group."""
    return {f"{name}_by_{by}": data for by, parts in group.get("derivatives", {}).items() for name, data in split(result, parts, prefix, rows).items()}


def statistics(result: Result) -> Iterator[Block]:
    block = {"time": result.time}

    def add(prefix, group):
        for name, data in group.items():
            if hasattr(data, "shape") and data.shape == block["time"].shape:
                block[prefix + name] = data[:]

    for observable, group in result.file.get("observables", {}).items():
        add(f"{observable}_", group)
    stops = result.file.get("stops", {})
    add("", stops)
    for stop, group in stops.items():
        if not hasattr(group, "shape"):
            add(f"stop_{stop}_", group)
    yield block


def trajectories(result: Result) -> Iterator[Block]:
    total = len(result.final["status"])
    for first in range(0, total, ROWS):
        rows = slice(first, min(first + ROWS, total))
        block = {"trajectory": np.arange(rows.start, rows.stop, dtype=np.uint64)}
        for name, prefix in (("axes", ""), ("initial", "initial_"), ("final", "final_")):
            if name in result.file:
                block |= split(result, result.file[name], prefix, rows)
        for name, group in result.file.get("averages", {}).items():
            block |= {f"{name}_{part}": group[part][rows] for part in ("value", "digits")}
        yield block | derivatives(result, result.file, "final_", rows)


def states(result: Result) -> Iterator[Block]:
    group, index = result.file["trajectories"], result.file["trajectories/index"][:]
    most = max(1, ROWS // max(1, len(index)))
    for first in range(0, len(result.time), most):
        time = result.time[first:first + most]
        block = {"time": np.repeat(time, len(index)), "trajectory": np.tile(index, len(time))}
        for name in STATE:
            if name in group:
                data = group[name][first:first + most].reshape(len(block["time"]), -1)
                block |= dict(zip(columns(result, name, data.shape[1]), data.T))
        yield block


def is_values(name: str) -> bool:
    """Whether a dataset of an observable has a value, or a derivative, of each trajectory at all samples."""
    return name == "values" or name.startswith("values_by_")


def values(result: Result) -> Iterator[Block]:
    kept = {observable + name.removeprefix("values"): data for observable, group in result.file["observables"].items()
            for name, data in group.items() if is_values(name)}
    total = next(iter(kept.values())).shape[1]
    for sample, time in enumerate(result.time):
        for first in range(0, total, ROWS):
            rows = slice(first, min(first + ROWS, total))
            index = np.arange(rows.start, rows.stop, dtype=np.uint64)
            yield {"time": np.full(len(index), time), "trajectory": index} | {name: data[sample, rows] for name, data in kept.items()}


def section(name: str):
    def rows(result: Result) -> Iterator[Block]:
        group = result.file["sections"][name]
        total = len(group["time"])
        for first in range(0, max(total, 1), ROWS):  # a section without crossings has a head
            block = split(result, group, "", slice(first, first + ROWS))
            yield block | derivatives(result, group, "", slice(first, first + ROWS))
    return rows


def tables(result: Result) -> dict:
    """The tables that there are, by name."""
    file, found = result.file, {}
    if "stops" in file or any(not is_values(name) for group in file.get("observables", {}).values() for name in group):
        found["statistics"] = statistics
    if "final" in file:
        found["trajectories"] = trajectories
    if "trajectories" in file:
        found["states"] = states
    if any("values" in group for group in file.get("observables", {}).values()):
        found["values"] = values
    return found | {f"section-{name}": section(name) for name in file.get("sections", {})}


def write_csv(blocks: Iterator[Block], path: pathlib.Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as out:
        for number, block in enumerate(blocks):
            if number == 0:
                out.write(",".join(block) + "\n")
            out.writelines(",".join(row) + "\n" for row in zip(*(map(repr, column.tolist()) for column in block.values())))


def write_parquet(blocks: Iterator[Block], path: pathlib.Path) -> None:
    import pyarrow
    import pyarrow.parquet

    first = pyarrow.table(next(blocks))
    with pyarrow.parquet.ParquetWriter(path, first.schema, compression="zstd") as out:
        out.write_table(first)
        for block in blocks:
            out.write_table(pyarrow.table(block, schema=first.schema))


def chunks_of(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Chunks of about 2^18 numbers: whole in the last dimensions."""
    chunks, left = [], 1 << 18
    for extent in reversed(shape):
        chunks.append(max(1, min(extent, left)))
        left //= chunks[-1]
    return tuple(reversed(chunks))


def dimensions_of(dataset) -> list[str]:
    """The names of the dimensions, as xarray reads them from the file."""
    if dataset.is_scale:
        return [dataset.name.rsplit("/", 1)[1]]
    return [scales[0].name.rsplit("/", 1)[1] if len(scales) else f"dimension_{i}" for i, scales in enumerate(dataset.dims)]


def write_zarr(result: Result, path: pathlib.Path) -> None:
    import h5py
    import zarr

    if int(zarr.__version__.split(".", 1)[0]) < 3:
        raise InputError(f"export to Zarr needs zarr 3 or later (there is {zarr.__version__}); pip install -U zarr")
    root = zarr.open_group(path, mode="w-")

    def copy(name, node):
        if not isinstance(node, h5py.Dataset) or (node.is_scale and b"netCDF dimension but not" in node.attrs.get("NAME", b"")):
            return
        array = root.create_array(name, shape=node.shape, chunks=chunks_of(node.shape), dtype=node.dtype.newbyteorder("="),
                                  dimension_names=dimensions_of(node))
        for key, value in node.attrs.items():
            if key not in ("CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST", "_Netcdf4Dimid"):
                array.attrs[key] = text_of(value) if isinstance(value, (bytes, str)) else value.tolist()
        rows = max(1, (1 << 22) // max(1, node.size // max(1, node.shape[0])))
        step = -(-rows // array.chunks[0]) * array.chunks[0]
        for first in range(0, node.shape[0], step):
            array[first:first + step] = node[first:first + step]

    result.file.visititems(copy)
    for key, value in result.file.attrs.items():
        if not key.startswith("_NC"):
            root.attrs[key] = text_of(value) if isinstance(value, (bytes, str)) else value.tolist()
    zarr.consolidate_metadata(root.store)


@contextlib.contextmanager
def fresh(place: pathlib.Path):
    """Yields a name beside `place` that becomes `place` when all is well."""
    if place.exists() or place.is_symlink():
        raise InputError(f"{place}: is there already, and an export replaces nothing; remove it, or choose another with -o")
    if not place.parent.is_dir():
        raise InputError(f"{place}: cannot be written (there is no such directory); choose another with -o")
    try:
        folder = pathlib.Path(tempfile.mkdtemp(prefix=f".{place.name}-", dir=place.parent))
    except OSError as error:
        raise InputError(f"{place}: cannot be written ({error.strerror}); choose another with -o") from error
    try:
        yield folder / place.name
        (folder / place.name).rename(place)
    except OSError as error:
        raise InputError(f"{place}: cannot be written ({error.strerror or error}); choose another with -o") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def export(form: str, output: str, file: str, wanted: list[str]) -> pathlib.Path:
    """Writes a result in the form "csv", "parquet" or "zarr"; returns where. `output` is empty for a name after the file's."""
    try:
        if form == "parquet":
            import pyarrow.parquet  # noqa: F401
        elif form == "zarr":
            import zarr  # noqa: F401
    except ImportError as error:
        package = {"parquet": "pyarrow"}.get(form, form)
        raise InputError(f"export to {form.capitalize()} needs the Python package {package} ({error}); pip install {package}") from error
    result = Result.of(pathlib.Path(file))
    stem = pathlib.Path(file).stem
    if form == "zarr":
        if wanted:
            raise InputError(f"a Zarr store has the whole result, so '--table {wanted[0]}' has no effect; leave it out")
        place = pathlib.Path(output or f"{stem}.zarr")
        with fresh(place) as path:
            write_zarr(result, path)
        return place
    found = tables(result)
    for name in wanted:
        choose(name, list(found), "table", result.path)
    write = {"csv": write_csv, "parquet": write_parquet}[form]
    if len(wanted) == 1:
        place = pathlib.Path(output or f"{stem}-{wanted[0]}.{form}")
        with fresh(place) as path:
            write(found[wanted[0]](result), path)
        return place
    place = pathlib.Path(output or f"{stem}-{form}")
    with fresh(place) as path:
        path.mkdir()
        for name in wanted or found:
            write(found[name](result), path / f"{name}.{form}")
    return place
