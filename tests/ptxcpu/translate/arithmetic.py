"""Arithmetic and bits: every function emits the C++ of one opcode.

Floating-point operations need `.rn`: an assembler may contract what has no rounding mode.
"""

from .kinds import C_TYPES, FLOATS, Unsupported, only, unsigned_of


def only_nearest(modifiers, what):
    """Fails where a floating-point operation has other modifiers than .rn."""
    if modifiers != ["rn"]:
        only(modifiers, "rn")
        raise Unsupported(f"{what} without .rn")


def sum_of(sign):
    def translate(body, modifiers, operands):
        kind = modifiers[-1]
        a, b = body.sources(operands[1:3], kind)
        if kind in FLOATS:
            only_nearest(modifiers[:-1], "a sum")
            body.assign(operands[0], f"rounded({a} {sign} {b})", kind)
        else:
            only(modifiers[:-1])
            u = unsigned_of(kind)
            body.assign(operands[0], f"{C_TYPES[kind]}({u}({u}({a}) {sign} {u}({b})))", kind)
    return translate


def integer_product(body, modifiers, operands):
    """(C++ expression, type) of a product's low or high half, or of the whole."""
    kind = modifiers[-1]
    a, b = body.sources(operands, kind)
    bits = kind[1:]
    wide = {"16": "32", "32": "64", "64": "128"}[bits]
    sign = "s" if kind[0] == "s" else "u"
    w = {"s": "int128_t", "u": "uint128_t"}[sign] if wide == "128" else C_TYPES[sign + wide]
    if "wide" in modifiers:
        return f"{w}({w}({a}) * {w}({b}))", kind[0] + wide
    if "hi" in modifiers:
        return f"{C_TYPES[kind]}(({w}({a}) * {w}({b})) >> {bits})", kind
    if "lo" in modifiers:
        u = "uint64_t" if bits == "64" else "uint32_t"
        return f"{C_TYPES[kind]}({u}({a}) * {u}({b}))", kind
    raise Unsupported("a product without .lo, .hi or .wide")


def mul(body, modifiers, operands):
    kind = modifiers[-1]
    if kind in FLOATS:
        only_nearest(modifiers[:-1], "a product")
        a, b = body.sources(operands[1:3], kind)
        body.assign(operands[0], f"rounded({a} * {b})", kind)
    else:
        only(modifiers[:-1], "lo", "hi", "wide")
        value, kind = integer_product(body, modifiers, operands[1:3])
        body.assign(operands[0], value, kind)


def mad(body, modifiers, operands):
    if modifiers[-1] in FLOATS:
        fma(body, modifiers, operands)
        return
    only(modifiers[:-1], "lo", "hi", "wide")
    value, kind = integer_product(body, modifiers, operands[1:3])
    u = unsigned_of(kind)
    body.assign(operands[0], f"{C_TYPES[kind]}({u}({value}) + {u}({body.source(operands[3], kind)}))", kind)


def fma(body, modifiers, operands):
    kind = modifiers[-1]
    only_nearest(modifiers[:-1], "a fused product")
    a, b, c = body.sources(operands[1:4], kind)
    body.assign(operands[0], f"fused({a}, {b}, {c})", kind)


def div(body, modifiers, operands):
    kind = modifiers[-1]
    a, b = body.sources(operands[1:3], kind)
    if kind in FLOATS:
        only_nearest(modifiers[:-1], "a quotient")
        body.assign(operands[0], f"rounded({a} / {b})", kind)
    else:
        only(modifiers[:-1])
        body.assign(operands[0], f"divide<{C_TYPES[kind]}>(t, {a}, {b}, {body.line})", kind)


def rem(body, modifiers, operands):
    kind = modifiers[-1]
    only(modifiers[:-1])
    a, b = body.sources(operands[1:3], kind)
    body.assign(operands[0], f"remainder<{C_TYPES[kind]}>(t, {a}, {b}, {body.line})", kind)


def rcp(body, modifiers, operands):
    kind = modifiers[-1]
    only_nearest(modifiers[:-1], "a reciprocal")
    body.assign(operands[0], f"rounded({C_TYPES[kind]}(1) / {body.source(operands[1], kind)})", kind)


def sqrt(body, modifiers, operands):
    kind = modifiers[-1]
    only_nearest(modifiers[:-1], "a square root")
    a = body.source(operands[1], kind)
    body.assign(operands[0], f"rounded(__builtin_sqrt{'f' if kind == 'f32' else ''}({a}))", kind)


def neg(body, modifiers, operands):
    kind = modifiers[-1]
    only(modifiers[:-1])
    a = body.source(operands[1], kind)
    if kind in FLOATS:
        body.assign(operands[0], f"-{a}", kind)
    else:
        u = unsigned_of(kind)
        body.assign(operands[0], f"{C_TYPES[kind]}({u}(0) - {u}({a}))", kind)


def absolute(body, modifiers, operands):
    kind = modifiers[-1]
    only(modifiers[:-1])
    a = body.source(operands[1], kind)
    if kind in FLOATS:
        body.assign(operands[0], f"__builtin_fabs{'f' if kind == 'f32' else ''}({a})", kind)
    else:
        body.assign(operands[0], f"absolute<{C_TYPES[kind]}>({a})", kind)


