"""Studies that nobody meant: examples with their structure or their bytes changed at random."""

import random
import re
import string
import tomllib


class Raw(str):
    """TOML as it is, right or wrong."""


class Table(list):
    """[key, value] pairs, so that a key can stand there twice."""

    def keys(self):
        return [key for key, _ in self]

    def get(self, wanted):
        return next((value for key, value in self if key == wanted), None)


LONG = "x" * 5000
NUMBERS = ["0", "-1", "1", "2", "3", "-0.0", "0.1", "1e308", "-1e308", "1e309", "5e-324", "nan", "-nan", "inf", "-inf",
           "2147483648", "4294967296", "1000000000000", "9223372036854775807", "-9223372036854775808",
           "9223372036854775808", "18446744073709551616", "0x7fffffffffffffff", "1_0", "1.5", "0.30000000000000004"]
TEXTS = ["", " ", "x", "all", "off", "0s", "-1s", "1e99d", "nan", "h", "theta", "pi", "1/0", "0/0", "-1", "1e308*10", "q", "q[0]",
         "q[99]", "q[-1]", "lyapunov", "tableau", "given", "space", "contact", "../x", "a/b", "/", ".", "..", "a.b", "a b",
         "\0", "a\0b", "\x1b[31mred", "a\nb\rc", "\x7f\x85", "\u202eleft", "\U0001f600", "é", "\\", '"', "'", "%s%n{}", "{0}",
         "$(x)", "=", "#", "a,b", "sobol", "lattice", LONG, "é" * 700]
OTHERS = ["true", "false", "[]", "{}", "[[]]", "[1, 2, 3]", "[nan]", '["q"]', "[1, 'a', []]", "2024-01-01", "07:32:00",
          "2024-01-01T00:00:00Z", "{ a = 1 }", "{ a = [[0]], b = [1] }", "'''\n'''", "[" * 60 + "]" * 60,
          "[" * 3000 + "]" * 3000, "[" + "1," * 3000 + "]", "{ a = " * 300 + "1" + " }" * 300]
TOKENS = ["sin(", "cos(", "sqrt(", "exp(", "abs(", "atan2(", "min(", "sum(", "rnd(", "(", ")", "()", "+", "-", "*", "/", "^", "^-1",
          "^17", "**", ",", ";", "=", "==", "<", "&&", "||", "!", "?", ":", "?1:2", "pi", "_pi", "e", "theta", "h", "x", "q[0]",
          "q[", "]", "[0]", "v[1]", "1e", "1e308", "1e999", "0x10", ".", "..", "1.2.3", "nan", "inf", " ", "\t", "\n", "\0",
          "\x1b", "é", "'", '"', "\\", "#", "$", "{}", "%d", "99999999999999999999", "0", "-0.0"]
NAMES = ["study", "system", "method", "time", "ensemble", "observable", "section", "output", "name", "variant", "parameters",
         "stages", "solver", "tolerance", "max_iterations", "step", "start", "end", "steps", "samples", "sample_every", "axes",
         "draws", "file", "group", "project", "frame", "initial", "q", "v", "p", "lambda", "statistics", "quantiles", "histogram",
         "correlation", "reference", "formula", "surface", "direction", "trajectories", "initial_state", "final_state", "covariance",
         "checkpoint", "from", "to", "count", "values", "distribution", "seed", "mean", "std", "bins", "tableau", "cutoff",
         "iteration", "base", "bias", "theta", "a", "b", "randomisations"]


def tree_of(value):
    if isinstance(value, dict):
        return Table([key, tree_of(v)] for key, v in value.items())
    return [tree_of(v) for v in value] if isinstance(value, list) else value


def read(text):
    return tree_of(tomllib.loads(text))


def quoted(text):
    escapes = {'"': '\\"', "\\": "\\\\"}
    return '"' + "".join(escapes.get(c, c if c >= " " and not 0x7f <= ord(c) < 0xa0 else f"\\u{ord(c):04x}")
                         for c in text) + '"'


def key_text(key):
    return key if isinstance(key, Raw) or re.fullmatch("[A-Za-z0-9_-]+", key) else quoted(key)


def value_text(value):
    if isinstance(value, Raw):
        return value
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Table):
        return "{ " + ", ".join(f"{key_text(k)} = {value_text(v)}" for k, v in value) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(value_text, value)) + "]"
    return repr(value)


