"""Masses and moments of inertia of the shapes of MJCF."""

import math

import numpy as np

from ..base import InputError
from .tree import numbers, unit


def shape(geom, pose):
    """Mass, centre and inertia of a geom whose rotation and place are `pose`; None of a shape without a formula."""
    kind, (rotation, place) = geom.get("type", "sphere"), pose
    sizes = [float(word) for word in geom.get("size", "").split()]
    half = None
    if geom.get("fromto"):
        frame = rotation, place
        ends = numbers(geom, "fromto", 6)
        along, place = ends[3:] - ends[:3], (ends[:3] + ends[3:]) / 2
        half, z = np.linalg.norm(along) / 2, unit(along, "a shape")
        x = unit(np.cross(z, np.eye(3)[np.argmin(abs(z))]))
        rotation, place = frame[0] @ np.array([x, np.cross(z, x), z]).T, frame[1] + frame[0] @ place
    if kind in ("capsule", "cylinder") and half is None and len(sizes) > 1:
        half = sizes[1]
    pi = math.pi
    try:
        if kind == "sphere":
            r = sizes[0]
            volume, moments = 4 / 3 * pi * r**3, [0.4 * r * r] * 3
        elif kind in ("box", "ellipsoid"):
            a, b, c = sizes[:3] if half is None else (sizes[0], sizes[0], half)
            volume, part = (8 * a * b * c, 3) if kind == "box" else (4 / 3 * pi * a * b * c, 5)
            moments = [(b * b + c * c) / part, (a * a + c * c) / part, (a * a + b * b) / part]
        elif kind == "cylinder":
            r, h = sizes[0], half
            volume, moments = 2 * pi * r * r * h, [r * r / 4 + h * h / 3] * 2 + [r * r / 2]
        elif kind == "capsule":
            r, h = sizes[0], half
            middle, caps = 2 * pi * r * r * h, 4 / 3 * pi * r**3
            volume = middle + caps
            across = middle * (r * r / 4 + h * h / 3) + caps * (0.4 * r * r + h * h + 0.75 * r * h)
            moments = [across / volume] * 2 + [(middle * r * r / 2 + caps * 0.4 * r * r) / volume]
        else:
            return None
    except (IndexError, TypeError, ValueError):
        raise InputError(f"<geom type=\"{kind}\" size=\"{geom.get('size', '')}\"> does not have the sizes of its type; correct the model") from None
    mass = numbers(geom, "mass", 1)[0] if geom.get("mass") else numbers(geom, "density", 1, (1000,))[0] * volume
    return mass, place, rotation @ np.diag(mass * np.array(moments)) @ rotation.T
