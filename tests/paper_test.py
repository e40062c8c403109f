#!/usr/bin/python3
"""The draft in docs/paper: its numbers are those of bench/results, its references are complete, and its parts are those that the Journal
of Open Source Software asks for.  paper_test.py PROGRAM"""
import pathlib, re, sys, tomllib, unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "support"))
from program import ROOT, cells

PAPER = (ROOT / "docs/paper/paper.md").read_text()
FAST = ROOT / "bench/results/peers/amd-epyc-avx512.md"
EVERY = ROOT / "bench/results/peers/amd-epyc-avx512-all.md"
LOBATTO = {"s3", "s4", "s5", "s6"}


def seconds(path, system):
    """{(peer, method): seconds, or None where the error was not reached, for the errors 1e-4, 1e-8, 1e-12} of work and precision."""
    table = path.read_text().split(f"## {system}: work and precision\n")[1].split("\n## ")[0]
    rows = [cells(line) for line in table.splitlines() if line.startswith("| ")][1:]
    return {(row[0], row[1]): [None if "not" in cell else float(cell.split()[0]) for cell in row[3:6]] for row in rows if "---" not in row[0]}


def best(found, keep):
    """The smallest of each column among the rows for which `keep` holds."""
    rows = [row for key, row in found.items() if keep(*key)]
    return [min((row[i] for row in rows if row[i] is not None), default=None) for i in range(3)]


def rounded(numbers):
    return ["-" if number is None else f"{number:.2g}" for number in numbers]


class Paper(unittest.TestCase):
    def test_table_of_peers(self):
        table = {row[0]: row[1:] for row in (cells(line) for line in PAPER.splitlines() if line.startswith("| ")) if len(row) == 7}
        henon, double = seconds(FAST, "henon-heiles"), seconds(FAST, "double-spherical-pendulum")
        every = seconds(EVERY, "double-spherical-pendulum")
        of_peer = lambda name: lambda peer, method: peer == name
        rows = {
            "rattleback, the best method": (of_peer("rattleback"), None),
            "rattleback, the best Lobatto pair": (lambda peer, method: peer == "rattleback" and method in LOBATTO, None),
            "heyoka.py": (of_peer("heyoka.py"), None),
            "Boost.odeint": (of_peer("Boost.odeint"), None),
            "Diffrax": (None, ("Diffrax", "Dopri8")),
            "SciPy": (None, ("SciPy", "DOP853")),
        }
        for name, (keep, only) in rows.items():
            (row,) = [numbers for title, numbers in table.items() if title.startswith(name)]
            expected = rounded(best(henon, keep)) + rounded(best(double, keep)) if keep else ["", "", ""] + rounded(every[only])
            self.assertEqual([cell if cell in ("", "-") else f"{float(cell):.2g}" for cell in row], expected, name)
        pendulums = [double, seconds(FAST, "double-pendulum")]
        ratios = [ours / theirs for found in pendulums for ours, theirs in
                  zip(best(found, lambda peer, method: method in LOBATTO), best(found, of_peer("heyoka.py"))) if theirs is not None]
        self.assertIn(f"take {min(ratios):.1f} to {max(ratios):.1f} times as long as heyoka on the pendulums", " ".join(PAPER.split()))

    def test_numbers_of_the_gpu_and_of_the_rates(self):
        text = " ".join(PAPER.split())
        rows = [cells(line) for line in (ROOT / "bench/results/gpu-h100.md").read_text().splitlines() if line.startswith("| chaotic printed m = 3 ")]
        two, three = ([row for row in rows if row[1].endswith(f"s = {s}")][0] for s in (2, 3))

        def power(number):
            digits, exponent = f"{float(number):.1e}".split("e")
            return f"{digits} \\cdot 10^{int(exponent)}" if abs(int(exponent)) < 10 else f"{digits} \\cdot 10^{{{int(exponent)}}}"

        self.assertIn(f"${power(two[4])}$ explicit two-stage steps and ${power(three[4])}$ three-stage steps", text)
        self.assertIn(f"which is {two[5]} and {three[5]} of the rate of its fused multiply-adds", text)
        rate, error = re.search(r"contact, s = 3, h = 0\.1 +([\d.]+e-\d+) +([\d.]+e-\d+)", (ROOT / "docs/learn/main-study.md").read_text()).groups()
        self.assertIn(f"${float(rate) * 1e6:.2f}({float(error) * 1e8:.0f}) \\cdot 10^{{-6}}$", text)
        (contact,) = [cells(line) for line in (ROOT / "bench/results/rates.md").read_text().splitlines() if line.startswith("| contact, s = 3 ")]
        self.assertIn(f"would have been {float(contact[-1]):.0f} times too small", text)

    def test_references_and_parts(self):
        entries = re.findall(r"^@(\w+)\{(\w+), (.*)\}$", (ROOT / "docs/paper/paper.bib").read_text(), re.M)
        self.assertEqual(sorted(key for _, key, _ in entries), sorted(set(re.findall(r"@(\w+)", PAPER))), "cited, and in paper.bib")
        program = {entry["key"]: entry for entry in tomllib.loads((ROOT / "host/rattleback/study/references.toml").read_text())["reference"]}
        for kind, key, fields in entries:
            if key in program:
                for field in ("year", "doi"):
                    self.assertIn(f"{field} = {{{program[key][field]}}}", fields, key)
            for field in ("author", "title", "year", "doi", *(["journal"] if kind == "article" else [])):
                self.assertRegex(fields, rf"\b{field} = \{{[^}}]", key)
        for field in ("title", "tags", "authors", "affiliations", "date", "bibliography"):
            self.assertRegex(PAPER.split("---")[1], rf"(?m)^{field}:")
        for part in ("Summary", "Statement of need", "State of the field", "AI usage disclosure", "Acknowledgements", "References"):
            self.assertIn(f"\n# {part}\n", PAPER)
        body = PAPER.split("---", 2)[2].split("# References")[0]
        self.assertTrue(250 < len(body.split()) < 1750, f"{len(body.split())} words")


if __name__ == "__main__":
    unittest.main()
