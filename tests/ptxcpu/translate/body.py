"""The body of a function: scopes, declarations, labels, and the dispatch of instructions."""

import re

from . import arithmetic, control, memory, moves
from .census import COUNTS
from .kinds import REGISTER_TYPES, SIZES, Unsupported
from .operands import Operands, Symbol, cpp_name
from .parser import parameter, split_operands

# opcode -> function of (body, modifiers, operands), which emits C++
INSTRUCTIONS = {**arithmetic.INSTRUCTIONS, **moves.INSTRUCTIONS, **memory.INSTRUCTIONS, **control.INSTRUCTIONS}

SYNCHRONISING = {"bar", "barrier", "shfl", "vote", "redux", "nanosleep"}

VARIABLE = re.compile(r"\.(local|shared|global|const)\s+(?:\.align\s+(\d+)\s+)?\.(\w+)\s+([\w$]+)\s*(?:\[(\d+)\])?$")


class Body(Operands):
    """Translates the body of one function; translate() gives lines of C++."""

    def __init__(self, module, function):
        super().__init__(module)
        self.function = function
        self.line = 0  # of the statement at hand
        self.out = []
        self.tables = {}  # label -> targets of an indirect branch, or the prototype of an indirect call

    def translate(self):
        self.declare_parameters()
        self.module.blocks.end()
        body = self.function.body
        for label, statement in zip(body, body[1:]):  # a table may come after its use
            if statement.kind == "code" and statement.text.startswith(".branchtargets"):
                targets = statement.text[len(".branchtargets"):].split(",")
                self.tables[label.text] = [target.strip() for target in targets]
            if statement.kind == "code" and statement.text.startswith(".callprototype"):
                self.tables[label.text] = statement.text
        for statement in body:
            self.line = statement.line
            try:
                self.statement(statement)
            except Unsupported as error:
                raise Unsupported(f"line {statement.line}: {statement.text}: {error}") from error
            except (KeyError, ValueError, IndexError) as error:
                raise Unsupported(f"line {statement.line}: {statement.text}: not understood ({error!r})") from error
        return [f"  {kind} {name} = poison<{kind}>();" for name, kind in self.used.items()] + self.out

    def declare_parameters(self):
        """Parameters of a kernel lie in the memory of the launch, those of a function where the caller put them."""
        function = self.function
        rows, _ = function.layout()
        for i, (name, size, _) in enumerate(function.parameters):
            pointer = f"(t.parameters + {rows[i][0]})" if function.entry else f"arg{i}"
            self.declare(name, Symbol("parameter", pointer=pointer, size=size))
        for i, (name, size, _) in enumerate(function.results):
            self.declare(name, Symbol("parameter", pointer=f"res{i}", size=size))

    def emit(self, text):
        self.out.append("  " + text)

    def uses_function_address(self):
        self.function.indirect = True

    def statement(self, statement):
        text = statement.text
        if statement.kind == "open":
            self.open()
            self.emit("{")
        elif statement.kind == "close":
            self.close()
            self.emit("}")
        elif statement.kind == "label":
            if text not in self.tables:
                self.emit(f"L_{text}:;")
                self.module.blocks.end()
        elif text.startswith("."):
            self.directive(text)
        else:
            self.instruction(text)

    def directive(self, text):
        word = text.split()[0]
        if word in (".pragma", ".branchtargets", ".callprototype", ".loc"):
            self.module.census[word + (" " + text.split()[1] if word == ".pragma" else "")] += 1
        elif word == ".reg":
            self.registers(text)
        elif word == ".param":
            name, size, align = parameter(text)
            cpp = "q_" + name
            self.declare(name, Symbol("parameter", pointer=cpp, size=size))
            self.emit(f"alignas({max(align, 8)}) uint8_t {cpp}[{max(size, 1)}];")
        else:
            self.variable(text)

    def registers(self, text):
        match = re.match(r"\.reg\s+\.(\w+)\s+(.*)$", text)
        kind = match.group(1)
        if kind not in REGISTER_TYPES:
            raise Unsupported("register type")
        for name in split_operands(match.group(2)):
            count = re.match(r"(%?[\w$]+)<(\d+)>$", name)
            if count:
                self.ranges[-1][count.group(1)] = (int(count.group(2)), kind)
                continue
            cpp = cpp_name(name)
            self.declare(name, Symbol("reg", type=kind, cpp=cpp))
            if len(self.scopes) == 1:
                self.used[cpp] = REGISTER_TYPES[kind]
            else:
                self.emit(f"[[maybe_unused]] {REGISTER_TYPES[kind]} {cpp};")

    def variable(self, text):
        """A variable of the function: local memory is an array of the C++ function."""
        match = VARIABLE.match(text)
        if not match:
            raise Unsupported("directive")
        space, align, kind, name, count = match.groups()
        size, align = SIZES[kind] * int(count or 1), int(align or SIZES[kind])
        function = self.function
        if space == "local":
            cpp = "d_" + name
            function.local_bytes += size
            self.declare(name, Symbol("bytes", expression=f"uint64_t({cpp})", pointer=cpp, size=size))
            self.emit(f"alignas({align}) uint8_t {cpp}[{size}]; poison_bytes({cpp}, {size});")
        elif space == "shared" and function.entry:
            start = (function.shared_bytes + align - 1) // align * align
            function.shared_bytes = start + size
            self.declare(name, Symbol("shared", common=None, offset=f"{start}u"))
        elif space == "shared":
            symbol = self.module.common_variable(size, align)
            self.module.common_of_function[function.name].add(symbol.common)
            self.declare(name, symbol)
        else:
            raise Unsupported("variable of a function")

    def instruction(self, text):
        match = re.match(r"@(!?)([\w$%]+)\s+(.*)$", text)
        guard = None
        if match:
            guard = match.group(1) + self.source(match.group(2), "pred")
            text = match.group(3)
        opcode, rest = re.match(r"([\w.:]+)\s*(.*)$", text).groups()
        parts = opcode.split(".")
        self.module.census[opcode] += 1
        translate = INSTRUCTIONS.get(parts[0])
        if translate is None:
            raise Unsupported(f"opcode '{opcode}'")
        if parts[0] in SYNCHRONISING:
            self.function.synchronises = True
        if COUNTS:  # an instruction takes its place in the warp whether its guard holds or not
            counter = self.module.blocks.add(parts)
            if counter:
                self.emit(counter)
        if guard:
            self.emit(f"if ({guard}) {{")
        translate(self, parts[1:], split_operands(rest))
        if guard:
            self.emit("}")
