"""Moves, selections, comparisons and conversions: every function emits the C++ of one opcode."""

from .kinds import C_TYPES, FLOATS, SIZES, UNSIGNED, Unsupported, only
from .parser import components

COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "lo": "<", "ls": "<=", "hi": ">",
               "hs": ">="}
# comparisons of floats that are true where an operand is a NaN -> the comparison that is false then
UNORDERED = {"ltu": ">=", "leu": ">", "gtu": "<=", "geu": "<"}
ROUNDINGS = {"rni": "rint", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}  # to an integer


def mov(body, modifiers, operands):
    kind = modifiers[-1]
    only(modifiers[:-1])
    if operands[0].startswith("{"):  # splits
        parts = components(operands[0])
        size = SIZES[kind] // len(parts)
        whole = "b" + kind[1:]
        body.emit(f"{{ const {C_TYPES[whole]} whole = {body.source(operands[1], whole)};")
        for i, part in enumerate(parts):
            body.assign(part, f"{UNSIGNED[size]}(whole >> {8 * size * i})", f"b{8 * size}")
        body.emit("}")
    elif operands[1].startswith("{"):  # joins
        parts = components(operands[1])
        size = SIZES[kind] // len(parts)
        u = UNSIGNED[SIZES[kind]]
        values = body.sources(parts, f"b{8 * size}")
        value = " | ".join(f"{u}(uint64_t({value}) << {8 * size * i})" for i, value in enumerate(values))
        body.assign(operands[0], f"{u}({value})", f"b{8 * SIZES[kind]}")
    else:
        body.assign(operands[0], body.source(operands[1], kind), kind)


def selp(body, modifiers, operands):
    kind = modifiers[-1]
    a, b = body.sources(operands[1:3], kind)
    body.assign(operands[0], f"{body.source(operands[3], 'pred')} ? {a} : {b}", kind)


def slct(body, modifiers, operands):
    kind, selector = modifiers[-2], modifiers[-1]
    a, b = body.sources(operands[1:3], kind)
    body.assign(operands[0], f"{body.source(operands[3], selector)} >= 0 ? {a} : {b}", kind)


def comparison(operator, kind, a, b):
    """C++ expression of a comparison."""
    if kind in FLOATS:
        if operator == "num":
            return f"!is_nan({a}, {b})"
        if operator == "nan":
            return f"is_nan({a}, {b})"
        if operator == "ne":
            return f"({a} < {b} || {a} > {b})"
        if operator == "neu":
            return f"!({a} == {b})"
        if operator == "equ":
            return f"!({a} < {b} || {a} > {b})"
        if operator in UNORDERED:
            return f"!({a} {UNORDERED[operator]} {b})"
    return f"({a} {COMPARISONS[operator]} {b})"


def setp(body, modifiers, operands):
    """`p|q` gets the comparison and its negation, each combined with a third predicate where there is one."""
    kind = modifiers[-1]
    a, b = body.sources(operands[1:3], kind)
    value = comparison(modifiers[0], kind, a, b)
    only(modifiers[1:-1], "and", "or", "xor")
    sign = {"and": "&", "or": "|", "xor": "^"}[modifiers[1]] if len(modifiers) == 3 else None
    third = body.source(operands[3], "pred") if sign else None
    for target, negation in zip(operands[0].split("|"), ("", "!")):
        combined = f"bool(int({negation}{value}) {sign} int({third}))" if sign else f"{negation}{value}"
        body.assign(target, combined, "pred")


def cvt(body, modifiers, operands):
    to, of = modifiers[-2], modifiers[-1]
    rounding = [modifier for modifier in modifiers[:-2] if modifier != "sat"]
    saturate = "sat" in modifiers
    a = body.source(operands[1], of)
    if to in FLOATS and of in FLOATS:
        if saturate:
            raise Unsupported("cvt.sat")
        if to == "f32" and of == "f64" and rounding == ["rn"]:
            value = f"float({a})"
        elif to == "f64" and of == "f32" and not rounding:
            value = f"double({a})"
        elif to == of and len(rounding) == 1 and rounding[0] in ROUNDINGS:
            value = f"std::{ROUNDINGS[rounding[0]]}({a})"
        else:
            raise Unsupported("rounding of a conversion")
    elif to in FLOATS:
        if rounding != ["rn"] or saturate:
            raise Unsupported("rounding of a conversion")
        value = f"{C_TYPES[to]}({a})"
    elif of in FLOATS:
        if len(rounding) != 1 or rounding[0] not in ROUNDINGS:
            raise Unsupported("rounding of a conversion")
        value = f"to_integer<{C_TYPES[to]}>(std::{ROUNDINGS[rounding[0]]}({a}))"
    else:
        only(modifiers[:-2], "sat")
        value = f"{'saturated' if saturate else 'truncated'}<{C_TYPES[to]}>({a})"
    body.assign(operands[0], value, to)


def cvta(body, modifiers, operands):
    """Generic addresses are those of the host. A shared address is an offset."""
    only(modifiers, "to", "global", "local", "const", "param", "shared", "u64")
    spaces = [modifier for modifier in modifiers if modifier not in ("to", "u64")]
    a = body.source(operands[1], "u64")
    if spaces == ["shared"]:
        a = f"{a} {'-' if 'to' in modifiers else '+'} uint64_t(t.block->shared)"
    body.assign(operands[0], a, "u64")


def isspacep(body, modifiers, operands):
    body.assign(operands[0], f"is_{modifiers[0]}(t, {body.source(operands[1], 'u64')})", "pred")


INSTRUCTIONS = {"mov": mov, "selp": selp, "slct": slct, "setp": setp, "cvt": cvt, "cvta": cvta, "isspacep": isspacep}
