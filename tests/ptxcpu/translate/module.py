"""A translation unit: prototypes, variables, and the tables of kernels and variables that the runtime reads."""

import collections
import re

from .body import Body
from .census import BasicBlocks
from .kinds import SIZES, Unsupported
from .operands import Symbol
from .parser import constant, parameter, split_operands, statements

LINKAGE = r"(?:\.(?:visible|weak|extern|common)\s+)*"
PROTOTYPE = re.compile(LINKAGE + r"\.(entry|func)\s*(?:\(([^)]*)\)\s*)?([\w$]+)\s*(?:\(([^)]*)\))?(.*)$")
VARIABLE = re.compile("(" + LINKAGE + r")\.(global|const|shared)\s+(?:\.attribute\([^)]*\)\s+)?"
                      r"(?:\.align\s+(\d+)\s+)?\.(\w+)\s+([\w$]+)\s*((?:\[\d*\])*)\s*(?:=\s*(.*))?$")
MOST_THREADS = re.compile(r"\.maxntid\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?")
INITIAL_ADDRESS = re.compile(r"(?:generic\()?([\w$]+)\)?(?:\+(\d+))?$")


class Function:
    """A .func or .entry; `results` and `parameters` are (name, bytes, alignment)."""

    def __init__(self, name, entry, results, parameters, header):
        self.name, self.entry, self.results, self.parameters, self.header = name, entry, results, parameters, header
        self.body, self.calls, self.synchronises, self.shared_bytes, self.local_bytes = [], set(), False, 0, 0
        self.indirect = False  # a call through a register, or a use of a function's address
        self.defined = self.extern = False

    def signature(self):
        """Head of the C++ function."""
        arguments = ["Thread& t"]
        if not self.entry:
            arguments += [f"[[maybe_unused]] uint8_t* res{i}" for i in range(len(self.results))]
            arguments += [f"[[maybe_unused]] uint8_t* arg{i}" for i in range(len(self.parameters))]
        return f"F_{self.name}({', '.join(arguments)})"

    def layout(self):
        """Offset and size of every parameter, and the bytes of all."""
        offset, rows = 0, []
        for _, size, align in self.parameters:
            offset = (offset + align - 1) // align * align
            rows.append((offset, size))
            offset += size
        return rows, offset

    def most_threads(self):
        """Threads that a block may have."""
        most = MOST_THREADS.search(self.header)
        threads = 1 if most else 1024
        for count in most.groups() if most else ():
            threads *= int(count or 1)
        return threads


