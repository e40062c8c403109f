#!/usr/bin/python3
"""The keys of a study: their rows in the documentation, their defaults, the JSON schema, and limits.  study_keys_test.py PROGRAM"""
import json, pathlib, re, subprocess, sys, tempfile, tomllib, unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "support"))
from program import PROGRAM, ROOT, STUDY, ask, cells


def repeated(text, count, between=","):
    return between.join([text] * count)


def toml_of(value):
    """A value as TOML, tables as inline tables; a document as its keys."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {toml_of(entry)}" for key, entry in value.items()) + "}"
    return "[" + ", ".join(map(toml_of, value)) + "]" if isinstance(value, list) else json.dumps(value)


def document_of(study):
    return "".join(f"{key} = {toml_of(value)}\n" for key, value in study.items())


def fits(value, schema):
    """Whether a value fits a JSON schema with the words that the schema of a study has."""
    kind = {bool: {"boolean"}, str: {"string"}, dict: {"object"}, list: {"array"}, int: {"integer", "number"},
            float: {"number", "integer"} if isinstance(value, float) and value.is_integer() else {"number"}}[type(value)]
    table, array = isinstance(value, dict), isinstance(value, list)
    words = {"$schema": lambda word: True, "title": lambda word: True, "description": lambda word: True, "default": lambda word: True,
             "type": lambda word: bool(kind & {word} if isinstance(word, str) else kind & set(word)),
             "enum": lambda word: value in word, "const": lambda word: value == word,
             "minimum": lambda word: "number" not in kind or value >= word, "maximum": lambda word: "number" not in kind or value <= word,
             "exclusiveMinimum": lambda word: "number" not in kind or value > word,
             "minLength": lambda word: "string" not in kind or len(value) >= word,
             "pattern": lambda word: "string" not in kind or bool(re.search(word, value)),
             "anyOf": lambda word: any(fits(value, one) for one in word), "allOf": lambda word: all(fits(value, one) for one in word),
             "not": lambda word: not fits(value, word), "items": lambda word: not array or all(fits(entry, word) for entry in value),
             "required": lambda word: not table or set(word) <= set(value),
             "properties": lambda word: not table or all(fits(entry, word[key]) for key, entry in value.items() if key in word),
             "additionalProperties": lambda word: not table or all(
                 fits(entry, word) if isinstance(word, dict) else word for key, entry in value.items() if key not in schema.get("properties", {}))}
    return all(words[word](content) for word, content in schema.items())


class StudyKeys(unittest.TestCase):
    def refused(self, *settings, files={}):
        """What the program says of a study with settings that it refuses."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {"study.toml": STUDY, **files}.items():
                (pathlib.Path(folder) / name).write_text(text)
            words = [word for setting in settings for word in ("--set", setting)]
            done = subprocess.run([PROGRAM, "check", "study.toml", *words], cwd=folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 2, f"{settings} is not refused")
        return done.stderr

    def known_keys(self, *settings):
        """The keys that the program lists when it meets another one, `zzz`."""
        return set(re.search(r"unknown key 'zzz' .*\(known: (.*?)\)", self.refused(*settings))[1].split(", "))

    def test_keys_of_a_study(self):
        """The tables of study-file.md and formulas.md have every key, and no other."""
        def keys(text):
            tables = re.findall(r"^\| key \|.*\n\|.*\n((?:\|.*\n)+)", text, re.M)
            return {key for line in "".join(tables).splitlines() for key in re.findall(r"`(\w+)`", cells(line)[0])}

        sections = dict(re.findall(r"^## \[+([\w.]+)\]+\n(.*?)(?=^## |\Z)", (ROOT / "docs/study-file.md").read_text(), re.M | re.S))
        for section, setting in (("study", "study.zzz=1"), ("system", "system.zzz=1"), ("time", "time.zzz=1"), ("ensemble", "ensemble.zzz=1"),
                                 ("ensemble.initial", "ensemble.initial.zzz=1"), ("observable", "observable[0].zzz=1"),
                                 ("section", 'section=[{surface="x", zzz=1}]'), ("stop", 'stop=[{when="x", zzz=1}]'),
                                 ("fate", 'fate=[{name="a", where="x > 0", zzz=1}]'), ("average", 'average=[{name="a", formula="x", zzz=1}]'),
                                 ("map", 'map=[{name="a", axes=["b", "c"], zzz=1}]'),
                                 ("fit", 'fit=[{name="a", observable="energy", zzz=1}]'), ("output", "output.zzz=1")):
            with self.subTest(section):
                self.assertEqual(keys(sections[section]), self.known_keys(setting) - {"initial"}, f"docs/study-file.md: [{section}]")
        for kind, given in (("range", "from=0, to=1, count=2"), ("values", "values=[1]"), ("uniform", 'distribution="uniform"'),
                            ("normal", 'distribution="normal"'), ("quasi-random", 'distribution="sobol"')):
            with self.subTest(kind):
                row = re.search(rf"^\| {kind} \| (.*) \|$", sections["ensemble"], re.M)[1]
                told = set(re.findall(r"`(\w+)(?: = [^`]*)?`", row))
                self.assertEqual(told, self.known_keys(f'ensemble.axes=[{{name="a", {given}, zzz=1}}]'), f"docs/study-file.md: axes, {kind}")
        formulas = keys((ROOT / "docs/formulas.md").read_text())
        self.assertEqual(formulas, self.known_keys('system.coordinates=["x"]', "system.zzz=1"), "docs/formulas.md")

    def test_rows_of_the_keys(self):
        """The tables of study-file.md have the rows of the program: key, default and text. A key without documentation fails here."""
        page = (ROOT / "docs/study-file.md").read_text()
        sections = dict(re.findall(r"^## \[+([\w.]+)\]+\n(.*?)(?=^## |\Z)", page, re.M | re.S))
        keys = ask("list", "keys")["keys"]
        self.assertGreater(len(keys), 60)
        tables = {key["name"].replace("[]", "") for key in keys}
        for key in keys:
            self.assertTrue(key["text"] and key["default"] and key["type"], key)
            if key["type"].startswith("a table {"):  # and so are the keys inside
                self.assertTrue({f"{key['name']}.{name}" for name in re.findall(r"\w+", key["type"].partition("{")[2])} <= {k["name"] for k in keys}, key)
            table, _, name = key["name"].replace("[]", "").rpartition(".")
            with self.subTest(key["name"]):
                if "formulas" in key:
                    self.assertIn(f"| `{name}` | {key['default']} | {key['text']} |\n", (ROOT / "docs/formulas.md").read_text())
                elif table in sections and f"{table}.{name}" not in ("method.solver", "ensemble.initial"):
                    self.assertIn(f"| `{name}` | {key['default']} | {key['text']} |\n", sections[table], f"docs/study-file.md: [{table}]")
                elif table == "method.solver":
                    self.assertIn(f"| `solver.{name}` | {key['default']} | {key['text']} |\n", sections["method"])
                elif table:  # a table inside of another: one row has its keys
                    self.assertRegex(sections[table.split(".")[0]], rf"\b{name}\b")
                else:
                    self.assertIn(name, sections)
        self.assertTrue(set(sections) <= tables | {"ensemble.initial"})

    def test_defaults_of_the_keys(self):
        """The defaults that the rows state are those of the effective study."""
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "study.toml").write_text(STUDY + '[[section]]\nsurface = "x"\n[[fit]]\nname = "f"\nobservable = "energy"\n')
            effective = tomllib.loads(subprocess.run([PROGRAM, "check", "study.toml", "--kernels", "builtin", "--set", "time.sample_every=1"], cwd=folder,
                                                     check=True, capture_output=True, text=True).stdout)
        compared = 0
        for key in ask("list", "keys")["keys"]:
            node = effective
            for name in key["name"].split("."):
                node = node.get(name.removesuffix("[]"), {}) if isinstance(node, dict) else {}
                node = node[0] if name.endswith("[]") and node else node
            if re.fullmatch(r"`[^`]*`", key["default"]) and node != {}:
                self.assertEqual(node, json.loads(key["default"].strip("`")), key["name"])
                compared += 1
        self.assertGreater(compared, 10)

    def test_schema(self):
        """The JSON schema takes every example, and refuses what the program refuses for its keys, types, ranges and names."""
        schema = json.loads(subprocess.run([PROGRAM, "list", "--schema"], check=True, capture_output=True, text=True).stdout)
        studies = [path for path in (ROOT / "examples").rglob("*.toml") if "method" in tomllib.loads(path.read_text())]
        self.assertGreater(len(studies), 50)
        for path in studies:
            self.assertTrue(fits(tomllib.loads(path.read_text()), schema), path)
        base = (ROOT / "examples/chaotic.toml").read_text()
        self.assertTrue(fits(tomllib.loads(base), schema))
        faults = [("time.stpe", 0.1), ("time.step", True), ("time.steps", 3), ("method.stages", 9),
                  ("method.theta", 0.5), ("method.name", "hbvmm"), ("system.name", "chaotik"),
                  ("system.variant", "contcat"), ("time.sample_every", 0), ("outptu", {}),
                  ("system.parameters", {"mm": 3}), ("method.solver", {"tolerance": 1e-3}),
                  ("method.solver", {"tol": 1e-14}), ("output", {"checkpoint": "10 minutes"}), ("time", {"step": 0.1}),
                  ("output", {"trajectories": "some"}), ("ensemble.frame", "inertial"),
                  ("ensemble.axes", [{"name": "theta", "from": 0, "to": 1}]),
                  ("ensemble.axes", [{"name": "theta", "distribution": "gauss", "from": 0, "to": 1, "seed": 1}]),
                  ("observable", [{"statistics": ["mean"]}]), ("observable", [{"name": "energy", "values": 1}]),
                  ("section", [{"surface": "x", "direction": "up"}]), ("fit", [{"name": "f", "observable": "energy", "model": "lines"}]),
                  ("section", [{"surface": "x", "returns": {"quantile": [0.5]}}]), ("observable", [{"name": "energy", "quantiles": [1.5]}]),
                  ("average", [{"name": "a", "formula": "x", "histogram": {"from": 0, "to": 1, "bins": 0}}]),
                  ("map", [{"name": "m", "of": "stp", "axes": ["a", "b"]}]), ("output", {"covariance": ["x"]})]
        # A value of another type, for every key that has one.
        formulas = set()
        for key in ask("list", "keys")["keys"]:
            name = key["name"]
            if "[]" not in name and (key["type"] != "a table" or "formulas" in key):
                faults.append((name, 2.5 if key["type"] == "true or false" else True))
            if "formulas" in key:
                formulas.add(name)
        self.assertGreater(len(formulas), 10)
        for key, value in faults:
            document = node = tomllib.loads((ROOT / "examples/double-well.toml").read_text() if key in formulas else base)
            *tables, last = key.split(".")
            for table in tables:
                node = node.setdefault(table, {})
            node[last] = value
            with self.subTest(key=key, value=value):
                self.assertFalse(fits(document, schema), "the schema takes it")
                with tempfile.TemporaryDirectory() as folder:
                    (pathlib.Path(folder) / "study.toml").write_text(document_of(document))
                    done = subprocess.run([PROGRAM, "check", "study.toml", "--kernels", "builtin"], cwd=folder, capture_output=True, text=True)
                self.assertEqual(done.returncode, 2, "the program takes it")

    def test_limits(self):
        """Every limit on a page is one that the program names when it is exceeded."""
        pages = {name: re.sub(r"\s+", " ", (ROOT / "docs" / name).read_text()) for name in ("study-file.md", "methods.md")}
        point = '{{name="a{}",distribution="sobol",from=0,to=1,seed=1}}'
        tableau = "method.tableau={{a=[{}],b=[{}]}}"
        rows = [
            ("study-file.md", "an expression at most 32768 bytes", "at most 32768", ["time.step=" + "1+" * 16400 + "1"], {}),
            ("study-file.md", "at most 64 levels deep", "deeper than 64 levels", ["time.step=" + "(" * 65 + "1" + ")" * 65], {}),
            ("study-file.md", "has 1 to 100 bytes", "at most 100", ["study.name=" + "a" * 101], {}),
            ("study-file.md", "above 0, at most 1e-6", "at most 1e-6", ["method.solver.tolerance=1.1e-6"], {}),
            ("study-file.md", "1 to 10000; a step that needs more fails", "1 to 10000", ["method.solver.max_iterations=10001"], {}),
            ("study-file.md", "at most 64 axes", "(64)",
             ["ensemble.axes=[" + ",".join(map(point.format, range(65))) + "]", "ensemble.draws=2"], {}),
            ("study-file.md", "at most 2^32 with `sobol`", "2^32",
             [f"ensemble.axes=[{point.format(0)}]", f"ensemble.draws={2 ** 33}"], {}),
            ("study-file.md", "2^24 with `lattice`", "2^24",
             [f"ensemble.axes=[{point.format(0).replace('sobol', 'lattice')}]", f"ensemble.draws={2 ** 25}"], {}),
            ("study-file.md", "A study has at most 8.", "takes 8", ["section=[" + repeated('{surface="x"}', 9) + "]"], {}),
            ("study-file.md", "Sections and stops are at most 8 together.", "takes 8", ["stop=[" + repeated('{when="x"}', 9) + "]"], {}),
            ("study-file.md", "At most 10000 columns", "at most 10000", ['ensemble.file="points.csv"'],
             {"points.csv": ",".join(["q0", "q1", "v0", "v1"] + [f"c{i}" for i in range(9997)]) + "\n" + repeated("1", 10001) + "\n"}),
            ("methods.md", "| tableau | 1 to 17 |", "1 to 17", ["method.name=runge-kutta", "method.base=tableau",
             "method.a=[" + repeated("[" + repeated("0", 18) + "]", 18) + "]", "method.b=[" + repeated("0.1", 18) + "]"], {}),
            ("methods.md", "| `{ a = [[..], ..], b = [..] }` | 1 to 4,", "1 to 4",
             ["method.name=vrkmk", tableau.format(repeated("[0,0,0,0,0]", 5), repeated("0.2", 5))], {}),
            ("methods.md", "1 to 16 substeps", "1 to 16", ["method.name=vcg",
             f"method.tableau={{weights=[{repeated('0.1', 17)}],theta=[{repeated('0.5', 17)}]}}"], {}),
        ]
        for page, told, named, settings, files in rows:
            with self.subTest(told):
                self.assertIn(told, pages[page], page)
                self.assertIn(named, self.refused(*settings, files=files))
        message = self.refused("system.name=chaotic", "method.name=nonholonomic-lobatto", "method.stages=9")
        shown = re.search(r"rattleback: bad\.toml:15: (.*)", (ROOT / "docs/commands/index.md").read_text())[1]
        self.assertIn(shown, message, "docs/commands/index.md: the message")


if __name__ == "__main__":
    unittest.main()
