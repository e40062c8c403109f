#!/usr/bin/env python3
"""The commands and snippets of the documentation work.  docs_commands_test.py PROGRAM

    ```sh      every line runs, in the order of the page, in a folder that has examples/ of the repository, and must succeed; what builds
               the program is looked up instead, and a page that has it runs the program only below it
    ```toml    a study, or tables of a study, that `rattleback check` accepts; a first line `# NAME.toml` makes it a file of the page
    ```python  runs in the folder of the page; tests/python/docs_test.py runs those of the Python package
    ```cpp     lines of files that the tests compile, in their order
    ```cmake   stands in docs/learn/cpp.md only, where package_test.sh takes it from and builds it
    ```text    below the line <!-- output -->: what the commands above print; `..` stands for what differs from machine to machine
    lines indented by four that begin with `rattleback`: a command of the program, with options that it has"""
import json, os, pathlib, re, subprocess, sys, tempfile, tomllib, unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAM = ""
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md")),
         *sorted((ROOT / "examples/papers").rglob("*.md")), ROOT / "examples/nonholonomic-families/README.md"]
COMPILED = [*sorted((ROOT / "examples/cpp").glob("*.[ch]pp")), *sorted((ROOT / "tests/user").glob("*.[ch]pp"))]
# Fragments of a study stand beside these tables.
BASE = """[system]
name = "kepler"
[method]
name = "lobatto"
[time]
step = 0.1
end = 1.0
[[observable]]
name = "energy"
"""


def blocks(path):
    """(language, first line, text, whether it is an output) of each block between fences, and the indented lines with commands."""
    language, start, lines, marked, output = None, 0, [], False, False
    for number, line in enumerate(path.read_text().splitlines(), 1):
        fence = re.match(r"\s*```(\S*)", line)
        if fence and language is None:
            language, start, lines, output = fence[1] or "text", number + 1, [], marked
        elif fence:
            yield language, start, "\n".join(lines) + "\n", output
            language = None
        elif language is not None:
            lines.append(line)
        elif re.match(r"    rattleback( |$)", line):
            yield "synopsis", number, line.strip(), False
        if line.strip():
            marked = line.strip() == "<!-- output -->"


def place(path, number):
    return f"{path.relative_to(ROOT)}:{number}"


def in_order(text, files):
    """Whether the lines of a text, without indentation, are lines of one file in the same order."""
    wanted = [line.strip() for line in text.splitlines() if line.strip()]
    for file in files:
        there = iter(line.strip() for line in file.read_text().splitlines())
        if all(line in there for line in wanted):
            return True
    return False


def builds(line):
    """Whether a line builds the program, by a script of the repository or a preset, which must exist."""
    tool, preset = re.match(r"tools/\w+", line), re.match(r"cmake (--build )?--preset (\S+)( --target \w+)?$", line)
    if tool and not (ROOT / tool[0]).exists():
        raise AssertionError(f"there is no {tool[0]}")
    if preset:
        presets = json.loads((ROOT / "CMakePresets.json").read_text())["buildPresets" if preset[1] else "configurePresets"]
        if preset[2] not in [each["name"] for each in presets]:
            raise AssertionError(f"there is no preset {preset[2]}")
    return bool(tool or preset)


def pattern_of(line):
    return re.sub(r"(\\\.){2}", ".*", re.escape(re.sub(r"\s+", " ", line.strip())))


