"""The program under test, which is the first argument of a test, and what it says of itself."""
import functools, json, pathlib, re, subprocess, sys, tempfile, unittest

import h5py

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
STUDY = """[system]
name = "kepler"
[method]
name = "lobatto"
[time]
step = 0.1
end = 1.0
[[observable]]
name = "energy"
"""


@functools.cache
def ask(*words):
    return json.loads(subprocess.run([PROGRAM, *words, "--json"], check=True, capture_output=True, text=True).stdout)


def methods():
    return [method["name"] for method in ask("list", "methods")["methods"]]


def cells(line):
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


class StudyTest(unittest.TestCase):
    """A test that runs studies in a folder of its own."""
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def run_study(self, study, *changes):
        """The result of a study, a text or a file, with values of --set."""
        if not isinstance(study, pathlib.Path):
            (self.folder / "study.toml").write_text(study)
            study = self.folder / "study.toml"
        result = self.folder / f"{len(list(self.folder.iterdir()))}.h5"
        done = subprocess.run([PROGRAM, "run", study, "-o", result, "--quiet", *(f"--set={change}" for change in changes)],
                              text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return h5py.File(result)
