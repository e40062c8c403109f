"""Reading result files: names, labels, components of states."""

import pathlib
import re
import tomllib
from dataclasses import dataclass

import h5py
import numpy as np

from .base import InputError, choose, did_you_mean, listing, option_type, printable
from .memory import File
from .words import symbol


LEFT_OUT = 32  # the status of a point that the condition of the ensemble leaves out


@dataclass(frozen=True)
class Component:
    """q[0], or a whole dataset such as `residual`."""

    name: str
    index: int | None = None

    def __str__(self):
        return self.name if self.index is None else f"{self.name}[{self.index}]"

    def typeset(self, coordinates):
        """For the figure: the name of the coordinate where there is one."""
        return self.name if self.index is None and len(self.name) > 1 else symbol(self.name, self.index, coordinates)


def parse_component(text):
    """Throws ValueError."""
    match = re.fullmatch(r"(\w+)(?:\[(\d+)\])?", text)
    if not match:
        raise ValueError
    return Component(match[1], int(match[2]) if match[2] else None)


def _pair(text):
    x, y = text.split(",")
    return parse_component(x), parse_component(y)


def _point(text):
    parts = text.split(",")
    if len(parts) not in (2, 3):
        raise ValueError
    return tuple(parse_component(part) for part in parts)


component_point = option_type(_point, "two or three components such as q[0],q[1],q[2]")
component_pair = option_type(_pair, "a pair of components such as q[0],p[0]")
component_list = option_type(lambda text: tuple(parse_component(part) for part in text.split(",")),
                             "a list of components such as q[0],q[1]")


def text_of(attribute):
    return attribute.decode() if isinstance(attribute, bytes) else str(attribute)


def _leads_out(file, path):
    """Where an HDF5 file takes data from other files than the parts beside it; None where it does not. HDF5 opens whatever a
    file names, and waits for a FIFO."""
    own = (h5py.h5l.TYPE_HARD, h5py.h5l.TYPE_SOFT)
    if link := file.id.links.visit(lambda name, info: None if info.type in own else name, info=True):
        return f"'{printable(text_of(link))}' is a link to another file"

    def fault(name, entry):
        if not isinstance(entry, h5py.Dataset):
            return None
        if entry.external:
            return f"'{printable(name)}' takes data from another file"
        for source in entry.virtual_sources() if entry.is_virtual else ():
            part = pathlib.PurePath(source.file_name)
            if part.is_absolute() or ".." in part.parts:
                return f"'{printable(name)}' takes data from '{printable(part)}', which is not a part beside it"
            if not (path.parent / part).is_file():
                return f"its part '{printable(part)}' is needed, and is not a file"
        return None
    return file.visititems(fault)


class Result:
    """A result file, open for reading, or a result of the package."""

    @classmethod
    def of(cls, given):
        """The result of the package, or the file of this name."""
        if not hasattr(given, "_stored"):
            return cls(pathlib.Path(given))
        result = cls.__new__(cls)
        result.path = given.file or pathlib.Path("result.h5")
        result.file = File(given)
        result._read_study()
        return result

    def __init__(self, path):
        self.path = path
        try:
            if path.exists() and not path.is_file():
                raise InputError(f"{path}: is not a regular file")
            path.open("rb").close()
        except OSError as error:
            raise InputError(f"{path}: cannot be read ({error.strerror})") from error
        try:
            self.file = h5py.File(path)
        except OSError as error:
            raise InputError(f"{path}: not an HDF5 file") from error
        if fault := _leads_out(self.file, path):
            raise InputError(f"{path}: cannot be read ({fault})")
        if "study" not in self.file.attrs:
            raise InputError(f"{path}: no attribute 'study' (not a result of rattleback)")
        self._read_study()

    def _read_study(self):
        self.study = tomllib.loads(text_of(self.file.attrs["study"]))
        self.label = self._label()
        named = self.study["system"].get("coordinates")
        self.coordinates = text_of(self.file.attrs["coordinates"]).split() if "coordinates" in self.file.attrs else named or []

    def _label(self):
        system, method = self.study["system"], self.study["method"]
        parts = [self.study["study"]["name"]]
        if system.get("variant"):
            parts.append(system["variant"])
        if "stages" in method:
            parts.append(f"s = {method['stages']}")
        step = self.study["time"]["step"]
        if step != "h":  # "h" is the name of an axis
            parts.append(f"h = {step}" if isinstance(step, str) else f"h = {step:g}")
        return printable(", ".join(parts))

    def group(self, name, hint):
        """A group with something in it; `hint` says how to come by one."""
        if not list(self.file.get(name, [])):
            raise InputError(f"{self.path}: no {name} ({hint})")
        return self.file[name]

    def member(self, name, group=None):
        """A dataset of the file or of one of its groups, whole."""
        group = group or self.file
        return group[choose(name, list(group), "dataset", f"{self.path}: {group.name}")][:]

    @property
    def time(self):
        return self.member("time")

    @property
    def final(self):
        return self.group("final", "not a complete result")

    def left_out(self):
        """Which points of the ensemble its condition leaves out, as booleans."""
        return self.member("status", self.final) == LEFT_OUT

    def failed(self):
        """Which trajectories failed, as booleans."""
        return (self.member("status", self.final) != 0) & ~self.left_out()

    def absent(self, time):
        """Which trajectories failed, were left out, or were stopped at this time or earlier, as booleans."""
        final, absent = self.final, self.failed() | self.left_out()
        return absent if "stop" not in final else absent | ((final["stop"][:] != 0) & (final["time"][:] <= time))

    def named(self, wanted):
        """A component of the state by its name in the study: x is q[0], v_x is v[0] and p_x is p[0]; lambda_pin[1] is lambda[i]."""
        own = self.study["system"]
        multipliers = [one if isinstance(one, str) else one.get("name") for one in own.get("multipliers", [])]
        meanings = {wanted.name} if wanted.index is None else {f"{wanted.name}_{wanted.index}", f"{wanted.name}{wanted.index}"}
        for i, name in enumerate(multipliers):
            if name in meanings:
                return Component("lambda", i)
        if wanted.index is not None or len(wanted.name) == 1 and wanted.name in "qvpt" and wanted.name not in self.coordinates:
            return wanted
        for part, names in (("q", self.coordinates), ("v", own.get("velocities", [])), ("p", own.get("momenta", [])),
                            ("v", [f"v_{name}" for name in self.coordinates]), ("p", [f"p_{name}" for name in self.coordinates])):
            if wanted.name in names:
                return Component(part, list(names).index(wanted.name))
        return wanted

    def values(self, wanted, sample=-1):
        """A number of each trajectory: an axis, an observable whose values are kept, at a sample, an average, or a final quantity."""
        name, observables = str(wanted), self.file.get("observables", {})
        if name in self.file.get("axes", {}):
            return self.member(name, self.file["axes"])
        if "values" in observables.get(name, {}):
            return np.asarray(observables[name]["values"][sample], dtype=float)
        if name in observables and wanted.name not in self.final:
            raise InputError(f"{self.path}: the values of '{name}' were not kept; set values = true in its [[observable]]")
        if (average := self.average(name)) is not None:
            return average
        return column(self.final, self.named(wanted), 1, self.path)

    def average(self, name):
        """The average NAME of each trajectory, or its digits as NAME_digits, of the tables [[average]]; None where there is none."""
        averages = self.file.get("averages", {})
        for average, part in ((name, "value"), (name.removesuffix("_digits"), "digits")):
            if part in averages.get(average, {}):
                return self.member(part, averages[average])
        return None

    def axes_of_groups(self):
        """The axes of the groups in their order, and their values."""
        axes = self.group("groups", "")["axes"]
        names = sorted(axes, key=lambda name: int(axes[name].attrs["group_dimension"]))
        return names, [axes[name][:] for name in names]

    def sample(self, time):
        """The number of the sample nearest to a time."""
        times = self.time
        margin = 1e-9 * max(1.0, abs(time))
        if not times[0] - margin <= time <= times[-1] + margin:
            raise InputError(f"{self.path}: no sample near t = {time:g} (they are from {times[0]:g} to {times[-1]:g})")
        return int(np.argmin(np.abs(times - time)))


