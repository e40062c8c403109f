#!/usr/bin/python3
"""Systems of several bodies: their motion against the Euler-Poincare equations by the classical Runge-Kutta method, bodies that do not act
on each other against each alone, and what symmetries keep.  bodies_test.py PROGRAM"""
import math, pathlib, subprocess, sys, tempfile, unittest

import h5py
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAM = ""

# All kinds of bodies, coupled, with forces in the frame of the body and the time.
COUPLED = """
[system]
name = "coupled"
group = "SE(2) x SO(3) x R^1 x S^1"
bodies = ["cart", "top", "dial"]
coordinates = ["s"]
inertia = { cart = 0.5, top = [[1, 0.1, 0], [0.1, 1.4, -0.2], [0, -0.2, 0.7]], dial = 0.3 }
mass = { cart = 2, s = 3 }
potential = "0.7 top_R33 cos(dial_theta - cart_theta) + ((cart_x - s)^2 + cart_y^4)/2 + top_R13 cart_y"
force = ["cart_u2/8", 0, "cos(2 t)/4", "-top_w1/10", "for i in 1..2: 0", "sin(t) - v_s/4", "-dial_w/10"]
[method]
name = "lobatto"
stages = 3
[time]
step = {step}
end = 1
[ensemble.initial]
q = [0.5, -0.2, 0.7, 0.3, -0.4, 0.2, 0.3, 0.6]
v = [0.5, 0.3, 1, 0.8, 0.5, 1.5, -0.3, 0.2]
[output]
final_state = true
"""
# The places of the bodies at the time 1.
SLIDER_CRANK = [-.248024005, .031370254, -3.267405317, .002966926, .031370254, -.062781742, .501981863]
TOPS = """
[system]
name = "tops"
group = "SO(3)^2"
inertia = [[1, 1.4, 0.7], [0.9, 1.1, 1.7]]
potential = "sum(i in 1..2: R33[i])/2 + R13_1 R13_2 + R23_1 R23_2 + R33_1 R33_2"
[system.observables]
vertical = "R31_1 w1_1 + 1.4 R32_1 w2_1 + 0.7 R33_1 w3_1 + 0.9 R31_2 w1_2 + 1.1 R32_2 w2_2 + 1.7 R33_2 w3_2"
[method]
name = "lobatto"
[time]
step = 0.05
end = 20
sample_every = 20
[ensemble.initial]
q = [0.3, -0.4, 0.2, 0.1, 0.5, 1]
v = [0.8, 0.5, 1, -0.3, 0.2, 0.5]
[[observable]]
name = "vertical"
[output]
final_state = true
"""
# A body of Suslov, and a disc that rolls.
ALONE = {"SO(3)": ('inertia = [[1, 0, 0.3], [0, 1.4, -0.2], [0.3, -0.2, 1.2]]\npotential = "0.3 R31 + 0.4 R32"\nvelocity_constraints = ["w3"]',
                   [.3, -.4, .2], [.8, .5, 0]),
         "SE(2)": ('inertia = 0.5\nmass = 2\npotential = "(x^2 + y^2)/2"\nvelocity_constraints = ["u2"]', [1, .5, .3], [.7, 0, 1.1])}
PAIR = """inertia = {{ top = [[1, 0, 0.3], [0, 1.4, -0.2], [0.3, -0.2, 1.2]], disc = 0.5 }}
mass = {{ disc = 2 }}
potential = "0.3 top_R31 + 0.4 top_R32 + (disc_x^2 + disc_y^2)/2"
velocity_constraints = ["top_w3", "disc_u2"]
bodies = {}"""
NONHOLONOMIC = """
[system]
name = "alone"
group = "{group}"
{body}
[method]
name = "nonholonomic-lobatto"
[time]
step = 0.1
steps = 20
[ensemble.initial]
q = {q}
v = {v}
[output]
final_state = true
"""


def run(text, *options):
    """The final q and v of trajectory 0, its observables by name, and all final q."""
    with tempfile.TemporaryDirectory() as folder:
        study, result = pathlib.Path(folder, "study.toml"), pathlib.Path(folder, "result.h5")
        study.write_text(text)
        done = subprocess.run([PROGRAM, "run", study, "-o", result, *options], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        with h5py.File(result) as file:
            found = {"q": file["final/q"][0], "v": file["final/v"][0], "all": file["final/q"][:]}
            return found | {name: of["mean"][:] for name, of in file.get("observables", {}).items() if "mean" in of}


def rotation(x):
    """exp of a rotation vector."""
    angle, cross = np.linalg.norm(x), hat(x)
    return np.eye(3) + math.sin(angle)/angle*cross + (1 - math.cos(angle))/angle**2*cross @ cross


def hat(x):
    return np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])


def moving(q, v):
    """q' of COUPLED: the cart, the top, s and the dial."""
    c, s, top = np.cos(q[2]), np.sin(q[2]), q[3:12].reshape(3, 3)
    return np.concatenate([[c*v[0] - s*v[1], s*v[0] + c*v[1], v[2]], (top @ hat(v[3:6])).ravel(), v[6:]])


def potential(q):
    return .7*q[11]*np.cos(q[13] - q[2]) + ((q[0] - q[12])**2 + q[1]**4)/2 + q[5]*q[1]


