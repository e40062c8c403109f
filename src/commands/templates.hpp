#pragma once
// The studies that `rattleback new` writes. The tests check and run each of them.

#include <string_view>

namespace rattleback::program {

struct StudyTemplate {
  std::string_view name, summary, text;
};

inline constexpr StudyTemplate study_templates[] = {
    {"pendulum", "an ensemble of pendulums: a system of the catalogue, and the energy error",
     R"toml(# Spherical pendulums released at different angles. Other systems and methods: rattleback list
[study]
name = "pendulum"

[system]
name = "spherical-pendulum"   # rattleback describe spherical-pendulum
parameters = { gravity = 1.0 }

[method]
name = "holonomic-lobatto"    # symplectic, keeps the constraint to round-off
stages = 3                    # order 2 stages - 2

[time]
step = 0.1
end = 50.0
sample_every = 1              # steps

[ensemble]
axes = [ { name = "angle", from = 0.5, to = 1.5, count = 512 } ]

[ensemble.initial]            # numbers, or expressions in the axes and parameters
q = ["sin(angle)", 0, "-cos(angle)"]
v = [0, 0.8, 0]

[[observable]]
name = "energy"
reference = "initial"         # errors are taken against the first sample
statistics = ["mse", "maxabs"]
)toml"},
    {"own-system", "a system of your own: a Lagrangian as a formula",
     R"toml(# A pendulum that hangs on a spring. The formulas may be any Lagrangian; derivatives are taken on them.
[study]
name = "own-system"

[system]
name = "spring-pendulum"
coordinates = ["r", "phi"]
parameters = { k = 20, length = 1, g = 9.81 }
lagrangian = "(v_r^2 + r^2 v_phi^2)/2 + g r cos(phi) - k (r - length)^2/2"
observables = { height = "-r cos(phi)" }
initial = { q = [1.5, 0.5], v = [0, 0] }

[method]
name = "lobatto"
stages = 3

[time]
step = 0.01
end = 20.0
sample_every = 5

[ensemble]
axes = [ { name = "angle", from = 0.1, to = 1.5, count = 64 } ]

[ensemble.initial]
q = [1.5, "angle"]
v = [0, 0]

[[observable]]
name = "energy"
reference = "initial"
statistics = ["maxabs"]

[[observable]]
name = "height"
statistics = ["mean", "std"]

[output]
trajectories = [0, 31, 63]    # states at the samples: rattleback plot phase own-system.h5
)toml"},
    {"nonholonomic", "a constraint on velocities: a blade on ice",
     R"toml(# A blade that slides on ice along its edge, and not across it. Which method: docs/learn/nonholonomic.md
[study]
name = "nonholonomic"

[system]
name = "blade"
coordinates = ["x", "y", "angle"]
parameters = { slope = 0.3 }
mass = [1, 1, 0.5]
potential = "slope x"
velocity_constraints = ["v_x sin(angle) - v_y cos(angle)"]
initial = { q = [0, 0, 0], v = [0, 0, 1] }

[method]
name = "nonholonomic-lobatto"
stages = 2

[time]
step = 0.05
end = 40.0
sample_every = 1

[ensemble]
axes = [ { name = "spin", from = 0.5, to = 2.0, count = 16 } ]

[ensemble.initial]
q = [0, 0, 0]
v = [0, 0, "spin"]

[[observable]]
name = "energy"
reference = "initial"
statistics = ["maxabs"]

[[observable]]
name = "constraint"
statistics = ["max"]

[output]
trajectories = [0, 5, 10, 15]
)toml"},
    {"driven", "friction and a drive, seen once a period",
     R"toml(# A pendulum with friction that is pushed in the rhythm of its drive: docs/learn/forces.md
[study]
name = "driven"

[system]
name = "driven-pendulum"
coordinates = ["x"]
parameters = { a = "drive", w = "2/3", c = 0.5 }
potential = "-cos(x)"
force = ["a cos(w t)"]        # t is the time
dissipation = "c v_x^2/2"     # friction: the force is minus its derivative by v_x
initial = { q = [0.25], v = [0] }

[method]
name = "lobatto"
stages = 3

[time]
step = "pi/(50 w)"            # a hundredth of a period
steps = 20000
sample_every = 100            # one sample each period

[ensemble]
axes = [ { name = "drive", from = 0.9, to = 1.5, count = 256 } ]

[ensemble.initial]
q = [0.25]
v = [0]

[[observable]]
name = "lyapunov"             # positive where the motion is chaotic
statistics = ["mean", "max"]

[output]
trajectories = "all"
)toml"},
    {"sweep", "two axes, random initial states and groups: statistics over parameters",
     R"toml(# Damped oscillators with a nonlinear spring: the mean amplitude over random starts, for each stiffness.
[study]
name = "sweep"

[system]
name = "spring"
coordinates = ["x"]
parameters = { k = "stiffness", b = 0.5 }
potential = "k x^2/2 + b x^4/4"
dissipation = "v_x^2/20"
initial = { q = [1], v = [0] }

[method]
name = "lobatto"
stages = 2

[time]
step = 0.05
end = 20.0
sample_every = 10

[ensemble]
group_by = ["stiffness"]      # statistics for each value of this axis
axes = [
  { name = "stiffness", values = [0.5, 1.0, 2.0] },
  { name = "start", distribution = "normal", mean = 0, std = 1, seed = 1 },
]
draws = 500

[ensemble.initial]
q = ["start"]
v = [0]

[[observable]]
name = "q[0]"
statistics = ["std"]

[[observable]]
name = "energy"
statistics = ["mean"]
quantiles = [0.1, 0.5, 0.9]
)toml"},
    {"sections", "a Poincare section: where orbits cross a surface",
     R"toml(# Regular and chaotic orbits of the Henon-Heiles system where they cross x = 0:  rattleback plot section sections.h5 --components "q[1],p[1]"
[study]
name = "sections"

[system]
name = "henon-heiles"

[method]
name = "lobatto"
stages = 3

[time]
step = 0.05
end = 1000.0

[ensemble]                    # all with the energy 1/8
axes = [ { name = "y", from = -0.2, to = 0.5, count = 24 } ]

[ensemble.initial]
q = [0, "y"]
v = ["sqrt(1/4 - y^2 + 2*y^3/3)", 0]

[[section]]
surface = "x"

[[observable]]
name = "energy"
reference = 0.125
statistics = ["maxabs"]
)toml"},
};

}  // namespace rattleback::program
