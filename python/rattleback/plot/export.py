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
SINGLE = ("averages", "fits", "maps", "sections", "stops")  # groups of what a result has one number of
FIRST = ("trajectory", "index", "time")  # of a crossing


def columns(result: Result, part: str, width: int, prefix: str = "") -> list[str]:
    """The names of the components of q, v, p or lambda: those of the coordinates where there are some."""
    names = result.coordinates
    if part == "lambda" or len(names) != width:
        return [f"{prefix}{part}_{i}" for i in range(width)]
    return [prefix + (name if part == "q" else f"{part}_{name}") for name in names]


def is_scale(dataset) -> bool:
    """Whether a dataset stands for a dimension. Older versions of h5py cannot say it."""
    return dataset.attrs.get("CLASS", b"") == b"DIMENSION_SCALE"


def is_bare_dimension(dataset) -> bool:
    """Whether a dataset stands for a dimension without numbers, as netCDF-4 wants it."""
    return is_scale(dataset) and b"netCDF dimension but not" in dataset.attrs.get("NAME", b"")


def datasets(group) -> dict:
    """The datasets of a group that have numbers, but not those of groups in it."""
    return {name: item for name, item in group.items() if hasattr(item, "ndim") and not is_bare_dimension(item)}


def split(result: Result, group, prefix: str, rows) -> Block:
    """One column per number of the datasets of a group, for some of the rows."""
    block: Block = {}
    found = datasets(group)
    places = {name: place for place, name in enumerate((*FIRST, None, *LAST))}
    for name in sorted(found, key=lambda name: places.get(name, places[None])):
        dataset = found[name]
        if dataset.ndim == 1:
            block[name if name in ACCOUNT else prefix + name] = dataset[rows]
        elif dataset.ndim == 2 and name in STATE:
            block |= dict(zip(columns(result, name, dataset.shape[1], prefix), dataset[rows].T))
        elif dataset.ndim == 2:
            block |= {f"{prefix}{name}_{i}": column for i, column in enumerate(dataset[rows].T)}
    return block


def derivatives(result: Result, group, prefix: str, rows) -> Block:
    """The same of the derivatives in a group."""
    return {f"{name}_by_{by}": data for by, parts in group.get("derivatives", {}).items() for name, data in split(result, parts, prefix, rows).items()}


def is_over_time(dataset, samples: int) -> bool:
    """Whether the last dimension of a dataset is that of the samples. Edges of a histogram may be as many."""
    scales = dataset.dims[dataset.ndim - 1] if dataset.ndim else ()
    return dataset.ndim > 0 and dataset.shape[-1] == samples and (len(scales) == 0 or scales[0].name == "/time")


def statistics(result: Result) -> Iterator[Block]:
    block = {"time": result.time}

    def add(prefix, group):
        for name, data in datasets(group).items():
            if data.ndim == 1 and is_over_time(data, len(result.time)):
                block[prefix + name] = data[:]

    for observable, group in result.file.get("observables", {}).items():
        add(f"{observable}_", group)
    stops = result.file.get("stops", {})
    add("", stops)
    for stop, group in stops.items():
        if not hasattr(group, "shape"):
            add(f"stop_{stop}_", group)
    yield block


def axes_of_groups(result: Result, times: int) -> Block:
    """The axes of the groups, a row for each group, `times` of them one after the other."""
    names, places = result.axes_of_groups()
    grid = np.meshgrid(*places, indexing="ij")
    return {name: np.repeat(values.ravel(), times) for name, values in zip(names, grid)}


