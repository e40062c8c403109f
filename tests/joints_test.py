#!/usr/bin/python3
"""Joints and what acts along them, against closed forms and against equations of one or two angles.  joints_test.py PROGRAM"""
import math, unittest

import numpy as np

from support.program import ROOT, StudyTest

STUDY = """[system]
name = "machine"
gravity = {gravity}
{bodies}
[method]
name = "{method}"
stages = 3
[time]
step = {step}
end = 1
"""
BODY = """[[body]]
name = "{}"
mass = 2
inertia = {}
position = {}
{}
"""
JOINT = """[[joint]]
name = "joint{}"
type = "{}"
between = {}
{}
"""


class Joints(StudyTest):
    def state(self, gravity, bodies, joints, step=0.01, method="holonomic-lobatto"):
        """The last q and v of a machine."""
        text = "".join(BODY.format(*body) for body in bodies) + "".join(JOINT.format(i, *joint) for i, joint in enumerate(joints))
        with self.run_study(STUDY.format(gravity=gravity, bodies=text, method=method, step=step)) as result:
            self.assertEqual(result["final/status"][0], 0)
            return result["final/q"][0], result["final/v"][0]

    def test_a_screw_falls_and_turns(self):
        """m z'' + I (2 pi/p)^2 z'' = -m g. The error of the rotation has the order 4."""
        q, v = self.state([0, 0, -9.81], [("nut", [0.3, 0.3, 0.1], [0, 0, 0], "")],
                          [("screw", ["ground", "nut"], "axis = [0, 0, 1]\npitch = 2")], step=0.001)
        rate = -9.81/(1 + 0.1*math.pi**2/2)
        turn = math.pi*rate/2
        np.testing.assert_allclose(q, [math.cos(turn), -math.sin(turn), 0, math.sin(turn), math.cos(turn), 0, 0, 0, 1, 0, 0, rate/2], rtol=0, atol=2e-9)
        np.testing.assert_allclose(v, [0, 0, math.pi*rate, 0, 0, rate], rtol=0, atol=2e-8)

    def test_multipliers_have_the_names_of_their_joints(self):
        """A beam in a wall bears a hanging bob: the wall holds both weights, and their moment about -z is negative."""
        bodies = [("beam", 0.5, [1.5, 0], ""), ("bob", 0.1, [3, 0], "")]
        joints = [("weld", ["ground", "beam"], "at = [0, 0]"), ("revolute", ["beam", "bob"], "at = [3, 1]")]
        text = "".join(BODY.format(*body) for body in bodies) + "".join(JOINT.format(i, *joint) for i, joint in enumerate(joints))
        asked = '[[observable]]\nname = "lambda_joint0_2"\n[[observable]]\nname = "lift"\nformula = "lambda_joint0[1] + lambda_joint1[1]"\n'
        with self.run_study(STUDY.format(gravity=[0, -10], bodies=text, method="holonomic-lobatto", step=0.1) + asked) as result:
            self.assertAlmostEqual(result["observables/lambda_joint0_2/mean"][-1], -(20*1.5 + 20*3), 10)
            self.assertAlmostEqual(result["observables/lift/mean"][-1], 40 + 20, 10)

    def test_a_body_on_a_slope_slides_and_turns(self):
        normal = np.array([0, -0.6, 0.8])
        q, v = self.state([0, 0, -9.81], [("sled", [0.3, 0.3, 0.3], [0, 0, 0], "spin = [0, -0.6, 0.8]\nvelocity = [1, 0, 0]")],
                          [("planar", ["ground", "sled"], "axis = [0, -0.6, 0.8]")])
        pull = np.array([0, 0, -9.81]) + 9.81*0.8*normal
        np.testing.assert_allclose(q[9:], [1, 0, 0] + pull/2, rtol=0, atol=1e-12)
        np.testing.assert_allclose(v, [*normal, *([1, 0, 0] + pull)], rtol=0, atol=1e-12)
        self.assertAlmostEqual(np.trace(q[:9].reshape(3, 3)), 1 + 2*math.cos(1), 8)

    def test_gears_turn_together(self):
        """A torque of 0.6 on the first wheel: (I1 + ratio^2 I2) angle'' = 0.6, in the plane by angles and in space, with bevel gears, by rates."""
        wanted = 0.6/(0.1 + 4*0.3)
        plane = [("a", 0.1, [0, 0], ""), ("b", 0.3, [1, 0], "")]
        q, v = self.state([0, 0], plane, [("revolute", ["ground", "a"], "effort = 0.6"), ("revolute", ["ground", "b"], "at = [1, 0]"),
                                          ("gear", ["a", "b"], "ratio = -2")])
        np.testing.assert_allclose([q[2], q[5], v[2], v[5]], [wanted/2, -wanted, wanted, -2*wanted], rtol=0, atol=1e-12)
        space = [("a", [0.2, 0.2, 0.1], [0, 0, 0], ""), ("b", [0.3, 0.5, 0.5], [1, 0, 0], "")]
        q, v = self.state([0, 0, 0], space, [("revolute", ["ground", "a"], "axis = [0, 0, 1]\neffort = 0.6"),
                                             ("revolute", ["ground", "b"], "at = [1, 0, 0]\naxis = [1, 0, 0]"),
                                             ("gear", ["a", "b"], "axis = [0, 0, 1]\naxis2 = [1, 0, 0]\nratio = -2")], method="nonholonomic-lobatto", step=0.05)
        np.testing.assert_allclose(v[:6], [0, 0, wanted, -2*wanted, 0, 0], rtol=0, atol=1e-10)
        np.testing.assert_allclose([q[0], q[3], q[13], q[16]], [math.cos(wanted/2), math.sin(wanted/2), math.cos(wanted), -math.sin(wanted)],
                                   rtol=0, atol=1e-6)

    def test_limits_are_springs_that_set_in_smoothly(self):
        """A bead that falls on the end of its slide, by the classical Runge-Kutta method."""
        q, v = self.state([0, -9.81], [("bead", 1, [0, 0.3], "")],
                          [("prismatic", ["ground", "bead"], "axis = [0, 1]\nlimits = [-0.3, 0.2]\nlimit_stiffness = 4000\nlimit_width = 0.01\ndamping = 0.5")], step=0.001)

        def slope(y):
            force = -2*9.81 - 0.5*y[1]
            for beyond, sign in ((-0.3 - y[0], 1), (y[0] - 0.2, -1)):
                root = math.hypot(beyond, 0.01)
                force += sign*1000*(beyond + root)*(1 + beyond/root)
            return np.array([y[1], force/2])
        y, h = np.zeros(2), 1/4000
        for _ in range(4000):
            a = slope(y)
            b = slope(y + h/2*a)
            c = slope(y + h/2*b)
            y = y + h/6*(a + 2*b + 2*c + slope(y + h*c))
        np.testing.assert_allclose([q[1] - 0.3, v[1]], y, rtol=0, atol=2e-6)

    def test_a_bar_on_a_universal_joint(self):
        """The state by the two angles of the joint, and SciPy's DOP853 at a tolerance of 1e-13."""
        with self.run_study(ROOT / "examples/outside/adams-universal/study.toml") as result:
            np.testing.assert_allclose(result["final/q"][0, 9:], [-1.43495469707, -1.39257801165, -0.04039181635], rtol=0, atol=1e-9)


if __name__ == "__main__":
    unittest.main()
