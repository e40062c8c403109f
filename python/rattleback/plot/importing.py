"""`rattleback import`: robots and machines of other programs as studies of bodies and joints.

Takes what URDF and MJCF have in common with [[body]] and [[joint]]: rigid bodies with their inertia, hinges, slides, balls, welds, springs, dampers and
limits. What a model has beside that (shapes, contact, friction, motors, sensors) is left out and said.
"""

import math
import pathlib
import re
import xml.etree.ElementTree as xml
from dataclasses import dataclass, field

import numpy as np

from .base import InputError

GRAVITY = 9.81


@dataclass
class Link:
    """A rigid body at the start: its frame in space, and its mass about the centre of mass in that frame."""

    name: str
    rotation: np.ndarray
    place: np.ndarray
    mass: float = 0.0
    center: np.ndarray = field(default_factory=lambda: np.zeros(3))
    inertia: np.ndarray = field(default_factory=lambda: np.zeros((3, 3)))

    def add(self, mass, center, inertia):
        """Adds another part, in the frame of the body."""
        if mass <= 0:
            return
        total = self.mass + mass
        middle = (self.mass * self.center + mass * center) / total
        for own, weight, away in ((self.inertia, self.mass, self.center - middle), (inertia, mass, center - middle)):
            if own is self.inertia:
                moved = own + weight * (away @ away * np.eye(3) - np.outer(away, away))
            else:
                moved = moved + own + weight * (away @ away * np.eye(3) - np.outer(away, away))
        self.mass, self.center, self.inertia = total, middle, moved


@dataclass
class Model:
    name: str
    gravity: np.ndarray
    links: list = field(default_factory=list)
    joints: list = field(default_factory=list)  # tables of the study
    left_out: dict = field(default_factory=dict)

    def leave(self, what, where):
        self.left_out.setdefault(what, []).append(where)


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


def unit(axis):
    size = np.linalg.norm(axis)
    if size == 0:
        raise InputError("a joint has an axis of length 0; correct the model")
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


# URDF


