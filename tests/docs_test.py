#!/usr/bin/python3
"""What the documentation says of the program, compared with what the program says and does: options with their ranges and choices,
groups, status bits, commands, methods that continue a result; and tables that are whole.  docs_test.py PROGRAM"""
import itertools, json, math, pathlib, re, subprocess, sys, tempfile, tomllib, unittest

import h5py

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "support"))
from program import PROGRAM, ROOT, STUDY, ask, cells, methods

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def options_documented():
    """{method: {option: (default, text)}} from the table of docs/study-file.md; a row without a method belongs to those above."""
    found, methods, within = {}, [], False
    for line in (ROOT / "docs/study-file.md").read_text().splitlines():
        if line.startswith("| method | option |"):
            within = True
        elif within and not line.startswith("|"):
            break
        elif within and "---" not in line:
            method, option, default, text = cells(line)
            methods = re.findall(r"`([\w-]+)`", method) or methods
            for name in re.findall(r"`(\w+)`", option):
                for each in methods:
                    found.setdefault(each, {})[name] = default.strip("`"), text
    return found


def words_of(text):
    """The quoted words of a text; "gauss1" to "gauss4" are four."""
    found = set(re.findall(r'"([\w-]+)"', text))
    for stem, first, last in re.findall(r'"([a-z]+)(\d+)"`? to `?"\1(\d+)"', text):
        found |= {f"{stem}{number}" for number in range(int(first), int(last) + 1)}
    return found


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
    def test_numbers_of_the_main_study(self):
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
        found, stated = demo_rows(drawn.stdout), demo_rows((ROOT / "docs/learn/main-study.md").read_text())
        self.assertEqual(len(stated), 4 * 6)
        self.assertEqual(set(found), set(stated))
        for place, (value, error) in stated.items():
            other, its_error = found[place]
            # Two builds with other last bits have other chaotic trajectories: the errors of both count.
            self.assertLessEqual(abs(other - value), 4.0 * (error ** 2 + its_error ** 2) ** 0.5, f"main-study.md: {place}")
            self.assertTrue(0.5 < its_error / error < 2.0, f"main-study.md: error of {place}")

    def test_numbers_of_the_paper(self):
        """The draft of the paper has the numbers of the pages on performance and on the main study, and cites what it lists."""
        paper, bibliography = ((ROOT / "docs/paper" / name).read_text() for name in ("paper.md", "paper.bib"))
        measured = {row[0]: row[1:4] + row[7:10] for row in map(cells, (ROOT / "docs/development/performance.md").read_text().splitlines()) if len(row) == 10}
        rows = [row for row in map(cells, paper.splitlines()) if len(row) == 7 and row[0] and "---" not in row[0]]
        self.assertGreater(len(rows), 4)
        for name, *numbers in rows:
            self.assertEqual(numbers, measured[re.sub(r" \d+\.\d+(?=,| |$)", "", name)], name)
        value, error = demo_rows((ROOT / "docs/learn/main-study.md").read_text())["chaotic-energy, contact, s = 3, h = 0.1", "rate"]
        self.assertIn(f"{value * 1e6:.2f}({error * 1e8:.0f})", paper)
        cited = set(re.findall(r"@(\w+)", paper))
        self.assertEqual(cited, set(re.findall(r"^@\w+\{(\w+),", bibliography, re.M)))

    def test_numbers_of_the_comparison(self):
        """README.md and the page on performance have the numbers of a run of bench/peers/run, rounded."""
        best, system = {}, None
        for line in (ROOT / "bench/results/peers/amd-epyc-avx512-bodies.md").read_text().splitlines():
            system = line[3:].split(":")[0] if line.startswith("## ") else system
            for target, text in zip((4, 8, 12), cells(line)[3:] if line.startswith("| ") and len(cells(line)) == 6 else ()):
                if number := re.match(r"([\d.e+]+) \(", text):
                    key = (cells(line)[0].split(".")[0].split()[0], system, target)
                    if not re.search("plain|Radau", cells(line)[1]):
                        best[key] = min(float(number[1]), best.get(key, math.inf))
        compared = 0
        for page, columns in (("README.md", {-2: ("double-pendulum", 8), -1: ("three-bodies", 8)}),
                              ("docs/development/performance.md", dict(zip(range(1, 7), itertools.product(("double-pendulum", "three-bodies"), (4, 8, 12)))))):
            for row in map(cells, (ROOT / page).read_text().split("avx512-bodies.md")[-1].splitlines()):
                name = row[0].strip("*").split(",")[0].split(".")[0].split()[0] if row[0] else ""
                if len(row) == (6 if page == "README.md" else 7) and "Lobatto" not in row[0] and any(key[0] == name for key in best):
                    for column, (system, target) in columns.items():
                        found = best.get((name, system, target))
                        if re.fullmatch(r"[\d.]+", row[column]):
                            self.assertLess(abs(float(row[column]) / found - 1.0), 0.03, f"{page}: {row[0]}, {system}, 1e-{target}")
                            compared += 1
                        else:
                            self.assertIsNone(found, f"{page}: {row[0]}, {system}, 1e-{target}")
        self.assertGreater(compared, 35)

    def test_system_of_the_front_pages(self):
        """README.md and docs/index.md show the system of the template whose motion they show."""
        there = tomllib.loads((ROOT / "src/commands/templates/nonholonomic.toml").read_text())["system"]
        for page in ("README.md", "docs/index.md"):
            shown, = re.findall(r"^```toml\n(.*?)^```", (ROOT / page).read_text(), re.M | re.S)
            self.assertEqual(tomllib.loads(shown)["system"] | {"initial": there["initial"]}, there, page)

    def test_options_of_methods(self):
        documented = options_documented()
        for method in methods():
            options = {o["name"]: o for o in ask("describe", method)["options"] if not o["name"].startswith("solver.")}
            told = documented.get(method, {})
            self.assertEqual(set(told), set(options), f"docs/study-file.md: options of {method}")
            for name, option in options.items():
                default, text = told[name]
                place = f"docs/study-file.md: {method}, {name}"
                if "default" in option and not default.startswith(("none", "that of")):
                    self.assertEqual(json.loads(default), option["default"], place)
                if option["kind"] == "integer":
                    # "1 to 4: .."; "`s` to 12" names another option
                    stated = re.match(r"(-?\d+|`\w+`) to (\d+)\b", text)
                    self.assertTrue(stated, f"{place}: no range")
                    self.assertEqual(int(stated[2]), option["maximum"], place)
                    if not stated[1].startswith("`"):
                        self.assertEqual(int(stated[1]), option["minimum"], place)
                if "methods.md#" in text:  # a section that has them
                    text = re.sub(r"`([\w-]+)`", r'"\1"', (ROOT / "docs/methods.md").read_text())
                if option["kind"] == "choice" and "as above" not in text:
                    self.assertEqual(set(option["choices"]) - words_of(f"{default} {text}") - {"given"}, set(), place)

    def test_options_of_the_solver(self):
        rows = re.findall(r"^\| `solver\.(\w+)` \| `(.*?)` \| (.*) \|$", (ROOT / "docs/study-file.md").read_text(), re.M)
        told = {name: (json.loads(default), set(re.findall(r"`([a-z][\w-]+)`", text)) & set(methods())) for name, default, text in rows}
        having = {name: set() for name in told}
        for method in methods():
            for option in ask("describe", method)["options"]:
                if option["name"].startswith("solver."):
                    name = option["name"][7:]
                    having[name].add(method)
                    self.assertEqual(told[name][0], option["default"], f"docs/study-file.md: {method}, {option['name']}")
        for name, (_, listed) in told.items():
            self.assertEqual(having[name], listed or set(methods()), f"docs/study-file.md: which methods have solver.{name}")

    def test_functions_of_expressions(self):
        """Every function that a page lists is one of the program, and both pages list the same."""
        lists = {"study-file.md": r"- functions: (.*?)\.\n", "formulas.md": r"- Functions: (.*?) are not smooth"}
        named = {name: set(re.findall(r"`([a-z]+\d*)`", re.search(pattern, (ROOT / "docs" / name).read_text(), re.S)[1]))
                 for name, pattern in lists.items()}
        self.assertEqual(*named.values(), "docs/study-file.md, docs/formulas.md")
        binary = {"atan2", "min", "max"}
        terms = [f"0 {name}({1.5 if name == 'acosh' else 0.5}{', 0.25' if name in binary else ''})" for name in sorted(named["formulas.md"])]
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "study.toml").write_text(STUDY)
            done = subprocess.run([PROGRAM, "check", "study.toml", "--set", "time.start=" + " + ".join(terms)], cwd=folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_folds_of_the_cayley_map(self):
        source = (ROOT / "kernels/rattleback/lie/fold.hpp").read_text()
        folds = ", ".join(f"{float(fold):.3f}" for fold in re.findall(r"\b\d\.\d{8,}", source))
        for name in ("methods.md", "conventions.md"):
            self.assertIn(folds, (ROOT / "docs" / name).read_text(), name)

    def test_ranges_in_prose(self):
        """`option`, A to B .. on any page is the range of this option of some method; ranges are written with "to"."""
        ranges = {}
        for method in methods():
            for option in ask("describe", method)["options"]:
                if option.get("kind") == "integer":
                    ranges.setdefault(option["name"], set()).add((int(option["minimum"]), int(option["maximum"])))
        count = 0
        for path in PAGES:
            text = path.read_text()
            for name, first, last in re.findall(r"`(\w+)`(?: =|,)?\s+(\d+)(?: to |\.\.| \.\. )(\d+)", text):
                if name in ranges:
                    count += 1
                    self.assertIn((int(first), int(last)), ranges[name], f"{path.name}: {name}")
            self.assertNotRegex(text, r"`(stages|k|s|cutoff)` = \d", f"{path.name}: a range of an option")
        self.assertGreaterEqual(count, 1)
        (first, last), = [r for r in ranges["stages"] if r[1] > 4]
        (_, gauss), = [r for r in ranges["stages"] if r[1] <= 4]
        (_, coefficients), = ranges["s"]
        compositions = next(o for o in ask("describe", "lobatto")["options"] if o["name"] == "composition")["choices"]
        composed = max(int(re.search(r"\d+", name)[0]) for name in compositions if name != "none")
        table = (ROOT / "docs/learn/choosing.md").read_text()
        self.assertIn(f"compositions up to order {composed}, `hbvm` up to order {2 * coefficients} |", table)
        self.assertIn(f"symplectic, up to order {2 * gauss} |", table)
        pages = {name: (ROOT / name).read_text() for name in ("README.md", "docs/methods.md", "docs/conventions.md")}
        self.assertIn(f"even orders {2 * first - 2} to {2 * last - 2}", pages["README.md"])
        self.assertRegex(pages["docs/methods.md"], rf"for \$s = {first}\$\s+to {last}, each to the nearest double")
        self.assertRegex(pages["docs/methods.md"], rf"\$s = {first}, \\dots, {last}\$")
        self.assertRegex(pages["docs/conventions.md"], rf"Lobatto pairs of {first} to {last} stages")

    def test_datasets_of_a_result(self):
        """Every dataset and attribute of a result is in the tables of results.md, and what they list is in a result that has everything."""
        page = (ROOT / "docs/results.md").read_text()
        table = page[page.index("| dataset | shape | |"):].split("\n\n")[0]
        patterns = {}
        for path in re.findall(r"`(/[^`]*)`", "\n".join(cells(line)[0] for line in table.splitlines())):
            text = re.sub(r"\{([\w,]+)\}", lambda match: f"({match[1].replace(',', '|')})", path.replace("..", "[^ ]+"))
            patterns[path] = re.sub(r"\b[A-Z]+(?=$|/|_error)|(?<=_)(?:OTHER|BY)", r"[^/]+", text)
        settings = ["time={step=0.1, end=2.0, sample_every=5}", "ensemble.axes=[{name='theta', from=0.0, to='pi/2', count=8}, {name='g', values=[1, 2]}]",
                    "ensemble.group_by=['g']", "output={trajectories=[0], covariance=['q']}", "fit=[{name='f', observable='energy'}]",
                    "observable=[{name='energy', reference=3.06, statistics=['mse', 'mean', 'max'], quantiles=[0.5], values=true, "
                    "histogram={from=3, to=4, bins=4}, correlation=['constraint']}, {name='constraint', statistics=['max']}]", "derivatives.by=['theta']",
                    "average=[{name='a', formula='q[0]', quantiles=[0.5], histogram={from=0, to=1, bins=2}}]"]
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([PROGRAM, "run", ROOT / "examples/chaotic.toml", "-o", f"{folder}/r.h5", "--quiet",
                            *[word for setting in settings for word in ("--set", setting)]], check=True, capture_output=True)
            with h5py.File(f"{folder}/r.h5") as result:
                paths, attributes = [], set(result.attrs)
                result.visititems(lambda path, item: paths.append("/" + path) if isinstance(item, h5py.Dataset)
                                  and b"not a netCDF variable" not in item.attrs.get("NAME", b"") else None)
        for path in paths:
            self.assertTrue(any(re.fullmatch(pattern, path) for pattern in patterns.values()), f"docs/results.md lacks {path}")
        absent = [path for path, pattern in patterns.items() if not any(re.fullmatch(pattern, there) for there in paths)]
        self.assertEqual([path for path in absent if not re.match("/sections|/stops|/fates|/maps|/derivatives/BY/time|/final/(lyapunov|stop|time|fate|orbit)", path)], [], "docs/results.md: not in a result")
        told = re.search(r"^Attributes of `/`: (.*?)\n\n", page, re.M | re.S)[1]
        self.assertEqual(attributes - set(re.findall(r"`(\w+)`", told)), set(), "docs/results.md: attributes")

    def test_groups_of_formulas(self):
        told = re.sub(r"\s+", " ", (ROOT / "README.md").read_text())
        self.assertIn("products of SO(3), SE(3), SE(2), S^1 and R^n in any order", told)
        formulas = (ROOT / "docs/formulas.md").read_text()
        section = formulas[formulas.index("## Groups and bodies"):]
        groups = re.findall(r'`"([^`"]+)"`', section[:section.index("\n\n| factor")])
        self.assertGreater(len(groups), 5)
        names = {row[0]: set(re.findall(r"`(\w+)`", " ".join(row[1:3]))) for row in re.findall(r"^\| `(S[OE^].*?)` \| (.*?) \| (.*?) \|", section, re.M)}
        self.assertEqual(set(names), {"SO(3)", "SE(3)", "SE(2)", "S^1"})
        for group in [*groups, *names]:
            with self.subTest(group), tempfile.TemporaryDirectory() as folder:
                study = pathlib.Path(folder) / "study.toml"
                size = sum(int(n) for n in re.findall(r"R\^(\d)", group))
                system = f'name = "t"\ngroup = "{group}"\ndimensions = {{ k = 2 }}\ncoordinates = ["s[1..{size}]"]'
                study.write_text(STUDY.replace('name = "kepler"', system))
                done = subprocess.run([PROGRAM, "describe", study, "--header"], capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                for name in names.get(group, ()):
                    self.assertRegex(done.stdout, rf"\b{name}\b")

    def test_methods_are_listed(self):
        table = (ROOT / "docs/methods.md").read_text().split("\n\n")[1]
        self.assertEqual(set(re.findall(r"`([\w-]+)`", table.replace("`, `", "`\n`"))), set(methods()), "docs/methods.md: the first table")

    def test_commands_are_listed(self):
        text = subprocess.run([PROGRAM, "--help"], check=True, capture_output=True, text=True).stdout
        commands = set(re.findall(r"^  ([a-z]+) +\S", text[text.index("Subcommands:"):], re.M))
        listed = set(re.findall(r"^    rattleback ([a-z]+) ", (ROOT / "docs/commands/index.md").read_text(), re.M))
        self.assertEqual(listed, commands, "docs/commands/index.md")

    def test_continuation_and_status(self):
        """group = "/final" continues a run to the bit; what other methods do not take; the bits of a status."""
        page = re.sub(r"\s+", " ", (ROOT / "docs/study-file.md").read_text())
        sentence = re.search(r"The final states of (.*?) satisfy the constraints only", page)[1]
        excepted = set(re.findall(r"`([\w-]+)`", sentence))
        anew = set(re.findall(r"`([\w-]+)`", re.search(r"This does not hold for (.*?): it starts anew", page)[1]))
        refused = set()
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            first = (ROOT / "examples/ggl-pendulum.toml").read_text()
            (folder / "first.toml").write_text(first)
            (folder / "next.toml").write_text(re.sub(r"(?s)\[ensemble\.initial\].*?\n\n", '[ensemble]\nfile = "first.h5"\ngroup = "/final"\n\n', first))

            def run(study, method, steps, out):
                words = [f"method.name={method}", f"time.steps={steps}", f"time.sample_every={steps}"]
                return subprocess.run([PROGRAM, "run", study, "-o", out, "--quiet", *[w for word in words for w in ("--set", word)]],
                                      cwd=folder, capture_output=True, text=True)

            for method in ask("describe", "spherical-pendulum")["instances"][0]["methods"]:
                with self.subTest(method):
                    for study, steps, out in (("first.toml", 20, "whole.h5"), ("first.toml", 10, "first.h5")):
                        done = run(study, method, steps, out)
                        self.assertEqual(done.returncode, 0, done.stderr)
                    if run("next.toml", "holonomic-lobatto", 10, "next.h5").returncode == 2:
                        refused.add(method)
                    done = run("next.toml", method, 10, "next.h5")
                    self.assertEqual(done.returncode, 0, done.stderr)
                    with h5py.File(folder / "whole.h5") as whole, h5py.File(folder / "next.h5") as rest:
                        for part in "qp":
                            same = (whole["/final/" + part][...] == rest["/final/" + part][...]).all()
                            self.assertEqual(same, method not in anew, f"{method}: {part}")
            with h5py.File(folder / "whole.h5") as result:
                bits = {name[4:] for name in result["/final/status"].attrs if name.startswith("bit ")}
        self.assertEqual(refused, excepted, "docs/study-file.md: what other methods refuse")
        results = (ROOT / "docs/results.md").read_text()
        told = set(re.findall(r"^\| (\d+) \| ", results[results.index("## Status"):results.index("## Statistics")], re.M))
        self.assertEqual(told, bits, "docs/results.md: status")

    def test_statistics_and_observables(self):
        results, studies = ((ROOT / "docs" / name).read_text() for name in ("results.md", "study-file.md"))
        table = results[results.index("| statistic | |"):].split("\n\n")[0]
        for statistic in ask("list", "statistics")["statistics"]:
            self.assertIn(f"`{statistic['name']}`", table, "docs/results.md: statistics")
        for observable in ask("list", "observables")["observables"]:
            self.assertIn(f"`{observable['name']}`", studies, "docs/study-file.md: observables")

    def test_releases(self):
        """The table of releases, the changelog, the build and the citation name the same versions, and git has the commits."""
        versions = re.findall(r"^## ([\d.]+)", (ROOT / "CHANGELOG.md").read_text(), re.M)
        rows = re.findall(r"^\| ([\d.]+) \| ([\d-]+) \| `(\w+)` \| (\S+) \|$", (ROOT / "docs/development/releases.md").read_text(), re.M)
        self.assertEqual([row[0] for row in rows], versions)
        self.assertIn(f"project(rattleback VERSION {versions[0]} ", (ROOT / "CMakeLists.txt").read_text())
        self.assertIn(f"\nversion: {versions[0]}\n", (ROOT / "CITATION.cff").read_text())
        self.assertEqual(json.loads((ROOT / "codemeta.json").read_text())["version"], versions[0])
        self.assertIn(f'version: "{versions[0]}"', (ROOT / "packaging/conda/recipe.yaml").read_text())
        git = lambda *words: subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True)
        for version, date, commit, tag in rows:
            self.assertIn(tag, ("none", f"v{version}"))
            if git("cat-file", "-e", commit).returncode == 0:  # an archive of the sources has no history
                self.assertEqual(git("log", "-1", "--format=%cs", commit).stdout.strip(), date)
                self.assertIn(f"VERSION {version} ", git("show", f"{commit}:CMakeLists.txt").stdout)
                self.assertEqual(bool(git("tag", "-l", f"v{version}").stdout), tag != "none")

    def test_tables_are_whole(self):
        for path in PAGES:
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
    unittest.main()
