#!/usr/bin/env python3
"""What the documentation says of the program: the options of the methods, and tables that are whole.  docs_test.py PROGRAM"""
import itertools, json, pathlib, re, subprocess, sys, tempfile, unittest

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


def demo_rows(text):
    """{(row, place): (value, error)} of the two tables that tools/demo prints: values with errors, then rates with errors."""
    found = {}
    for line in text.splitlines():
        label = re.match(r"\s*(chaotic-energy, \w+, s = \d, h = 0\.1)\s+(\S.*)", line)
        if not label:
            continue
        words = label[2].split()
        if "(" in words[0]:
            for i, word in enumerate(words):
                value, digits, exponent = re.fullmatch(r"(-?[\d.]+)\((\d+)\)(e[+-]\d+)", word).groups()
                scale = 10.0 ** -len(value.partition(".")[2])
                found[label[1], i] = float(value + exponent), int(digits) * scale * float("1" + exponent)
        else:
            numbers = list(map(float, words))
            found[label[1], "rate"], found[label[1], "a"] = numbers[:2], numbers[2:]
    return found


class Docs(unittest.TestCase):
    def test_numbers_of_the_readme(self):
        demo = (ROOT / "tools/demo").read_text()
        fit = re.search(r"--set '(fit=.*?)'", demo)[1]
        plot = re.search(r'plot "\$\{files\[@\]\}" (.*?) \\\n', demo)[1].split()
        with tempfile.TemporaryDirectory() as folder:
            files = []
            for variant, stages in itertools.product(("printed", "contact"), (2, 3)):
                files.append(f"{folder}/{variant}-{stages}.h5")
                subprocess.run([PROGRAM, "run", ROOT / "examples/chaotic.toml", "--set", f"system.variant={variant}", "--set",
                                f"method.stages={stages}", "--set", fit, "-o", files[-1], "--quiet"], check=True)
            drawn = subprocess.run([PROGRAM, "plot", *files, *plot, "-o", f"{folder}/chaotic.svg"], check=True,
                                   capture_output=True, text=True)
        found, stated = demo_rows(drawn.stdout), demo_rows((ROOT / "README.md").read_text())
        self.assertEqual(len(stated), 4 * 6)
        self.assertEqual(set(found), set(stated))
        for place, (value, error) in stated.items():
            other, its_error = found[place]
            # Two builds with other last bits have other chaotic trajectories: the errors of both count.
            self.assertLessEqual(abs(other - value), 4.0 * (error ** 2 + its_error ** 2) ** 0.5, f"README.md: {place}")
            self.assertTrue(0.5 < its_error / error < 2.0, f"README.md: error of {place}")

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
        for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
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