def urdf(root):
    model = Model(root.get("name") or "robot", np.array([0, 0, -GRAVITY]))
    taken = set()
    links = {link.get("name"): link for link in root.findall("link")}
    joints = root.findall("joint")
    for joint in joints:
        for end in ("parent", "child"):
            if joint.find(end) is None or joint.find(end).get("link") not in links:
                raise InputError(f"joint '{joint.get('name')}' has no {end} that is a link; correct the model")
    children = {joint.find("child").get("link") for joint in joints}
    roots = [name for name in links if name not in children]
    if len(roots) != 1:
        raise InputError(f"the model has {len(roots)} links without a parent, and one is needed; correct the model")
    for tag in root:
        if tag.tag not in ("link", "joint"):
            model.leave(f"<{tag.tag}>", tag.get("name", ""))

    def origin(element):
        found = None if element is None else element.find("origin")
        if found is None:
            return np.eye(3), np.zeros(3)
        return from_angles(numbers(found, "rpy", 3, (0, 0, 0))), numbers(found, "xyz", 3, (0, 0, 0))

    def body(name, rotation, place):
        link = Link(symbol(name, taken), rotation, place)
        inertial = links[name].find("inertial")
        for tag in ("collision", "visual"):
            if links[name].find(tag) is not None:
                model.leave(f"<{tag}>", name)
        if inertial is not None:
            turned, center = origin(inertial)
            tensor = inertial.find("inertia")
            if inertial.find("mass") is None or tensor is None:
                raise InputError(f"link '{name}': <inertial> needs <mass> and <inertia>; correct the model")
            values = [numbers(tensor, key, 1, (0,))[0] for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")]
            own = np.array([[values[0], values[1], values[2]], [values[1], values[3], values[4]], [values[2], values[4], values[5]]])
            link.add(numbers(inertial.find("mass"), "value", 1)[0], center, turned @ own @ turned.T)
        return link

    first = body(roots[0], np.eye(3), np.zeros(3))
    if first.mass > 0:
        model.links.append(first)
    at = {roots[0]: first if first.mass > 0 else None}
    frames = {roots[0]: (np.eye(3), np.zeros(3))}
    waiting = list(joints)
    while waiting:
        joint = next((one for one in waiting if one.find("parent").get("link") in at), None)
        if joint is None:
            raise InputError(f"joint '{waiting[0].get('name')}' hangs on a loop of links; a URDF model is a tree")
        waiting.remove(joint)
        parent, child, kind = joint.find("parent").get("link"), joint.find("child").get("link"), joint.get("type")
        turned, moved = origin(joint)
        rotation, place = frames[parent][0] @ turned, frames[parent][1] + frames[parent][0] @ moved
        frames[child] = rotation, place
        link = body(child, rotation, place)
        if kind == "fixed" and (at[parent] is not None or link.mass <= 0):  # one body
            at[child] = at[parent]
            if link.mass > 0:
                back = at[parent].rotation.T
                at[parent].add(link.mass, back @ (place + rotation @ link.center - at[parent].place), back @ rotation @ link.inertia @ rotation.T @ at[parent].rotation)
            continue
        if link.mass <= 0:
            raise InputError(f"link '{child}' moves and has no mass; give it an <inertial>")
        model.links.append(link)
        at[child] = link
        if kind == "floating":
            continue
        types = {"revolute": "revolute", "continuous": "revolute", "prismatic": "prismatic", "planar": "planar", "fixed": "weld"}
        if kind not in types:
            raise InputError(f"joint '{joint.get('name')}' has the type '{kind}', which URDF does not have; correct the model")
        table = {"name": symbol(joint.get("name") or child, taken), "type": types[kind],
                 "between": [at[parent].name if at[parent] else "ground", link.name], "at": place}
        if kind != "fixed":
            axis = joint.find("axis")
            table["axis"] = rotation @ unit(np.array([1.0, 0, 0]) if axis is None else numbers(axis, "xyz", 3))
        dynamics = joint.find("dynamics")
        if dynamics is not None and kind in ("revolute", "continuous", "prismatic"):
            damping = numbers(dynamics, "damping", 1, (0,))[0]
            if damping > 0:
                table["damping"] = damping
            if numbers(dynamics, "friction", 1, (0,))[0] > 0:
                model.leave("friction", joint.get("name"))
        if joint.find("limit") is not None and kind != "continuous":
            model.leave("<limit> (limits and limit_stiffness of a joint would hold it)", joint.get("name"))
        if joint.find("mimic") is not None:
            model.leave("<mimic> (a gear would do it)", joint.get("name"))
        model.joints.append(table)
    return model


# MJCF


def mjcf(root):
    compiler = root.find("compiler")
    options = {} if compiler is None else compiler.attrib
    scale = 1.0 if options.get("angle", "degree") == "radian" else math.pi / 180
    order = options.get("eulerseq", "xyz")
    if len(order) != 3 or set(order.lower()) - set("xyz") or order not in (order.lower(), order.upper()):
        raise InputError(f"eulerseq=\"{order}\" is not three of the letters x, y, z, or of X, Y, Z; correct the model")
    option = root.find("option")
    model = Model(root.get("model") or "model", np.array([0, 0, -GRAVITY]) if option is None else numbers(option, "gravity", 3, (0, 0, -GRAVITY)))
    taken = set()
    for tag in root:
        if tag.tag not in ("compiler", "option", "worldbody", "default", "equality", "asset", "visual", "size", "statistic"):
            model.leave(f"<{tag.tag}>", "")
    classes = {"main": {}}

    def read_defaults(element, inherited):
        own = dict(inherited)
        for tag in element:
            if tag.tag != "default":
                own[tag.tag] = {**own.get(tag.tag, {}), **tag.attrib}
        classes[element.get("class", "main")] = own
        for tag in element.findall("default"):
            read_defaults(tag, own)

    for default in root.findall("default"):
        read_defaults(default, classes["main"])

    def with_defaults(element, of_body=None):
        name = element.get("class") or of_body or "main"
        if name not in classes:
            raise InputError(f"<{element.tag} class=\"{name}\">: there is no <default> of this class; correct the model")
        for key, value in classes[name].get(element.tag, {}).items():
            if element.get(key) is None:
                element.set(key, value)
        return element

    def pose(element):
        place = numbers(element, "pos", 3, (0, 0, 0))
        if element.get("quat"):
            return from_quaternion(numbers(element, "quat", 4)), place
        if element.get("euler"):
            return from_angles(scale * numbers(element, "euler", 3), order, fixed=order.isupper()), place
        if element.get("axisangle"):
            values = numbers(element, "axisangle", 4)
            return turn(unit(values[:3]), scale * values[3]), place
        for key in ("xyaxes", "zaxis"):
            if element.get(key):
                raise InputError(f"<{element.tag} {key}=..> is not taken; write quat, euler or axisangle")
        return np.eye(3), place

    def shape(geom):
        """Mass, centre and inertia of a geom in the frame of its body."""
        kind, rotation, place = geom.get("type", "sphere"), *pose(geom)
        sizes = [float(word) for word in geom.get("size", "").split()]
        half = None
        if geom.get("fromto"):
            ends = numbers(geom, "fromto", 6)
            along, place = ends[3:] - ends[:3], (ends[:3] + ends[3:]) / 2
            half, z = np.linalg.norm(along) / 2, unit(along)
            x = unit(np.cross(z, np.eye(3)[np.argmin(abs(z))]))
            rotation = np.array([x, np.cross(z, x), z]).T
        if kind in ("capsule", "cylinder") and half is None and len(sizes) > 1:
            half = sizes[1]
        pi = math.pi
        try:
            if kind == "sphere":
                r = sizes[0]
                volume, moments = 4 / 3 * pi * r**3, [0.4 * r * r] * 3
            elif kind == "box":
                a, b, c = sizes[:3]
                volume, moments = 8 * a * b * c, [(b * b + c * c) / 3, (a * a + c * c) / 3, (a * a + b * b) / 3]
            elif kind == "ellipsoid":
                a, b, c = sizes[:3]
                volume, moments = 4 / 3 * pi * a * b * c, [(b * b + c * c) / 5, (a * a + c * c) / 5, (a * a + b * b) / 5]
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

    bodies = {"world": None}

    def walk(element, parent, rotation, place, of_body=None):
        of_body = element.get("childclass") or of_body
        for tag in element:
            if tag.tag in ("frame", "replicate", "composite", "flexcomp", "attach", "include"):
                raise InputError(f"<{tag.tag}> is not taken; write its bodies (MuJoCo writes a model without it by mj_saveLastXML)")
        for child in element.findall("body"):
            own_class = child.get("childclass") or of_body
            turned, moved = pose(child)
            link = Link(symbol(child.get("name") or "body", taken), rotation @ turned, place + rotation @ moved)
            inertial = child.find("inertial")
            if inertial is not None and options.get("inertiafromgeom") != "true":
                own, center = pose(inertial)
                if inertial.get("fullinertia"):
                    xx, yy, zz, xy, xz, yz = numbers(inertial, "fullinertia", 6)
                    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
                else:
                    tensor = np.diag(numbers(inertial, "diaginertia", 3))
                link.add(numbers(inertial, "mass", 1)[0], center, own @ tensor @ own.T)
            else:
                for geom in child.findall("geom"):
                    part = shape(with_defaults(geom, own_class))
                    if part is None:
                        model.leave(f"the mass of a {geom.get('type')}", child.get("name", ""))
                    else:
                        link.add(*part)
            if child.find("geom") is not None:
                model.leave("contact of <geom>", child.get("name", ""))
            joints = [with_defaults(one, own_class) for one in child.findall("joint") + child.findall("freejoint")]
            if link.mass <= 0:
                raise InputError(f"body '{child.get('name')}' has no mass; give it an <inertial> or a <geom> with a mass")
            model.links.append(link)
            if child.get("name") in bodies:
                raise InputError(f"two bodies are called '{child.get('name')}'; correct the model")
            bodies[child.get("name") or link.name] = link
            table = {"name": symbol(next((one.get("name") for one in joints if one.get("name")), f"{link.name}_joint"), taken), "type": "weld",
                     "between": [parent.name if parent else "ground", link.name], "at": link.place}
            if joint_of(joints, link, child.get("name"), table):
                model.joints.append(table)
            walk(child, link, link.rotation, link.place, of_body)

    def joint_of(joints, link, name, table):
        """Completes the table of the joint between a body and its parent; False where the body is free."""
        kinds = ["free" if one.tag == "freejoint" else one.get("type", "hinge") for one in joints]
        types = {"hinge": "revolute", "slide": "prismatic", "ball": "spherical"}
        for kind in kinds:
            if kind != "free" and kind not in types:
                raise InputError(f"body '{name}' has a joint of the type '{kind}', which MJCF does not have; correct the model")
        if not joints or kinds == ["free"]:
            return not joints
        table["at"] = link.place + link.rotation @ numbers(joints[0], "pos", 3, (0, 0, 0))
        axes = [link.rotation @ unit(numbers(one, "axis", 3, (0, 0, 1))) for one in joints]
        if len(joints) > 1:
            several(joints, kinds, axes, link, name, table)
        elif kinds == ["ball"]:
            table["type"] = "spherical"
        else:
            table.update(type=types[kinds[0]], axis=axes[0])
            for key in ("stiffness", "damping"):
                if (value := numbers(joints[0], key, 1, (0,))[0]) > 0:
                    table[key] = value
            if "stiffness" in table and joints[0].get("springref"):
                table["rest"] = numbers(joints[0], "springref", 1)[0] * (scale if kinds == ["hinge"] else 1)
        along = len(joints) == 1 and kinds != ["ball"]  # springs and dampers act along hinges and slides
        for one in joints:
            if one.get("range") and one.get("limited", "auto") != "false":
                model.leave("range (limits and limit_stiffness of a joint would hold it)", one.get("name", ""))
            for key in ("armature", "frictionloss", *(() if along else ("stiffness", "damping"))):
                if numbers(one, key, 1, (0,))[0] > 0:
                    model.leave(key, one.get("name", ""))
        return True

    def several(joints, kinds, axes, link, name, table):
        """Hinges and slides of one body that are one joint here."""
        crossed = np.max(np.abs(np.array(axes) @ np.array(axes).T - np.eye(len(axes)))) < 1e-9
        hinges = [one for one, kind in zip(joints, kinds) if kind == "hinge"]
        together = all(np.allclose(numbers(one, "pos", 3, (0, 0, 0)), numbers(hinges[0], "pos", 3, (0, 0, 0)), atol=1e-12) for one in hinges)
        if kinds == ["hinge"] * 3 and crossed and together:
            table["type"] = "spherical"
        elif kinds == ["hinge"] * 2 and crossed and together:
            table.update(type="universal", axis=axes[0], axis2=axes[1])
        elif kinds == ["slide", "slide", "hinge"] and crossed:
            table.update(type="planar", axis=axes[2])
        elif sorted(kinds) == ["hinge", "slide"] and abs(axes[0] @ axes[1]) > 1 - 1e-12:
            table.update(type="cylindrical", axis=axes[0], at=link.place + link.rotation @ numbers(hinges[0], "pos", 3, (0, 0, 0)))
        else:
            raise InputError(f"body '{name}' has {len(joints)} joints ({', '.join(kinds)}) that are not a universal, spherical, planar or cylindrical joint; put bodies between them")

    def close_loops(equality):
        for one in equality:
            with_defaults(one)
            name, ends = one.get("name") or one.tag, [one.get("body1"), one.get("body2") or "world"]
            if one.tag not in ("connect", "weld") or ends[0] is None or one.get("active") == "false":
                model.leave(f"<equality> {one.tag}", name)
                continue
            for end in ends:
                if end not in bodies:
                    raise InputError(f"<{one.tag}> of <equality> names the body '{end}', which is not there; correct the model")
            first, second = (bodies[end] for end in ends)
            if first is second:
                raise InputError(f"<{one.tag}> of <equality> is between '{ends[0]}' and itself; correct the model")
            anchor = numbers(one, "anchor", 3, (0, 0, 0) if one.tag == "weld" else None)
            place = anchor if first is None else first.place + first.rotation @ anchor
            if one.tag == "weld" and one.get("relpose") and numbers(one, "relpose", 7)[3:].any():
                model.leave("relpose of a weld: it holds as the bodies are at the start", name)
            model.joints.append({"name": symbol(name, taken), "type": "spherical" if one.tag == "connect" else "weld",
                                 "between": [end.name if end else "ground" for end in (first, second)], "at": place})

    world = root.find("worldbody")
    if world is None:
        raise InputError("the model has no <worldbody>; correct the model")
    walk(world, None, np.eye(3), np.zeros(3))
    for equality in root.findall("equality"):
        close_loops(equality)
    return model


# The study


def value(x):
    if isinstance(x, str):
        return f'"{x}"'
    if isinstance(x, np.ndarray):
        x = np.where(np.abs(x) < 4e-16 * np.max(np.abs(x)), 0.0, x)  # round-off of rotations
    if isinstance(x, (list, tuple, np.ndarray)):
        return f"[{', '.join(map(value, x))}]"
    return repr(float(f"{x:.15g}") + 0.0)


def study(model, source):
    lines = [f"# From {source}, by rattleback import."]
    lines += [f"# Left out: {what}{' of ' + ', '.join(sorted(set(filter(None, where)))) if any(where) else ''}" for what, where in model.left_out.items()]
    lines += ["[system]", f'name = {value(re.sub(r"[^A-Za-z0-9_-]", "-", model.name)[:64] or "model")}']
    if np.any(model.gravity):
        lines.append(f"gravity = {value(model.gravity)}")
    lines.append('redundant = "drop"')
    for link in model.links:
        lines += ["", "[[body]]", f"name = {value(link.name)}", f"mass = {value(link.mass)}"]
        tensor = link.inertia
        full = np.max(np.abs(tensor - np.diag(np.diag(tensor)))) > 1e-15 * np.max(tensor)
        lines.append(f"inertia = {value(tensor if full else np.diag(tensor))}")
        if np.any(link.center):
            lines.append(f"center = {value(link.center)}")
        lines.append(f"position = {value(link.place)}")
        if np.max(np.abs(link.rotation - np.eye(3))) > 1e-15:
            lines.append(f"rotation = {value(link.rotation)}")
    for joint in model.joints:
        lines += ["", "[[joint]]", *(f"{key} = {value(content)}" for key, content in joint.items())]
    lines += ["", "[method]", f'name = "{"holonomic-lobatto" if model.joints else "lobatto"}"', "stages = 2", 'retraction = "exp"', "",
              "[time]", "step = 0.002", "end = 1.0", "samples = 100", "", "[[observable]]", 'name = "energy"', ""]
    return "\n".join(lines)


def import_model(file, output):
    """Writes the study of a model; returns its path and what is left out."""
    path = pathlib.Path(file)
    try:
        root = xml.fromstring(path.read_bytes())
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    except (xml.ParseError, ValueError) as error:
        raise InputError(f"{path}: not XML ({error})") from None
    readers = {"robot": urdf, "mujoco": mjcf}
    if root.tag not in readers:
        raise InputError(f"{path}: neither URDF nor MJCF (its first element is <{root.tag}>); write <robot> or <mujoco>")
    try:
        model = readers[root.tag](root)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except RecursionError:
        raise InputError(f"{path}: its bodies are nested too deeply") from None
    if not model.links:
        raise InputError(f"{path}: it has no body with a mass; nothing moves")
    place = pathlib.Path(output) if output else pathlib.Path(path.stem + ".toml")
    text = study(model, path.name)
    try:
        with open(place, "x", encoding="utf-8") as out:
            out.write(text)
    except FileExistsError:
        raise InputError(f"{place}: exists already; name another file with -o") from None
    except OSError as error:
        raise InputError(f"{place}: cannot be written ({error.strerror})") from None
    return place, model.left_out
