"""Loads, stores, atomic operations and fences: every function emits the C++ of one opcode."""

import re

from .kinds import C_TYPES, SIZES, Unsupported, only
from .parser import components

SPACES = ("global", "shared", "local", "const", "param")
STRONG = ("volatile", "relaxed", "acquire", "release")
# what does not change the value of an access: scopes, and advice for caches
IGNORED = STRONG + ("nc", "weak", "cta", "gpu", "sys", "cluster", "ca", "cg", "cs", "lu", "cv", "wb", "wt",
                    "L1::no_allocate", "L1::evict_last", "L1::evict_first", "L2::128B", "L2::256B", "L2::64B",
                    "L2::cache_hint")
ATOMIC_IGNORED = ("relaxed", "acq_rel", "acquire", "release", "cta", "gpu", "sys", "noftz")
ATOMIC_OPERATIONS = ("add", "min", "max", "and", "or", "exch", "cas")  # of instructions.hpp
# state space -> name of the checking function in device.hpp; a constant lies in global memory, a parameter or a local
# variable is found by its generic address
CHECKS = {"generic": "generic", "global": "global", "const": "global", "local": "generic", "param": "generic",
          "shared": "shared"}


def access(modifiers):
    """(space, number of components, type, whether strong) of a load or store."""
    space = next((m.split("::")[0] for m in modifiers if m.split("::")[0] in SPACES), "generic")
    count = next((int(m[1:]) for m in modifiers if re.match(r"v[248]$", m)), 1)
    kind = modifiers[-1]
    if kind not in C_TYPES or kind == "pred":
        raise Unsupported(f"type of an access '.{kind}'")
    for modifier in modifiers[:-1]:
        if not (modifier.split("::")[0] in SPACES or re.match(r"v[248]$", modifier) or modifier in IGNORED):
            raise Unsupported(f"modifier '.{modifier}'")
    return space, count, kind, any(modifier in STRONG for modifier in modifiers)


def checked_pointer(body, space, text, size, write, strong):
    """C++ expression of a host pointer. The code checks the access; here is checked an access to a known variable."""
    base, symbol, offset = body.address(text)
    if symbol is not None and symbol.kind in ("parameter", "bytes"):
        if space == "shared" or offset < 0 or offset + size > max(symbol.size, 1):
            raise Unsupported("an access outside its variable")
        return f"({symbol.pointer} + {offset})"
    if symbol is not None and symbol.kind == "shared":
        if space != "shared":
            raise Unsupported("an access to shared memory as to other memory")
        base = f"{symbol.offset} + {offset}"
    elif symbol is not None:
        raise Unsupported("an access to a function")
    mode = ("Access::strong_" if strong else "Access::") + ("write" if write else "read")
    return f"at_{CHECKS[space]}<{size}, {mode}>(t, {base}, {body.line})"


def ld(body, modifiers, operands):
    space, count, kind, strong = access(modifiers)
    size, c = SIZES[kind], C_TYPES[kind]
    pointer = checked_pointer(body, space, operands[1], size * count, False, strong)
    targets = components(operands[0])
    if len(targets) != count:
        raise Unsupported("number of components")
    body.emit(f"{{ const uint8_t* from = {pointer};")
    for i in range(count):
        body.emit(f"const {c} x{i} = load<{c}>(from + {i * size});")
    for i, target in enumerate(targets):
        body.assign(target, f"x{i}", kind)
    body.emit("}")


def st(body, modifiers, operands):
    space, count, kind, strong = access(modifiers)
    size = SIZES[kind]
    pointer = checked_pointer(body, space, operands[0], size * count, True, strong)
    values = components(operands[1])
    if len(values) != count:
        raise Unsupported("number of components")
    body.emit(f"{{ uint8_t* to = {pointer};")
    for i, value in enumerate(values):
        body.emit(f"store<{C_TYPES[kind]}>(to + {i * size}, {body.source(value, kind)});")
    body.emit("}")


def atomic(body, modifiers, operands, target):
    modifiers = [m for m in modifiers if m not in ATOMIC_IGNORED]
    kind, operation = modifiers[-1], modifiers[-2]
    if operation not in ATOMIC_OPERATIONS:
        raise Unsupported(f"atomic operation '.{operation}'")
    space = modifiers[0] if modifiers[0] in ("global", "shared") else "generic"
    pointer = checked_pointer(body, space, operands[0], SIZES[kind], True, True)
    values = ", ".join(body.sources(operands[1:], kind))
    value = f"atomic_{operation}<{C_TYPES[kind]}>({pointer}, {values})"
    if target is None:
        body.emit(f"{value};")
    else:
        body.assign(target, value, kind)


def atom(body, modifiers, operands):
    atomic(body, modifiers, operands[1:], operands[0])


def red(body, modifiers, operands):
    atomic(body, modifiers, operands, None)


def membar(_, modifiers, __):
    only(modifiers, "cta", "gl", "sys")


def fence(_, modifiers, __):
    only(modifiers, "sc", "acq_rel", "cta", "gpu", "sys")


INSTRUCTIONS = {"ld": ld, "st": st, "atom": atom, "red": red, "membar": membar, "fence": fence}
