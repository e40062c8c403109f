"""The rattleback of Kane and Levinson (Int. J. Non-Linear Mech. 17 (1982) 175-186) by Newton's and Euler's laws.

Nothing here comes from the kernels: the unknowns are the vertical and the angular velocity in the axes of the ellipsoid, where the inertia has
a product, and rolling has removed velocities and the force of the plane. The integration is by extrapolation.
"""
from math import atan2, cos, sin, sqrt

MASS, GRAVITY, DEPTH = 1.0, 9.81, 0.01
SQUARES = 0.2 ** 2, 0.03 ** 2, 0.02 ** 2  # of the semi-axes
# Kane and Levinson's product of inertia D = -0.2e-4 belongs to axes that point down; here the third axis points up.
I11, I22, I33, I12 = 2e-4, 16e-4, 17e-4, 0.2e-4


def cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def turned(vector):
    """From the principal axes of inertia to the axes of the ellipsoid."""
    angle = 0.5 * atan2(2 * I12, I22 - I11)
    c, s = cos(angle), sin(angle)
    return c * vector[0] + s * vector[1], c * vector[1] - s * vector[0], vector[2]


def spun(omega):
    """The angular momentum about the centre of mass."""
    return I11 * omega[0] + I12 * omega[1], I12 * omega[0] + I22 * omega[1], I33 * omega[2]


def contact(gamma):
    """From the centre of mass to the point of the ellipsoid whose outward normal is -gamma."""
    x, y, z = (a * g for a, g in zip(SQUARES, gamma))
    size = sqrt(gamma[0] * x + gamma[1] * y + gamma[2] * z)
    return -x / size, -y / size, DEPTH - z / size


def contact_rate(gamma, rate):
    scaled, moved = ([a * g for a, g in zip(SQUARES, each)] for each in (gamma, rate))
    size = sqrt(dot(gamma, scaled))
    part = dot(gamma, moved) / size ** 2
    return [(part * s - m) / size for s, m in zip(scaled, moved)]


def solve(a, b, c, right):
    """x with a x1 + b x2 + c x3 = right, by determinants."""
    bc = cross(b, c)
    whole = dot(a, bc)
    return dot(right, bc) / whole, dot(a, cross(right, c)) / whole, dot(a, cross(b, right)) / whole


def motion(gamma, omega):
    """The rates of the vertical and of the angular velocity, and the force of the plane, all in the body.

    The point of contact is at rest, so the centre of mass has the velocity rho x omega. Its acceleration times the mass is the force of the
    plane plus the weight, and the force of the plane turns the body about its centre of mass.
    """
    rho, rate = contact(gamma), cross(gamma, omega)
    drift, velocity = cross(contact_rate(gamma, rate), omega), cross(rho, omega)
    known = [d + c + GRAVITY * g for d, c, g in zip(drift, cross(omega, velocity), gamma)]  # the force over m, without omega'
    turned = cross(spun(omega), omega)
    right = [t + MASS * r for t, r in zip(turned, cross(rho, known))]
    columns = []
    for axis in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)):
        columns.append([i - MASS * r for i, r in zip(spun(axis), cross(rho, cross(rho, axis)))])
    acceleration = solve(*columns, right)
    return rate, acceleration, [MASS * (k + r) for k, r in zip(known, cross(rho, acceleration))]


def energy(gamma, omega):
    rho = contact(gamma)
    velocity = cross(rho, omega)
    return 0.5 * dot(omega, spun(omega)) + 0.5 * MASS * dot(velocity, velocity) - MASS * GRAVITY * dot(gamma, rho)


def integrate(gamma, omega, end, count, columns=6):
    """The state after the time `end`, in `count` steps: the rule of the midpoint with 2, 4, .. substeps, extrapolated to the order 2 columns."""
    def rates(y):
        rate, acceleration, _ = motion(y[:3], y[3:])
        return (*rate, *acceleration)

    large = end / count
    y = (*gamma, *omega)
    for _ in range(count):
        first, table = rates(y), []
        for j in range(1, columns + 1):
            h = large / (2 * j)
            before, now = y, [a + h * b for a, b in zip(y, first)]
            for _ in range(2 * j - 1):
                before, now = now, [a + 2 * h * b for a, b in zip(before, rates(now))]
            row = [[0.5 * (a + b + h * c) for a, b, c in zip(before, now, rates(now))]]
            for k, last in enumerate(table, 1):
                part = 1.0 / ((j / (j - k)) ** 2 - 1.0)
                row.append([a + (a - b) * part for a, b in zip(row[-1], last)])
            table = row
        y = table[-1]
    return y[:3], y[3:]