def exact(end, steps):
    """q and v of COUPLED by the Euler-Poincare equations p' = ad*_v p - dU + f. The derivatives of U are complex steps."""
    mass = np.diag([2, 2, .5, 1, 1.4, .7, 3, .3])
    mass[3, 4] = mass[4, 3] = .1
    mass[4, 5] = mass[5, 4] = -.2

    def slope(t, y):
        q, p = y[:14], y[14:]
        v = np.linalg.solve(mass, p)
        change = np.array([-potential(q + 1e-30j*moving(q, unit)).imag/1e-30 for unit in np.eye(8)])
        change[:3] += [v[2]*p[1], -v[2]*p[0], p[0]*v[1] - p[1]*v[0]]
        change[3:6] += np.cross(p[3:6], v[3:6])
        change += [v[1]/8, 0, math.cos(2*t)/4, -v[3]/10, 0, 0, math.sin(t) - v[6]/4, -v[7]/10]
        return np.concatenate([moving(q, v), change])

    v = np.array([.5, .3, 1, .8, .5, 1.5, -.3, .2])
    y = np.concatenate([[.5, -.2, .7], rotation(np.array([.3, -.4, .2])).ravel(), [.3, .6], mass @ v])
    h = end/steps
    for t in np.arange(steps)*h:
        a = slope(t, y)
        b = slope(t + h/2, y + h/2*a)
        c = slope(t + h/2, y + h/2*b)
        y = y + h/6*(a + 2*b + 2*c + slope(t + h, y + h*c))
    return np.concatenate([y[:14], np.linalg.solve(mass, y[14:])])


class Bodies(unittest.TestCase):
    def test_coupled_bodies_move_as_the_equations_say(self):
        wanted = exact(1, 800)
        errors = []
        for step in (.1, .05, .025):
            found = run(COUPLED.replace("{step}", str(step)))
            errors.append(np.abs(np.concatenate([found["q"], found["v"]]) - wanted).max())
        self.assertLess(errors[-1], 5e-8)
        for coarse, fine in zip(errors, errors[1:]):
            self.assertAlmostEqual(math.log2(coarse/fine), 4, delta=.1)

    def test_a_symmetry_of_two_tops_keeps_their_momentum(self):
        found = run(TOPS)
        self.assertEqual(found["vertical"].size, 21)
        self.assertLess(np.ptp(found["vertical"]), 1e-13)
        self.assertEqual(*(run(TOPS, "--backend", backend)["q"].tobytes() for backend in ("cpu:scalar", "cpu")))

    def test_the_tilt_of_coupled_tops_wanders_as_the_linear_equations_say(self):
        """I z'' - i L z' = w z - c (z - z') for both tops, z = R13 + i R23."""
        found = run((ROOT / "examples/coupled-tops.toml").read_text(), "--set", "ensemble.axes[0].count=5", "--set", "ensemble.axes[1].count=3")
        tilt = 1 - found["all"].reshape(5, 3, 18)[:, :, 17]
        for i, attraction in enumerate((0, .5, 1, 1.5, 2)):
            for j, spin in enumerate((15, 20, 25)):
                kept = 5 - attraction
                rates, modes = np.linalg.eig(np.array([[0, 0, 1, 0], [0, 0, 0, 1], [kept, attraction, 12j, 0], [attraction, kept, 0, .6j*spin]]))
                z = modes @ (np.exp(40*rates)*np.linalg.solve(modes, [1, 0, 0, 0]))
                self.assertAlmostEqual(tilt[i, j]/(1 - math.cos(.1)), abs(z[1])**2, delta=.02)

    def test_examples_move_as_newton_and_euler_say(self):
        """States by SciPy's DOP853 at a tolerance of 1e-13: two bodies with the forces in their joints, and water with the forces between sites."""
        one = ("--set", "output.final_state=true", "--set", "output.trajectories=[]", "--set", "time.sample_every=1")
        found = run((ROOT / "examples/rigid-double-pendulum.toml").read_text(), *one, "--set", "time.step=0.005", "--set", "time.end=1.0",
                    "--set", 'ensemble.axes=[{name="spin",values=[3.0]}]')
        np.testing.assert_allclose(found["q"][[2, 5, 8, 11, 14, 17]], [-.16772166, .6782386, .71544521, .01735534, .97469437, .22286693],
                                   rtol=0, atol=5e-7)
        found = run((ROOT / "examples/water-dimer.toml").read_text(), *one, "--set", "time.step=0.01", "--set", "time.end=2.0",
                    "--set", 'ensemble.axes=[{name="kick",values=[1.0]}]')
        np.testing.assert_allclose(found["q"][[0, 1, 2, 9, 10, 21]], [.28994061, -.0866666, -.95311245, -3.45326775e-3, 2.54520909e-3, 2.76845327],
                                   rtol=0, atol=5e-8)

    def test_a_machine_moves_as_its_one_freedom_says(self):
        """The slider crank of the documentation, with gravity and a damper, against the equation of its angle by SciPy's DOP853 at 1e-13."""
        page = (ROOT / "docs/learn/machines.md").read_text()
        found = run(page.split("```toml\n")[1].split("```")[0], "--set", "time.step=0.0025")
        np.testing.assert_allclose(found["q"][:7], SLIDER_CRANK, rtol=0, atol=2e-9)

    def test_bodies_that_do_not_act_on_each_other_move_as_each_alone(self):
        alone = {group: run(NONHOLONOMIC.format(group=group, body=body, q=q, v=v)) for group, (body, q, v) in ALONE.items()}
        for groups, bodies in ((("SO(3)", "SE(2)"), '["top", "disc"]'), (("SE(2)", "SO(3)"), '["disc", "top"]')):
            q, v = (sum((ALONE[group][i] for group in groups), []) for i in (1, 2))
            found = run(NONHOLONOMIC.format(group=" x ".join(groups), body=PAIR.format(bodies), q=q, v=v))
            for part in ("q", "v"):
                np.testing.assert_allclose(found[part], np.concatenate([alone[group][part] for group in groups]), rtol=0, atol=1e-13)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
