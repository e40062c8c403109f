// HBVM(k, s): conservation, orders, symmetry, Gauss's method, other coordinates.

#include <gtest/gtest.h>

#include "hbvm.hpp"
#include "rattleback/methods/lobatto/lobatto.hpp"
#include "rattleback/systems/unconstrained/henon_heiles.hpp"
#include "rattleback/systems/unconstrained/kepler.hpp"

namespace rattleback {
namespace {

// --- conservation ---

// U of degree 4 and g of degree 6: exact for k >= 2s and k >= 3s, otherwise of order 2k. With k = s the energy is not
// conserved.
TEST(Hbvm, ConservesWhatItsQuadratureIntegrates) {
  const auto errors = [](auto s, int k, int steps) {
    return drift(modified, integrate<decltype(s)::value>(modified, {k}, modified_start, 10.0 / steps, steps));
  };
  const auto check = [&](auto s, int k, std::pair<double, double> energy, std::pair<double, double> constraint) {
    SCOPED_TRACE("HBVM(" + std::to_string(k) + "," + std::to_string(s()) + ")");
    const Drift coarse = errors(s, k, 100), fine = errors(s, k, 200);
    const auto expect = [&](double a, double b, std::pair<double, double> expected) {
      if (expected.first == 0.0) {
        EXPECT_LE(std::max(a, b), 1e-14);
      } else {
        expect_relative(a, expected.first, 1e-3, "error");
        expect_relative(b, expected.second, 1e-3, "error");
        EXPECT_NEAR(rate(a, b), 2.0 * k, 0.1);
      }
    };
    expect(coarse.energy, fine.energy, energy);
    expect(coarse.constraint, fine.constraint, constraint);
  };
  check(Number<1>{}, 1, {1.626e-3, 4.115e-4}, {2.372e-3, 5.956e-4});
  check(Number<1>{}, 2, {0.0, 0.0}, {1.666e-6, 1.039e-7});
  check(Number<1>{}, 3, {0.0, 0.0}, {0.0, 0.0});
  check(Number<2>{}, 2, {2.338e-6, 1.451e-7}, {2.931e-6, 1.862e-7});
  check(Number<2>{}, 3, {1.374e-9, 2.122e-11}, {2.846e-9, 4.385e-11});
  check(Number<2>{}, 6, {0.0, 0.0}, {0.0, 0.0});
  check(Number<3>{}, 9, {0.0, 0.0}, {0.0, 0.0});
  check(Number<4>{}, 12, {0.0, 0.0}, {0.0, 0.0});
  check(Number<5>{}, 12, {0.0, 0.0}, {0.0, 0.0});
  check(Number<6>{}, 12, {0.0, 0.0}, {0.0, 0.0});
}

// The energy or the angular momentum, not both; k = s keeps what is bilinear.
TEST(Hbvm, WithKEqualToSConservesAngularMomentum) {
  const auto errors = [](auto s, int k) {
    const auto run = integrate<decltype(s)::value>(satellites, {k}, satellites_generic(), 1.0, 100);
    const auto start = angular_momentum(run.states.front());
    double momentum = 0.0;
    for (const auto& x : run.states) momentum = std::max(momentum, max_norm(angular_momentum(x) - start));
    return std::pair{momentum, drift(satellites, run).energy};
  };
  const auto check = [&](auto s, double energy_of_equal, double momentum_of_six) {
    const auto equal = errors(s, s()), six = errors(s, 6);
    EXPECT_LE(equal.first, 2e-14);
    expect_relative(equal.second, energy_of_equal, 5e-3, "energy error, k = s");
    expect_relative(six.first, momentum_of_six, 5e-3, "momentum error, k = 6");
    EXPECT_LE(six.second, 5e-15);
  };
  check(Number<1>{}, 2.91e-6, 2.393438e-4);
  check(Number<2>{}, 9.97e-10, 9.74e-8);
  check(Number<3>{}, 2.03e-12, 8.93e-11);
}

/// What a step of the planar pendulum changes of the canonical form, over the states that satisfy both constraints: these are
/// (theta, theta'), whose image is a surface in (q, p). Derivatives are fourth-order differences.
template <class Step>
double change_of_the_form(const Step& step, double theta, double rate, double h) {
  const auto image = [&](double a, double b) {
    HbvmState<Planar> x{{std::sin(a), -std::cos(a)}, {b * std::cos(a), b * std::sin(a)}, {0.0}};
    EXPECT_EQ(step(x, h).status, status_good);
    return x;
  };
  constexpr double e = 1e-3;
  const auto derivative = [&](double a, double b) {
    const auto difference = [&](double shift) {
      const auto up = image(theta + shift * a, rate + shift * b), down = image(theta - shift * a, rate - shift * b);
      return std::pair{(1.0 / shift) * (up.q - down.q), (1.0 / shift) * (up.p - down.p)};
    };
    const auto near = difference(e), far = difference(2 * e);
    return std::pair{(1.0 / 6.0) * (4.0 * near.first - far.first), (1.0 / 6.0) * (4.0 * near.second - far.second)};
  };
  const auto x = derivative(1.0, 0.0), y = derivative(0.0, 1.0);
  return dot(x.first, y.second) - dot(x.second, y.first) - 1.0;
}

// Without constraints HBVM(s, s) is Gauss's method, which is symplectic. The multiplier that keeps the constraint depends on the
// state, and with it the form changes in every step.
TEST(Hbvm, IsNotSymplecticWithConstraints) {
  const SolverOptions<double> exact{1e-16, 100};
  const HbvmTest<1, Planar> one(planar, {1}, exact);
  EXPECT_NEAR(change_of_the_form(one, 1.0, 1.5, 0.2), 2.311e-3, 1e-6);
  EXPECT_NEAR(change_of_the_form(one, 1.0, 1.5, 0.1), 3.043e-4, 1e-7);
  const HbvmTest<2, Planar> two(planar, {2}, exact);
  EXPECT_NEAR(change_of_the_form(two, 1.0, 1.5, 0.2), -1.666e-4, 1e-7);
  EXPECT_NEAR(change_of_the_form(two, 1.0, 1.5, 0.1), -1.168e-5, 1e-8);
  // the control: a method that is
  const LobattoStep<double, Planar, Cay, 2> rattle(planar, exact);
  EXPECT_NEAR(change_of_the_form(rattle, 1.0, 1.5, 0.2), 0.0, 1e-9);
}

// lambda of the first step is (Dg M^-1 Dg^T)^-1 (.. + (2/h) Dg M^-1 p): the sign of the last term is a plus.
TEST(Hbvm, AnswersAnInconsistentVelocityByItsMultiplier) {
  for (const double h : {0.1, 0.01}) {
    const auto first = [&](double c) {  // c = Dg v at the start
      auto start = planar_start;
      start.p = start.p + (0.5 * c) * start.q;  // Dg = 2 q
      return integrate<2>(planar, {2}, start, h, 1).lambda[0][0];
    };
    constexpr double c = -2e-4, gram = 4.0;
    EXPECT_NEAR((first(c) - first(0.0)) / (2.0 * c / (h * gram)), 1.0, 0.5 * h);
  }
}

TEST(Hbvm, DoesNotDependOnKForQuadraticFunctions) {
  const auto end = [](auto s, const auto& system, int k, const auto& start) {
    return integrate<decltype(s)::value>(system, {k}, start, 0.1, 100).states.back();
  };
  for (const int k : {2, 4})
    EXPECT_LE(
        phase_distance<Planar>(end(Number<1>{}, planar, 1, planar_start), end(Number<1>{}, planar, k, planar_start)),
        1e-13);
  for (const int k : {3, 6})
    EXPECT_LE(
        phase_distance<Planar>(end(Number<2>{}, planar, 2, planar_start), end(Number<2>{}, planar, k, planar_start)),
        1e-13);
  EXPECT_LE(
      phase_distance<Conical>(end(Number<3>{}, conical, 3, conical_start), end(Number<3>{}, conical, 5, conical_start)),
      1e-13);
  // the control: degree 6
  EXPECT_GE(phase_distance<Modified>(end(Number<2>{}, modified, 2, modified_start),
                                     end(Number<2>{}, modified, 6, modified_start)),
            1e-7);
}

// --- accuracy ---

/// The planar pendulum as an angle, H = p^2/2 - cos q.
struct Angle {
  using scalar = double;
  static constexpr int n = 1, m = 0;
  template <class S>
  RB_HD S potential(const Vector<S, n>& q) const {
    return -cos(q[0]);
  }
};

/// The pendulum's generic motion at multiples of h/4, and its multiplier (theta'^2 + cos theta)/2.
Trajectory<Planar> generic_motion(double h, int steps) {
  const auto angles = integrate<4>(Angle{}, {12}, {{1.0}, {1.5}, {}}, 0.25 * h, 4 * steps);
  Trajectory<Planar> r;
  for (const auto& a : angles.states) {
    const double s = std::sin(a.q[0]), c = std::cos(a.q[0]), speed = a.p[0];
    const Vector<double, 1> lambda{0.5 * (speed * speed + c)};
    r.states.push_back({{s, -c}, {speed * c, speed * s}, lambda});
    r.lambda.push_back(lambda);
  }
  return r;
}

struct Errors {
  double q = 0.0, p = 0.0, tangential = 0.0, hidden = 0.0;
  double at_start = 0.0, at_middle = 0.0, averaged = 0.0;  // of lambda
  double law = 0.0;  // deviation of the hidden constraint from its leading term, over h^2
};

Errors generic_errors(int steps) {
  const double h = 10.0 / steps;
  const auto run = integrate<2>(planar, {2}, planar_generic(), h, steps);
  const auto exact = generic_motion(h, steps);
  // (Dg M^-1 Dg^T) d lambda/dt = -6 sin theta theta'
  const auto k = [&](int i) {
    const auto& x = exact.states[i];
    return -6.0 * x.q[0] * (x.p[1] * x.q[0] - x.p[0] * x.q[1]);
  };
  Errors e;
  for (int i = 0; i <= steps; ++i) {
    const auto &x = run.states[i], &y = exact.states[4 * i];
    const double c = hidden(planar, x)[0];
    e.q = std::max(e.q, max_norm(x.q - y.q));
    e.p = std::max(e.p, max_norm(x.p - y.p));
    e.tangential = std::max(e.tangential, max_norm(tangential_momentum(planar, x.q, x.p) - y.p));
    e.hidden = std::max(e.hidden, std::abs(c));
    e.law = std::max(e.law, std::abs(c / (h * h) - (k(4 * i) - (i % 2 == 0 ? 1.0 : -1.0) * k(0)) / 12.0));
    if (i == steps) break;
    const double lambda = run.lambda[i][0];
    e.at_start = std::max(e.at_start, std::abs(lambda - exact.lambda[4 * i][0]));
    e.at_middle = std::max(e.at_middle, std::abs(lambda - exact.lambda[4 * i + 2][0]));
    if (i > 0)
      e.averaged = std::max(e.averaged, std::abs(0.5 * (run.lambda[i - 1][0] + lambda) - exact.lambda[4 * i][0]));
  }
  return e;
}

// Positions and the tangential part of the momentum are of order 4. The multiplier belongs to the middle of the step
// and carries an alternating term of order 1; its mean over two steps is of order 2. The hidden constraint is of order
// 2:
//   c_n = h^2/12 (K(t_n) - (-1)^n K(0)) + O(h^4),   K = (Dg M^-1 Dg^T) d lambda/dt.
TEST(Hbvm, HasTheErrorsOfGenericInitialData) {
  const Errors a = generic_errors(100), b = generic_errors(200), c = generic_errors(400);
  expect_relative(a.q, 2.4293e-5, 1e-4, "q");
  expect_relative(c.q, 9.3516e-8, 1e-4, "q");
  expect_relative(c.p, 3.8122e-4, 1e-4, "p");
  expect_relative(c.tangential, 1.5830e-7, 1e-4, "tangential p");
  expect_relative(c.hidden, 7.9673e-4, 1e-4, "hidden constraint");
  expect_relative(c.at_start, 3.2011e-2, 1e-4, "lambda at the start of the step");
  expect_relative(c.at_middle, 8.0101e-3, 1e-4, "lambda at the middle of the step");
  expect_relative(c.averaged, 2.4764e-4, 1e-4, "averaged lambda");
  for (const auto& [coarse, fine] : {std::pair{a, b}, {b, c}}) {
    EXPECT_NEAR(rate(coarse.q, fine.q), 4.0, 0.1);
    EXPECT_NEAR(rate(coarse.tangential, fine.tangential), 4.0, 0.1);
    EXPECT_NEAR(rate(coarse.p, fine.p), 2.0, 0.05);
    EXPECT_NEAR(rate(coarse.hidden, fine.hidden), 2.0, 0.05);
    EXPECT_NEAR(rate(coarse.at_middle, fine.at_middle), 1.0, 0.05);
    EXPECT_NEAR(rate(coarse.averaged, fine.averaged), 2.0, 0.05);
    EXPECT_NEAR(rate(coarse.law, fine.law), 2.0, 0.05);
  }
  expect_relative(a.law, 8.05e-3, 2e-3, "deviation of the hidden constraint");
  expect_relative(c.law, 5.00e-4, 2e-3, "deviation of the hidden constraint");
}

// Against states at time 10 known to 16 digits.
template <int S, class System>
void check_order(const System& system, int k, const HbvmState<System>& start,
                 const std::type_identity_t<HbvmState<System>>& end, double order) {
  double q[3], p[3];
  for (int i = 0; i < 3; ++i) {
    const auto x = integrate<S>(system, {k}, start, 0.1 / (1 << i), 100 << i).states.back();
    q[i] = max_norm(x.q - end.q);
    p[i] = max_norm(tangential_momentum(system, x.q, x.p) - end.p);
  }
  for (int i = 0; i < 2; ++i) {
    EXPECT_NEAR(rate(q[i], q[i + 1]), order, 0.2);
    EXPECT_NEAR(rate(p[i], p[i + 1]), order, 0.2);
  }
}

TEST(Hbvm, HasOrderFourInPositionsAndTangentialMomenta) {
  const HbvmState<Modified> modified_end{{0.9238073658286264, 0.04727373864729385, -0.0585421421459125},
                                         {0.02927909338408773, 0.05035281183445918, 1.009707423034076},
                                         {0.1261551810696674}};
  check_order<1>(modified, 3, modified_generic(), modified_end, 2.0);
  check_order<2>(modified, 6, modified_generic(), modified_end, 4.0);
  check_order<3>(modified, 9, modified_generic(), modified_end, 4.0);
  const HbvmState<Modified> paper_end{{0.112755236712861, 0.7114958082990811, -0.6072338043166622},
                                      {-0.499058076046243, -0.5338487241365996, -0.6333446650460518},
                                      {0.4075409694867033}};
  check_order<2>(modified, 6, modified_start, paper_end, 4.0);
  const HbvmState<Satellites> satellites_end{
      {1.142941886337605, 1.092501590540646, 19.93525718260463, 1.368440705713452, 0.5035352255900121,
       19.15919732446421, 1.180555033068379, 0.1003899039530688, 20.0548383371791},
      {0.1227688546631846, 0.05914548944110224, -0.01902539886764534, 0.2846434807775622, 0.05994863791528242,
       0.02740080042666994, -0.0398113337685712, 0.04982446139996056, -0.04521973006283338},
      {0.0, 0.0, 0.0}};
  check_order<1>(satellites, 6, satellites_generic(), satellites_end, 2.0);
  check_order<2>(satellites, 6, satellites_generic(), satellites_end, 4.0);
}

// --- structure ---

template <int S, class System>
double return_error(const System& system, int k, const HbvmState<System>& start, bool project) {
  const HbvmTest<S, System> step(system, {k});
  auto x = start;
  for (const double h : {0.1, -0.1})
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(step(x, h).status, 0.0);
      if (project) x.p = tangential_momentum(system, x.q, x.p);
    }
  return phase_distance<System>(x, start);
}

TEST(Hbvm, IsSymmetric) {
  EXPECT_LE((return_error<2, Planar>(planar, 2, planar_start, false)), 5e-14);
  EXPECT_LE((return_error<3, Conical>(conical, 3, conical_start, false)), 5e-14);
  EXPECT_LE((return_error<2, Modified>(modified, 6, modified_start, false)), 5e-14);
  EXPECT_LE((return_error<2, Satellites>(satellites, 6, satellites_start(), false)), 5e-14);
  EXPECT_LE((return_error<6, Modified>(modified, 12, modified_start, false)), 5e-14);
  // the control: with the tangential momentum fed back
  EXPECT_GE((return_error<2, Modified>(modified, 6, modified_generic(), true)), 1e-6);
}

/// Gauss's method from its tableau, for M = 1.
template <int S, class System>
void gauss(const System& system, const double (&a)[S][S], const double (&b)[S], double h, HbvmState<System>& x) {
  constexpr int n = System::n;
  Vector<double, n> q[S], f[S];
  for (auto& y : q) y = x.q;
  for (int sweep = 0; sweep < 60; ++sweep) {
    for (int i = 0; i < S; ++i) f[i] = force(system, q[i]);
    for (int i = 0; i < S; ++i) {
      q[i] = x.q;
      for (int j = 0; j < S; ++j) {
        Vector<double, n> v = x.p;
        for (int l = 0; l < S; ++l) v = v + (h * a[j][l]) * f[l];
        q[i] = q[i] + (h * a[i][j]) * v;
      }
    }
  }
  auto dq = Vector<double, n>::zero(), dp = dq;
  for (int j = 0; j < S; ++j) {
    Vector<double, n> v = x.p;
    for (int l = 0; l < S; ++l) v = v + (h * a[j][l]) * f[l];
    dq = dq + (h * b[j]) * v;
    dp = dp + (h * b[j]) * f[j];
  }
  x.q = x.q + dq;
  x.p = x.p + dp;
}

template <int S, class System>
void expect_gauss(const System& system, const double (&a)[S][S], const double (&b)[S], const HbvmState<System>& start) {
  auto x = start;
  for (int i = 0; i < 100; ++i) gauss(system, a, b, 0.1, x);
  EXPECT_LE(phase_distance<System>(x, integrate<S>(system, {S}, start, 0.1, 100).states.back()), 1e-12);
  EXPECT_GE(phase_distance<System>(x, integrate<S>(system, {S + 1}, start, 0.1, 100).states.back()), 1e-9);
}

TEST(Hbvm, WithoutConstraintsIsGaussForKEqualToS) {
  const double r = std::sqrt(3.0) / 6, t = std::sqrt(15.0);
  const double a1[1][1] = {{0.5}}, b1[1] = {1.0};
  const double a2[2][2] = {{0.25, 0.25 - r}, {0.25 + r, 0.25}}, b2[2] = {0.5, 0.5};
  const double a3[3][3] = {{5.0 / 36, 2.0 / 9 - t / 15, 5.0 / 36 - t / 30},
                           {5.0 / 36 + t / 24, 2.0 / 9, 5.0 / 36 - t / 24},
                           {5.0 / 36 + t / 30, 2.0 / 9 + t / 15, 5.0 / 36}};
  const double b3[3] = {5.0 / 18, 4.0 / 9, 5.0 / 18};
  const HenonHeiles<double> galaxy;
  const HbvmState<HenonHeiles<double>> star{{0.1, 0.2}, {0.3, -0.1}, {}};
  expect_gauss<1>(galaxy, a1, b1, star);
  expect_gauss<2>(galaxy, a2, b2, star);
  const Kepler<double> sun{1.0};
  const HbvmState<Kepler<double>> planet{{0.8, 0.0}, {0.0, 1.2}, {}};
  expect_gauss<2>(sun, a2, b2, planet);
  expect_gauss<3>(sun, a3, b3, planet);
}

/// The modified pendulum in coordinates x = A q: a dense mass matrix A^T A, and derivatives by dual numbers.
struct Oblique {
  using scalar = double;
  static constexpr int n = 3, m = 1;
  static constexpr double a[3][3] = {{1.0, 0.3, -0.2}, {0.1, 0.9, 0.4}, {-0.3, 0.2, 1.2}};

