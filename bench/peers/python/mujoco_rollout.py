"""MuJoCo: the double pendulum by its joint angles with RK4 at a fixed step, by mujoco.rollout, whose loop is in C++. Contact,
constraints and everything else that a step may do besides are switched off."""

import mujoco
import numpy as np
from mujoco import rollout

from problems import answer, arguments, timed

MODEL = """<mujoco>
  <option gravity="0 0 -1" integrator="RK4" timestep="{step}">
    <flag constraint="disable" contact="disable" equality="disable" limit="disable" frictionloss="disable" warmstart="disable"/>
  </option>
  <compiler angle="radian"/>
  <worldbody>
    <body><joint type="hinge" axis="0 -1 0"/><inertial pos="0 0 -1" mass="1" diaginertia="{tiny} {tiny} {tiny}"/>
      <body pos="0 0 -1"><joint type="hinge" axis="0 -1 0"/><inertial pos="0 0 -1" mass="1" diaginertia="{tiny} {tiny} {tiny}"/></body>
    </body>
  </worldbody>
</mujoco>"""
AT_ONCE = 1000  # steps whose states one call returns

task = arguments(["RK4"], adaptive=False, systems=("double-pendulum",))
model = mujoco.MjModel.from_xml_string(MODEL.format(step=task.step, tiny=1e-14))
data, runner = mujoco.MjData(model), rollout.Rollout(nthread=0)
a, b, va, vb = task.problem.initial(task.count)
start = np.stack([np.zeros(task.count), a, b - a, va, vb - va], axis=1)  # the time, and the second angle relative to the first


def solve():
    state, left = start, task.steps
    while left > 0:
        steps = min(left, AT_ONCE)
        state = np.ascontiguousarray(runner.rollout(model, data, state, nstep=steps, skip_checks=False)[0][:, -1])
        left -= steps
    return state


state, seconds = timed(solve)
_, a, b, va, vb = state.T
answer(task, "MuJoCo", mujoco.__version__, [a, a + b, va, va + vb], seconds)