class Commands(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.here = pathlib.Path(self.folder.name)
        binaries = self.here / ".bin"
        binaries.mkdir()
        (binaries / "rattleback").symlink_to(PROGRAM)
        self.environment = dict(os.environ, PATH=f"{binaries}:{os.environ['PATH']}", COLUMNS="100")

    def tearDown(self):
        self.folder.cleanup()

    def begin(self, path):
        """An empty folder for a page."""
        folder = self.here / re.sub(r"\W", "-", str(path.relative_to(ROOT)))
        folder.mkdir()
        (folder / "examples").symlink_to(ROOT / "examples")
        return folder

    def run_in(self, folder, script, where, shell="bash"):
        words = [shell, "-euc", script] if shell == "bash" else [shell, "-c", script]
        done = subprocess.run(words, cwd=folder, env=self.environment, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, f"{where}: {done.stderr}{done.stdout}")
        return done.stdout + done.stderr

    def test_commands_and_snippets(self):
        counts = dict.fromkeys(("sh", "toml", "python", "output"), 0)
        for path in PAGES:
            folder, printed, runs = None, "", False
            for language, number, text, output in blocks(path):
                if language not in ("sh", "toml", "python") and not output:
                    continue
                if language == "python" and (path.name == "python.md" or "import rattleback" in text):
                    continue
                folder = folder or self.begin(path)
                where = place(path, number)
                counts["output" if output else language] += 1
                with self.subTest(where):
                    if output:
                        lines = {re.sub(r"\s+", " ", line.strip()) for line in printed.splitlines()}
                        for line in text.splitlines():
                            self.assertTrue(any(re.fullmatch(pattern_of(line), there) for there in lines),
                                            f"{where}: nothing prints '{line}'; printed:\n{printed}")
                    elif language == "sh":
                        kept = []
                        for line in text.splitlines():
                            if builds(line):
                                self.assertFalse(runs, f"{where}: '{line}' builds the program, which runs above already")
                            else:
                                runs = runs or line.startswith("rattleback ")
                                kept.append(line)
                        printed = self.run_in(folder, "\n".join(kept), where)
                    elif language == "python":
                        self.run_in(folder, text, where, "/usr/bin/python3")
                    else:
                        self.study(folder, text, where)
        for kind, least in (("sh", 30), ("toml", 12), ("python", 1), ("output", 3)):
            self.assertGreaterEqual(counts[kind], least, f"too few blocks of {kind}: the pages are not read")

    def study(self, folder, text, where):
        name = re.match(r"# (\S+\.toml)\n", text)
        file = folder / (name[1] if name else "fragment.toml")
        if not name:
            tables = set(tomllib.loads(text))
            base = "".join(part for part in re.split(r"(?m)^(?=\[)", BASE)
                           if part and re.match(r"\[+(\w+)", part)[1] not in tables)
            text = self.fitting(base, text)
        file.write_text(text)
        if "file =" in text and not name:  # a header of the user's own
            for header in re.findall(r'^file = "(\S+\.hpp)"', text, re.M):
                (folder / header).write_text((ROOT / "examples/cpp" / header).read_text())
        self.run_in(folder, f"rattleback check {file.name}", where)

    @staticmethod
    def fitting(base, text):
        """The base with a method for the constraints of the system in the text."""
        if "velocity_constraints" in text or "double_well" in text:
            base = base.replace('"lobatto"', '"nonholonomic-lobatto"')
        elif re.search(r"^constraints", text, re.M):
            base = base.replace('"lobatto"', '"holonomic-lobatto"')
        # Names of the snippet that are parameters of a system that stands elsewhere.
        if "alpha" in text and "[system]" not in text:
            base = base.replace('name = "kepler"', 'name = "two"\ncoordinates = ["x", "y"]\nparameters = { alpha = 0.1 }\n'
                                'potential = "x^2 + y^2"\ninitial = { q = [1, 0], v = [0, 1] }')
        return base + text

    def test_cpp_is_compiled(self):
        count = 0
        for path in PAGES:
            for language, number, text, _ in blocks(path):
                if language == "cpp":
                    count += 1
                    with self.subTest(place(path, number)):
                        self.assertTrue(in_order(text, COMPILED), f"{place(path, number)}: not the lines of a file that tests compile")
                elif language == "cmake":
                    self.assertEqual(path, ROOT / "docs/learn/cpp.md", f"{place(path, number)}: no test builds this")
        self.assertGreaterEqual(count, 4)

    def test_tests_that_pages_name(self):
        """`Suite.Name` in the errata is a test."""
        sources = "\n".join(path.read_text() for path in (ROOT / "tests").rglob("*_test.cpp"))
        known = {f"{suite}.{name}" for suite, name in re.findall(r"^(?:TYPED_)?TEST(?:_F|_P)?\((\w+), (\w+)\)", sources, re.M)}
        named = re.findall(r"`([A-Z]\w+\.[A-Z]\w+)`", (ROOT / "docs/errata.md").read_text())
        self.assertGreaterEqual(len(named), 25)
        self.assertEqual(sorted(set(named) - known), [])

    def test_synopses(self):
        """Indented commands name a subcommand and options that exist."""
        helps, count = {}, 0
        for path in PAGES:
            for language, number, line, _ in blocks(path):
                if language != "synopsis":
                    continue
                words = line.split()
                command = words[1] if len(words) > 1 else "--version"
                if command.startswith("-"):
                    continue
                if command not in helps:
                    done = subprocess.run([PROGRAM, command, "--help"], capture_output=True, text=True, env=self.environment)
                    self.assertEqual(done.returncode, 0, f"{place(path, number)}: there is no command '{command}'")
                    if command == "plot":
                        done.stdout += "".join(subprocess.run([PROGRAM, "plot", kind, "--help"], capture_output=True, text=True,
                                                              env=self.environment).stdout for kind in re.findall(r"^  ([\w-]+)  ", done.stdout, re.M))
                    helps[command] = done.stdout
                count += 1
                described = re.split(r"  +", line)[0] if not line.startswith("rattleback plot") else line
                for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", described):
                    self.assertIn(option, helps[command], f"{place(path, number)}: '{command}' has no option {option}")
        self.assertGreaterEqual(count, 30)


if __name__ == "__main__":
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
