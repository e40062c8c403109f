"""Branches, calls, and what threads do together: every function emits the C++ of one opcode."""

from .kinds import Unsupported, only
from .parser import split_operands

EXTERNAL = ("vprintf", "__assertfail")  # functions of the device's runtime; see watch/faults.cpp


def bra(body, modifiers, operands):
    only(modifiers, "uni")
    body.emit(f"goto L_{operands[0]};")


def brx(body, modifiers, operands):
    only(modifiers, "idx")
    cases = " ".join(f"case {i}: goto L_{label};" for i, label in enumerate(body.tables[operands[1]]))
    body.emit(f"switch ({body.source(operands[0], 'u32')}) "
              f"{{ {cases} default: fault(t, Fault::branch, 0, {body.line}); }}")


def ret(body, modifiers, _):
    only(modifiers, "uni")
    body.emit("return;")


def leave(body, modifiers, _):
    only(modifiers)
    body.emit("return;" if body.function.entry else "throw ThreadExit{};")


def trap(body, modifiers, _):
    only(modifiers)
    body.emit(f"fault(t, Fault::trap, 0, {body.line});")


def call(body, modifiers, operands):
    """call (result), name, (arguments), prototype; all but the name may be missing."""
    only(modifiers, "uni")
    operands = list(operands)
    names = split_operands(operands.pop(0)[1:-1]) if operands[0].startswith("(") else []
    name = operands.pop(0)
    if operands and operands[0].startswith("("):
        names += split_operands(operands.pop(0)[1:-1])
    pointers = []
    for argument in names:
        symbol = body.lookup(argument)
        if symbol.kind != "parameter":
            raise Unsupported("argument of a call")
        pointers.append(symbol.pointer)
    passed = ", ".join(["t"] + pointers)
    target = body.lookup(name)
    if target.kind == "reg":
        body.function.indirect = True
        kinds = ", ".join(["Thread&"] + ["uint8_t*"] * len(pointers))
        body.emit(f"reinterpret_cast<void (*)({kinds})>({target.cpp})({passed});")
        return
    callee = body.module.functions[name]
    if not callee.defined and callee.extern:
        if name not in EXTERNAL:
            raise Unsupported(f"external function '{name}'")
        body.emit(f"external_{name}({passed});")
        return
    body.function.calls.add(name)
    body.emit(f"F_{name}({passed});")


def bar(body, modifiers, operands):
    if modifiers == ["warp", "sync"]:
        body.emit(f"warp_sync(t, {body.source(operands[0], 'u32')}, {body.line});")
        return
    only(modifiers, "cta", "sync", "aligned")
    if "sync" not in modifiers:
        raise Unsupported("a barrier without .sync")
    count = body.source(operands[1], "u32") if len(operands) > 1 else "0"
    body.emit(f"barrier(t, {body.source(operands[0], 'u32')}, {count}, {body.line});")


def shfl(body, modifiers, operands):
    only(modifiers, "sync", "up", "down", "bfly", "idx", "b32")
    if "sync" not in modifiers:
        raise Unsupported("shfl without .sync")
    target, _, predicate = operands[0].partition("|")
    a, b, c, mask = body.sources(operands[1:5], "u32")
    body.emit(f"{{ bool valid; const uint32_t shuffled = "
              f"shuffle(t, Shuffle::{modifiers[1]}, {a}, {b}, {c}, {mask}, valid, {body.line});")
    body.assign(target, "shuffled", "u32")
    if predicate:
        body.assign(predicate, "valid", "pred")
    body.emit("}")


def vote(body, modifiers, operands):
    only(modifiers, "sync", "all", "any", "uni", "ballot", "pred", "b32")
    mode = modifiers[1]
    predicate, mask = body.source(operands[1], "pred"), body.source(operands[2], "u32")
    value = f"vote(t, Vote::{mode}_, {predicate}, {mask}, {body.line})"
    if mode == "ballot":
        body.assign(operands[0], value, "u32")
    else:
        body.assign(operands[0], f"{value} != 0", "pred")


def redux(body, modifiers, operands):
    only(modifiers, "sync", "add", "min", "max", "and", "or", "xor", "u32", "s32", "b32")
    kind = modifiers[-1]
    a, mask = body.source(operands[1], kind), body.source(operands[2], "u32")
    body.assign(operands[0], f"reduce(t, Reduction::{modifiers[1]}_{kind}, {a}, {mask}, {body.line})", kind)


def nanosleep(body, modifiers, _):
    only(modifiers, "u32")
    body.emit("yield(t);")


INSTRUCTIONS = {"bra": bra, "brx": brx, "ret": ret, "exit": leave, "trap": trap, "call": call, "bar": bar,
                "barrier": bar, "shfl": shfl, "vote": vote, "redux": redux, "nanosleep": nanosleep}