  template <class S>
  static Vector<S, n> original(const Vector<S, n>& q) {
    Vector<S, n> x;
    for (int i = 0; i < n; ++i) x[i] = S(a[i][0]) * q[0] + S(a[i][1]) * q[1] + S(a[i][2]) * q[2];
    return x;
  }
  template <class S>
  S potential(const Vector<S, n>& q) const {
    return modified.potential(original(q));
  }
  template <class S>
  Vector<S, m> position_constraint(const Vector<S, n>& q) const {
    return modified.position_constraint(original(q));
  }
  Matrix<double, n, n> mass_matrix() const {
    auto r = Matrix<double, n, n>::zero();
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        for (int k = 0; k < n; ++k) r[i][j] += a[k][i] * a[k][j];
    return r;
  }
};

TEST(Hbvm, IsTheSameInOtherCoordinates) {
  const Oblique oblique;
  Matrix<double, 3, 3> a;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) a[i][j] = Oblique::a[i][j];
  const auto start = modified_generic();
  const HbvmState<Oblique> transformed{Factors<double, 3>(a).solve(start.q), transpose_times(a, start.p), {0.0}};
  for (const bool direct : {false, true})
    for (const bool newton : {false, true}) {
      const HbvmOptions options{5, direct, newton};
      const auto x = integrate<3>(modified, options, start, 0.1, 30).states.back();
      const auto y = integrate<3>(oblique, options, transformed, 0.1, 30).states.back();
      EXPECT_LE(max_norm(Oblique::original(y.q) - x.q), 1e-13);
      EXPECT_LE(max_norm(y.p - transpose_times(a, x.p)), 1e-13);
      EXPECT_NEAR(y.lambda[0], x.lambda[0], 1e-12);
    }
}

}  // namespace
}  // namespace rattleback
