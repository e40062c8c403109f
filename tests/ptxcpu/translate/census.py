"""Which instructions a module has, and of which class the executed ones are."""

import os

# With PTXCPU_COUNT=1 the translated code counts how often every thread comes to every basic block.
COUNTS = os.environ.get("PTXCPU_COUNT", "0") == "1"

# in the order of watch/census.cpp
CLASSES = ("fma", "add_mul", "division", "compare", "select", "integer", "move", "local", "shared", "global", "constant",
           "branch", "synchronise", "other")
FLOATING = {"fma": "fma", "mad": "fma", "add": "add_mul", "sub": "add_mul", "mul": "add_mul", "div": "division",
            "rcp": "division", "sqrt": "division", "setp": "compare", "min": "compare", "max": "compare",
            "testp": "compare", "mov": "move", "cvt": "move"}
INTEGER = {"add", "sub", "mul", "mad", "shl", "shr", "and", "or", "xor", "not", "setp", "min", "max", "neg", "rem",
           "div", "lop3", "bfe", "shf", "popc", "abs"}
SPACES = {"local": "local", "shared": "shared", "global": "global", "param": "constant", "const": "constant"}
BRANCHES = {"bra", "brx", "call", "ret", "exit"}
TOGETHER = {"bar", "barrier", "shfl", "vote", "redux", "activemask", "membar", "fence"}


def census_class(parts):
    """Class of an instruction. `parts`: opcode, modifiers."""
    opcode = parts[0]
    if opcode in ("ld", "st", "ldu"):
        return next((name for space, name in SPACES.items() if space in parts), "global")
    if opcode in BRANCHES:
        return "branch"
    if opcode in TOGETHER:
        return "synchronise"
    if "f64" in parts:
        return FLOATING.get(opcode, "select")
    if opcode in ("mov", "cvt", "selp", "cvta", "prmt"):
        return "move"
    return "integer" if opcode in INTEGER else "other"


class BasicBlocks:
    """The basic blocks of a module: of each the number of its instructions by class."""

    def __init__(self):
        self.rows, self.open = [], False

    def end(self):
        self.open = False

    def add(self, parts):
        """Notes an instruction; C++ that counts the block where the instruction is the first of its block."""
        code = ""
        if not self.open:
            self.rows.append([0] * len(CLASSES))
            code, self.open = f"t.counts[{len(self.rows) - 1}]++;", True
        self.rows[-1][CLASSES.index(census_class(parts))] += 1
        if parts[0] in BRANCHES - {"call"} or parts[0] == "trap":
            self.end()
        return code

    def table(self):
        """C++ of the table of the blocks."""
        rows = "".join(f"  {{{', '.join(map(str, row))}}},\n" for row in self.rows or [[0] * len(CLASSES)])
        return f"const uint32_t blocks[][{len(CLASSES)}] = {{\n{rows}}};"


def write_census(census, path):
    """A line for every opcode, the most frequent one first."""
    with open(path, "w", encoding="utf-8") as file:
        for opcode, count in sorted(census.items(), key=lambda item: -item[1]):
            file.write(f"{count} {opcode}\n")
