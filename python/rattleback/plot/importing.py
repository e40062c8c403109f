"""`rattleback import`: robots and machines of other programs as studies of bodies and joints.

Takes what URDF and MJCF have in common with [[body]] and [[joint]]: rigid bodies with their inertia, hinges, slides, balls, welds, springs and
dampers. What a model has beside that (contact, friction, motors, limits, sensors) is left out and said.
"""

import pathlib

from .base import InputError
from .models import mjcf, study, urdf
from .models.tree import parsed


def import_model(file, output):
    """Writes the study of a model; returns a line for each thing that is left out."""
    path = pathlib.Path(file)
    root = parsed(path, path)
    readers = {"robot": urdf.read, "mujoco": mjcf.read}
    if root.tag not in readers:
        raise InputError(f"{path}: neither URDF nor MJCF (its first element is <{root.tag}>); write <robot> or <mujoco>")
    try:
        model = readers[root.tag](root, path.parent)
        text = study.study(model, path.name)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except RecursionError:
        raise InputError(f"{path}: its bodies are nested too deeply") from None
    place = pathlib.Path(output) if output else pathlib.Path(path.stem + ".toml")
    try:
        with open(place, "x", encoding="utf-8") as out:
            out.write(text)
    except FileExistsError:
        raise InputError(f"{place}: exists already; name another file with -o") from None
    except OSError as error:
        raise InputError(f"{place}: cannot be written ({error.strerror})") from None
    return list(study.left_out(model))
