"""Diffrax: diffeqsolve, compiled by XLA, on the CPU and, with --device gpu, on a GPU. Dopri8, ..: the ensemble is one state of
shape (dimension, count) whose trajectories share their step, on a CPU by far the fastest. Dopri8-vmap, ..: vmapped over the
trajectories, each with its own step."""

import jax

from problems import answer, arguments, skip, timed

task = arguments([name + form for name in ("Dopri8", "Tsit5") for form in ("", "-vmap")])
jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cuda" if task.device == "gpu" else "cpu")
try:
    jax.devices()
except (AssertionError, RuntimeError):
    skip(task, "Diffrax", "JAX finds no CUDA device")
    raise SystemExit

import diffrax  # noqa: E402  (chooses a device when imported)
import jax.numpy as jnp  # noqa: E402

solver, _, vmapped = task.method.partition("-")
ode = task.problem.ode(jnp)
term = diffrax.ODETerm(lambda t, y, _: jnp.stack(ode(y)))


def solve(y, end, size):
    """The step or tolerance is an argument: one compilation serves all."""
    first = size if task.step else None
    control = diffrax.ConstantStepSize() if task.step else diffrax.PIDController(rtol=size, atol=size)
    solution = diffrax.diffeqsolve(term, getattr(diffrax, solver)(), 0.0, end, first, y, max_steps=None,
                                   saveat=diffrax.SaveAt(t1=True), stepsize_controller=control,
                                   adjoint=diffrax.ForwardMode())
    return solution.ys[-1], solution.stats["num_steps"]


ensemble = jax.jit(jax.vmap(solve, in_axes=(1, None, None), out_axes=(1, 0)) if vmapped else solve)
size = task.step or task.tolerance
initial = jnp.asarray(task.problem.initial(task.count))
jax.block_until_ready(ensemble(initial, 1.0, size))
(final, steps), seconds = timed(lambda: jax.block_until_ready(ensemble(initial, task.end, size)))
steps = int(steps.sum()) if vmapped else int(steps) * task.count
answer(task, "Diffrax", f"{diffrax.__version__}, JAX {jax.__version__}", final, seconds, steps)
