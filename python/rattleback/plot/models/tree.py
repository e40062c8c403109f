"""A model as both formats describe it: links that hang on each other by hinges, slides and balls; its rotations and its numbers."""

import math
import pathlib
import re
import xml.etree.ElementTree as xml
from dataclasses import dataclass, field

import numpy as np

from ..base import InputError

GRAVITY = 9.81


@dataclass
class Hinge:
    """One of the motions between a link and its parent, in the order in which they follow each other; axis and place in space, at the start."""

    kind: str  # hinge, slide, ball or planar
    name: str
    place: np.ndarray
    axis: np.ndarray = None
    forces: dict = field(default_factory=dict)  # stiffness, damping and rest along it


@dataclass
class Link:
    """A rigid body at the start: its frame in space, its mass about the centre of mass in that frame, and what hangs on it."""

    name: str
    rotation: np.ndarray
    place: np.ndarray
    mass: float = 0.0
    center: np.ndarray = field(default_factory=lambda: np.zeros(3))
    inertia: np.ndarray = field(default_factory=lambda: np.zeros((3, 3)))
    hinges: list = field(default_factory=list)  # none: it is fixed to its parent
    free: bool = False
    children: list = field(default_factory=list)
    body: "Link" = None  # the body that it is a part of; None for what does not move

    def add(self, mass, center, inertia):
        """Adds another part, in the frame of the link."""
        if mass <= 0:
            return
        total = self.mass + mass
        middle = (self.mass * self.center + mass * center) / total
        moved = np.zeros((3, 3))
        for own, weight, away in ((self.inertia, self.mass, self.center - middle), (inertia, mass, center - middle)):
            moved = moved + own + weight * (away @ away * np.eye(3) - np.outer(away, away))
        self.mass, self.center, self.inertia = total, middle, (moved + moved.T) / 2

    def take(self, other):
        """Adds a link that is fixed to this one."""
        back = self.rotation.T
        turned = back @ other.rotation
        self.add(other.mass, back @ (other.place + other.rotation @ other.center - self.place), turned @ other.inertia @ turned.T)


@dataclass
class Model:
    name: str
    gravity: np.ndarray
    root: Link = None  # fixed in space, without a mass
    loops: list = field(default_factory=list)  # (table of the study, link or None, link or None)
    left_out: dict = field(default_factory=dict)

    def leave(self, what, where=""):
        self.left_out.setdefault(what, []).append(where)


def parsed(path, called):
    """The first element of a file of XML, which messages call so."""
    try:
        return xml.fromstring(pathlib.Path(path).read_bytes())
    except OSError as error:
        raise InputError(f"{called}: cannot be read ({error.strerror})") from None
    except (xml.ParseError, ValueError) as error:
        raise InputError(f"{called}: not XML ({error})") from None


def turn(axis, angle):
    """The rotation about a unit vector."""
    x, y, z = axis
    hat = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + math.sin(angle) * hat + (1 - math.cos(angle)) * hat @ hat


def from_angles(angles, order="xyz", fixed=True):
    """The rotation of three angles about fixed axes, or about those that move along."""
    result = np.eye(3)
    for letter, angle in zip(order, angles):
        one = turn(np.eye(3)["xyz".index(letter.lower())], angle)
        result = one @ result if fixed else result @ one
    return result


def from_quaternion(q):
    size = np.linalg.norm(q)
    if size == 0:
        raise InputError("a quaternion is 0 0 0 0; correct the model")
    w, x, y, z = np.asarray(q) / size
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


def from_third_axis(z):
    """The shortest rotation that takes the third axis to a direction."""
    z = unit(z, "an orientation")
    about = np.cross([0, 0, 1], z)
    size = np.linalg.norm(about)
    if size < 1e-15:
        return np.eye(3) if z[2] > 0 else np.diag([1.0, -1.0, -1.0])
    return turn(about / size, math.atan2(size, z[2]))


def from_two_axes(x, y):
    """The rotation whose first two axes have these directions; the second is made orthogonal to the first."""
    x = unit(x, "an orientation")
    y = unit(y - (x @ y) * x, "an orientation")
    return np.array([x, y, np.cross(x, y)]).T


def numbers(element, key, count, standard=None):
    """The numbers of an attribute."""
    text = element.get(key)
    if text is None and standard is not None:
        return np.array(standard, float)
    try:
        values = np.array([float(word) for word in (text or "").split()])
    except ValueError:
        values = np.array([])
    if len(values) != count or not np.all(np.isfinite(values)):
        raise InputError(f"<{element.tag} {key}=\"{text}\"> does not have {count} number{'s' if count > 1 else ''}; correct the model")
    return values


def unit(axis, whose="a joint"):
    size = np.linalg.norm(axis)
    if size == 0:
        raise InputError(f"{whose} has an axis of length 0; correct the model")
    return axis / size


def symbol(name, taken):
    """A name for a study: letters, digits and _."""
    word = re.sub(r"\W", "_", name, flags=re.ASCII) or "body"
    word = word if word[0].isalpha() else f"b_{word}"
    result, i = word, 2
    while result in taken or result in ("ground", "t", "pi"):
        result, i = f"{word}_{i}", i + 1
    taken.add(result)
    return result