class Translator:
    """Reads a PTX text; translate() gives the C++."""

    def __init__(self, source, symbol):
        self.statements = statements(source)
        self.symbol = symbol
        self.globals = {}  # name -> Symbol
        self.declarations = []  # C++ of the variables
        self.regions = []  # (C++ name, bytes, writable)
        self.relocations = []  # (variable, offset, address): initial values that are addresses
        self.functions = collections.OrderedDict()
        # (bytes, alignment) of shared variables of the module and of device functions: several kernels may use them
        self.common = []
        self.common_of_function = collections.defaultdict(set)
        self.census = collections.Counter()
        self.blocks = BasicBlocks()

    def translate(self):
        at = 0
        while at < len(self.statements):
            statement = self.statements[at]
            try:
                at = self.outer_statement(statement, at)
            except Unsupported as error:
                raise Unsupported(f"line {statement.line}: {error}") from error
        defined = [function for function in self.functions.values() if function.defined]
        return self.emit([(function, Body(self, function).translate()) for function in defined])

    def outer_statement(self, statement, at):
        """Takes a statement outside functions, a function with its body; the number of the next statement."""
        text = statement.text
        if statement.kind != "code":
            raise Unsupported(f"'{text}' outside a function")
        if re.match(r"\.(version|target|address_size|file|pragma)\b", text):
            if text.startswith(".address_size") and "64" not in text:
                raise Unsupported(text)
        elif re.search(r"\.(entry|func)\b", text):
            name = self.prototype(text)
            if at + 1 < len(self.statements) and self.statements[at + 1].kind == "open":
                end = self.body_end(at + 1)
                self.functions[name].body = self.statements[at + 2:end]
                self.functions[name].defined = True
                return end + 1
        else:
            self.variable(text)
        return at + 1

    def body_end(self, at):
        """Number of the statement that closes the scope which opens at a statement."""
        depth = 0
        for number in range(at, len(self.statements)):
            depth += (self.statements[number].kind == "open") - (self.statements[number].kind == "close")
            if depth == 0:
                return number
        raise Unsupported("a body without an end")

    def prototype(self, text):
        """Declares a function; its name."""
        match = PROTOTYPE.match(text)
        if not match:
            raise Unsupported(text)
        kind, results, name, parameters, rest = match.groups()
        results = [parameter(p) for p in split_operands(results or "")]
        parameters = [parameter(p) for p in split_operands(parameters or "")]
        function = Function(name, kind == "entry", results, parameters, rest)
        function.extern = ".extern" in text.split(name)[0]
        old = self.functions.get(name)
        if old is None or not old.defined:
            self.functions[name] = function
        self.globals[name] = Symbol("function", name=name)
        return name

    def variable(self, text):
        """Declares a variable of the module."""
        match = VARIABLE.match(text)
        if not match:
            raise Unsupported(f"'{text}'")
        linkage, space, align, kind, name, extent, initial = match.groups()
        if kind not in SIZES:
            raise Unsupported(text)
        count = 1
        for length in re.findall(r"\[(\d*)\]", extent):
            count *= int(length) if length else 0
        size, align = SIZES[kind] * count, int(align or SIZES[kind])
        if space == "shared":
            if "extern" in linkage:  # the memory that a launch asks for
                self.globals[name] = Symbol("shared", common=None, offset="t.block->dynamic_offset")
            else:
                self.globals[name] = self.common_variable(size, align)
            return
        if "extern" in linkage:
            raise Unsupported(f"external variable '{text}'")
        data = self.initial_bytes(name, kind, size, initial) if initial else bytearray(size)
        cpp = f"g_{name}"
        values = ",".join(str(b) for b in data.rstrip(b"\0"))
        self.declarations.append(f"alignas({max(align, 1)}) static uint8_t {cpp}[{max(size, 1)}] = {{{values}}};")
        self.regions.append((cpp, size, space == "global"))
        self.globals[name] = Symbol("bytes", expression=f"uint64_t({cpp})", pointer=cpp, size=size)

    def initial_bytes(self, name, kind, size, initial):
        """Bytes of a variable's initial value; addresses become relocations."""
        data = bytearray(size)
        items = split_operands(initial.strip()[1:-1] if initial.strip().startswith("{") else initial)
        for k, item in enumerate(items):
            value = constant(item, kind)
            if value is None:
                self.relocations.append((name, k * SIZES[kind], item))
            else:
                data[k * SIZES[kind]:(k + 1) * SIZES[kind]] = value
        return data

    def common_variable(self, size, align):
        self.common.append((size, align))
        number = len(self.common) - 1
        return Symbol("shared", common=number, offset=f"t.block->common[{number}]")

    def common_used(self):
        """Of every function the common shared variables that the function or its callees may use."""
        words, used = {}, {}
        shared = {name: symbol.common for name, symbol in self.globals.items()
                  if symbol.kind == "shared" and symbol.common is not None}
        for function in self.functions.values():
            if function.defined:
                code = " ".join(s.text for s in function.body if s.kind == "code")
                words[function.name] = set(re.findall(r"[\w$]+", code))
                used[function.name] = (self.common_of_function[function.name] |
                                       {shared[word] for word in words[function.name] & shared.keys()})
        changed = True
        while changed:
            changed = False
            for name, its_words in words.items():
                more = set().union(*(used[other] for other in its_words & used.keys()))
                if not more <= used[name]:
                    used[name] |= more
                    changed = True
        return used

    def synchronising(self):
        """Names of the functions that may reach a barrier."""
        found = {f.name for f in self.functions.values() if f.synchronises or f.indirect}
        while True:
            more = {f.name for f in self.functions.values() if f.name not in found and f.calls & found}
            if not more:
                return found
            found |= more

    def emit(self, bodies):
        """The C++ of the unit."""
        out = ['#include "device.hpp"', "using namespace ptxcpu;", "namespace {"]
        out += self.declarations
        for function in self.functions.values():
            if function.defined:
                out.append(f"void {function.signature()};")
        for function, body in bodies:
            out.append(f"void {function.signature()} {{")
            out += body
            out.append("}")
        kernels = [f for f in self.functions.values() if f.entry and f.defined]
        out.append(self.blocks.table())
        out += self.emit_kernels(kernels)
        out.append("const Region regions[] = {")
        for cpp, size, writable in self.regions:
            out.append(f'  {{{cpp}, {size}, {"true" if writable else "false"}, "{cpp[2:]}"}},')
        out.append("  {nullptr, 0, false, nullptr}};")
        out.append("void relocate() {")
        for name, offset, item in self.relocations:
            out.append(f"  store_bytes(g_{name} + {offset}, {self.relocation(item)});")
        out.append("}")
        out.append(f"Module module_of_unit{{kernels, {len(kernels)}, regions, relocate}};")
        out.append("}  // namespace")
        out.append(f'extern "C" void** {self.symbol}(void*) {{ return register_module(module_of_unit); }}')
        return "\n".join(out) + "\n"

    def emit_kernels(self, kernels):
        """The table of kernels. In shared memory a kernel's own variables come first, then the common ones."""
        out = []
        used, synchronising = self.common_used(), self.synchronising()
        for k, kernel in enumerate(kernels):
            offsets = [0] * len(self.common)
            for number in sorted(used[kernel.name]):
                size, align = self.common[number]
                kernel.shared_bytes = (kernel.shared_bytes + align - 1) // align * align
                offsets[number] = kernel.shared_bytes
                kernel.shared_bytes += size
            out.append(f"const uint32_t common_{k}[] = {{{', '.join(map(str, offsets + [0]))}}};")
        out.append("const Kernel kernels[] = {")
        for k, kernel in enumerate(kernels):
            rows, size = kernel.layout()
            rows = ", ".join(f"{{{offset}, {bytes_}}}" for offset, bytes_ in rows)
            out.append(f'  {{"{kernel.name}", F_{kernel.name}, {{{rows}}}, {size}, {kernel.shared_bytes}, '
                       f'{kernel.local_bytes}, {kernel.most_threads()}, '
                       f'{"true" if kernel.name in synchronising else "false"}, common_{k}, blocks, '
                       f'{len(self.blocks.rows)}}},')
        out.append("};")
        return out

    def relocation(self, item):
        """C++ expression of an initial value that is an address."""
        match = INITIAL_ADDRESS.match(item)
        if not match or match.group(1) not in self.globals:
            raise Unsupported(f"initial value '{item}'")
        symbol = self.globals[match.group(1)]
        base = f"uint64_t(&F_{symbol.name})" if symbol.kind == "function" else symbol.expression
        return f"{base} + {match.group(2) or 0}"
