"""Reads URDF."""

import numpy as np

from ..base import InputError
from .tree import GRAVITY, Hinge, Link, Model, from_angles, numbers, symbol, unit

KINDS = {"revolute": "hinge", "continuous": "hinge", "prismatic": "slide", "planar": "planar"}


def origin(element):
    """The rotation and the place of an element in the frame of its parent."""
    found = None if element is None else element.find("origin")
    if found is None:
        return np.eye(3), np.zeros(3)
    return from_angles(numbers(found, "rpy", 3, (0, 0, 0))), numbers(found, "xyz", 3, (0, 0, 0))


def read(root, folder):  # noqa: ARG001 -- a file of URDF is whole
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
        if tag.tag not in ("link", "joint", "material"):
            model.leave(f"<{tag.tag}>", tag.get("name", ""))

    def body(name, rotation, place):
        link = Link(symbol(name, taken), rotation, place)
        inertial = links[name].find("inertial")
        if links[name].find("collision") is not None:
            model.leave("<collision>", name)
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
    first.free = first.mass > 0
    model.root = Link("ground", np.eye(3), np.zeros(3), children=[first])
    at = {roots[0]: first}
    waiting = list(joints)
    while waiting:
        joint = next((one for one in waiting if one.find("parent").get("link") in at), None)
        if joint is None:
            raise InputError(f"joint '{waiting[0].get('name')}' hangs on a loop of links; a URDF model is a tree")
        waiting.remove(joint)
        parent, child = at[joint.find("parent").get("link")], joint.find("child").get("link")
        turned, moved = origin(joint)
        link = body(child, parent.rotation @ turned, parent.place + parent.rotation @ moved)
        hang(joint, link, taken, model)
        parent.children.append(link)
        at[child] = link
    return model


def hang(joint, link, taken, model):
    """Gives a link the motion of its joint."""
    kind, name = joint.get("type"), joint.get("name") or link.name
    if kind in ("fixed", "floating"):
        link.free = kind == "floating"
        return
    if kind not in KINDS:
        raise InputError(f"joint '{joint.get('name')}' has the type '{kind}', which URDF does not have; correct the model")
    axis = joint.find("axis")
    hinge = Hinge(KINDS[kind], symbol(name, taken), link.place,
                  link.rotation @ unit(np.array([1.0, 0, 0]) if axis is None else numbers(axis, "xyz", 3)))
    dynamics = joint.find("dynamics")
    if dynamics is not None and kind != "planar":
        damping = numbers(dynamics, "damping", 1, (0,))[0]
        if damping > 0:
            hinge.forces["damping"] = damping
        if numbers(dynamics, "friction", 1, (0,))[0] > 0:
            model.leave("friction", joint.get("name"))
    if joint.find("limit") is not None and kind != "continuous":
        model.leave("<limit> (limits and limit_stiffness of a joint would hold it)", joint.get("name"))
    if joint.find("mimic") is not None:
        model.leave("<mimic> (a gear would do it)", joint.get("name"))
    link.hinges.append(hinge)
