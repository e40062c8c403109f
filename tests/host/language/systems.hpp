#pragma once
// Systems of the catalogue, written as formulas, and one that the catalogue does not have.

#include <string_view>

struct WrittenSystem {
  const char* identifier;
  std::string_view toml;  ///< the table [system]
};

inline constexpr WrittenSystem written_systems[] = {
    {"chaotic", R"toml(
name = "chaotic"
dimensions = { m = 3 }
coordinates = ["x", "y[1..m]", "z[1..m]"]
potential = "(x^2 + sum(i, 1, m, y[i]^2 + z[i]^2 + y[i]^2 z[i]^2) + z1^2 z2^2) / 2"
velocity_constraints = ["v_x + sum(i, 1, m, z[i] v_z[i])"]
observables = { hidden_integral = "x + sum(i, 1, m, z[i]^2) / 2" }
conserved = ["hidden_integral"]
initial = { q = [1, 0.6, 0.4, 0.2, 1, 1, 1] }
)toml"},
    {"spherical_pendulum", R"toml(
name = "spherical-pendulum"
coordinates = ["x", "y", "z"]
parameters = { mass = 1, length = 1, gravity = 1, constraint_scale = 1 }
mass = "mass"
potential = "mass gravity z"
constraints = ["constraint_scale (x^2 + y^2 + z^2 - length^2) / 2"]
observables = { angular_momentum = "mass (x v_y - y v_x)", angular_momentum_1 = "mass (y v_z - z v_y)", angular_momentum_2 = "mass (z v_x - x v_z)" }
conserved = ["angular_momentum"]
initial = { q = [0.8414709848078965, 0, -0.5403023058681398], v = [0, 0.8, 0] }
)toml"},
    {"henon_heiles", R"toml(
name = "henon-heiles"
coordinates = ["x", "y"]
potential = "(x^2 + y^2)/2 + x^2 y - y^3/3"
initial = { q = [0.1, 0.2], v = [0.3, -0.1] }
)toml"},
    {"heavy_top_directors", R"toml(
name = "heavy-top-directors"
coordinates = ["x[1..3]", "a[1..3]", "b[1..3]", "c[1..3]"]
parameters = { mass = 0.7068583470577035, inertia = 0.0005301437602932776, axial_inertia = 0.0005301437602932776, length = 0.075, gravity = 9.81 }
mass = ["mass", "mass", "mass", "axial_inertia/2", "axial_inertia/2", "axial_inertia/2",
        "axial_inertia/2", "axial_inertia/2", "axial_inertia/2",
        "inertia - axial_inertia/2", "inertia - axial_inertia/2", "inertia - axial_inertia/2"]
potential = "mass gravity x3"
constraints = [
  "(sum(i, 1, 3, a[i]^2) - 1)/2", "(sum(i, 1, 3, b[i]^2) - 1)/2", "(sum(i, 1, 3, c[i]^2) - 1)/2",
  "sum(i, 1, 3, a[i] b[i])", "sum(i, 1, 3, a[i] c[i])", "sum(i, 1, 3, b[i] c[i])",
  "x1/length - c1", "x2/length - c2", "x3/length - c3"]
initial = { q = [0, -0.06495190528383290, 0.0375, 1, 0, 0, 0, 0.5, 0.86602540378443865, 0, -0.86602540378443865, 0.5] }
time_scale = 0.01
)toml"},
    {"four_particle", R"toml(
name = "four-particle"
coordinates = ["a[1..3]", "b[1..3]", "c[1..3]", "d[1..3]"]
parameters = { mass_1 = 1, mass_2 = 3, mass_3 = 2.3, mass_4 = 1.7, k13 = 50, k24 = 500, l13 = 1, l24 = 1, l12 = 1, l34 = 1 }
mass = ["mass_1", "mass_1", "mass_1", "mass_2", "mass_2", "mass_2", "mass_3", "mass_3", "mass_3", "mass_4", "mass_4", "mass_4"]
potential = "(k13 (sum(i, 1, 3, (c[i] - a[i])^2) - l13^2)^2 + k24 (sum(i, 1, 3, (d[i] - b[i])^2) - l24^2)^2)/2"
constraints = ["(sum(i, 1, 3, (b[i] - a[i])^2)/l12^2 - 1)/2", "(sum(i, 1, 3, (d[i] - c[i])^2)/l34^2 - 1)/2"]
initial = { q = [0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0] }
)toml"},
    {"spring_pendulum", R"toml(
name = "spring-pendulum"
coordinates = ["x", "y", "z"]
parameters = { k = 2, l = 0.7, w = 0.4, g = 9.81 }
potential = "g z + k (sqrt((x - 1)^2 + y^2 + z^2) - l)^2/2 + w (x^2 + y^2 + z^2)/2 + exp(w (x^2 + y^2 + z^2))"
constraints = ["(x^2 + y^2 + z^2 - 1)/2"]
initial = { q = [0, 0.6, 0.8] }
)toml"},
    {"variable_mass_pendulum", R"toml(
name = "variable-mass-pendulum"
coordinates = ["x", "y", "z"]
parameters = { mass = 1, variation = 0.3, length = 1, gravity = { value = 1, unit = "length/time^2", text = "acceleration \"downwards\"\\" } }
mass = "mass (1 + variation z^2)"
potential = "mass gravity z"
constraints = ["(x^2 + y^2 + z^2 - length^2)/2"]
observables = { angular_momentum = "mass (1 + variation z^2) (x v_y - y v_x)" }
conserved = ["angular_momentum"]
initial = { q = [0.8, 0, -0.6], v = [0.36, 1, 0.48] }
)toml"},
    {"magnetic_pendulum", R"toml(
name = "magnetic-pendulum"
coordinates = ["x", "y", "z"]
parameters = { mass = 1, length = 1, gravity = 1, constraint_scale = 1, magnetic_field = 0.5 }
mass = "mass"
vector_potential = ["-magnetic_field y / 2", "magnetic_field x / 2", 0]
potential = "mass gravity z"
constraints = ["constraint_scale (x^2 + y^2 + z^2 - length^2) / 2"]
observables = { angular_momentum = "mass (x v_y - y v_x) + magnetic_field (x^2 + y^2)/2" }
initial = { q = [0.8414709848078965, 0, -0.5403023058681398], v = [0, 0.8, 0] }
)toml"},
    {"magnetic_polar", R"toml(
name = "magnetic-polar"
coordinates = ["r", "phi"]
parameters = { magnetic_field = 1, stiffness = 1 }
lagrangian = "(v_r^2 + r^2 v_phi^2)/2 + magnetic_field/2 r^2 v_phi - stiffness r^2/2"
observables = { angular_momentum = "r^2 (v_phi + magnetic_field/2)" }
conserved = ["angular_momentum"]
initial = { q = [1, 0], v = [0.3, 0.4] }
)toml"},
    {"suslov", R"toml(
name = "suslov"
group = "SO(3)"
parameters = { moment_1 = 1, moment_2 = 1.4, moment_3 = 1.2, product_13 = 0.3, product_23 = -0.2, weight = 0.5, centre_1 = 0.6, centre_2 = 0.8, centre_3 = 0.1 }
inertia = [["moment_1", 0, "product_13"], [0, "moment_2", "product_23"], ["product_13", "product_23", "moment_3"]]
potential = "weight (R31 centre_1 + R32 centre_2 + R33 centre_3)"
velocity_constraints = ["w3"]
observables = { kharlamova_integral = "moment_1 w1 centre_1 + moment_2 w2 centre_2" }
initial = { q = [0.3, -0.4, 0.2], v = [0.8, 0.5, 0] }
)toml"},
    {"heavy_top_cone", R"toml(
name = "heavy-top-cone"
group = "SO(3)"
parameters = { moment_1 = 1, moment_2 = 1.4, moment_3 = 0.7, weight = 0.9, centre_1 = 0.1, centre_2 = 0.2, centre_3 = 1, kappa = -0.351663099984004273 }
inertia = ["moment_1", "moment_2", "moment_3"]
potential = "weight (R31 centre_1 + R32 centre_2 + R33 centre_3)"
constraints = ["R13 - kappa"]
observables = { axial_momentum = "moment_3 w3" }
initial = { q = [0.3, -0.4, 0.2], v = [0.259460530329116188, -0.071604175517872056, -0.6] }
)toml"},
    {"rigid_body_spring", R"toml(
name = "rigid-body-spring"
group = "SE(3)"
parameters = { moment_1 = 1, moment_2 = 1.5, moment_3 = 2, mass = 1.2, stiffness = 3, gravity = 1, point_1 = 0.3, point_2 = -0.2, point_3 = 0.5, centre_1 = 0.1, centre_2 = 0.2, centre_3 = 0 }
inertia = ["moment_1", "moment_2", "moment_3"]
mass = "mass"
potential = """
mass gravity z + stiffness/2 (
  (R11 point_1 + R12 point_2 + R13 point_3 + x - centre_1)^2 +
  (R21 point_1 + R22 point_2 + R23 point_3 + y - centre_2)^2 +
  (R31 point_1 + R32 point_2 + R33 point_3 + z - centre_3)^2)"""
initial = { q = [0.2, -0.3, 0.1, 0.4, 0.1, -0.2], v = [0.7, -0.2, 0.4, 0.2, 0.1, -0.2] }
)toml"},
    {"chaplygin_sleigh", R"toml(
name = "chaplygin-sleigh"
coordinates = ["x", "y", "theta"]
velocities = ["vx", "vy", "w"]
parameters = { mass = 1, inertia = 0.5, offset = 0.4 }
mass = [["mass", 0, "-mass offset sin(theta)"], [0, "mass", "mass offset cos(theta)"],
        ["-mass offset sin(theta)", "mass offset cos(theta)", "inertia + mass offset^2"]]
velocity_constraints = ["vy cos(theta) - vx sin(theta)"]
initial = { q = [0, 0, 0.3], v = ["0.5 cos(0.3)", "0.5 sin(0.3)", 1.2] }
)toml"},
    {"isokinetic_particle", R"toml(
name = "isokinetic-particle"
coordinates = ["x", "y"]
potential = "x^2/2 + y^2 + x^2 y/2"
velocity_constraints = ["(v_x^2 + v_y^2 - 1)/2"]
observables = { speed = "sqrt(v_x^2 + v_y^2)" }
initial = { q = [0.5, -0.3], v = [0.6, 0.8] }
)toml"},
    {"turntable_ball", R"toml(
name = "turntable-ball"
group = "SO(3) x R^2"
coordinates = ["x", "y"]
velocities = ["w1", "w2", "w3", "vx", "vy"]
parameters = { radius = 1, spin = 1, a = 0.4, b = 0.4, c = 0.4 }
inertia = ["a radius^2", "b radius^2", "c radius^2"]
velocity_constraints = [
  "vx - radius (R21 w1 + R22 w2 + R23 w3) + spin y",
  "vy + radius (R11 w1 + R12 w2 + R13 w3) - spin x"]
initial = { q = [0, 0, 0, 1, 0], v = [0.3, -0.2, 0.5, -0.2, 0.7] }
)toml"},
    {"vertical_disc", R"toml(
name = "vertical-disc"
group = "SE(2)"
parameters = { mass = 2, inertia = 0.5, stiffness = 1 }
inertia = "inertia"
mass = "mass"
potential = "stiffness (x^2 + y^2)/2"
velocity_constraints = ["u2"]
observables = { angular_velocity = "w", linear_integral = "mass w u1 - stiffness (y cos(theta) - x sin(theta))" }
initial = { q = [1, 0.5, 0.3], v = [0.7, 0, 1.1] }
)toml"},
    {"bodies", R"toml(
name = "bodies"
group = "SE(2) x R^1 x SO(3) x S^1 x SE(3)"
bodies = ["cart", "top", "dial", "link[1..1]"]
coordinates = ["s"]
parameters = { c = 0.7 }
inertia = { cart = 0.5, top = [[1, 0.1, 0], [0.1, 1.4, -0.2], [0, -0.2, 0.7]], dial = 0.3, link1 = [1, 1.5, 2] }
mass = { cart = 2, s = 3, link1 = 1.2 }
potential = """
c top_R33 cos(dial_theta - cart_theta) + ((cart_x - s)^2 + cart_y^4)/2 + link1_x^2 + cart_x link1_y link1_z
+ sum(i in 1..1: link[i]_R12 top_R13 + link[i]_R33^2)"""
constraints = ["top_R12 link1_R31 - cart_x sin(cart_theta)"]
initial = { q = [0, 0.5, 0.3, 0.2, 0, 0, 0.7, 0.4, 0, 0, 0.7, 0.1, 0.2, 0.4] }
)toml"},
    {"cluster", R"toml(
name = "cluster"
dimensions = { N = 9 }
coordinates = ["x[1..N]", "y[1..N]", "z[1..N]"]
lagrangian = """sum(i, 1, N, (v_x[i]^2 + v_y[i]^2 + v_z[i]^2)/2) - sum(i, 1, N - 1, sum(j, i + 1, N, \
4 (((x[i] - x[j])^2 + (y[i] - y[j])^2 + (z[i] - z[j])^2)^(-6) - ((x[i] - x[j])^2 + (y[i] - y[j])^2 + (z[i] - z[j])^2)^(-3))))"""
initial = { q = [0, 1.1, 2.2, 0, 1.1, 2.2, 0, 1.1, 2.2, 0, 0, 0, 1.1, 1.1, 1.1, 2.2, 2.2, 2.2, 0, 0, 0, 0, 0, 0, 0, 0, 0] }
)toml"},
    {"double_pendulum", R"toml(
name = "double-pendulum"
coordinates = ["a", "b"]
parameters = { m1 = 1.5, m2 = 0.7, l1 = 1.2, l2 = 0.8, g = 9.81 }
mass = [["(m1 + m2) l1^2", "m2 l1 l2 cos(a - b)"], ["m2 l1 l2 cos(a - b)", "m2 l2^2"]]
potential = "-(m1 + m2) g l1 cos(a) - m2 g l2 cos(b)"
initial = { q = [1, 2], v = [0.1, -0.3] }
)toml"},
    {"cart_with_links", R"toml(
name = "cart-with-links"
coordinates = ["x", "a[1..5]"]
parameters = { g = 9.81, b = 0.3 }
lagrangian = """2 v_x^2 + b cos(a2) v_x + g sum(i in 1..5: (6 - i) cos(a[i])) \
+ sum(k in 1..5: (v_x + sum(i in 1..k: cos(a[i]) v_a[i]))^2 + sum(i in 1..k: sin(a[i]) v_a[i])^2)/2"""
initial = { q = [0, 1, 2, -1, 0.5, 0], v = [0.1, 0.2, 0, -0.3, 0, 1] }
)toml"},
    {"relativistic_charge", R"toml(
name = "relativistic-charge"
coordinates = ["x", "y", "z", "a"]
parameters = { c = 4, b = 1.1, k = 0.7 }
lagrangian = "-c^2 sqrt(1 - (v_x^2 + v_y^2 + v_z^2)/c^2) + v_a^2/2 + b (x^2 v_y + x v_z v_a) - k x^2 z"
constraints = ["x^2 + y^2 + z^2 - 1"]
initial = { q = [1, 0, 0, 0], v = [0, 0.3, 0, 0] }
)toml"},
    {"every_function", R"toml(
name = "every-function"
coordinates = ["x", "y"]
parameters = { a = 0.3, exp2 = 0.7 }
potential = """
a sin(x) cos(y) + tan(x/4) + asin(x/9) acos(y/9) + atan(x y) + atan2(3 + x^2, y) + sinh(x/2) cosh(y) + tanh(x)
+ asinh(x) + acosh(3 + x^2) + atanh(y/9) + exp(a x) + log(4 + x^2) + log2(5 + y^2) + log10(6 + x^2) + sqrt(7 + y^2)
+ (2 + x^2)^exp2 + (2 + y^2)^0.3 + (3 + x^2)^-1.5 + abs(x - 11)^3 + 2^(x/3) - pi x^7/900"""
initial = { q = [0.4, 0.7] }
)toml"},
};