def _settings(study, key=""):
    """The settings of a study in words: {"method.stages": "3"}. Lists of tables are not among them."""
    found = {}
    for name, value in study.items():
        full = f"{key}.{name}" if key else name
        if isinstance(value, dict):
            found |= _settings(value, full)
        elif not isinstance(value, list) or not any(isinstance(entry, dict) for entry in value):
            found[full] = f"{value:g}" if isinstance(value, float) else str(value)
    return found


def _differing(results):
    """For each result, the settings of the system and the method that not all have, in words."""
    settings = [{key: value for key, value in _settings(result.study).items() if key.split(".")[0] in ("system", "method", "time")}
                for result in results]
    keys = dict.fromkeys(key for one in settings for key in one)
    differ = [key for key in keys if len({one.get(key) for one in settings}) > 1 and not key.endswith("digest")]
    return [", ".join(f"{key.rpartition('.')[2]} = {one[key]}" for key in differ if key in one) for one in settings]


def open_all(paths):
    """The results; those with equal labels get what differs between their studies added, or their names."""
    results = [Result.of(path) for path in paths]
    for label in {result.label for result in results}:
        equal = [result for result in results if result.label == label]
        if len(equal) == 1:
            continue
        words = _differing(equal)
        for result, text in zip(equal, words):
            short = text and len(text) <= 60 and words.count(text) == 1
            result.label += f", {printable(text)}" if short else f" ({result.path.stem})"
    return results


def components(group, rank):
    """What `column` takes from the group, for messages."""
    known = []
    for name, dataset in group.items():
        if dataset.ndim == rank:
            known.append(name)
        elif dataset.ndim == rank + 1:
            last = dataset.shape[-1] - 1
            known.append(f"{name}[0]..{name}[{last}]" if last > 0 else f"{name}[0]")
    return known


def column(group, wanted, rank, where, rows=slice(None)):
    """One component of a dataset whose first `rank` dimensions are not components; `rows` picks of the last of these."""
    before = (slice(None),) * (rank - 1)
    dataset = group.get(wanted.name)
    if dataset is not None and wanted.index is None and dataset.ndim == rank:
        return dataset[(*before, rows)].astype(float)
    if dataset is not None and wanted.index is not None and dataset.ndim == rank + 1 and wanted.index < dataset.shape[-1]:
        return dataset[(*before, rows, wanted.index)].astype(float)
    singles = [f"{name}[{i}]" for name, d in group.items() if d.ndim == rank + 1 for i in range(min(d.shape[-1], 100))]
    singles += [name for name, d in group.items() if d.ndim == rank]
    raise InputError(f"{where}: no component '{wanted}' (there are: {listing(components(group, rank))})"
                     + did_you_mean(str(wanted), singles))
