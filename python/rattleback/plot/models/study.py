"""The study of a model: [[body]] for what moves by itself, [[joint]] between them."""

import re

import numpy as np

from ..base import InputError
from .joints import acts_along, joint_of


def bodies_and_joints(model):
    """The bodies, and the tables of the joints. Links that are fixed to others are parts of these, or of the ground. Links without a mass that move hand
    their motions on to the link that hangs on them."""
    bodies, joints = [], []

    def merge(link):
        """Makes links that are fixed to this one a part of it; what hangs on them hangs on it."""
        children = []
        for child in link.children:
            merge(child)
            if child.hinges or child.free:
                children.append(child)
                continue
            if link is not model.root:
                link.take(child)
            child.body = link
            children += child.children
        link.children = children

    def place(link, parent, before):
        """Puts a link that moves against its parent, after motions of links without mass, into the lists."""
        hinges = before + link.hinges
        if link.mass <= 0:
            if len(link.children) > 1 or link.free:
                what = f"carries {len(link.children)} others" if link.children else "moves freely"
                raise InputError(f"body '{link.name}' has no mass and {what}; give it an <inertial>, or in MJCF a <geom> with a mass")
            if not link.children:
                model.leave("without a mass", link.name)
            for child in link.children:
                place(child, parent, hinges)
            return
        least, largest = np.linalg.eigvalsh(link.inertia)[[0, 2]]
        if not least > 1e-15 * largest:
            raise InputError(f"body '{link.name}' has the mass {link.mass:.6g} and the principal moments of inertia "
                             f"{', '.join(f'{one:.3g}' for one in np.linalg.eigvalsh(link.inertia))}; each must be above 0")
        bodies.append(link)
        table = None if link.free else joint_of(hinges, link.name)
        if table is not None:
            joints.append({"name": hinges[0].name, "type": table.pop("type"), "between": [parent.name, link.name], **table})
            if not acts_along(hinges):
                for key in ("stiffness", "damping"):
                    for one in hinges:
                        if key in one.forces:
                            model.leave(key, one.name)
        for child in link.children:
            place(child, link, [])

    def body_of(link):
        while link.body is not None:
            link = link.body
        return link

    merge(model.root)
    for child in model.root.children:
        place(child, model.root, [])
    for table, *ends in model.loops:
        first, second = map(body_of, ends)
        for one in (first, second):
            if one is not model.root and one not in bodies:
                raise InputError(f"a loop of <equality> ends at '{one.name}', which has no mass; give it one")
        if first is second:
            model.leave("<equality> between parts of one body", table["name"])
        else:
            joints.append({"name": table["name"], "type": table["type"], "between": [first.name, second.name], "at": table["at"]})
    return bodies, joints


def value(x):
    if isinstance(x, str):
        return f'"{x}"'
    if isinstance(x, np.ndarray):
        x = np.where(np.abs(x) < 4e-16 * np.max(np.abs(x)), 0.0, x)  # round-off of rotations
    if isinstance(x, (list, tuple, np.ndarray)):
        return f"[{', '.join(map(value, x))}]"
    return repr(float(f"{x:.15g}") + 0.0)


def study(model, source):
    """The text of the study."""
    bodies, joints = bodies_and_joints(model)
    if not bodies:
        raise InputError("it has no body with a mass that moves")
    lines = [f"# From {source}, by rattleback import."]
    lines += [f"# Left out: {line}" for line in left_out(model)]
    lines += ["[system]", f'name = {value(re.sub(r"[^A-Za-z0-9_-]", "-", model.name)[:64] or "model")}']
    if np.any(model.gravity):
        lines.append(f"gravity = {value(model.gravity)}")
    if joints:
        lines.append('redundant = "drop"')
    for link in bodies:
        lines += ["", "[[body]]", f"name = {value(link.name)}", f"mass = {value(link.mass)}"]
        tensor = link.inertia
        full = np.max(np.abs(tensor - np.diag(np.diag(tensor)))) > 1e-15 * np.max(tensor)
        lines.append(f"inertia = {value(tensor if full else np.diag(tensor))}")
        if np.any(link.center):
            lines.append(f"center = {value(link.center)}")
        lines.append(f"position = {value(link.place)}")
        if np.max(np.abs(link.rotation - np.eye(3))) > 1e-15:
            lines.append(f"rotation = {value(link.rotation)}")
    for joint in joints:
        lines += ["", "[[joint]]", *(f"{key} = {value(content)}" for key, content in joint.items())]
    lines += ["", "[method]", f'name = "{"holonomic-lobatto" if joints else "lobatto"}"', "stages = 2", 'retraction = "exp"', "",
              "[time]", "step = 0.002", "end = 1.0", "samples = 100", "", "[[observable]]", 'name = "energy"', ""]
    return "\n".join(lines)


def left_out(model):
    """A line for each thing that the study does not have."""
    for what, where in model.left_out.items():
        named = sorted(set(filter(None, where)))
        yield f"{what}{' of ' + ', '.join(named) if named else ''}"
