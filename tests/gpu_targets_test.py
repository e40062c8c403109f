#!/usr/bin/env python3
"""bench/gpu: the table of targets and the crossover, from results of stages as they could be."""
import pathlib, sys, unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "bench/gpu"))
import speeds, targets

CHAOTIC = "chaotic printed m = 3 nonholonomic-lobatto stages = 3"


def stage(data, status="done", **more):
    return {"status": status, "data": data, "faults": [], "left_out": [], **more}


def peer(module, method, ns, system="chaotic"):
    return {"system": system, "module": module, "method": method, "ns_per_step": ns}


def size(trajectories, cpu, cuda):
    return {"trajectories": trajectories, "cpu": {"seconds": cpu, "steps_per_second": trajectories / cpu},
            "cuda": {"seconds": cuda, "steps_per_second": trajectories / cuda}}


class Targets(unittest.TestCase):
    def row(self, found, words):
        rows = [row for row in targets.rows(found) if words in row[0]]
        self.assertEqual(len(rows), 1, words)
        return rows[0]

    def verdict(self, found, words):
        return self.row(found, words)[2]

    def test_without_results_everything_is_outstanding(self):
        rows = targets.rows({})
        self.assertEqual({row[2] for row in rows}, {"outstanding"})
        self.assertEqual(len(rows), 8)
        self.assertTrue(all("was not run" in row[1] for row in rows))

    def test_share_of_the_fp64_rate(self):
        for share, verdict in ((0.41, "met"), (0.39, "missed")):
            row = {"counted_over_peak": share, "trajectory_steps_per_second": {"median": 1.0}}
            found = {"suite": stage({CHAOTIC: row, "kepler lobatto stages = 3": {"counted_over_peak": 0.9}})}
            self.assertEqual(self.verdict(found, "40 %"), verdict)
        found = {"suite": stage({"kepler lobatto stages = 3": {"counted_over_peak": 0.9}}, "unfinished")}
        self.assertEqual(self.row(found, "40 %")[1:], ["suite: unfinished, without this figure", "outstanding"])

    def test_a_choice_of_studies_is_not_the_catalogue(self):
        self.assertEqual(self.verdict({"compare": stage({})}, "the catalogue"), "met")
        self.assertEqual(self.verdict({"compare": stage({}, only="^chaotic")}, "the catalogue"), "outstanding")

    def test_two_cores_against_the_best_size(self):
        found = {"crossover": stage({CHAOTIC: {"two_threads": {"steps_per_second": 1.0}, "sizes": [size(100, 1, 100), size(1000, 1, 9)]}})}
        self.assertEqual(self.verdict(found, "two cores"), "met")
        found["crossover"]["data"][CHAOTIC]["sizes"][1] = size(1000, 1, 11)
        self.assertEqual(self.verdict(found, "two cores"), "missed")
        found["suite"] = stage({CHAOTIC: {"counted_over_peak": 0.5, "trajectory_steps_per_second": {"median": 101.0}}})
        self.assertEqual(self.verdict(found, "two cores"), "met")  # a long run, without the way of the states
        del found["suite"]
        found["crossover"]["data"][CHAOTIC]["sizes"] = []
        self.assertEqual(self.verdict(found, "two cores"), "outstanding")

    def test_peers_by_the_slower_of_our_ratios(self):
        rows = [peer("rattleback", "s3", 1.0), peer("diffrax_rk", "Tsit5-vmap", 9.0), peer("diffrax_rk", "Dopri8-vmap", 30.0),
                peer("rattleback", "s2", 1.0, "henon-heiles"), peer("gauss_cubie", "midpoint", 4.0, "henon-heiles")]
        found = {"peers": stage({"rows": rows, "absent": {}})}
        self.assertEqual(self.verdict(found, "Diffrax"), "missed")
        self.assertEqual(self.verdict(found, "CuBIE"), "met")

    def test_a_peer_that_is_not_there_is_outstanding_with_its_reason(self):
        found = {"peers": stage({"rows": [peer("rattleback", "s3", 1.0)], "absent": {"chaotic: diffrax_rk Tsit5-vmap, gpu": "no diffrax"}})}
        self.assertEqual(self.row(found, "Diffrax")[1:], ["no diffrax", "outstanding"])

    def test_a_stage_with_faults_or_without_time_is_not_met(self):
        self.assertEqual(self.verdict({"tests": stage({})}, "tests pass"), "met")
        self.assertEqual(self.verdict({"tests": stage({}, "failed", faults=["x"])}, "tests pass"), "missed")
        self.assertEqual(self.verdict({"tests": stage({}, "failed", why="OSError: x")}, "tests pass"), "missed")
        self.assertEqual(self.verdict({"tests": stage({}, "unfinished", left_out=["x"])}, "tests pass"), "outstanding")
        self.assertEqual(self.verdict({"tests": stage({}, "failed", left_out=["x"], faults=["x"])}, "tests pass"), "missed")
        self.assertEqual(self.row({"tests": stage({}, "absent", why="no GPU")}, "tests pass")[1:], ["no GPU", "outstanding"])


class Crossover(unittest.TestCase):
    def test_is_the_size_from_which_on_the_gpu_is_faster(self):
        slow, fast = (1.0, 2.0), (2.0, 1.0)
        for times, found in (([slow, slow], None), ([slow, fast], 10), ([fast, fast], 1), ([fast, slow], None), ([fast, slow, fast], 100)):
            self.assertEqual(speeds.overtakes([size(10 ** k, *t) for k, t in enumerate(times)]), found)


if __name__ == "__main__":
    unittest.main()
