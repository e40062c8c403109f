"""Parts of ensembles: by hand, with executors, with Dask. The bits are those of one run."""

import concurrent.futures
import multiprocessing
import pathlib
import pickle
import unittest

import rattleback as rb
from common import PENDULUM, Case, program


class Parts(Case):
    @classmethod
    def setUpClass(cls):
        cls.study = rb.Study.parse(PENDULUM).replace({"ensemble.axes[0].count": 1500})
        cls.whole = rb.run(cls.study)

    def test_by_hand(self):
        parts = rb.parts(self.study, 3)
        self.assertEqual([(part.number, part.count) for part in parts], [(1, 3), (2, 3), (3, 3)])
        self.assertEqual(parts[0].output, self.folder.resolve() / "pendulum.h5")
        with self.assertRaisesRegex(rb.InputError, "3 of 3 parts are missing"):
            rb.merge("pendulum.h5")
        for part in reversed(parts):
            self.assertEqual(pickle.loads(pickle.dumps(part)).run(), 0)
        self.assertTrue(rb.diff(rb.merge("pendulum.h5", virtual=True), self.whole).identical)
        self.assertTrue(rb.diff(rb.merge("pendulum.h5"), self.whole).identical)
        with self.assertRaisesRegex(rb.InputError, "parts"):
            rb.parts(self.study, 7)  # the folder is one of three
        with self.assertRaisesRegex(rb.InputError, "99 parts are not possible"):
            rb.parts(self.study, 99, "other.h5")

    def test_program_goes_on(self):
        study = self.study
        study.save("pendulum.toml")
        first = rb.parts(rb.Study.load("pendulum.toml"), 3)[0]
        first.run()
        program("run", "pendulum.toml", "--parts", 3, "--worker", "--quiet")
        self.assertTrue(rb.diff(rb.merge("pendulum.h5"), self.whole).identical)

    def test_threads_of_an_executor(self):
        with concurrent.futures.ThreadPoolExecutor(2) as executor:
            result = rb.run(self.study, client=executor)
            self.assertIsNone(result.file)
            self.assertTrue(rb.diff(result, self.whole).identical)
            result = rb.run(self.study, "file.h5", client=executor, parts=2)
        self.assertEqual(result.file, self.folder.resolve() / "file.h5")
        self.assertTrue(rb.diff(result, self.whole).identical)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["file.h5"])  # no folder of parts is left

    def test_processes_of_an_executor(self):
        context = multiprocessing.get_context("forkserver")
        with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as executor:
            result = rb.run(self.study, client=executor, parts=4)
        self.assertTrue(rb.diff(result, self.whole).identical)

    def test_a_fault_in_a_worker_is_told(self):
        with concurrent.futures.ThreadPoolExecutor(2) as executor:
            with self.assertRaisesRegex(rb.InputError, "backend"):
                rb.run(self.study, client=executor, backend="abacus")

    def test_dask(self):
        from distributed import Client, LocalCluster

        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, protocol="tcp") as cluster, Client(cluster) as client:
            result = rb.run(self.study, client=client, parts=4)
        self.assertTrue(rb.diff(result, self.whole).identical)
        self.assertEqual(list(self.folder.glob("*.parts")), [])


if __name__ == "__main__":
    unittest.main()