def groups(result: Result) -> Iterator[Block]:
    """The statistics over the trajectories of each group (ensemble.group_by)."""
    samples = len(result.time)
    block = axes_of_groups(result, samples)
    rows = len(next(iter(block.values())))
    block["time"] = np.tile(result.time, rows // samples)
    for observable, group in result.file["groups"].get("observables", {}).items():
        block |= {f"{observable}_{name}": data[:].ravel() for name, data in datasets(group).items() if is_over_time(data, samples) and data.size == rows}
    yield block


def fits_of_groups(result: Result) -> Iterator[Block]:
    block = axes_of_groups(result, 1)
    for fit, group in result.file["groups/fits"].items():
        block |= {f"{fit}_{name}": data[:].ravel() for name, data in datasets(group).items()}
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


def numbers(result: Result) -> Iterator[Block]:
    """What there is one of in the result, with its error."""
    found: dict[str, tuple[float, float]] = {}

    def add(path: str, group, index: int = 0) -> None:
        for name, data in group.items():
            if not name.endswith("_error"):
                error = group[f"{name}_error"][index] if f"{name}_error" in group else np.nan
                found[f"{path}/{name}"] = float(data[index]), float(error)

    file = result.file
    for kind in SINGLE:
        for name, group in file.get(kind, {}).items():
            if kind == "sections":
                name, group = f"{name}/returns", group.get("returns", {})
            if hasattr(group, "items"):
                add(f"{kind}/{name}", {key: data for key, data in datasets(group).items() if data.shape == (1,)})
    if "fates" in file:
        names = file["fates/count"].attrs
        for i in range(len(file["fates/count"])):
            add("fates/" + (text_of(names[f"fate {i}"]) if i else "none"), datasets(file["fates"]), i)
    yield {"name": np.array(list(found)), "value": np.array([value for value, _ in found.values()]), "error": np.array([error for _, error in found.values()])}


def labels_of(name: str):
    def rows(result: Result) -> Iterator[Block]:
        group = result.file["maps"][name]
        axes = [text_of(group[side].attrs["axis"]) for side in ("row", "column")]
        row, column = group["row"][:], group["column"][:]
        most = max(1, ROWS // len(column))
        for first in range(0, len(row), most):
            part = row[first:first + most]
            yield {axes[0]: np.repeat(part, len(column)), axes[1]: np.tile(column, len(part)), "label": group["labels"][first:first + most].ravel()}
    return rows


def tables(result: Result) -> dict:
    """The tables that there are, by name."""
    file, found = result.file, {}
    if "stops" in file or any(not is_values(name) for group in file.get("observables", {}).values() for name in group):
        found["statistics"] = statistics
    if "final" in file:
        found["trajectories"] = trajectories
    if "groups" in file:
        found["groups"] = groups
        if "fits" in file["groups"]:
            found["group-fits"] = fits_of_groups
    if "trajectories" in file:
        found["states"] = states
    if any("values" in group for group in file.get("observables", {}).values()):
        found["values"] = values
    if next(numbers(result))["name"].size:
        found["numbers"] = numbers
    return found | {f"section-{name}": section(name) for name in file.get("sections", {})} | {f"map-{name}": labels_of(name) for name in file.get("maps", {})}


def quoted(text: str) -> str:
    """A field of CSV. Names of the user may have commas and quotes."""
    return '"' + text.replace('"', '""') + '"' if set(text) & set(',"\r\n') else text


def write_csv(blocks: Iterator[Block], path: pathlib.Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as out:
        for number, block in enumerate(blocks):
            if number == 0:
                out.write(",".join(map(quoted, block)) + "\n")
            texts = (map(quoted if column.dtype.kind == "U" else repr, column.tolist()) for column in block.values())
            out.writelines(",".join(row) + "\n" for row in zip(*texts))


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
    if is_scale(dataset):
        return [dataset.name.rsplit("/", 1)[1]]
    return [scales[0].name.rsplit("/", 1)[1] if len(scales) else f"dimension_{i}" for i, scales in enumerate(dataset.dims)]


def write_zarr(result: Result, path: pathlib.Path) -> None:
    import h5py
    import zarr

    if int(zarr.__version__.split(".", 1)[0]) < 3:
        raise InputError(f"export to Zarr needs zarr 3 or later (there is {zarr.__version__}); pip install -U zarr")
    root = zarr.open_group(path, mode="w-")

    def copy(name, node):
        if not isinstance(node, h5py.Dataset) or is_bare_dimension(node):
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
