"""heyoka.py: Taylor's method compiled by LLVM, a SIMD batch of trajectories at a time, each lane with its own step size."""

import heyoka
import numpy as np

from problems import answer, arguments, timed

task = arguments(["taylor"], fixed=False)
problem, lanes = task.problem, heyoka.recommended_simd_size()
y = heyoka.make_vars(*[f"y{i}" for i in range(problem.dimension)])
system = [(variable, heyoka.expression(0.0) + derivative) for variable, derivative in zip(y, problem.ode(heyoka)(y))]
initial = problem.initial(task.count)
integrator = heyoka.taylor_adaptive_batch(system, np.ascontiguousarray(initial[:, :1].repeat(lanes, axis=1)),
                                          tol=task.tolerance, fast_math=True)


def solve():
    final, steps = np.empty_like(initial), 0
    for first in range(0, task.count, lanes):
        columns = np.minimum(np.arange(first, first + lanes), task.count - 1)  # what is left over repeats the last one
        integrator.set_time(0.0)
        integrator.state[:] = initial[:, columns]
        integrator.propagate_until(task.end)
        final[:, columns] = integrator.state
        steps += sum(result[3] for result in integrator.propagate_res[:task.count - first])
    return final, steps


(final, steps), seconds = timed(solve)
answer(task, "heyoka.py", heyoka.__version__, final, seconds, steps)
