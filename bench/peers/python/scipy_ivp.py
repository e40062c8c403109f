"""SciPy's solve_ivp. DOP853 and RK45: the ensemble stacked into one system with a right-hand side compiled by Numba, so that
what Python costs per step is shared by all trajectories. With --step every step is accepted at that size. DOP853-plain: as one
begins, one trajectory after the other with a right-hand side in Python. Radau: one trajectory after the other, for it factorises
a dense matrix, with the exact Jacobian by complex-step differentiation."""

import numba
import numpy as np
import scipy
from scipy.integrate import solve_ivp

from problems import answer, arguments, timed

task = arguments(["DOP853", "RK45", "DOP853-plain", "Radau"])
problem, rows = task.problem, task.problem.dimension
plain = problem.ode(np)
ode = numba.njit(error_model="numpy", fastmath={"contract"})(plain)


@numba.njit(error_model="numpy", fastmath={"contract"})
def right_hand_side(t, y):
    derivative = np.empty_like(y)
    count = y.size // rows
    for k in range(count):
        column = ode(y[k::count])
        for i in range(rows):
            derivative[i * count + k] = column[i]
    return derivative


def jacobian(t, y):
    shifted = y[:, None] + 1e-30j * np.eye(rows)
    return (right_hand_side(t, shifted.ravel()).imag / 1e-30).reshape(rows, rows)


def solve(end):
    sizes = ({"first_step": task.step, "max_step": task.step, "rtol": 1e6, "atol": 1e6} if task.step
             else {"rtol": max(task.tolerance, 2.3e-14), "atol": task.tolerance})
    initial = problem.initial(task.count)
    if task.method == "Radau":
        runs = [solve_ivp(right_hand_side, (0, end), y, method="Radau", jac=jacobian, t_eval=[end], **sizes)
                for y in initial.T]
    elif task.method == "DOP853-plain":
        runs = [solve_ivp(lambda t, y: plain(y.tolist()), (0, end), y, method="DOP853", t_eval=[end], **sizes)
                for y in initial.T]
    else:
        runs = [solve_ivp(right_hand_side, (0, end), initial.ravel(), method=task.method, t_eval=[end], **sizes)]
    if not all(run.success for run in runs):
        raise SystemExit(runs[0].message)
    return runs


solve(1.0)  # compiles
runs, seconds = timed(lambda: solve(task.end))
final = np.hstack([run.y.reshape(rows, -1) for run in runs])
answer(task, "SciPy", scipy.__version__, final, seconds)
