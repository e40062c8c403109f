#!/usr/bin/env python3
"""The rooms of the library: no file has more than 500 lines, the rooms of host/ and of kernels/ and the modules of Python
import each other without a circle, texts leave through one door, and no number comes from the C library's functions, which
differ between machines."""
import ast, collections, pathlib, re, sys, unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]
SOURCES = {".hpp", ".cpp", ".cc", ".cu", ".cuh"}
# Functions that the C library rounds in its own way on each machine. Those of IEEE 754 (sqrt, fma, floor, ldexp, ..) are exact.
ROUNDED = r"(?:a?(?:sin|cos|tan)h?|atan2|sincos|exp(?:2|m1)?|log(?:2|10|1p)?|pow|cbrt|hypot|erfc?|[tl]gamma)[fl]?"
# These files only show numbers, or name the functions for a compiler.
SHOWN = {"host/rattleback/kernels/standard.cpp"}


def sources(folder):
    return [path for path in (ROOT / folder).rglob("*") if path.suffix in SOURCES]


def circle(arrows):
    """A circle of arrows (a list of nodes), or nothing."""
    state, trail = {}, []

    def visit(node):
        state[node] = "open"
        trail.append(node)
        for other in sorted(arrows[node]):
            if state.get(other) == "open":
                return trail[trail.index(other):] + [other]
            if other not in state and (found := visit(other)):
                return found
        trail.pop()
        state[node] = "done"
        return None
    for node in sorted(arrows):
        if node not in state and (found := visit(node)):
            return found
    return None


def imports(name, text, modules):
    """The modules among `modules` that the module `name` imports: anywhere, also in a function or for types only."""
    package = name if modules[name].name == "__init__.py" else name.rpartition(".")[0]
    named = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            named += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            levels = package.split(".")[:len(package.split(".")) + 1 - node.level] if node.level else []
            base = ".".join([*levels, *([node.module] if node.module else [])])
            # A name of a package may be one of its modules.
            named += [f"{base}.{alias.name}" if f"{base}.{alias.name}" in modules else base for alias in node.names]
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in ("import_module", "__import__"):
            called = node.args[0].value if isinstance(node.args[0], ast.Constant) else None
            if called is None:
                if package != name:
                    raise AssertionError(f"{name}: imports a module whose name is computed, which hides a circle")
                continue  # the door of a package loads its own modules
            named.append(package + called if called.startswith(".") else called)
    return {module for module in named if module in modules and module != name}


def python_modules(folder):
    """The modules of a folder of packages by their full names."""
    return {".".join(path.relative_to(folder).with_suffix("").parts).removesuffix(".__init__"): path
            for path in folder.rglob("*.py") if "__pycache__" not in path.parts}


