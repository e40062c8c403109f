#!/usr/bin/env python3
"""What the documentation says of the program: the options of the methods, and tables that are whole.  docs_test.py PROGRAM"""
import json, pathlib, re, subprocess, sys, unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAM = ""


def ask(*words):
    return json.loads(subprocess.run([PROGRAM, *words, "--json"], check=True, capture_output=True, text=True).stdout)


def cells(line):
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


def options_documented():
    """{method: {option: default}} from the table of docs/study-file.md; a row without a method belongs to those above."""
    found, methods, within = {}, [], False
    for line in (ROOT / "docs/study-file.md").read_text().splitlines():
        if line.startswith("| method | option |"):
            within = True
        elif within and not line.startswith("|"):
            break
        elif within and "---" not in line:
            method, option, default, _ = cells(line)
            methods = re.findall(r"`([\w-]+)`", method) or methods
            for name in re.findall(r"`(\w+)`", option):
                for each in methods:
                    found.setdefault(each, {})[name] = default.strip("`")
    return found


def text_of(value):
    return json.dumps(value) if not isinstance(value, float) or value != int(value) else str(int(value))


class Docs(unittest.TestCase):
    def test_options_of_methods(self):
        documented = options_documented()
        for method in ask("list")["methods"]:
            options = {o["name"]: o for o in ask("describe", method["name"])["options"] if not o["name"].startswith("solver.")}
            told = documented.get(method["name"], {})
            self.assertEqual(set(told), set(options), f"docs/study-file.md: options of {method['name']}")
            for name, option in options.items():
                if "default" in option and not told[name].startswith(("none", "that of")):
                    self.assertEqual(json.loads(told[name]), option["default"], f"docs/study-file.md: {method['name']}, {name}")

    def test_statistics_and_observables(self):
        results, studies = ((ROOT / "docs" / name).read_text() for name in ("results.md", "study-file.md"))
        table = results[results.index("| statistic | |"):].split("\n\n")[0]
        for statistic in ask("list", "statistics")["statistics"]:
            self.assertIn(f"`{statistic['name']}`", table, "docs/results.md: statistics")
        for observable in ask("list", "observables")["observables"]:
            self.assertIn(f"`{observable['name']}`", studies, "docs/study-file.md: observables")

    def test_tables_are_whole(self):
        for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
            width, code = 0, False
            for number, line in enumerate(path.read_text().splitlines(), 1):
                code ^= line.startswith("```")
                place = f"{path.name}:{number}"
                if code or not line.startswith("|"):
                    if width and line.strip() and not code:
                        self.fail(f"{place}: a line within a table, or directly below it")
                    width = 0
                    continue
                self.assertTrue(line.rstrip().endswith("|"), f"{place}: a row without an end")
                count = len(cells(line))
                self.assertTrue(width in (0, count), f"{place}: {count} cells, not {width}")
                width = count


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
