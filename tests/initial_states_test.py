#!/usr/bin/python3
"""Initial states that packs prepare, or an emulated GPU, have the bits of those that are prepared one by one: all kinds of axes, formulas,
projections, groups, sections, stops, tangent vectors, steps that vary.
initial_states_test.py PROGRAM [cuda]"""
import json, os, pathlib, random, shutil, signal, subprocess, sys, tempfile, time, unittest

import h5py

PROGRAM, BACKEND = "", "auto"
COUNT = 2304  # from 2048 trajectories on a run prepares its states in packs; its parts are smaller
REST = """
[time]
{time}
[output]
initial_state = true
final_state = true
[[observable]]
name = "energy"
"""
CHAOTIC = '[system]\nname = "chaotic"\nparameters = {{ m = 2 }}\n[method]\nname = "nonholonomic-lobatto"\nstages = 2\n'
SPHERE = ('[system]\nname = "sphere"\ncoordinates = ["x", "y", "z"]\nparameters = {{ g = "{g}" }}\npotential = "g z"\n'
          'constraints = ["x^2 + y^2 + z^2 - 1"]\n[method]\nname = "holonomic-lobatto"\nstages = 2\n')
TOP = ('[system]\nname = "top"\ngroup = "SO(3)"\ninertia = [1, 1.25, 0.5]\npotential = "R33/2 + R12/4"\n'
       '[method]\nname = "{method}"\n')
# What else a trajectory starts with: values of surfaces, crossings that are left until a stop, and tangent vectors.
SURFACES = """
[[section]]
name = "level"
surface = "{surface} - 0.2"
[[stop]]
name = "beyond"
when = "{surface} - 0.4"
[[stop]]
name = "second"
section = "level"
count = 2
"""
TANGENTS = """
[[observable]]
name = "lyapunov[{last}]"
values = true
[[observable]]
name = "ln_gali[{count}]"
values = true
[lyapunov]
metric = "mass"
"""
RANGES = '[ensemble]\naxes = [ {{ name = "a", from = -1, to = 1, count = 48 }}, {{ name = "b", from = 0.1, to = 2, count = 48 }} ]\n'
DRAWS = '[ensemble]\ndraws = 4096\naxes = [ {axes} ]\n'


def axis(name, kind, rest="from = -1, to = 1"):
    return f'{{ name = "{name}", distribution = "{kind}", seed = 3, {rest} }}'


def random_formula(random_number, depth=4):
    """A formula of the axes a and b that is finite and of the order of 1."""
    if depth == 0:
        return random_number.choice(["a", "b", "0.7", "pi", "(a - b)"])
    x, y, z = (random_formula(random_number, depth - 1) for _ in range(3))
    return random_number.choice([
        f"sin({x} + {y})", f"cos({x} * {y})", f"tanh({x} - {y})", f"atan2({x}, 2 + abs({y}))", f"exp(-abs({x}))", f"log(1 + ({x})^2)", f"sqrt(1 + abs({x}))",
        f"({x} < {y} ? {z} : {y})/(1 + abs({y}) + abs({z}))", f"min({x}, {y})/(1 + ({x})^2 + ({y})^2)", f"max(sin({x}), {y}/(1 + abs({y})))",
        f"log10(2 + abs({x}))", f"log2(2 + abs({y}))", f"tan(sin({x}))", f"asin(sin({x}))", f"acos(cos({x}))/4", f"atan({x} * {y})", f"sinh(sin({x}))", f"cosh(cos({y}))",
        f"asinh({x})", f"acosh(1 + abs({x}))", f"atanh(tanh({x})/2)", f"(1 + abs(sin({x})))^tanh({y})", f"sin({x})^3", f"sign({x}) * cos({y})", f"rint(3 sin({x}))/3",
        f"(({x} < {y}) && ({y} <= 1) || ({x} == {z}) ? 0.5 : sin({z}))", f"-sin({x})"])


