#!/usr/bin/python3
"""Driven systems against steps that were computed with 40 digits, a moving pivot in two descriptions, balances of energy and work,
stroboscopes and friction.  driven_test.py PROGRAM"""
import pathlib, re, shutil, subprocess, sys, unittest

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "support"))
from program import PROGRAM, StudyTest

SPHERE = """
[system]
name = "sphere"
coordinates = ["x", "y", "z"]
potential = "z + x^2/4"
force = ["-v_x/4", "cos(1.5 t)/4 - v_y/4", "-v_z/4"]
constraints = ["x^2 + y^2 + z^2 - 1 - sin(1.25 t)/4"]
[method]
name = "holonomic-lobatto"
stages = 3
[time]
step = 0.125
steps = 1
[ensemble.initial]
q = ["2/sqrt(14)", "1/sqrt(14)", "-3/sqrt(14)"]
v = [0.208519138097600, 0.729259569048800, 0.187221292853500]
[ensemble]
project = true
[[observable]]
name = "constraint"
[output]
final_state = true
"""
MIXED = """
[system]
name = "mixed"
coordinates = ["x", "y", "z", "s"]
potential = "(x^2 + y^2)/4 + z + s^2/2 + z s/8"
force = ["cos(1.75 t)/2 - v_x (v_x^2 + v_y^2)/16", "1/8", "0", "sin(t)/2"]
dissipation = "(v_x^2 + v_y^2 + v_z^2 + v_s^2)/8"
constraints = ["x^2 + y^2 + z^2 - 1 - sin(1.25 t)/4"]
velocity_constraints = ["v_s - x v_y - (3/8) cos(0.75 t)"]
[method]
name = "nonholonomic-lobatto"
stages = 2
[time]
step = 0.125
steps = 1
[ensemble]
project = true
[ensemble.initial]
q = [0.6, 0, -0.8, 0.25]
v = [0.53375, 0.386029411764706, 0.205, 0.606617647058824]
[[observable]]
name = "constraint"
[output]
final_state = true
initial_state = true
"""
PIVOT = """
[system]
name = "pivot"
{system}
[time]
start = 0.5
step = 0.01
steps = 300
sample_every = 10
[ensemble]
axes = [ {{ name = "angle", from = 0.1, to = 1.5, count = 8 }} ]
[ensemble.initial]
{start}
[[observable]]
name = "energy"
statistics = ["mean"]
{more}
[output]
final_state = true
trajectories = [0, 7]
"""
BY_ANGLE = """coordinates = ["a"]
lagrangian = "v_a^2/2 + (2/5) cos(2 t) v_a cos(a) + (2/25) cos(2 t)^2 + cos(a)"
force = ["-v_a/10"]
[method]
name = "lobatto"
stages = 4"""
BY_CONSTRAINT = """coordinates = ["x", "y"]
potential = "y"
force = ["-(v_x - (2/5) cos(2 t))/10", "-v_y/10"]
constraints = ["(x - sin(2 t)/5)^2 + y^2 - 1"]
[method]
name = "holonomic-lobatto"
stages = 4"""


# One step of SPHERE: q, p, lambda.
STEPS = {
    'name = "hbvm"\nk = 6\ns = 2': ([.552837807306, .356054920467, -.778780457265], [.0845029502564, .689237957180, .180266600590], -.626649524503),
    'name = "ggl-vi-s"': ([.547918619822, .355860985077, -.782337455032], [.0890645890748, .694452202975, .180171322536], -.620294512808),
    'name = "ggl-vi-a"': ([.554046071508, .356527449693, -.780604254486], [.0847307539188, .688039007993, .179454782954], -.623692748697),
    'name = "ggl-vi-b"': ([.558090842697, .357539730195, -.774340816968], [.0838508826941, .686578595054, .174111078527], -.613308761233),
    'name = "ggl-vi-bs"': ([.552887026615, .356326796434, -.778621151868], [.0840319272374, .688849464222, .181303735154], -.632069097918),
    'name = "energy-momentum"': ([.552859605687, .355935742104, -.778819460521], [.0861147259041, .690243049724, .178404628883], -.616971274108),
    'name = "runge-kutta"\nbase = "rk4"': ([.552838409794, .356059293868, -.778778030057], [.0858942457602, .690132133231, .178314056367],
                                          -.587484920331),
    'name = "variational-conversion"\nbase = "rk4"\nstate = "segment"': (
        [.552838205218, .356059378657, -.778778136516], [.0858937133803, .690132117016, .178313699227], -.587484919936)}
