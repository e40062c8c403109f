#!/usr/bin/env python3
"""bench/gpu: the table of targets, from results of stages as they could be."""
import pathlib, sys, unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "bench/gpu"))
import targets

CHAOTIC = "chaotic printed m = 3 nonholonomic-lobatto stages = 3"


def stage(data, status="done", **more):
    return {"status": status, "data": data, "faults": [], "left_out": [], **more}


def peer(module, method, ns, system="chaotic"):
    return {"system": system, "module": module, "method": method, "ns_per_step": ns}


class Targets(unittest.TestCase):
    def verdict(self, found, words):
        rows = [row for row in targets.rows(found) if words in row[0]]
        self.assertEqual(len(rows), 1, words)
        return rows[0][2]

    def test_without_results_everything_is_outstanding(self):
        self.assertEqual({row[2] for row in targets.rows({})}, {"outstanding"})
        self.assertEqual(len(targets.rows({})), 8)

    def test_share_of_the_fp64_rate(self):
        for share, verdict in ((0.41, "met"), (0.39, "missed")):
            found = {"suite": stage({CHAOTIC: {"fraction_of_peak": share}, "kepler lobatto stages = 3": {"fraction_of_peak": 0.0}})}
            self.assertEqual(self.verdict(found, "40 %"), verdict)

    def test_two_cores_are_scaled_from_all(self):
        sizes = [{"trajectories": 100, "cpu": 1.0, "cuda": 0.1, "cpu_threads": 16},
                 {"trajectories": 10**7, "cpu": 16.0, "cuda": 208.0, "cpu_threads": 16}]
        self.assertEqual(self.verdict({"crossover": stage({CHAOTIC: sizes})}, "two cores"), "met")  # 13 times 16 cores
        sizes[1]["cuda"] = 192.0
        self.assertEqual(self.verdict({"crossover": stage({CHAOTIC: sizes})}, "two cores"), "missed")

    def test_peers_by_the_slower_of_our_ratios(self):
        rows = [peer("rattleback", "s3", 1.0), peer("diffrax_rk", "Tsit5-vmap", 9.0), peer("diffrax_rk", "Dopri8-vmap", 30.0),
                peer("rattleback", "s2", 1.0, "henon-heiles"), peer("gauss_cubie", "midpoint", 4.0, "henon-heiles")]
        found = {"peers": stage({"rows": rows})}
        self.assertEqual(self.verdict(found, "Diffrax"), "missed")
        self.assertEqual(self.verdict(found, "CuBIE"), "met")

    def test_a_stage_with_faults_or_without_time_is_not_met(self):
        self.assertEqual(self.verdict({"tests": stage({"passed": 9})}, "tests pass"), "met")
        self.assertEqual(self.verdict({"tests": stage({"passed": 9}, "failed", faults=["x"])}, "tests pass"), "missed")
        self.assertEqual(self.verdict({"tests": stage({"passed": 9}, "unfinished", left_out=["x"])}, "tests pass"), "outstanding")
        self.assertEqual(self.verdict({"tests": stage({}, "absent", why="no device")}, "tests pass"), "outstanding")


if __name__ == "__main__":
    unittest.main()