class Rooms(unittest.TestCase):
    def test_files_can_be_read_in_one_sitting(self):
        long = {str(path.relative_to(ROOT)): lines for folder in ("kernels", "host", "src") for path in sources(folder)
                if (lines := len(path.read_text().splitlines())) > 500}
        self.assertEqual(long, {})
        long = [path for folder in ("python", "tests/python") for path in (ROOT / folder).rglob("*")
                if path.suffix in SOURCES | {".py"} and len(path.read_text().splitlines()) > 500]
        self.assertEqual(long, [])

    def test_members_that_may_be_empty_are_marked_for_every_compiler(self):
        """nvcc and [[no_unique_address]]: real/config.hpp."""
        self.assertEqual([str(path) for path in sources("kernels") if path.name != "config.hpp" and "no_unique_address" in path.read_text()], [])

    def test_rooms_of_the_library_use_those_below(self):
        """The build links each room against those below it, which finds functions from above. This finds types and inline functions."""
        rooms = re.search(r"^set\(rooms ([\w ]+)\)$", (ROOT / "CMakeLists.txt").read_text(), re.M)[1].split()
        base = ROOT / "host/rattleback"
        self.assertEqual(sorted(rooms), sorted({path.relative_to(base).parts[0] for path in base.rglob("*.hpp")} - {"rattleback.hpp"}))
        for path in sources("host"):
            parts = path.relative_to(base).parts
            for other, file in re.findall(r'#include "rattleback/(\w+)/([\w/]+\.\w+)"', path.read_text()) if len(parts) > 1 else ():
                if (base / other / file).exists():
                    self.assertLessEqual(rooms.index(other), rooms.index(parts[0]), f"{path}: {other}/{file} is in a room above")

    def test_rooms_of_the_kernels_have_no_circles(self):
        base = ROOT / "kernels/rattleback"
        arrows = collections.defaultdict(set)
        for path in sources("kernels"):
            room = str(path.parent.relative_to(base))
            for other, file in re.findall(r'#include "rattleback/([\w/]+)/(\w+\.\w+)"', path.read_text()):
                if room != "." and other != room and (base / other / file).exists():
                    arrows[room].add(other)
        self.assertIsNone(circle(arrows))

    def test_python_modules_have_no_circles(self):
        modules = python_modules(ROOT / "python")
        self.assertIn("rattleback.plot.main", modules)
        modules["rattleback._core"] = ROOT / "python/src/module.cpp"
        arrows = {name: imports(name, path.read_text() if path.suffix == ".py" else "", modules) for name, path in modules.items()}
        self.assertIn("rattleback.study", arrows["rattleback.results"])
        self.assertIsNone(circle(arrows))

    def test_hidden_imports_of_python_are_found(self):
        modules = {"p": pathlib.Path("p/__init__.py"), "p.a": pathlib.Path("p/a.py"), "p.q": pathlib.Path("p/q/__init__.py"),
                   "p.q.b": pathlib.Path("p/q/b.py")}
        for name, text in (("p.a", "def f():\n    from .q import b"), ("p.a", "if TYPE_CHECKING:\n    from .q.b import name"),
                           ("p.a", "import p.q.b as b"), ("p.a", "class C:\n    m = importlib.import_module('p.q.b')"),
                           ("p.a", "from p.q import b"), ("p", "from .q.b import x"), ("p.q", "from . import b")):
            self.assertEqual(imports(name, text, modules), {"p.q.b"}, text)
        for text in ("from .. import a", "from ..a import x", "importlib.import_module('p.a')", "import p.a"):
            self.assertEqual(imports("p.q.b", text, modules), {"p.a"}, text)
        self.assertEqual(imports("p.a", "from . import name", modules), {"p"})
        with self.assertRaisesRegex(AssertionError, "computed"):
            imports("p.a", "importlib.import_module(name)", modules)
        self.assertEqual(circle({"a": {"b"}, "b": {"c"}, "c": {"a"}}), ["a", "b", "c", "a"])

    def test_texts_leave_through_one_door(self):
        """JSON has one writer, and standard output one printer: files and names have any bytes (base/json.hpp, output/output.hpp)."""
        doors = {r"\.dump\(|(?:json|Json)::parse\(": {"host/rattleback/base/json.cpp", "host/rattleback/kernels/manifest.cpp"},
                 r"(?<!\w)(?:fmt::print|std::printf|std::puts|puts|printf)\(|std::cout <<": set()}
        for pattern, allowed in doors.items():
            found = {str(path.relative_to(ROOT)) for folder in ("host", "src", "python") for path in sources(folder)
                     if re.search(pattern, path.read_text())}
            self.assertEqual(found - allowed, set(), pattern)

    def test_functions_are_those_of_the_kernels(self):
        library = re.compile(rf"(?:\bstd::|(?<![\w>])::|\b__builtin_){ROUNDED}\b(?!::)|\busing std::{ROUNDED}\b")
        call = re.compile(rf"(?<![\w.:>]){ROUNDED}\(")
        distribution = re.compile(r"\bstd::\w+_distribution\b")
        for path in [path for folder in ("host", "kernels", "src") for path in sources(folder)]:
            name = str(path.relative_to(ROOT))
            if name in SHOWN:
                continue
            text = re.sub(r"//.*|\"(?:[^\"\\\n]|\\.)*\"", "", path.read_text())
            self.assertIsNone(library.search(text), f"{name}: take the function from rattleback/real/, the same on every machine")
            self.assertIsNone(distribution.search(text), f"{name}: draw with rattleback/base/random.hpp")
            # Without this header an unqualified call finds the C library's function.
            if not name.startswith("kernels/") and (found := call.search(text)):
                self.assertRegex(path.read_text(), r'#include "rattleback/(real|loop)/', f"{name}: {found[0]}..)")

    def test_mutexes_are_counted(self):
        """A mutex of the standard library would not be seen by the tests that call functions of a user without locks."""
        for path in sources("host"):
            if path.relative_to(ROOT / "host/rattleback").as_posix() != "base/mutex.hpp":
                self.assertNotRegex(path.read_text(), r"std::(recursive_|shared_|timed_)*mutex", path)

    def test_kernels_do_not_need_the_host(self):
        for path in sources("kernels"):
            for header in re.findall(r'#include "(rattleback/[\w/]+\.\w+)"', path.read_text()):
                self.assertTrue((ROOT / "kernels" / header).exists(), f"{path}: {header}")


if __name__ == "__main__":
    unittest.main()