class InitialStates(unittest.TestCase):
    devices = 1  # of the emulator

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def program(self, *words, **environment):
        done = subprocess.run([PROGRAM, *words], cwd=self.folder, env=os.environ | environment, capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, 0, f"{words}\n{done.stderr}")
        return done.stdout

    def compare(self, study, enlarge, time="step = 0.01\nsteps = 2", more="", kernels=True):
        """Runs a study whole and in parts; `enlarge` makes the ensemble one for which `compile` compiles the kernels of initial states. They
        are part of the record of the result where they made points."""
        (self.folder / "s.toml").write_text(study + REST.format(time=time) + more)
        self.program("compile", "s.toml", "--quiet", *(("--cuda=sm_90", "--isa=scalar") if BACKEND == "cuda" else ()), *(f"--set={change}" for change in enlarge))
        self.program("run", "s.toml", "-o", "packs.h5", "--quiet", f"--backend={BACKEND}", "--tile=1024", PTXCPU_DEVICES=str(self.devices))
        self.program("run", "s.toml", "-o", "single.h5", "--quiet", "--parts", "4", "--worker", "--backend=cpu:scalar" if BACKEND == "cuda" else "--backend=auto")
        self.program("merge", "single.h5", "--quiet")
        with h5py.File(self.folder / "packs.h5") as packs, h5py.File(self.folder / "single.h5") as single:
            for part in ("initial states", *(("initial tangents",) if "[lyapunov]" in more else ())):
                of_packs = [kernel["kernel"] for kernel in json.loads(packs.attrs["kernels"]) if part in kernel["kernel"]]
                self.assertEqual(any("sm_90" in title for title in of_packs) if BACKEND == "cuda" else bool(of_packs), kernels, of_packs)
                self.assertNotIn(part, bytes(single.attrs["kernels"]).decode())

            def same(name, dataset):
                if isinstance(dataset, h5py.Dataset):
                    self.assertEqual(packs[name][...].tobytes(), dataset[...].tobytes(), f"{name}\n{study}")

            single.visititems(same)
        for name in ("packs.h5", "single.h5"):
            (self.folder / name).unlink()
        shutil.rmtree(self.folder / "single.h5.parts", ignore_errors=True)

    def test_a_pack_needs_no_compiler(self):
        if BACKEND != "cuda":
            self.skipTest("of a GPU")
        study = CHAOTIC.format() + RANGES.format() + '[ensemble.initial]\nq = ["a", "cos(b)", "b", 0, 0]\nv = [0, 0, 0, 0, 0]\n'
        (self.folder / "s.toml").write_text(study + REST.format(time="step = 0.01\nsteps = 2"))
        self.program("compile", "s.toml", "--quiet", "--cuda=sm_90", "--pack", "kernels")
        without = {"RATTLEBACK_NVRTC": "/none/libnvrtc.so", "XDG_CACHE_HOME": str(self.folder / "cache")}
        run = ("run", "s.toml", "--quiet", f"--backend={BACKEND}", "-o", "a.h5")
        done = subprocess.run([PROGRAM, *run], cwd=self.folder, env=os.environ | without, capture_output=True, text=True)
        self.assertEqual((done.returncode, (self.folder / "a.h5").exists()), (2, False), done.stderr)
        self.assertIn("NVRTC", done.stderr)
        self.program(*run, RATTLEBACK_KERNEL_PATH=str(self.folder / "kernels"), **without)

    def test_axes_and_formulas(self):
        random_number = random.Random(7)
        ranges = ["ensemble.axes[0].count=1000", "ensemble.axes[1].count=1000"]
        for time in ("step = 0.01\nsteps = 2", 'step = "a > 0.3 ? 0.01 : 0.02"\nend = 0.04\nsamples = 1'):
            q = [random_formula(random_number) for _ in range(5)]
            study = CHAOTIC.format() + RANGES.format() + f"[ensemble.initial]\nq = {json.dumps(q)}\nv = [0, 0, 0, 0, 0]\n"
            self.compare(study, ranges, time)
        where = CHAOTIC.format() + RANGES.format().replace("[ensemble]\n", '[ensemble]\nproject = true\nwhere = "a^2 + b^2 < 2"\n')
        self.compare(where + '[ensemble.initial]\nq = ["a", "sqrt(2 - a^2 - b^2)", 0.3, "b", 0.1]\nv = ["a", "b", 0.2, "a b", 0.1]\n', ranges)
        self.devices = 2
        for kinds in (("uniform", "normal"), ("sobol", "sobol"), ("lattice", "lattice")):
            axes = axis("a", kinds[0]) + ", " + (axis("b", kinds[1], "mean = 0.1, std = 0.3") if kinds[1] == "normal" else axis("b", kinds[1]))
            study = CHAOTIC.format() + DRAWS.format(axes=axes) + '[ensemble.initial]\nq = ["a", "cos(b)", "b", 0, 0]\nv = [0, 0, 0, 0, 0]\n'
            self.compare(study, [f"ensemble.draws={2**20}"])

    def test_constraints_on_positions(self):
        enlarge = ["ensemble.axes[0].count=1000", "ensemble.axes[1].count=1000"]
        points = '[ensemble.initial]\nq = ["sin(b) cos(a)", "sin(b) sin(a)", "{r} cos(b)"]\n{v}\n'
        along = 'v = ["cos(b) cos(a)", "cos(b) sin(a)", "-sin(b)"]'
        further = SURFACES.format(surface="z") + TANGENTS.format(last=1, count=2)
        for g, r, v, project in (("1 + a^2", "1", along, ""), ("1", "1", along.replace("v", "p"), ""), ("1", "1", "v = [0.1, 0.2, 0.3]", "project = true\n"),
                                 ("1", "1.1", "p = [0.1, 0.2, 0.3]", "project = true\n"))[:1 if BACKEND == "cuda" else None]:
            ensemble = RANGES.format().replace("[ensemble]\n", "[ensemble]\n" + project)
            self.compare(SPHERE.format(g=g) + ensemble + points.format(r=r, v=v), enlarge, more=further, time="step = 0.1\nsteps = 2")
            further = ""

    def test_groups(self):
        enlarge = ["ensemble.axes[0].count=1000", "ensemble.axes[1].count=1000"]
        for method, frame, given in (("lobatto", "", 'v = ["a", "b", 0.1]'), ("vrkmk", 'frame = "space"\n', 'p = ["a", "b", 0.1]')):
            ensemble = RANGES.format().replace("[ensemble]\n", "[ensemble]\n" + frame)
            more = TANGENTS.format(last=1, count=2) if method == "vrkmk" else ""
            self.compare(TOP.format(method=method) + ensemble + f'[ensemble.initial]\nq = ["a", "b", "a b"]\n{given}\n', enlarge, more=more)
            if method == "lobatto" and BACKEND == "cuda":
                break
        # points that are to be prepared by themselves, beside others, and so many of them that the host prepares all
        self.devices = 2
        for last, kernels in (("a > 0.95 ? 1 + 1e-9 : 1", True), ("1 + 1e-9", BACKEND != "cuda")):
            matrix = ["cos(a)", "-sin(a)", 0, "sin(a)", "cos(a)", 0, 0, 0, last]
            study = TOP.format(method="lobatto") + RANGES.format() + f'[ensemble.initial]\nq = {json.dumps(matrix)}\nv = ["a", "b", 0.1]\n'
            self.compare(study, enlarge, kernels=kernels)

    def test_the_first_faulty_point_is_named(self):
        study = CHAOTIC.format() + RANGES.format() + '[ensemble.initial]\nq = [0, "a", 0, "b", 0]\nv = ["a > 0.9 && b > 1 ? 1 : 0", 0, 0, 0, 0]\n'
        (self.folder / "s.toml").write_text(study + REST.format(time="step = 0.01\nsteps = 2"))
        messages = set()
        late = (f"--backend={BACKEND}", "--tile=256", "--set=output.checkpoint=1")  # tiles before it are integrated by then
        for options in ((f"--backend={BACKEND}",), late, (*late, "--set=time.steps=500"), ("--parts", "4", "--worker")):
            done = subprocess.run([PROGRAM, "run", "s.toml", "-o", "r.h5", *options], cwd=self.folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 2)
            messages.add(done.stderr.split("initial state of trajectory")[-1].splitlines()[0])
            if "--worker" not in options:
                self.assertEqual(os.listdir(self.folder), ["s.toml"])
        self.assertEqual(len(messages), 1)

    def test_an_interrupted_run_that_cannot_end_is_forgotten(self):
        if BACKEND == "cuda":
            self.skipTest("a GPU checks all states before the first step")
        study = CHAOTIC.format() + RANGES.format().replace("48", "1000") + '[ensemble.initial]\nq = [0, "a", 0, "b", 0]\nv = ["a > 0.9 && b > 1 ? 1 : 0", 0, 0, 0, 0]\n'
        rest = REST.format(time="step = 0.01\nsteps = 400").replace("true", "false")
        (self.folder / "s.toml").write_text(study + rest)
        run = subprocess.Popen([PROGRAM, "run", "s.toml", "-o", "r.h5"], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not (self.folder / "r.h5.part").exists() and run.poll() is None:
            time.sleep(0.02)
        time.sleep(0.5)
        run.send_signal(signal.SIGINT)
        run.wait()
        self.assertIn("r.h5.checkpoint", os.listdir(self.folder))
        done = subprocess.run([PROGRAM, "resume", "r.h5"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("initial state of trajectory", done.stderr)
        self.assertEqual(os.listdir(self.folder), ["s.toml"])


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    BACKEND = sys.argv.pop(1) if "cuda" in sys.argv[1:2] else BACKEND
    unittest.main()
