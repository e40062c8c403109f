"""Types of PTX, their C++ types, and the conversion of a value between a register and an instruction."""


class Unsupported(Exception):
    """The PTX has something that the translator does not know or does not allow."""


C_TYPES = {
    "pred": "bool", "b8": "uint8_t", "u8": "uint8_t", "s8": "int8_t", "b16": "uint16_t", "u16": "uint16_t",
    "s16": "int16_t", "b32": "uint32_t", "u32": "uint32_t", "s32": "int32_t", "b64": "uint64_t", "u64": "uint64_t",
    "s64": "int64_t", "f32": "float", "f64": "double",
}
REGISTER_TYPES = dict(C_TYPES, s8="uint16_t", u8="uint16_t", b8="uint16_t", s16="uint16_t", s32="uint32_t",
                      s64="uint64_t")
# bytes
SIZES = {"pred": 1, "b8": 1, "u8": 1, "s8": 1, "b16": 2, "u16": 2, "s16": 2, "b32": 4, "u32": 4, "s32": 4, "f32": 4,
         "b64": 8, "u64": 8, "s64": 8, "f64": 8}
UNSIGNED = {1: "uint8_t", 2: "uint16_t", 4: "uint32_t", 8: "uint64_t"}
FLOATS = ("f32", "f64")


def unsigned_of(kind):
    """C++ type of the unsigned integers with the size of a type: of b32, u32 and s32 uint32_t."""
    return C_TYPES["u" + kind[1:]]


def only(modifiers, *allowed):
    """Fails where an instruction has a modifier that is not allowed."""
    for modifier in modifiers:
        if modifier not in allowed:
            raise Unsupported(f"modifier '.{modifier}'")


def convert(cpp, have, want):
    """A register of the type `have` as a value of the type `want`."""
    if have == "pred" or want == "pred":
        if have != want:
            raise Unsupported("predicate")
        return cpp
    floating = have in FLOATS
    if want in FLOATS:
        if have == want:
            return cpp
        if SIZES[have] != SIZES[want] or floating:
            raise Unsupported(f"a {have} register as {want}")
        return f"as_{want}({cpp})"
    if floating:
        if SIZES[have] != SIZES[want]:
            raise Unsupported(f"a {have} register as {want}")
        cpp = f"as_bits({cpp})"
    return f"{C_TYPES[want]}({cpp})"


def widen(value, kind, register):
    """A value of the type `kind` for a register of the type `register`, which loads and conversions may find wider."""
    if kind == "pred" or register == "pred":
        if kind != register:
            raise Unsupported("predicate")
        return value
    if register in FLOATS:
        if kind == register:
            return value
        if SIZES[kind] != SIZES[register]:
            raise Unsupported(f"{kind} into a {register} register")
        return f"as_{register}({UNSIGNED[SIZES[kind]]}({value}))"
    if kind in FLOATS:
        if SIZES[kind] != SIZES[register]:
            raise Unsupported(f"{kind} into a {register} register")
        return f"as_bits({value})"
    if SIZES[kind] > max(SIZES[register], 2):
        raise Unsupported(f"{kind} into a {register} register")
    return f"{REGISTER_TYPES[register]}({C_TYPES[kind]}({value}))"