/// One system of each form that the others do not have (catalogue/form.hpp).
inline constexpr WrittenSystem systems_of_each_form[] = {
    {"linear_hamiltonian", "coordinates = ['x', 'y']\nhamiltonian = 'x p_y - y p_x + x^2 y'"},
    {"regular_hamiltonian", "coordinates = ['x', 'y']\nhamiltonian = 'sqrt(1 + p_x^2 + p_y^2) + x^2 y'"},
    {"quadratic_hamiltonian", "coordinates = ['x', 'y']\nhamiltonian = 'p_x^2/2 + p_y^2 + x^2 y'"},
    {"hamiltonian_in_time", "coordinates = ['x']\nhamiltonian = 'p_x^4/4 + p_x^2/2 + x^2 cos(t)'"},
    {"hamiltonian_on_a_group", "group = 'SO(3)'\nhamiltonian = '(p_w1^2 + p_w2^2 + 2 p_w3^2)/2 + p_w1^4 + R33'"},
    {"linear_hamiltonian_on_a_group", "group = 'SO(3)'\nhamiltonian = 'p_w1 + R33 p_w2'"},
    {"constrained_hamiltonian",
     "coordinates = ['x', 'y']\nhamiltonian = 'p_x^4 + p_x^2/2 + p_y^2/2'\nconstraints = ['x^2 + y^2 - 1']\n"
     "initial = {q = [1, 0], v = [0, 0.1]}"},
    {"both_kinds",
     "coordinates = ['x', 'y', 'z', 'w']\npotential = 'x z'\nconstraints = ['x^2 + y^2 - 1']\nvelocity_constraints = "
     "['v_w - z v_z']\ninitial = {q = [1, 0, 0, 0]}"},
    {"force_of_velocity", "coordinates = ['x', 'y']\npotential = 'x^2'\nforce = ['-v_x', 'cos(t)']"},
    {"force_of_time", "coordinates = ['x', 'y']\npotential = 'x^2'\nforce = ['y', 'cos(t)']"},
    {"potential_in_time", "coordinates = ['x', 'y']\npotential = 'x^2 cos(t)'"},
    {"mass_in_time", "coordinates = ['x', 'y']\nmass = ['2 + cos(t)', '1']\npotential = 'x^2'"},
    {"observed_in_time", "coordinates = ['x']\npotential = 'x^2'\nobservables = {a = 'x cos(t)'}"},
    {"constraint_in_time",
     "coordinates = ['x', 'y']\npotential = 'y'\nconstraints = ['(x - sin(t))^2 + y^2 - 1']\ninitial = {q = [1, 0]}"},
    {"driven_on_a_group", "group = 'SO(3)'\npotential = 'R33'\nforce = ['-w1', '0', '0']"},
    {"moving_floor", "coordinates = ['x', 'y']\nvelocity_constraints = ['v_x - 1 - y v_y']\ninitial = {v = [1, 0]}"},
    {"floor_in_time",
     "coordinates = ['x', 'y']\nvelocity_constraints = ['v_x - sin(t) - y v_y']\ninitial = {v = [0, 0]}"},
    {"full_mass",
     "coordinates = ['x', 'y', 'z']\nmass = [['2', 'sin(x)/2', '0.1'], ['sin(x)/2', '2', '0'], ['0.1', '0', '1']]\n"
     "constraints = ['x^2 + y^2 + z^2 - 1']\ninitial = {q = [1, 0, 0]}"},
    {"constant_full_mass",
     "coordinates = ['x', 'y', 'z']\nmass = [['2', '0.5', '0.1'], ['0.5', '2', '0'], ['0.1', '0', '1']]\n"
     "constraints = ['x^2 + y^2 + z^2 - 1']\ninitial = {q = [1, 0, 0]}"},
    {"circles", "group = 'S^1 x R^1'\ncoordinates = ['x']\npotential = 'cos(theta) + x^2'"},
    {"lagrangian_on_a_group", "group = 'SO(3)'\nlagrangian = '(w1^2 + w2^2 + 2 w3^2)/2 + w1^4 - R33'"},
    {"gyroscope", "group = 'SO(3)'\nlagrangian = '(w1^2 + w2^2 + 2 w3^2)/2 + R31 w1 - R33'"},
    {"driven_magnet",
     "coordinates = ['x', 'y']\nparameters = {b = 1}\nvector_potential = ['b y', '0']\npotential = 'x^2 cos(t)'"},
};