def write(tree):
    """TOML; tables of the root, and their tables, have headers."""
    plain, tables = [], []

    def add(name, header, table):
        lines = [header]
        for key, value in table:
            if isinstance(value, Table) and len(name) == 1:
                add([*name, key], f"[{'.'.join(map(key_text, [*name, key]))}]", value)
            else:
                lines.append(f"{key_text(key)} = {value_text(value)}")
        tables.append(lines)

    for key, value in tree:
        if isinstance(value, Table):
            position = len(tables)
            add([key], f"[{key_text(key)}]", value)
            tables.insert(position, tables.pop())  # a table before those in it
        elif isinstance(value, list) and value and all(isinstance(v, Table) for v in value):
            for table in value:
                add([key, ""], f"[[{key_text(key)}]]", table)
        else:
            plain.append(f"{key_text(key)} = {value_text(value)}")
    return "\n\n".join(["\n".join(plain)] + ["\n".join(lines) for lines in tables]) + "\n"


def shrink(tree):
    """The study with few steps of few trajectories, in place."""
    time = tree.get("time")
    if isinstance(time.get("step"), float):
        time[:] = [pair for pair in time if pair[0] not in ("end", "steps", "samples", "sample_every")]
        time += [["end", 6 * time.get("step")], ["samples", 3]] if time.get("control") == "density" else [["steps", 6], ["sample_every", 2]]
    ensemble = tree.get("ensemble") or Table()
    for pair in ensemble:
        if pair[0] == "draws":
            pair[1] = 4
        elif pair[0] == "randomisations":
            pair[1] = 2
    for axis in ensemble.get("axes") or []:
        for pair in axis:
            if pair[0] in ("count", "draws"):
                pair[1] = min(pair[1], 3)
            elif pair[0] == "values":
                del pair[1][3:]
    for pair in tree.get("output") or []:
        if pair[0] == "trajectories" and isinstance(pair[1], list):
            pair[1] = [0]
    return tree


def places(tree):
    """Every (container, position, path) of the tree: an entry of a table is its pair."""
    found = []

    def visit(node, path):
        for i, entry in enumerate(node):
            value = entry[1] if isinstance(node, Table) else entry
            below = f"{path}{'.' if path else ''}{entry[0]}" if isinstance(node, Table) else f"{path}[{i}]"
            found.append((node, i, below))
            if isinstance(value, list):
                visit(value, below)

    visit(tree, "")
    return found


def value_at(node, i):
    return node[i][1] if isinstance(node, Table) else node[i]


def set_value(node, i, value):
    if isinstance(node, Table):
        node[i] = [node[i][0], value]
    else:
        node[i] = value


def copy(value):
    if isinstance(value, Table):
        return Table([key, copy(v)] for key, v in value)
    return [copy(v) for v in value] if isinstance(value, list) else value


def misspelt(rng, word):
    i = rng.randrange(len(word) + 1)
    return rng.choice([word[:i] + word[i + 1:], word[:i] + rng.choice(string.ascii_letters) + word[i:], word.upper(),
                       word + "s", word[::-1], word[1:2] + word[:1] + word[2:]])


def expression(rng, text):
    """An expression with tokens put in, taken out or nested."""
    for _ in range(rng.choice([1, 1, 1, 2, 4, 12])):
        i, j = sorted(rng.randrange(len(text) + 1) for _ in range(2))
        text = rng.choice([text[:i] + rng.choice(TOKENS) + text[i:], text[:i] + rng.choice(TOKENS) + text[j:], text[:i] + text[j:],
                           "(" + text + ")", text + rng.choice("+-*/^") + text])[:20000]
    if rng.random() < 0.05:
        depth = rng.choice([50, 500, 20000])
        text = rng.choice(["(", "sin(", "-", "+", "2^", "1/", "0?1:"]) * depth + text + ")" * rng.choice([0, depth])
    return text


def random_value(rng):
    kind = rng.random()
    if kind < 0.45:
        return Raw(rng.choice(NUMBERS))
    return rng.choice(TEXTS) if kind < 0.8 else Raw(rng.choice(OTHERS))


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def other_number(rng, value):
    """What may well be taken in place of a number, and makes a run go wrong rather than a check."""
    return rng.choice([-value, value + 1, value - 1, value * 2, value / 2, value + 1e-9, value * 1e-9, value * 1e9, value * 1e-160,
                       value * 1e160, float(value), str(value), f"{value} + 0", 0, 1, 2, 3, 17, 1e-3])


def other_value(rng, value):
    """Something else in place of a value."""
    if isinstance(value, str) and rng.random() < 0.5:
        return expression(rng, value)
    if isinstance(value, list) and not isinstance(value, Table) and rng.random() < 0.5:
        value = copy(value)
        change = rng.randrange(5)
        if change == 0:
            return value + [copy(v) for v in value[:1]]
        if change == 1:
            return value[:rng.randrange(len(value) + 1)]
        if change == 2:
            return [value]
        if change == 3:
            return value * rng.choice([2, 300])
        rng.shuffle(value)
        return value
    if is_number(value):
        if rng.random() < 0.4:
            return other_number(rng, value)
        if rng.random() < 0.2:
            return rng.choice([Raw(f"{value}_"), [value], Table([["x", value]])])
    return random_value(rng)


