// The rattleback along the motion of its continuous equations: the geometry of its constraint, reference values, the reversal
// of its spin.

#include "group_motion.hpp"
#include "rattleback/systems/nonholonomic/rattleback.hpp"

namespace rattleback {
namespace {

using namespace motions;
using Celt = Rattleback<double>;

/// The ellipsoid by its level function f = |A^-1 y|^2 for a point of the body, seen from the centre of mass, and its
/// gradient.
struct Ellipsoid {
  const Celt& celt;
  [[nodiscard]] double level(const Vector<double, 3>& point) const { return dot(local(point), scaled(point)); }
  [[nodiscard]] Vector<double, 3> normal(const Vector<double, 3>& point) const {
    const auto g = scaled(point);
    const double c = std::cos(celt.angle), s = std::sin(celt.angle);
    return {c * g[0] - s * g[1], s * g[0] + c * g[1], g[2]};
  }

 private:
  [[nodiscard]] Vector<double, 3> local(const Vector<double, 3>& point) const {
    const double c = std::cos(celt.angle), s = std::sin(celt.angle);
    return {c * point[0] + s * point[1], c * point[1] - s * point[0], point[2] - celt.depth};
  }
  [[nodiscard]] Vector<double, 3> scaled(const Vector<double, 3>& point) const {
    const auto y = local(point);
    return {y[0] / (celt.semi_axis_1 * celt.semi_axis_1), y[1] / (celt.semi_axis_2 * celt.semi_axis_2),
            y[2] / (celt.semi_axis_3 * celt.semi_axis_3)};
  }
};

// The point of the ellipsoid with a downward normal is at rest, and the height of the centre of mass is that above it.
TEST(Rattleback, RollsOnThePlane) {
  const auto system = make_default<Celt>();
  const Ellipsoid ellipsoid{system};
  Random random(5);
  for (int trial = 0; trial < 20; ++trial) {
    const auto q = detail::displaced<Celt>(to_vector(Celt::default_q), random.vector<6>(-0.8, 0.8));
    const auto rotation = segment<0, 9>(q);
    // rho from the constraint matrix: column j of R^T mu is that of -hat(rho)
    const Matrix<double, 3, 6> mu = system.constraint_matrix(q);
    const auto column = [&](int j) { return SO3::Ad_star(rotation, {mu[0][j], mu[1][j], mu[2][j]}); };
    const Vector<double, 3> rho{column(2)[1], column(0)[2], column(1)[0]};
    EXPECT_NEAR(ellipsoid.level(rho), 1.0, 1e-13);
    const auto normal = SO3::Ad(rotation, ellipsoid.normal(rho));
    EXPECT_LE(std::hypot(normal[0], normal[1]), 1e-12 * std::fabs(normal[2]));
    EXPECT_LT(normal[2], 0.0);
    auto v = random.vector<6>(-1.0, 1.0);
    const auto velocity = segment<3, 3>(v) + SO3::Ad(rotation, cross(segment<0, 3>(v), rho));
    EXPECT_LE(distance(constraint(system, q, v), velocity), 1e-15);
    EXPECT_NEAR(value(system, {q, v}, "plane_height"), q[Celt::z] + SO3::Ad(rotation, rho)[2], 1e-15);
  }
  EXPECT_NEAR(value(system, default_motion<Celt>(), "plane_height"), 0.0, 1e-17);
  EXPECT_NEAR(value(system, default_motion<Celt>(), "tilt"), std::acos(std::pow(std::cos(M_PI / 360), 2)), 1e-14);
}

// by extrapolation to order 20 with 30 digits, of the equations of Newton and Euler for R and w alone
TEST(Rattleback, HasTheKnownStateAtTimeOneHalf) {
  const auto system = make_default<Celt>();
  auto x = default_motion<Celt>();
  EXPECT_LE(distance(multiplier(system, x), {0.44722606448829397, 0.38706009238022432, 8.30480596969084348}), 1e-13);
  x = flow(system, x, 0.25, 0.005);
  EXPECT_LE(distance(x.q, {0.321716384750990329, -0.945278903793500137, -0.0542804000142912556,  //
                           0.946766742631137879, 0.321857557968452338, 0.00635982910219067492,   //
                           0.0114587447121177276, -0.0534369387366366226, 0.998505478576897673,  //
                           -0.000888851745054564725, 0.000701597582398420218, 0.0101635258063706046}),
            1e-13);
  EXPECT_LE(distance(segment<0, 3>(x.v), {4.10686942655657442, 0.620709667901327449, 4.8348327536485887}), 3e-12);
  EXPECT_LE(distance(multiplier(system, x), {4.65837337124299985, -1.13237298419614522, 9.3949266088616829}), 1e-11);
  x = flow(system, x, 0.25, 0.005);
  EXPECT_LE(distance(x.q, {-0.732848820016844946, -0.680107889155420298, 0.0196434749592972959,  //
                           0.68015398710738886, -0.73305040184189717, -0.00525948489445409579,   //
                           0.017976674382096121, 0.00950618051541310454, 0.999793214474957551,   //
                           0.000506779675962622833, 0.000595946304153397199, 0.0103252399979767714}),
            1e-12);
  EXPECT_LE(distance(segment<0, 3>(x.v), {8.69232918617148687, 0.0812417297937725058, 3.96843252125324042}), 3e-11);
}

struct Spins {
  double least, greatest, energy_change, plane_change, least_force;
};
/// What happens within six seconds from the default tilt with a spin.
Spins spins(const Celt& system, double spin) {
  auto x = default_motion<Celt>();
  for (int i = 0; i < Celt::n; ++i) x.v[i] *= spin / 5.0;
  x = projected(system, x);
  const double energy = value(system, x, "energy");
  Spins r{spin, spin, 0.0, 0.0, HUGE_VAL};
  flow(system, x, 6.0, 0.004, [&](const auto& y) {
    const double now = value(system, y, "spin");
    r.least = std::min(r.least, now);
    r.greatest = std::max(r.greatest, now);
    r.energy_change = std::max(r.energy_change, std::fabs(value(system, y, "energy") - energy));
    r.plane_change = std::max(r.plane_change, std::fabs(value(system, y, "plane_height")));
    r.least_force = std::min(r.least_force, multiplier(system, y)[2]);
  });
  return r;
}

TEST(Rattleback, ReversesItsSpinInOneSenseOnly) {
  const auto system = make_default<Celt>();
  const Spins reversed = spins(system, 5.0), kept = spins(system, -5.0);
  EXPECT_LT(reversed.least, -5.0);
  EXPECT_LT(kept.greatest, -3.0);
  EXPECT_LE(std::max(reversed.energy_change, kept.energy_change), 1e-8);
  EXPECT_LE(std::max(reversed.plane_change, kept.plane_change), 1e-8);
  // it stays on the plane
  EXPECT_GT(reversed.least_force, 0.0);
  // the mirror image prefers the other sense
  Celt mirror = system;
  mirror.angle = -mirror.angle;
  EXPECT_GT(spins(mirror, 5.0).least, 3.0);
  EXPECT_GT(spins(mirror, -5.0).greatest, 4.0);
  // no reversal without the angle
  Celt straight = system;
  straight.angle = 0.0;
  EXPECT_GT(spins(straight, 5.0).least, 3.0);
  EXPECT_LT(spins(straight, -5.0).greatest, -3.0);
}

}  // namespace
}  // namespace rattleback
