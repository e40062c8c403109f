#!/usr/bin/env python3
"""The rooms of the library: no file has more than 500 lines, the rooms of host/ and of kernels/ include each other without a circle, texts leave through one door, and no number comes from the C library's functions,
which differ between machines."""
import collections, pathlib, re, sys, unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]
SOURCES = {".hpp", ".cpp", ".cc", ".cu", ".cuh"}
# Functions that the C library rounds in its own way on each machine. Those of IEEE 754 (sqrt, fma, floor, ldexp, ..) are exact.
ROUNDED = r"(?:a?(?:sin|cos|tan)h?|atan2|sincos|exp(?:2|m1)?|log(?:2|10|1p)?|pow|cbrt|hypot|erfc?|[tl]gamma)[fl]?"
# These files only show numbers, or name the functions for a compiler.
SHOWN = {"host/rattleback/cuda/standard.cpp"}


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


class Rooms(unittest.TestCase):
    def test_files_can_be_read_in_one_sitting(self):
        long = {str(path.relative_to(ROOT)): lines for folder in ("kernels", "host", "src") for path in sources(folder)
                if (lines := len(path.read_text().splitlines())) > 500}
        self.assertEqual(long, {})
        long = [path for folder in ("python", "tests/python") for path in (ROOT / folder).rglob("*")
                if path.suffix in SOURCES | {".py"} and len(path.read_text().splitlines()) > 500]
        self.assertEqual(long, [])

    def test_rooms_have_no_circles(self):
        for floor in ("host", "kernels"):
            base = ROOT / floor / "rattleback"
            arrows = collections.defaultdict(set)
            for path in sources(floor):
                room = str(path.parent.relative_to(base))
                for other, file in re.findall(r'#include "rattleback/([\w/]+)/(\w+\.\w+)"', path.read_text()):
                    if room != "." and other != room and (base / other / file).exists():
                        arrows[room].add(other)
            self.assertIsNone(circle(arrows), floor)

    def test_texts_leave_through_one_door(self):
        """JSON has one writer, and standard output one printer: files and names have any bytes (json/json.hpp, output/output.hpp)."""
        doors = {r"\.dump\(|(?:json|Json)::parse\(": {"host/rattleback/json/json.cpp", "host/rattleback/store/manifest.cpp"},
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
            if path.relative_to(ROOT / "host/rattleback").as_posix() != "threads/mutex.hpp":
                self.assertNotRegex(path.read_text(), r"std::(recursive_|shared_|timed_)*mutex", path)

    def test_kernels_do_not_need_the_host(self):
        for path in sources("kernels"):
            for header in re.findall(r'#include "(rattleback/[\w/]+\.\w+)"', path.read_text()):
                self.assertTrue((ROOT / "kernels" / header).exists(), f"{path}: {header}")


if __name__ == "__main__":
    unittest.main()
