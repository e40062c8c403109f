"""Operands of instructions: values, destinations and addresses as C++ expressions."""

import re

from .kinds import C_TYPES, REGISTER_TYPES, SIZES, Unsupported, convert, widen

SPECIAL = {
    "%tid.x": "t.tid.x", "%tid.y": "t.tid.y", "%tid.z": "t.tid.z",
    "%ntid.x": "t.block->ntid.x", "%ntid.y": "t.block->ntid.y", "%ntid.z": "t.block->ntid.z",
    "%ctaid.x": "t.block->ctaid.x", "%ctaid.y": "t.block->ctaid.y", "%ctaid.z": "t.block->ctaid.z",
    "%nctaid.x": "t.block->nctaid.x", "%nctaid.y": "t.block->nctaid.y", "%nctaid.z": "t.block->nctaid.z",
    "%laneid": "t.lane", "%warpid": "t.warp", "%nwarpid": "((t.block->threads + 31u) / 32u)",
    "%lanemask_eq": "(1u << t.lane)", "%lanemask_lt": "((1u << t.lane) - 1u)",
    "%lanemask_le": "((2u << t.lane) - 1u)", "%lanemask_gt": "~((2u << t.lane) - 1u)",
    "%lanemask_ge": "~((1u << t.lane) - 1u)", "%smid": "0u", "%nsmid": "1u",
    "%dynamic_smem_size": "t.block->dynamic_bytes",
}
ADDRESS = re.compile(r"\[\s*([\w$%.]+)\s*(?:\+\s*(-?\d+))?\s*\]$")


class Symbol:
    """What a name stands for. Kinds:

    reg        type (of PTX), cpp (name of the C++ variable)
    bytes      expression (address), pointer (C++ array), size: a variable whose address C++ knows
    shared     offset (C++ expression of the shared address), common (number in the module's list, or None)
    function   name
    parameter  pointer (C++ expression), size
    """

    def __init__(self, kind, **fields):
        self.kind = kind
        self.__dict__.update(fields)


def cpp_name(name):
    """Name of the C++ variable for a register."""
    return "v_" + name[1:] if name.startswith("%") else "u_" + name


class Scopes:
    """The names that a body knows. Registers of the outermost scope become variables at the head of the function."""

    def __init__(self, module):
        self.module = module
        self.scopes = [{}]  # name -> Symbol
        self.ranges = [{}]  # prefix of `.reg .b32 %r<8>` -> (count, type)
        self.used = {}  # C++ name -> C++ type of registers of the outermost scope, in the order of their first use

    def open(self):
        self.scopes.append({})
        self.ranges.append({})

    def close(self):
        self.scopes.pop()
        self.ranges.pop()

    def declare(self, name, symbol):
        self.scopes[-1][name] = symbol

    def lookup(self, name):
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        match = re.match(r"(%?[A-Za-z_$]+?)(\d+)$", name)
        for depth in range(len(self.ranges) - 1, -1, -1):
            if not match or match.group(1) not in self.ranges[depth]:
                continue
            count, kind = self.ranges[depth][match.group(1)]
            if int(match.group(2)) >= count:
                continue
            if depth:
                raise Unsupported("a range of registers in an inner scope")
            symbol = Symbol("reg", type=kind, cpp=cpp_name(name))
            self.used[symbol.cpp] = REGISTER_TYPES[kind]
            self.scopes[0][name] = symbol
            return symbol
        if name in self.module.globals:
            return self.module.globals[name]
        raise Unsupported(f"unknown name '{name}'")


class Operands(Scopes):
    """Values of operands. `emit` takes a line of C++; `uses_function_address` hears of functions as values."""

    def emit(self, text):
        raise NotImplementedError

    def uses_function_address(self):
        raise NotImplementedError

    def source(self, text, kind):
        """C++ expression of an operand as a value of a PTX type."""
        want = C_TYPES[kind]
        text = text.strip()
        if text.startswith("!"):
            return f"!{self.source(text[1:], kind)}"
        literal = self.literal(text, kind)
        if literal is not None:
            return literal
        if text in SPECIAL:
            return f"{want}({SPECIAL[text]})"
        match = re.match(r"([\w$%.]+)\s*\+\s*(-?\d+)$", text)
        if match:
            return f"{want}({self.source(match.group(1), kind)} + {match.group(2)})"
        if text == "WARP_SZ":
            return f"{want}(32)"
        symbol = self.lookup(text)
        if symbol.kind == "reg":
            return convert(symbol.cpp, symbol.type, kind)
        if symbol.kind == "bytes":
            return f"{want}({symbol.expression})"
        if symbol.kind == "parameter":
            return f"{want}(uint64_t({symbol.pointer}))"
        if symbol.kind == "shared":
            return f"{want}({symbol.offset})"
        if symbol.kind == "function":
            self.uses_function_address()
            return f"{want}(uint64_t(&F_{symbol.name}))"
        raise Unsupported(f"operand '{text}'")

    @staticmethod
    def literal(text, kind):
        """C++ expression of a literal; None where the text is none."""
        want = C_TYPES[kind]
        match = re.match(r"0[dD]([0-9a-fA-F]{16})$", text)
        if match:
            bits = f"0x{match.group(1)}ull"
            return f"as_f64({bits})" if kind == "f64" else f"{want}({bits})"
        match = re.match(r"0[fF]([0-9a-fA-F]{8})$", text)
        if match:
            bits = f"0x{match.group(1)}u"
            return f"as_f32({bits})" if kind == "f32" else f"{want}({bits})"
        if not re.match(r"-?(0[xX][0-9a-fA-F]+|\d+)U?$", text):
            return None
        value = int(text.rstrip("U"), 0)
        if kind in ("f32", "f64"):
            raise Unsupported("integer literal for a float")
        if kind == "pred":
            return "true" if value else "false"
        bits = value & ((1 << 8 * SIZES[kind]) - 1)
        return f"{want}({bits}{'ull' if SIZES[kind] == 8 else 'u'})"

    def sources(self, operands, kind):
        """C++ expressions of operands of the same PTX type."""
        return [self.source(text, kind) for text in operands]

    def assign(self, text, value, kind):
        """Puts a value of a PTX type into a register."""
        text = text.strip()
        if text == "_":
            self.emit(f"(void)({value});")
            return
        symbol = self.lookup(text)
        if symbol.kind != "reg":
            raise Unsupported(f"destination '{text}'")
        self.emit(f"{symbol.cpp} = {widen(value, kind, symbol.type)};")

    def address(self, text):
        """(C++ expression of the address, Symbol of a variable or None, constant offset in bytes) of `[...]`."""
        match = ADDRESS.match(text.strip())
        if not match:
            raise Unsupported(f"address '{text}'")
        name, offset = match.group(1), int(match.group(2) or 0)
        if re.match(r"\d+$", name):
            return str(int(name) + offset), None, offset
        symbol = self.lookup(name)
        if symbol.kind != "reg":
            return name, symbol, offset
        if offset:
            return f"{symbol.cpp} {'+' if offset >= 0 else '-'} {abs(offset)}", None, offset
        return symbol.cpp, None, offset