def change_structure(rng, tree, others):
    """Changes one place of a tree; `others` are trees to take parts from."""
    node, i, _ = rng.choice(places(tree))
    value = value_at(node, i)
    kind = rng.random()
    if kind < 0.5:
        set_value(node, i, other_value(rng, value))
    elif kind < 0.6:
        del node[i]
    elif kind < 0.65:
        node.insert(rng.randrange(len(node) + 1), copy(node[i]) if isinstance(node, Table) else copy(value))
    elif kind < 0.75 and isinstance(node, Table):
        key = node[i][0]
        node[i] = [rng.choice([misspelt(rng, key), rng.choice(NAMES), rng.choice(TEXTS), Raw(key + ".x"), Raw("")]), value]
    elif kind < 0.85 and isinstance(node, Table):
        key = rng.choice(NAMES) if rng.random() < 0.7 else rng.choice(TEXTS)
        node.insert(rng.randrange(len(node) + 1), [key, random_value(rng)])
    elif kind < 0.93:
        other_node, k, _ = rng.choice(places(rng.choice(others)))
        set_value(node, i, copy(value_at(other_node, k)))
    else:
        other = rng.choice(others)
        key, taken = rng.choice(other)
        tree[:] = [pair for pair in tree if pair[0] != key or rng.random() < 0.3] + [[key, copy(taken)]]
    return tree


def change_bytes(rng, data, others=()):
    """Bytes with flips, cuts, insertions, repetitions, or the end of something else."""
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 3, 8])):
        size = len(data)
        i = rng.randrange(size + 1)
        length = rng.choice([1, 1, 2, 4, 16, 64, 400])
        kind = rng.randrange(9)
        if kind == 0 and i < size:
            data[i] ^= 1 << rng.randrange(8)
        elif kind == 1 and i < size:
            data[i] = rng.choice(b"\0\n\r\t\x1b\x7f\x80\xff\"'[]{}=#,.\\-09e ")
        elif kind == 2:
            del data[i:]
        elif kind == 3:
            del data[i:i + length]
        elif kind == 4:
            data[i:i] = bytes(rng.randrange(256) for _ in range(length))
        elif kind == 5:
            data[i:i] = data[i:i + length] * rng.choice([1, 2, 40])
        elif kind == 6:
            data[i:i] = rng.choice(TEXTS + NUMBERS).encode()
        elif kind == 7 and others:
            other = rng.choice(others)
            data[i:] = other[rng.randrange(len(other) + 1):]
        else:
            data[i:i] = rng.choice([b"\xef\xbb\xbf", b"\xff\xfe", b"\r\n", b"\0" * length, b"\"\"\"", b"[" * length, b"[["])
    return bytes(data)


class Corpus:
    """The examples that this build takes, shrunk."""

    def __init__(self, files):
        self.names = [file.name for file in files]
        self.texts = [write(shrink(read(file.read_text()))) for file in files]
        self.whole = [file.read_bytes() for file in files]
        self.trees = [read(text) for text in self.texts]

    def structure(self, rng):
        tree = copy(rng.choice(self.trees))
        for _ in range(rng.choice([1, 1, 1, 1, 2, 3])):
            if not tree:
                break
            change_structure(rng, tree, self.trees)
        return write(tree).encode("utf-8", "replace")

    def numbers(self, rng):
        """A study with other numbers."""
        tree = copy(rng.choice(self.trees))
        found = [(node, i) for node, i, _ in places(tree) if is_number(value_at(node, i))]
        for node, i in rng.sample(found, min(len(found), rng.choice([1, 1, 2, 4]))):
            set_value(node, i, other_number(rng, value_at(node, i)))
        return write(tree).encode()

    def bytes(self, rng, shrunk):
        texts = [text.encode() for text in self.texts] if shrunk else self.whole
        return change_bytes(rng, rng.choice(texts), texts)

    def overrides(self, rng):
        """An example, and --set arguments for it."""
        i = rng.randrange(len(self.trees))
        words = []
        for _ in range(rng.choice([1, 1, 2, 3])):
            node, k, path = rng.choice(places(self.trees[i]))
            value = other_value(rng, value_at(node, k))
            word = f"{path}={value_text(value) if rng.random() < 0.7 else value}".encode("utf-8", "replace")
            if rng.random() < 0.3:
                word = change_bytes(rng, word)
            words += [b"--set", word.replace(b"\0", b"0")[:60000]]
        return self.texts[i].encode(), words
