"""Reads MJCF, the format of MuJoCo."""

import math
import pathlib
import xml.etree.ElementTree as xml

import numpy as np

from ..base import InputError
from .shapes import shape
from .tree import GRAVITY, Hinge, Link, Model, from_angles, from_quaternion, from_third_axis, from_two_axes, numbers, parsed, symbol, turn, unit

KINDS = ("hinge", "slide", "ball")
# what the motion does not need, or what is read elsewhere
KNOWN = ("compiler", "option", "worldbody", "default", "equality", "asset", "visual", "size", "statistic", "custom", "keyframe")


def read(root, folder):
    return Reader(root, folder).model


class Reader:
    def __init__(self, root, folder):
        include(root, folder)
        self.options = merged(root, "compiler")
        self.scale = 1.0 if self.options.get("angle", "degree") == "radian" else math.pi / 180
        self.order = self.options.get("eulerseq", "xyz")
        if len(self.order) != 3 or set(self.order.lower()) - set("xyz") or self.order not in (self.order.lower(), self.order.upper()):
            raise InputError(f"eulerseq=\"{self.order}\" is not three of the letters x, y, z, or of X, Y, Z; correct the model")
        self.model = Model(root.get("model") or "model", self.gravity(root))
        self.taken = set()
        for tag in root:
            if tag.tag not in KNOWN:
                self.model.leave(f"<{tag.tag}>")
        for key in ("boundmass", "boundinertia", "balanceinertia", "inertiagrouprange"):
            if self.options.get(key, "false") != "false":
                self.model.leave(f"{key} of <compiler>")
        self.classes = {"main": {}}
        for default in root.findall("default"):  # the outermost class is that of all elements without one, whatever its name is
            self.classes["main"] = self.read_defaults(default, self.classes["main"])
        self.links = {"world": Link("ground", np.eye(3), np.zeros(3))}
        self.model.root = self.links["world"]
        worlds = root.findall("worldbody")
        if not worlds:
            raise InputError("the model has no <worldbody>; correct the model")
        for world in worlds:
            self.walk(world, self.model.root)
        self.set_total_mass()
        for equality in root.findall("equality"):
            for one in equality:
                self.close_loop(self.with_defaults(one))

    def gravity(self, root):
        option = xml.Element("option", merged(root, "option"))
        flags = merged(root, "option/flag")
        if flags.get("gravity") == "disable":
            return np.zeros(3)
        return numbers(option, "gravity", 3, (0, 0, -GRAVITY))

    def read_defaults(self, element, inherited):
        own = dict(inherited)
        for tag in element:
            if tag.tag != "default":
                own[tag.tag] = {**own.get(tag.tag, {}), **tag.attrib}
        self.classes[element.get("class", "main")] = own
        for tag in element.findall("default"):
            self.read_defaults(tag, own)
        return own

    def with_defaults(self, element, of_body=None):
        name = element.get("class") or of_body or "main"
        if name not in self.classes:
            raise InputError(f"<{element.tag} class=\"{name}\">: there is no <default> of this class; correct the model")
        for key, value in self.classes[name].get(element.tag, {}).items():
            if element.get(key) is None:
                element.set(key, value)
        return element

    def pose(self, element):
        """The rotation and the place of an element in the frame of its parent."""
        place = numbers(element, "pos", 3, (0, 0, 0))
        if element.get("quat"):
            return from_quaternion(numbers(element, "quat", 4)), place
        if element.get("euler"):
            return from_angles(self.scale * numbers(element, "euler", 3), self.order, fixed=self.order.isupper()), place
        if element.get("axisangle"):
            values = numbers(element, "axisangle", 4)
            return turn(unit(values[:3]), self.scale * values[3]), place
        if element.get("xyaxes"):
            values = numbers(element, "xyaxes", 6)
            return from_two_axes(values[:3], values[3:]), place
        if element.get("zaxis"):
            return from_third_axis(numbers(element, "zaxis", 3)), place
        return np.eye(3), place

    def contents(self, element, of_body, frame=(np.eye(3), np.zeros(3))):
        """What a body holds, with the class and the frame in the body that it has there; a <frame> is taken for what is in it."""
        for one in element:
            if one.tag in ("replicate", "composite", "flexcomp", "attach"):
                raise InputError(f"<{one.tag}> is not taken; write its bodies (MuJoCo writes a model without it by mj_saveLastXML)")
            if one.tag == "frame":
                turned, moved = self.pose(one)
                yield from self.contents(one, one.get("childclass") or of_body, (frame[0] @ turned, frame[1] + frame[0] @ moved))
            else:
                yield one, of_body, frame

    def walk(self, element, parent, of_body=None):
        of_body = element.get("childclass") or of_body
        for child, in_class, (turned, moved) in self.contents(element, of_body):
            if child.tag != "body":
                continue
            rotation, place = self.pose(child)
            link = Link(symbol(child.get("name") or "body", self.taken), parent.rotation @ turned @ rotation,
                        parent.place + parent.rotation @ (moved + turned @ place))
            name = child.get("name") or link.name
            if name in self.links:
                raise InputError(f"two bodies are called '{name}'; correct the model")
            self.links[name] = link
            own_class = child.get("childclass") or in_class
            held = list(self.contents(child, own_class))
            self.weigh(child, link, name, held)
            self.hang(link, name, held)
            parent.children.append(link)
            self.walk(child, link, in_class)
            for key in ("gravcomp",):
                if numbers(child, key, 1, (0,))[0] != 0:
                    self.model.leave(key, name)

    def weigh(self, body, link, name, held):
        """The mass of a body: its <inertial>, or that of its shapes."""
        inertial = body.find("inertial")
        if inertial is not None and self.options.get("inertiafromgeom") != "true":
            own, center = self.pose(inertial)
            if inertial.get("fullinertia"):
                xx, yy, zz, xy, xz, yz = numbers(inertial, "fullinertia", 6)
                tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
            else:
                tensor = np.diag(numbers(inertial, "diaginertia", 3))
            link.add(numbers(inertial, "mass", 1)[0], center, own @ tensor @ own.T)
        shapes = [(one, in_class, frame) for one, in_class, frame in held if one.tag == "geom"]
        for geom, in_class, frame in shapes:
            if inertial is not None and self.options.get("inertiafromgeom") != "true":
                break
            self.with_defaults(geom, in_class)
            rotation, place = self.pose(geom)
            if geom.get("fromto"):
                pose = frame
            else:
                pose = frame[0] @ rotation, frame[1] + frame[0] @ place
            part = shape(geom, pose)
            if part is None:
                self.model.leave(f"the mass of a {geom.get('type')}", name)
            else:
                link.add(*part)
        if shapes:
            self.model.leave("contact of <geom>", name)

    def hang(self, link, name, held):
        """Gives a link the motions of its joints."""
        for one, in_class, (turned, moved) in held:
            if one.tag not in ("joint", "freejoint"):
                continue
            if one.tag == "joint":
                self.with_defaults(one, in_class)
            kind = "free" if one.tag == "freejoint" else one.get("type", "hinge")
            if kind == "free":
                link.free = True
                continue
            if kind not in KINDS:
                raise InputError(f"body '{name}' has a joint of the type '{kind}', which MJCF does not have; correct the model")
            hinge = Hinge(kind, symbol(one.get("name") or f"{link.name}_joint", self.taken),
                          link.place + link.rotation @ (moved + turned @ numbers(one, "pos", 3, (0, 0, 0))))
            if kind != "ball":
                hinge.axis = link.rotation @ turned @ unit(numbers(one, "axis", 3, (0, 0, 1)))
            self.forces(one, kind, hinge)
            link.hinges.append(hinge)
        if link.free and link.hinges:
            raise InputError(f"body '{name}' has a free joint and others; correct the model")

    def forces(self, joint, kind, hinge):
        """The spring and the damper of a joint, and what is left out of it."""
        for key in ("stiffness", "damping"):
            if (value := numbers(joint, key, 1, (0,))[0]) > 0:
                hinge.forces[key] = value
        if "stiffness" in hinge.forces and kind != "ball":
            # both are coordinates of the joint, which is at `ref` at the start
            rest = numbers(joint, "springref", 1, (0,))[0] - numbers(joint, "ref", 1, (0,))[0]
            if rest != 0:
                hinge.forces["rest"] = rest * (self.scale if kind == "hinge" else 1)
        if joint.get("range") and joint.get("limited", "auto") != "false":
            self.model.leave("range (limits and limit_stiffness of a joint would hold it)", joint.get("name", ""))
        for key in ("armature", "frictionloss"):
            if numbers(joint, key, 1, (0,))[0] > 0:
                self.model.leave(key, joint.get("name", ""))

    def set_total_mass(self):
        if "settotalmass" not in self.options:
            return
        wanted = numbers(xml.Element("compiler", self.options), "settotalmass", 1)[0]
        total = sum(link.mass for link in self.links.values())
        if wanted <= 0 or total <= 0:
            return
        for link in self.links.values():
            link.mass, link.inertia = link.mass * wanted / total, link.inertia * (wanted / total)

    def close_loop(self, one):
        name, ends = one.get("name") or one.tag, [one.get("body1"), one.get("body2") or "world"]
        if one.tag not in ("connect", "weld") or ends[0] is None or one.get("active") == "false":
            self.model.leave(f"<equality> {one.tag}", name)
            return
        for end in ends:
            if end not in self.links:
                raise InputError(f"<{one.tag}> of <equality> names the body '{end}', which is not there; correct the model")
        first, second = (self.links[end] for end in ends)
        if first is second:
            raise InputError(f"<{one.tag}> of <equality> is between '{ends[0]}' and itself; correct the model")
        place = first.place + first.rotation @ numbers(one, "anchor", 3, (0, 0, 0) if one.tag == "weld" else None)
        if one.tag == "weld" and one.get("relpose") and numbers(one, "relpose", 7)[3:].any():
            self.model.leave("relpose of a weld: it holds as the bodies are at the start", name)
        table = {"name": symbol(name, self.taken), "type": "spherical" if one.tag == "connect" else "weld", "at": place}
        self.model.loops.append((table, first, second))


def include(root, folder, seen=frozenset()):
    """Puts the contents of included files in the place of <include>."""
    for element in list(root.iter()):
        for at, one in reversed(list(enumerate(element))):
            if one.tag != "include":
                continue
            path = pathlib.Path(folder) / one.get("file", "")
            if path in seen:
                raise InputError(f"<include file=\"{one.get('file')}\"> includes itself; correct the model")
            other = parsed(path, f"<include file=\"{one.get('file', '')}\">")
            include(other, folder, seen | {path})
            element[at:at + 1] = list(other)


def merged(root, path):
    """The attributes of all elements of a path; those of the last one count."""
    return {key: value for one in root.findall(path) for key, value in one.attrib.items()}
