"""The Lobatto IIIA-IIIB step of `nonholonomic-lobatto` and `lobatto` on whole arrays, an ensemble at a time: the reference for
what the kernel itself gains. Methods numpy-s2, ..: plain NumPy. jax-s2, ..: the same code, compiled by XLA.

With accelerations w_j = f(Q_j) + mu_j^T Lambda_j the stages are Q_i = q + c_i h v + h^2 sum_j (a ah)_ij w_j, and the multipliers
follow from mu_i (v + h sum_j a_ij w_j) = 0, i = 2..s. Functional iteration on w_2..w_{s-1}, to round-off."""

import numpy as np

from problems import answer, arguments, timed

task = arguments([f"{array}-s{s}" for array in ("numpy", "jax") for s in range(2, 6)], adaptive=False,
                 systems=("chaotic", "henon-heiles"))
array, stages = task.method.split("-s")
USE_JAX = array == "jax"
if USE_JAX:
    import jax
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_platforms", "cuda" if task.device == "gpu" else "cpu")
    import jax.numpy as xp
else:
    xp = np
s, h, n = int(stages), task.step, task.problem.dimension // 2


def lobatto_pair(s):
    """c, b, a, ah: collocation at the Lobatto nodes and its symplectic conjugate."""
    inner = np.polynomial.legendre.Legendre.basis(s - 1).deriv().roots()
    c = np.concatenate([[0.0], 0.5 + 0.5 * inner, [1.0]])
    powers = np.vander(c, increasing=True)
    a = (c[:, None] ** np.arange(1, s + 1) / np.arange(1, s + 1)) @ np.linalg.inv(powers)
    a[0] = 0.0
    b = a[-1]
    return c, b, a, b * (1 - a.T / b[:, None])


c, b, a, ah = lobatto_pair(s)
a_ah = a @ ah


def chaotic_force(q):
    y, z = q[1:4], q[4:7]
    stiffness = 1 + y * y + xp.concatenate([z[1:2] ** 2, z[:1] ** 2, xp.zeros_like(z[:1])])
    return -xp.concatenate([q[:1], y * (1 + z * z), z * stiffness])


def chaotic_form(q):
    """mu: the constraint is mu v = 0."""
    return xp.concatenate([xp.ones_like(q[:1]), xp.zeros_like(q[:3]), q[4:7]])


def henon_heiles_force(q):
    return xp.stack([-q[0] - 2 * q[0] * q[1], q[1] * q[1] - q[1] - q[0] * q[0]])


constrained = task.system == "chaotic"
force = chaotic_force if constrained else henon_heiles_force


def multipliers(forms, forces, known):
    """Lambda_2..Lambda_s: Gaussian elimination, whole arrays as entries. known[i] = v/h + a_i1 w_1."""
    rows = []
    for i, mu in enumerate(forms):
        right = known[i] + sum(a[i + 1, j + 1] * f for j, f in enumerate(forces))
        rows.append([a[i + 1, j + 1] * xp.sum(mu * other, axis=0) for j, other in enumerate(forms)]
                    + [-xp.sum(mu * right, axis=0)])
    for k, pivot in enumerate(rows):
        for i, row in enumerate(rows):
            if i != k:
                factor = row[k] / pivot[k]
                rows[i] = row[:k + 1] + [x - factor * p for x, p in zip(row[k + 1:], pivot[k + 1:])]
    return [row[-1] / row[i] for i, row in enumerate(rows)]


def sweep(q, v, w_1, w):
    """Q_s, the accelerations of the stages 2..s that belong to w, and Lambda_s."""
    stages = [q + h * (c[i] * v + h * sum(a_ah[i, j] * x for j, x in enumerate([w_1, *w]))) for i in range(1, s)]
    forces = [force(stage) for stage in stages]
    if not constrained:
        return stages[-1], forces, None
    forms = [chaotic_form(stage) for stage in stages]
    found = multipliers(forms, forces, [v / h + a[i, 0] * w_1 for i in range(1, s)])
    return stages[-1], [f + mu * multiplier for f, mu, multiplier in zip(forces, forms, found)], found[-1]


def change(w, previous):
    return h * h * xp.max(xp.abs(xp.stack(w) - xp.stack(previous)))


def advance(state):
    """One step of the ensemble. Sweeps go on until the slowest trajectory has converged, or stopped converging."""
    q, v, multiplier = state
    w_1 = force(q) + (chaotic_form(q) * multiplier if constrained else 0.0)
    scale = xp.max(xp.abs(q)) + h * xp.max(xp.abs(v))

    def unfinished(loop):
        update, before = loop[1], loop[2]
        return (update > 1e-16 * scale) & ((update < before) | (update > 1e-11 * scale))

    def body(loop):
        w = sweep(q, v, w_1, loop[0])[1][:-1]
        return w, change(w, loop[0]), loop[1]

    w = [w_1] * (s - 2)
    if w:
        loop = body((w, np.inf, np.inf))
        if USE_JAX:
            loop = jax.lax.while_loop(unfinished, body, loop)
        else:
            while unfinished(loop):
                loop = body(loop)
        w = loop[0]
    q_new, w, multiplier = sweep(q, v, w_1, w)
    v = v + h * (b[0] * w_1 + sum(b[j + 1] * x for j, x in enumerate(w)))
    return q_new, v, multiplier


def start():
    y = task.problem.initial(task.count)
    q, v = xp.asarray(y[:n]), xp.asarray(y[n:])
    if not constrained:
        return q, v, None
    acceleration = task.problem.ode(np)(y)[n]  # of x: f_x + Lambda
    return q, v, xp.asarray(acceleration + y[0])


if USE_JAX:
    run = jax.jit(lambda state, steps: jax.lax.fori_loop(0, steps, lambda _, x: advance(x), state))
    jax.block_until_ready(run(start(), 2))
    (q, v, _), seconds = timed(lambda: jax.block_until_ready(run(start(), task.steps)))
else:
    def run():
        state = start()
        for _ in range(task.steps):
            state = advance(state)
        return state
    (q, v, _), seconds = timed(run)
name, version = ("Lobatto in JAX", jax.__version__) if USE_JAX else ("Lobatto in NumPy", np.__version__)
answer(task, name, version, np.concatenate([q, v]), seconds)
