#!/usr/bin/python3
"""The numbers of the five papers (examples/papers).  papers_test.py PROGRAM [--full]

Every number is reproduced, or its README tells why it differs; every line of the README's tables is what the program gives."""
import os, pathlib, re, sys, tempfile, unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "examples/papers"))
sys.dont_write_bytecode = True
import reproduce  # noqa: E402

PROGRAM, FULL = "", False


class Papers(unittest.TestCase):
    def reproduced(self, key, least):
        numbers = list(reproduce.numbers_of(PROGRAM, key, FULL))
        self.assertGreaterEqual(len(numbers), least)
        readme = (reproduce.HERE / key / "README.md").read_text()
        for number in numbers:
            place = f"{key}: {number.table}: {number.what}"
            with self.subTest(place):
                self.assertTrue(number.holds(), f"{place}: {number.ours!r} instead of {number.expected!r}")
                self.assertTrue(number.why or not number.differs(), f"{place}: {number.ours!r} is not {number.paper}, without a reason")
                self.assertIn(f"### {number.table}\n", readme)
                if not number.below and "Plot of energies" not in number.table:  # digits of chaotic runs may differ
                    self.assertIn(number.row(), readme, f"{place}: the README has another row")

    def test_brugnano2018(self):
        self.reproduced("brugnano2018", 170)

    def test_kinon2023(self):
        self.reproduced("kinon2023", 95)

    def test_bogfjellmo2016(self):
        self.reproduced("bogfjellmo2016", 20)

    def test_martindediego2018(self):
        self.reproduced("martindediego2018", 23)

    def test_patrick2009(self):
        self.reproduced("patrick2009", 12)

    def test_every_paper_has_a_folder(self):
        self.assertEqual(reproduce.keys(), sorted(name[5:] for name in dir(self) if re.fullmatch(r"test_[a-z]+\d{4}", name)))
        for key in reproduce.keys():
            self.assertIn(f"{key}/README.md", (reproduce.HERE / "README.md").read_text())

    def test_every_paper_has_figures(self):
        for key in reproduce.keys():
            self.assertGreaterEqual(len(reproduce.figures_of(key)), 2)
        with tempfile.TemporaryDirectory() as folder:
            drawn = reproduce.draw(PROGRAM, "patrick2009", pathlib.Path(folder))
            self.assertEqual([file.read_text()[:5] for file in drawn], ["<?xml"] * 2)

    def test_a_wrong_number_is_found(self):
        number = reproduce.Number("Table", "what", "1.2345e-03", 1.2345e-03, 1.2345e-03, 1e-5)
        self.assertTrue(number.holds() and not number.differs())
        number.ours = 1.2400e-03
        self.assertTrue(number.differs() and not number.holds())
        self.assertFalse(reproduce.Number("Table", "bound", "", 2e-13, 1e-13, below=True).holds())
        self.assertFalse(reproduce.Number("Table", "nan", "", float("nan"), 1e-13, below=True).holds())


if __name__ == "__main__":
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    if "--full" in sys.argv:
        sys.argv.remove("--full")
        FULL = True
    unittest.main()
