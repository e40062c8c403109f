#!/usr/bin/python3
"""Nonholonomic methods over long times: the tables of examples/nonholonomic-families, motions that contract, and the rattleback against an
independent integration.  families_test.py PROGRAM"""
import pathlib, sys, tempfile, unittest

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "examples/nonholonomic-families"), str(ROOT / "tests/support")]
sys.dont_write_bytecode = True
import compare  # noqa: E402
import rolling_body  # noqa: E402

PROGRAM = ""
README = (compare.HERE / "README.md").read_text()
# What docs/learn/nonholonomic.md recommends for motions that contract.
LASTING = ["SPARK, 3 stages", "leapfrog", "DLA midpoint", "energy"]
VARYING_MASS = [scheme for scheme in LASTING if scheme != "energy"]


class Families(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.lab = compare.Lab(PROGRAM, compare.HERE, pathlib.Path(cls.scratch.name))

    def expect_rows(self, table, schemes):
        """These rows of a table are those of the README."""
        for found in compare.TABLES[table](self.lab, False, schemes):
            stated = compare.cells_of(README, found.title)
            self.assertLessEqual(set(schemes), set(found.rows))
            for row, cells in found.rows.items():
                self.assertTrue(found.agrees(row, stated), f"{found.title}: {row}: {cells}, not {stated.get(row)}")

    def test_rows_of_growth(self):
        self.expect_rows("growth", ["Lobatto, 2 stages", "leapfrog", "DLA midpoint"])

    def test_rows_of_the_cvt(self):
        self.expect_rows("cvt", ["Lobatto, 2 stages", "leapfrog", "energy"])

    def test_rows_of_motions_that_contract(self):
        self.expect_rows("contracting", ["Lobatto, 2 stages", *LASTING])

    def test_every_scheme_has_its_rows(self):
        titles = [line[4:] for line in README.splitlines() if line.startswith("### ")]
        self.assertEqual(len(titles), 7)  # two of growth with rates
        for title in titles:
            rows = set(compare.cells_of(README, title))
            wanted = set(compare.SCHEMES) - (set(compare.LONG) if "8192" in title else set())
            self.assertEqual(rows - {"fine run"}, set(compare.GROUP_SCHEMES) if "on groups" in title else wanted, title)

    def test_the_page_has_the_summary(self):
        page = (ROOT / "docs/learn/nonholonomic.md").read_text()
        self.assertIn(compare.summary(README), page)

    def test_another_number_is_found(self):
        self.assertTrue(compare.same("1.96e-5, +0.9676", "1.95e-5, +0.9675", 1e-11))
        self.assertFalse(compare.same("1.96e-5, +0.9676", "1.76e-5, +0.9676", 1e-11))
        self.assertFalse(compare.same("1.96e-5, +0.9676", "1.96e-5, -0.9676", 1e-11))
        self.assertFalse(compare.same("parasitic, t = 15", "1.96e-5, -0.9676", 1e-11))

    def test_motions_go_the_right_way(self):
        """Energy errors as small as the orders say, and the direction of the exact motion, for each method that the page recommends."""
        for study, end, schemes, bound, forward in (("sleigh", 100.0, LASTING, 1e-4, 0.9539392014169456), ("roller-racer", 100.0, LASTING, 3e-4, 0.96724)):
            for scheme in schemes:
                with self.subTest(study=study, scheme=scheme):
                    r = self.lab.run(study, compare.method(scheme), f"time={{step=0.05, end={end}, sample_every=1}}", *compare.SINGLE if study == "roller-racer" else ())
                    self.assertTrue((r.statistic("energy", "count") == 1).all())
                    self.assertLess(r.statistic("energy", "maxabs").max(), bound)
                    self.assertAlmostEqual(r.statistic("forward", "mean")[-1], forward, delta=1e-3)

    def test_the_sleigh_with_a_mass_matrix_that_varies(self):
        """examples/sleigh.toml twenty times as long: each of the ten sleighs goes straight ahead in the end, with all its energy."""
        for scheme in VARYING_MASS:
            with self.subTest(scheme=scheme):
                r = self.lab.run("sleigh-of-the-catalogue", compare.method(scheme))
                self.assertEqual(r.statistic("energy", "count")[-1], 10)
                self.assertLess(r.statistic("energy", "maxabs").max(), 2e-3)
                u = np.linspace(0.1, 1.0, 10)
                exact = np.sqrt(u ** 2 + (0.5 + 0.4 ** 2) * 1.2 ** 2)
                self.assertAlmostEqual(r.statistic("forward", "min")[-1], exact.min(), delta=2e-3)
                self.assertAlmostEqual(r.statistic("forward", "max")[-1], exact.max(), delta=2e-3)

    def test_the_snakeboard(self):
        """Three snakeboards up to t = 200."""
        for scheme in LASTING:
            with self.subTest(scheme=scheme):
                r = self.lab.run("snakeboard", compare.method(scheme))
                self.assertEqual(r.statistic("energy", "count")[-1], 3)
                self.assertLess(r.statistic("energy", "maxabs").max(), 2e-2)
                self.assertLess(r.statistic("constraint", "max").max(), 1e-12)

    def test_groups(self):
        """Suslov's problem up to t = 100 and the rattleback up to t = 20: the table of the README, and the right directions."""
        table, = compare.groups(self.lab, False)
        stated = compare.cells_of(README, table.title)
        for row in compare.GROUP_SCHEMES:
            self.assertTrue(table.agrees(row, stated), f"{row}: {table.rows[row]}, not {stated.get(row)}")
            self.assertTrue("parasitic" in table.rows[row][0] or table.rows[row][0].endswith("+0.4054"))

    def test_the_rattleback_against_newton_and_euler(self):
        """The end of examples/rattleback-reversal.toml: the vertical in the body, the angular velocity and the load on the plane."""
        r = self.lab.run("rattleback-reversal")
        q, v, load = (r[f"/trajectories/{part}"] for part in ("q", "v", "lambda"))
        for index, spin in enumerate((5.0, -5.0)):
            vertical, omega = ([rolling_body.turned(state) for state in (part[0, index], part[-1, index])] for part in (q[:, :, 6:9], v[:, :, 0:3]))
            gamma, exact = rolling_body.integrate(vertical[0], omega[0], r["/time"][-1], 4000)
            self.assertAlmostEqual(rolling_body.energy(gamma, exact), rolling_body.energy(vertical[0], omega[0]), delta=1e-11)
            self.assertAlmostEqual(rolling_body.dot(gamma, exact), -5.2678491 if spin > 0 else -3.8846299, delta=1e-6)
            force = rolling_body.dot(gamma, rolling_body.motion(gamma, exact)[2])
            # The motion that rattles at its reversal is sensitive.
            for name, ours, theirs, within in (("vertical", vertical[1], gamma, 5e-5), ("angular velocity", omega[1], exact, 2e-3),
                                               ("load", [load[-1, index, 2]], [force], 0.05)):
                self.assertLess(max(abs(a - b) for a, b in zip(ours, theirs)), within if spin > 0 else within / 50, f"{name}, {spin}")

    def test_the_rattleback_for_long(self):
        """A hundred seconds, in which the rattleback set going at 5/s has reversed and wobbles on. The spins at the end are those of
        rolling_body.integrate, which takes minutes for as long."""
        r = self.lab.run("rattleback-reversal", "time={step=0.001, end=100.0, sample_every=1000}")
        self.assertTrue((r.statistic("energy", "count") == 2).all())
        self.assertLess(r.statistic("energy", "maxabs").max(), 1e-6)
        self.assertGreater(r.statistic("lambda[2]", "min").min(), 0.0)  # it never leaves the plane
        self.assertAlmostEqual(r.statistic("spin", "min")[-1], -3.2208, delta=0.02)
        self.assertAlmostEqual(r.statistic("spin", "max")[-1], 2.6515, delta=0.02)


if __name__ == "__main__":
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
