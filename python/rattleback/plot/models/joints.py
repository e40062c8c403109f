"""Hinges and slides that follow each other between two bodies as one joint of a study."""

import numpy as np

from ..base import InputError

SINGLE = {"hinge": "revolute", "slide": "prismatic", "ball": "spherical", "planar": "planar"}


def acts_along(hinges):
    """Whether the joint of these motions has a spring and a damper along it, as single hinges and slides have."""
    return [one.kind for one in hinges] in (["hinge"], ["slide"])


def joint_of(hinges, name):
    """The table of the joint that these motions make, without its name and bodies; None where they leave the body free."""
    if len(hinges) == 1:
        (one,) = hinges
        table = {"type": SINGLE[one.kind], "at": one.place, "axis": one.axis, **(one.forces if acts_along(hinges) else {})}
        return {key: value for key, value in table.items() if value is not None}
    kinds = [one.kind for one in hinges]
    turns, slides = ([one for one in hinges if one.kind == kind] for kind in ("hinge", "slide"))
    table = None
    if len(turns) + len(slides) == len(hinges) and independent(turns) and independent(slides):
        table = several(turns, slides)
    elif sorted(kinds) == ["ball", "slide", "slide", "slide"] and independent(slides):
        return None
    if table == "free":
        return None
    if table is None:
        raise InputError(f"body '{name}' has {len(hinges)} joints ({', '.join(kinds)}) that make none of the joints of a study (universal, spherical, planar, "
                         "cylindrical, rectangular, cartesian, or free); put bodies between them")
    return table


def independent(some):
    return not some or np.linalg.matrix_rank(np.array([one.axis for one in some]), tol=1e-6) == len(some)


def meeting(turns):
    """Where the axes meet, or None."""
    # the point whose distances to the axes have the least squares
    across = [np.eye(3) - np.outer(one.axis, one.axis) for one in turns]
    point = np.linalg.solve(sum(across), sum(part @ one.place for part, one in zip(across, turns)))
    size = max(np.linalg.norm(one.place - turns[0].place) for one in turns)
    return point if all(np.linalg.norm(part @ (point - one.place)) <= 1e-9 * max(size, 1e-3) for part, one in zip(across, turns)) else None


def several(turns, slides):
    shape = len(turns), len(slides)
    if shape == (3, 3):
        return "free"
    if shape == (0, 2):
        return {"type": "rectangular", "at": slides[0].place, "axis": np.cross(slides[0].axis, slides[1].axis)}
    if shape == (0, 3):
        return {"type": "cartesian", "at": slides[0].place}
    if shape == (1, 2) and max(abs(turns[0].axis @ one.axis) for one in slides) < 1e-9:
        return {"type": "planar", "at": turns[0].place, "axis": turns[0].axis}
    if shape == (1, 1) and abs(turns[0].axis @ slides[0].axis) > 1 - 1e-12:
        return {"type": "cylindrical", "at": turns[0].place, "axis": turns[0].axis}
    if shape in ((2, 0), (3, 0)) and (point := meeting(turns)) is not None:
        if shape == (3, 0):
            return {"type": "spherical", "at": point}
        return {"type": "universal", "at": point, "axis": turns[0].axis, "axis2": turns[1].axis}
    return None
