"""Splits a PTX text into statements, statements into operands, and reads parameters and literals."""

import collections
import re
import struct

from .kinds import SIZES, Unsupported

# kind: open, close, label, code; line: counted from 1
Statement = collections.namedtuple("Statement", "kind text line")

LABEL = re.compile(r"([\w$]+):")
LINE_DIRECTIVE = re.compile(r"\.(version|target|address_size|loc|file)\b")
FUNCTION = re.compile(r"\.(entry|func)\b")
PARAMETER = re.compile(r"\.param\s+(?:\.align\s+(\d+)\s+)?\.(\w+)\s+"
                       r"(?:\.ptr\s+)?(?:\.(?:global|shared|const|local)\s+)?(?:\.align\s+\d+\s+)?"
                       r"([\w$%]+)\s*(?:\[(\d*)\])?$")


def statements(source):
    """Scopes, labels and statements of a PTX file."""
    source = re.sub(r"/\*.*?\*/", lambda match: "\n" * match.group().count("\n"), source, flags=re.S)
    out, start, start_line, at, line = [], None, 0, 0, 1
    while at < len(source):
        c = source[at]
        if c == "\n":
            line += 1
            if start is not None and LINE_DIRECTIVE.match(source[start:at]):
                out.append(Statement("code", source[start:at].strip(), start_line))
                start = None
            at += 1
        elif source.startswith("//", at):
            while at < len(source) and source[at] != "\n":
                at += 1
        elif start is None:
            label = LABEL.match(source, at)
            if c.isspace() or c == ";":
                at += 1
            elif c in "{}":
                out.append(Statement("open" if c == "{" else "close", c, line))
                at += 1
            elif label:
                out.append(Statement("label", label.group(1), line))
                at = label.end()
            else:
                start, start_line = at, line
        elif c == '"':
            at = source.index('"', at + 1) + 1
        elif c == "{" and FUNCTION.search(source[start:at]):  # the body is a scope of its own
            out.append(Statement("code", clean(source[start:at]), start_line))
            start = None
        else:
            if c == ";":
                out.append(Statement("code", clean(source[start:at]), start_line))
                start = None
            at += 1
    return out


def clean(text):
    """A statement without comments, on one line."""
    return re.sub(r"\s+", " ", re.sub(r"//[^\n]*", "", text)).strip()


def split_operands(text):
    """Splits a text at the commas that are outside brackets."""
    parts, depth, current = [], 0, ""
    for c in text:
        depth += (c in "{[(") - (c in "}])")
        if c == "," and depth == 0:
            parts.append(current.strip())
            current = ""
        else:
            current += c
    if current.strip():
        parts.append(current.strip())
    return parts


def components(text):
    """The operands of a vector `{a, b}`; of another text the text alone."""
    return [part.strip() for part in text[1:-1].split(",")] if text.startswith("{") else [text]


def parameter(text):
    """(name, bytes, alignment) of a .param declaration."""
    match = PARAMETER.match(text.strip())
    if not match or match.group(2) not in SIZES:
        raise Unsupported(f"parameter '{text}'")
    size = SIZES[match.group(2)] * (int(match.group(4)) if match.group(4) else 1)
    return match.group(3), size, int(match.group(1) or SIZES[match.group(2)])


def constant(item, kind):
    """Bytes of a literal; None where the item is an address."""
    item = item.strip()
    match = re.match(r"0[dD]([0-9a-fA-F]{16})$", item)
    if match:
        return struct.pack("<Q", int(match.group(1), 16))
    match = re.match(r"0[fF]([0-9a-fA-F]{8})$", item)
    if match:
        return struct.pack("<I", int(match.group(1), 16))
    try:
        value = int(item.rstrip("U"), 0)
    except ValueError:
        return None
    return (value & ((1 << 8 * SIZES[kind]) - 1)).to_bytes(SIZES[kind], "little")