def extremum(name):
    def translate(body, modifiers, operands):
        kind = modifiers[-1]
        only(modifiers[:-1])
        a, b = body.sources(operands[1:3], kind)
        body.assign(operands[0], f"{name}<{C_TYPES[kind]}>({a}, {b})", kind)
    return translate


def copysign(body, modifiers, operands):
    kind = modifiers[-1]
    only(modifiers[:-1])
    sign, magnitude = body.sources(operands[1:3], kind)
    body.assign(operands[0], f"__builtin_copysign{'f' if kind == 'f32' else ''}({magnitude}, {sign})", kind)


def testp(body, modifiers, operands):
    kind = modifiers[-1]
    names = {"finite": "isfinite", "infinite": "isinf", "notanumber": "isnan", "normal": "isnormal"}
    a = body.source(operands[1], kind)
    if modifiers[0] == "number":
        body.assign(operands[0], f"!std::isnan({a})", "pred")
    else:
        body.assign(operands[0], f"std::{names[modifiers[0]]}({a})", "pred")


def logic(sign):
    def translate(body, modifiers, operands):
        kind = modifiers[-1]
        only(modifiers[:-1])
        a, b = body.sources(operands[1:3], kind)
        if kind == "pred":
            body.assign(operands[0], f"bool(int({a}) {sign} int({b}))", kind)
        else:
            body.assign(operands[0], f"{C_TYPES[kind]}({a} {sign} {b})", kind)
    return translate


def complement(body, modifiers, operands):
    kind = modifiers[-1]
    a = body.source(operands[1], kind)
    body.assign(operands[0], f"!{a}" if kind == "pred" else f"{C_TYPES[kind]}(~{a})", kind)


def shl(body, modifiers, operands):
    kind = modifiers[-1]
    a, by = body.source(operands[1], kind), body.source(operands[2], "u32")
    body.assign(operands[0], f"shift_left<{unsigned_of(kind)}>({a}, {by})", "u" + kind[1:])


def shr(body, modifiers, operands):
    kind = modifiers[-1]
    a, by = body.source(operands[1], kind), body.source(operands[2], "u32")
    body.assign(operands[0], f"shift_right<{C_TYPES[kind]}>({a}, {by})", kind)


def shf(body, modifiers, operands):
    only(modifiers, "l", "r", "wrap", "clamp", "b32")
    a, b, by = body.sources(operands[1:4], "u32")
    name = "funnel_left" if modifiers[0] == "l" else "funnel_right"
    wrap = "true" if modifiers[1] == "wrap" else "false"
    body.assign(operands[0], f"{name}<{wrap}>({a}, {b}, {by})", "u32")


def prmt(body, modifiers, operands):
    if modifiers != ["b32"]:
        raise Unsupported("prmt with a mode")
    a, b, selection = body.sources(operands[1:4], "u32")
    body.assign(operands[0], f"permute({a}, {b}, {selection})", "u32")


def bfe(body, modifiers, operands):
    kind = modifiers[-1]
    a = body.source(operands[1], kind)
    position, length = body.sources(operands[2:4], "u32")
    body.assign(operands[0], f"extract<{C_TYPES[kind]}>({a}, {position}, {length})", kind)


def bfi(body, modifiers, operands):
    kind = modifiers[-1]
    a, b = body.sources(operands[1:3], kind)
    position, length = body.sources(operands[3:5], "u32")
    body.assign(operands[0], f"insert<{C_TYPES[kind]}>({a}, {b}, {position}, {length})", kind)


def lop3(body, modifiers, operands):
    if modifiers != ["b32"]:
        raise Unsupported("lop3 with a predicate")
    a, b, c = body.sources(operands[1:4], "u32")
    body.assign(operands[0], f"lop3({a}, {b}, {c}, {body.source(operands[4], 'u32')})", "u32")


def popc(body, modifiers, operands):
    a = body.source(operands[1], "u" + modifiers[-1][1:])
    body.assign(operands[0], f"uint32_t(__builtin_popcountll({a}))", "u32")


def clz(body, modifiers, operands):
    kind = modifiers[-1]
    body.assign(operands[0], f"leading_zeros<{C_TYPES[kind]}>({body.source(operands[1], kind)})", "u32")


def brev(body, modifiers, operands):
    kind = modifiers[-1]
    body.assign(operands[0], f"reverse<{C_TYPES[kind]}>({body.source(operands[1], kind)})", kind)


def bfind(body, modifiers, operands):
    kind = modifiers[-1]
    only(modifiers[:-1], "shiftamt")
    shift = "true" if "shiftamt" in modifiers else "false"
    body.assign(operands[0], f"find_leading<{C_TYPES[kind]}, {shift}>({body.source(operands[1], kind)})", "u32")


INSTRUCTIONS = {
    "add": sum_of("+"), "sub": sum_of("-"), "mul": mul, "mad": mad, "fma": fma, "div": div, "rem": rem, "rcp": rcp,
    "sqrt": sqrt, "neg": neg, "abs": absolute, "min": extremum("minimum"), "max": extremum("maximum"),
    "copysign": copysign, "testp": testp, "and": logic("&"), "or": logic("|"), "xor": logic("^"), "not": complement,
    "shl": shl, "shr": shr, "shf": shf, "prmt": prmt, "bfe": bfe, "bfi": bfi, "lop3": lop3, "popc": popc, "clz": clz,
    "brev": brev, "bfind": bfind,
}