TOP = """
[system]
name = "driven-top"
group = "SO(3)"
inertia = [1, 1.25, 0.5]
potential = "(R33/2)(1 + sin(1.5 t)/4)"
force = ["-w1/8", "-w2/8", "R33 cos(t)/4 - (w3/4)(1 + w1^2)"]
[method]
name = "vrkmk"
tableau = "gauss2"
[time]
step = 0.125
steps = 1
[ensemble]
frame = "body"
[ensemble.initial]
q = [0.3, -0.4, 0.2]
v = [0.75, 0.5, 1]
[[observable]]
name = "energy"
[output]
final_state = true
"""
KICKS = """
[system]
name = "kicks"
coordinates = ["x", "y"]
potential = "(1 + sin(1.5 t)/4)(x^2 + 2 y^2)/2 + x y/4 - cos(x)/2"
force = ["cos(1.25 t)/4 - y/4", "x/4"]
[method]
name = "lobatto"
stages = 2
composition = "blanes-moan4"
[time]
step = 0.125
steps = 1
[ensemble.initial]
q = [0.5, -0.25]
v = [0.25, 0.75]
[[observable]]
name = "energy"
[output]
final_state = true
"""

class Driven(StudyTest):
    def test_a_moving_pivot_is_the_same_as_coordinate_and_as_constraint(self):
        by_angle = self.run_study(PIVOT.format(system=BY_ANGLE, start='q = ["angle"]\nv = [0]', more=""))
        by_constraint = self.run_study(PIVOT.format(
            system=BY_CONSTRAINT, more='[[observable]]\nname = "hidden_constraint"\nstatistics = ["maxabs"]',
            start='q = ["sin(1)/5 + sin(angle)", "-cos(angle)"]\nv = ["2/5 cos(1)", 0]'))
        time = 3.5
        angle, rate = by_angle["final/q"][:, 0], by_angle["final/v"][:, 0]
        np.testing.assert_allclose(by_constraint["final/q"][:], np.array(
            [np.sin(2 * time) / 5 + np.sin(angle), -np.cos(angle)]).T, atol=1e-10)
        np.testing.assert_allclose(by_constraint["final/v"][:], np.array(
            [2 / 5 * np.cos(2 * time) + rate * np.cos(angle), rate * np.sin(angle)]).T, atol=1e-10)
        self.assertLess(by_constraint["observables/hidden_constraint/maxabs"][-1], 1e-14)
        # velocities of kept trajectories follow from momenta that depend on the time
        np.testing.assert_allclose(by_angle["trajectories/v"][-1, 1], by_angle["final/v"][7], rtol=0, atol=1e-15)
        np.testing.assert_allclose(by_angle["trajectories/v"][-1, 1], by_angle["final/p"][7] - 2 / 5 * np.cos(2 * time) * np.cos(angle[7]),
                                   rtol=0, atol=1e-14)

    def test_steps_have_the_digits_of_an_independent_computation(self):
        result = self.run_study(SPHERE)
        np.testing.assert_allclose(result["final/q"][0], [.552838257390, .356059460121, -.778778062235], rtol=0, atol=2e-12)
        np.testing.assert_allclose(result["final/p"][0], [.0858934452120, .690132076128, .178313585119], rtol=0, atol=2e-12)
        self.assertAlmostEqual(result["final/lambda"][0, 0], -.587212671605, delta=2e-12)
        result = self.run_study(MIXED)
        np.testing.assert_allclose(result["initial/lambda"][0], [-.686592667027, .385877351860], rtol=0, atol=2e-12)
        np.testing.assert_allclose(result["final/q"][0], [.660980318314, .0466918782855, -.774486046031, .326475074652], rtol=0, atol=2e-12)
        np.testing.assert_allclose(result["final/p"][0], [.437961144403, .358272335334, .196085619577, .610164219674], rtol=0, atol=2e-12)
        np.testing.assert_allclose(result["final/lambda"][0], [-.621974470973, .294095060796], rtol=0, atol=2e-12)
        result = self.run_study(MIXED, "method.stages=3")
        np.testing.assert_allclose(result["final/q"][0], [.660722509900, .0465594906974, -.774713964590, .326184487928], rtol=0, atol=2e-12)
        self.assertAlmostEqual(result["final/lambda"][0, 1], .293006550141, delta=2e-12)

    def test_every_family_has_the_step_of_an_independent_computation(self):
        for method, (q, p, multiplier) in STEPS.items():
            with self.subTest(method):
                result = self.run_study(SPHERE.replace('name = "holonomic-lobatto"\nstages = 3', method))
                np.testing.assert_allclose(result["final/q"][0], q, rtol=0, atol=2e-12)
                np.testing.assert_allclose(result["final/p"][0], p, rtol=0, atol=2e-12)
                self.assertAlmostEqual(result["final/lambda"][0, 0], multiplier, delta=2e-11)
        result = self.run_study(TOP)
        np.testing.assert_allclose(result["final/q"][0, :3], [.882084294861, -.387179420563, -.268364291687], rtol=0, atol=2e-12)
        np.testing.assert_allclose(result["final/p"][0], [.366618622261, .500619473885, .875649179436], rtol=0, atol=2e-12)
        result = self.run_study(KICKS)
        np.testing.assert_allclose(result["final/q"][0], [.528098281049, -.152792254374], rtol=0, atol=2e-12)
        np.testing.assert_allclose(result["final/p"][0], [.197141405758, .801568766045], rtol=0, atol=2e-12)

    def balance(self, study, steps, *changes):
        """The largest deviation of E - W from its initial value over the samples of a run of `steps` steps up to the time 1."""
        study = re.sub(r'name = "(energy|constraint)"\n', 'name = "energy_balance"\nstatistics = ["maxabs"]\n', study)
        result = self.run_study(study, f"time.steps={steps}", f"time.step=1/{steps}", *changes)
        return result["observables/energy_balance/maxabs"][-1]

    def test_energy_less_work_is_kept_to_the_order_of_the_method(self):
        orders = {"hbvm": None, "ggl-vi-s": 1, "ggl-vi-a": 2, "ggl-vi-b": 1, "ggl-vi-bs": 2, "energy-momentum": None, "runge-kutta": 4,
                  "variational-conversion": 4}
        studies = [(SPHERE.replace('name = "holonomic-lobatto"\nstages = 3', method), orders[method.split('"')[1]], 32, ()) for method in STEPS]
        studies += [(SPHERE, 4, 32, ()), (MIXED, 2, 64, ()), (TOP, 4, 32, ()), (KICKS, 4, 8, ()),
                    (KICKS, 6, 4, ('method.composition="blanes-moan6"',)), (KICKS, 4, 8, ('method.composition="blanes-moan-rkn6"',))]
        for study, order, steps, changes in studies:
            with self.subTest(study[study.index("[method]"):study.index("[time]")], changes=changes):
                coarse, fine = self.balance(study, steps, *changes), self.balance(study, 2 * steps, *changes)
                if order is None:
                    self.assertLess(max(coarse, fine), 2e-15)
                else:
                    self.assertAlmostEqual(np.log2(coarse / fine), order, delta=0.1)
        self.assertAlmostEqual(self.balance(MIXED, 64), 4.5e-5, delta=5e-7)

    def test_work_is_the_integral_of_power(self):
        """Also in formulas and sections; the energy changes by it."""
        values = "".join(f'[[observable]]\nname = "{name}"\nvalues = true\n' for name in ("power", "work"))
        section = '[[section]]\nname = "spent"\nsurface = "energy - energy_balance - 0.1"\ndirection = "+"\n'
        result = self.run_study(PIVOT.format(system=BY_ANGLE, start='q = ["angle"]\nv = [0]', more=values + section),
                                "time.sample_every=1")
        power, work = (result[f"observables/{name}/values"][:] for name in ("power", "work"))
        self.assertTrue((work[0] == 0).all())
        simpson = np.cumsum(power[0:-2:2] + 4 * power[1::2] + power[2::2], axis=0) * 0.01 / 3
        np.testing.assert_allclose(work[2::2], simpson, rtol=0, atol=1e-8)
        energy = result["observables/energy/mean"][:]
        np.testing.assert_allclose(energy - energy[0], work.mean(axis=1), rtol=0, atol=1e-8)
        crossing = result["sections/spent/time"][:]
        self.assertGreater(len(crossing), 0)
        self.assertLess(result["sections/spent/residual"][:].max(), 1e-14)
        trajectory = result["sections/spent/trajectory"][:].astype(int)
        for t, k in zip(crossing, trajectory):
            self.assertAlmostEqual(np.interp(t, result["time"][:], work[:, k]), 0.1, delta=1e-4)

    def test_work_is_of_driven_systems_alone(self):
        study = "[system]\nname = \"kepler\"\n[method]\nname = \"lobatto\"\n[time]\nstep = 0.1\nsteps = 2\n[[observable]]\nname = \"work\"\n"
        (self.folder / "study.toml").write_text(study)
        done = subprocess.run([PROGRAM, "check", self.folder / "study.toml"], text=True, capture_output=True)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"study.toml:\d+: observable 'work' is that of forces and of explicit time, and neither acts on 'kepler'; leave it out")

    def test_time_goes_on_over_a_restart_and_through_sections(self):
        """A run from the middle of another, with its state and time, ends where that one ends; and sections may name the time."""
        whole = self.run_study(PIVOT.format(system=BY_ANGLE, start='q = ["angle"]\nv = [0]',
                                            more='[[section]]\nname = "stroboscope"\nsurface = "sin(pi t)"\ndirection = "+"'))
        half = [f"{x:.17g}" for x in (whole["trajectories/q"][15, 0, 0], whole["trajectories/v"][15, 0, 0])]
        rest = self.run_study(PIVOT.format(system=BY_ANGLE, start=f"q = [{half[0]}]\nv = [{half[1]}]", more=""),
                              "time.start=2.0", "time.steps=150", "ensemble.axes=[]", "output.trajectories=[0]")
        self.assertAlmostEqual(rest["final/q"][0, 0], whole["final/q"][0, 0], delta=1e-13)
        times = whole["sections/stroboscope/time"][:]
        self.assertEqual(len(times), 8)  # once in the time from 0.5 to 3.5, at 2, of eight trajectories
        np.testing.assert_allclose(times, 2.0, atol=1e-13)

    def test_the_parasitic_multiplier_of_both_kinds_of_constraints_is_found(self):
        """A sleigh on a table, which is a constraint on positions: its motion contracts, so that the carried multiplier grows."""
        sleigh = """
[system]
name = "sleigh-on-a-table"
coordinates = ["x", "y", "z", "a"]
mass = [[1, 0, 0, "-0.4 sin(a)"], [0, 1, 0, "0.4 cos(a)"], [0, 0, 1, 0], ["-0.4 sin(a)", "0.4 cos(a)", 0, 0.66]]
potential = "z"
constraints = ["z"]
velocity_constraints = ["v_y cos(a) - v_x sin(a)"]
initial = { v = [0.5, 0, 0, 1.2] }
[method]
name = "nonholonomic-lobatto"
stages = 2
[time]
step = 0.05
end = 40.0
[[observable]]
name = "energy"
statistics = ["mean"]
"""
        (self.folder / "sleigh.toml").write_text(sleigh)
        run = [PROGRAM, "run", self.folder / "sleigh.toml", "--quiet", "-o"]
        self.assertEqual(subprocess.run([*run, self.folder / "carried.h5"], capture_output=True).returncode, 3)
        with h5py.File(self.folder / "carried.h5") as result:
            bit = int(result["final/status"][0])
            self.assertIn(b"multiplier", result["final/status"].attrs[f"bit {bit}"])
        recomputed = [*run, self.folder / "recomputed.h5", "--set=method.multiplier=recomputed"]
        self.assertEqual(subprocess.run(recomputed, capture_output=True).returncode, 0)

    def test_friction_brings_a_motion_to_rest(self):
        """Far below the smallest normal number, where velocities have no digits left for an iteration to converge to."""
        result = self.run_study("""
[system]
name = "braked-sleigh"
coordinates = ["x", "y", "a"]
dissipation = "5 (v_x^2 + v_y^2 + v_a^2)/2"
velocity_constraints = ["v_y cos(a) - v_x sin(a)"]
initial = { v = [1, 0, 1] }
[method]
name = "nonholonomic-lobatto"
stages = 2
[time]
step = 0.1
steps = 2000
[[observable]]
name = "energy_balance"
statistics = ["maxabs"]
[output]
final_state = true
""")
        self.assertEqual(result["final/status"][0], 0)
        self.assertLess(np.abs(result["final/v"][0]).max(), 1e-300)

    def test_friction_brings_a_motion_to_rest_where_forces_balance(self):
        """Velocities have rounding errors of the forces there, far above their own size."""
        for method in ('name = "lobatto"\nstages = 2', 'name = "lobatto"\nstages = 3', 'name = "vrkmk"\ntableau = "gauss2"'):
            result = self.run_study(f"""
[system]
name = "tilted"
coordinates = ["x"]
potential = "-cos(x) - x/10"
dissipation = "v_x^2/4"
initial = {{ q = [0.3], v = [0.2] }}
[method]
{method}
[time]
step = 0.125
steps = 2000
[[observable]]
name = "energy_balance"
statistics = ["maxabs"]
[output]
final_state = true
""")
            self.assertEqual(result["final/status"][0], 0, method)
            self.assertAlmostEqual(result["final/q"][0, 0], np.arcsin(0.1), delta=1e-15)
            self.assertLess(abs(result["final/v"][0, 0]), 1e-15)

    def test_a_stroboscope_strikes_at_multiples_of_its_period(self):
        """Also where the period is an axis, and where steps end at its multiples."""
        study = PIVOT.format(system=BY_ANGLE.replace("coordinates", "parameters = { w = \"rate\" }\ncoordinates").replace("-v_a/10", "cos(w t)/5 - v_a/10"),
                             start='q = [0.5]\nv = [0]', more='[[section]]\nname = "clock"\nevery = "2 pi/w"\n[[section]]\nname = "seconds"\nevery = 0.25')
        result = self.run_study(study, "ensemble.axes=[{name=\"rate\", from=2, to=9, count=8}]")
        for name, period in (("clock", 2 * np.pi / result["axes/rate"][:]), ("seconds", np.full(8, 0.25))):
            time, trajectory = result[f"sections/{name}/time"][:], result[f"sections/{name}/trajectory"][:].astype(int)
            for k in range(8):
                strikes = np.arange(np.floor(0.5 / period[k] + 1e-9) + 1, np.floor(3.5 / period[k] + 1e-9) + 1) * period[k]
                np.testing.assert_allclose(time[trajectory == k], strikes, rtol=0, atol=1e-13)

    def test_stroboscopes_with_faults_are_refused(self):
        for section, words in (("every = 0", "section.0..every must be above 0"), ('every = "1/0"', "section.0..every = '1/0' is not finite"),
                               ('every = "x"', "unknown name 'x' in section.0..every"), ("every = 0.019", "is shorter than two steps"),
                               ('every = 1\nsurface = "a"', "are both given"), ('every = 1\ndirection = "-"', "direction is given, and a section with"),
                               ('name = "a"', "surface is missing; give it, or")):
            (self.folder / "study.toml").write_text(PIVOT.format(system=BY_ANGLE, start='q = ["angle"]\nv = [0]', more=f"[[section]]\n{section}"))
            done = subprocess.run([PROGRAM, "check", self.folder / "study.toml"], text=True, capture_output=True)
            self.assertEqual(done.returncode, 2, section)
            self.assertRegex(done.stderr, rf"study.toml:\d+: .*{words}")

    def test_periods_of_single_trajectories_are_checked(self):
        for rates, words in (([1, 1000], r"trajectory 1 \(rate = 1000\) .*every = 0.00628.* is shorter than two steps of 0.01"),
                             ([1, -1], r"trajectory 1 \(rate = -1\) .*every must be above 0"), ([0, 1], "not finite")):
            study = PIVOT.format(system=BY_ANGLE.replace("coordinates", "parameters = { w = \"rate\" }\ncoordinates").replace("-v_a/10", "cos(w t)/5"),
                                 start='q = [0.5]\nv = [0]', more='[[section]]\nevery = "2 pi/w"')
            (self.folder / "study.toml").write_text(study)
            done = subprocess.run([PROGRAM, "check", self.folder / "study.toml", f'--set=ensemble.axes=[{{name="rate", values={rates}}}]',
                                   "--set=output.trajectories=[]"], text=True, capture_output=True)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertRegex(done.stderr, rf"study.toml:\d+: .*{words}")

    def test_the_energy_of_a_step_has_the_time_of_its_state(self):
        """With ggl-vi-s the velocity of a step belongs to its beginning, and so does the time of its energy."""
        study = SPHERE.replace('name = "holonomic-lobatto"\nstages = 3', 'name = "ggl-vi-s"').replace("z + x^2/4", "(z + x^2/4)(1 + sin(3 t)/2)")
        more = '[[observable]]\nname = "step_energy"\nvalues = true\n' + "".join(f'[[observable]]\nname = "step_v[{i}]"\nvalues = true\n' for i in range(3))
        result = self.run_study(study.replace("[output]", more + '[output]\ntrajectories = [0]'), "time.steps=8", "time.sample_every=1")
        q, p, time = result["trajectories/q"][:-1, 0], result["trajectories/p"][:-1, 0], result["time"][:-1]
        v = np.array([result[f"observables/step_v[{i}]/values"][1:, 0] for i in range(3)]).T
        energy = (p * v - v**2 / 2).sum(axis=1) + (q[:, 2] + q[:, 0]**2 / 4) * (1 + np.sin(3 * time) / 2)
        np.testing.assert_allclose(result["observables/step_energy/values"][1:, 0], energy, rtol=0, atol=1e-14)

    def test_a_header_has_the_bits_of_its_formulas(self):
        """Functions with the time first, and both kinds of constraints, in a header of a user."""
        for study, name in ((MIXED, "MixedSystem"), (PIVOT.format(system=BY_ANGLE, start='q = ["angle"]\nv = [0]', more=""), "PivotSystem")):
            by_formulas = self.run_study(study)
            header = subprocess.run([PROGRAM, "describe", self.folder / "study.toml", "--header"], text=True, capture_output=True, check=True)
            (self.folder / "own.hpp").write_text(header.stdout)
            table = f'[system]\nfile = "own.hpp"\ntype = "formulas::{name}<T>"\n'
            by_header = self.run_study(table + study[study.index("[method]"):])
            for row in ("final/q", "final/p", "final/v"):
                self.assertTrue((by_header[row][:] == by_formulas[row][:]).all(), f"{name}: {row}")

    @unittest.skipUnless(shutil.which("nvcc"), "there is no compiler for GPUs")
    def test_forces_in_time_compile_for_a_gpu(self):
        driven = PIVOT.format(system=BY_ANGLE.replace("-v_a/10", "cos(3 t)/5 - v_a/10"), start='q = ["angle"]\nv = [0]', more="")
        (self.folder / "s.toml").write_text(driven)
        subprocess.run([PROGRAM, "compile", "s.toml", "--isa", "none", "--cuda", "sm_90", "--pack", "p", "--quiet"], cwd=self.folder, check=True)

    def test_methods_refuse_what_they_do_not_take(self):
        (self.folder / "study.toml").write_text(SPHERE.replace("holonomic-lobatto", "bobenko-suris").replace("stages = 3\n", ""))
        done = subprocess.run([PROGRAM, "check", self.folder / "study.toml"], text=True, capture_output=True)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"study.toml:\d+: method 'bobenko-suris' cannot treat system 'sphere' .*use .*holonomic-lobatto")
        (self.folder / "study.toml").write_text(KICKS.replace("x/4", "x/4 - v_y"))
        done = subprocess.run([PROGRAM, "check", self.folder / "study.toml"], text=True, capture_output=True)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r'study.toml:\d+: .*"blanes-moan4" splits into drifts and kicks, and the force .* depends on velocities; set')


if __name__ == "__main__":
    unittest.main()
