"""Which instructions a module has, and of which class the executed ones are."""

import os

# With PTXCPU_COUNT=1 the translated code counts the instructions that the code executes.
COUNTS = os.environ.get("PTXCPU_COUNT", "0") == "1"

INTEGER = {"add", "sub", "mul", "mad", "shl", "shr", "and", "or", "xor", "not", "setp", "min", "max", "neg", "rem",
           "div", "lop3", "bfe", "shf", "popc", "abs"}
SPACES = {"local": 6, "shared": 7, "global": 8, "param": 9, "const": 9}


def census_class(parts):
    """Class of an instruction: an index of the names in machine/census.cpp. `parts`: opcode, modifiers."""
    opcode, kind = parts[0], parts[-1]
    if opcode in ("ld", "st", "ldu"):
        return next((number for space, number in SPACES.items() if space in parts), 8)
    if opcode in ("bra", "brx", "call", "ret", "exit"):
        return 10
    if opcode in ("bar", "barrier", "shfl", "vote", "redux", "activemask", "membar", "fence"):
        return 11
    if kind == "f64" or "f64" in parts:
        if opcode in ("fma", "mad"):
            return 0
        if opcode in ("add", "sub", "mul"):
            return 1
        if opcode in ("div", "rcp", "sqrt"):
            return 2
        if opcode in ("mov", "cvt"):
            return 5
        return 3
    if opcode in ("mov", "cvt", "selp", "cvta", "prmt"):
        return 5
    if opcode in INTEGER:
        return 4
    return 12


def write_census(census, path):
    """A line for every opcode, the most frequent one first."""
    with open(path, "w", encoding="utf-8") as file:
        for opcode, count in sorted(census.items(), key=lambda item: -item[1]):
            file.write(f"{count} {opcode}\n")
