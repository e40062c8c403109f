#!/usr/bin/env python3
"""The registry of methods: what is forgotten is named. Each entry has its line in the list of methods, an entry without a header or
a step is an error of the compiler that names the entry, and docs/development/adding.md has these messages.
  registry_test.py COMPILER"""
import pathlib, re, subprocess, sys, unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]
KERNELS = ROOT / "kernels"
COMPILER = sys.argv.pop() if len(sys.argv) > 1 else "c++"


def compiles(entry):
    """What the compiler says of a method `forgotten` with these members of its entry; nothing if it compiles."""
    source = f'''#define RATTLEBACK_ISA scalar
#include "rattleback/builtin/methods.hpp"
RB_NAMESPACE_BEGIN
namespace methods {{
inline constexpr MethodEntry forgotten{{.name = "forgotten", .summary = "", .order = "1", .constraints = ConstraintKind::none, {entry}}};
}}
RB_CHECK_ENTRY(forgotten)
RB_NAMESPACE_END
'''
    done = subprocess.run([COMPILER, "-std=c++20", "-fsyntax-only", "-I", KERNELS, "-x", "c++", "-"], input=source, text=True,
                          capture_output=True)
    return done.stderr


class Registry(unittest.TestCase):
    def test_every_entry_has_its_line(self):
        entries = {name for path in (KERNELS / "rattleback/methods").rglob("*entry.hpp")
                   for name in re.findall(r"^inline constexpr MethodEntry (\w+)", path.read_text(), re.M)}
        lines = re.findall(r"^  X\((\w+),", (KERNELS / "rattleback/builtin/methods.hpp").read_text(), re.M)
        self.assertEqual(sorted(lines), sorted(entries))

    def test_an_entry_without_header_or_step_is_named(self):
        page = (ROOT / "docs/development/adding.md").read_text()
        header, step = '.header = "rattleback/methods/lobatto/lobatto.hpp"', '.step = "LobattoStep<T, System, Cay, 2>"'
        self.assertEqual(compiles(f"{header}, {step}"), "")
        for entry, lacks in ((step, "header"), (header, "step")):
            said = re.search(rf"the entry 'forgotten' has no {lacks}: [^\"\n]*", compiles(entry))
            self.assertTrue(said, f"no message about the {lacks}")
            self.assertIn(said[0].replace("forgotten", "my_method").rstrip(), page)


if __name__ == "__main__":
    unittest.main()
