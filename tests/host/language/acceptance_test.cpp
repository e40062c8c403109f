// The examples of systems that are written as formulas, against closed forms and against the same motion integrated in
// another way: with the classical Runge-Kutta method, on equations that are written out here by hand.

#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "acceptance/acceptance.hpp"
#include "rattleback/language/print.hpp"
#include "testing.hpp"

using namespace rattleback;
using namespace rattleback::tests;

namespace formulas_acceptance_test {

using Number = long double;
using State = std::vector<Number>;

/// The classical Runge-Kutta method. With the steps taken here the error is some 1e-14.
State runge_kutta(const std::function<State(const State&)>& f, State y, Number end, int steps) {
  const Number h = end / steps;
  const auto moved = [](const State& from, Number by, const State& slope) {
    State to = from;
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += by * slope[i];
    return to;
  };
  for (int step = 0; step < steps; ++step) {
    const State a = f(y), b = f(moved(y, h / 2, a)), c = f(moved(y, h / 2, b)), d = f(moved(y, h, c));
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += h / 6 * (a[i] + 2 * b[i] + 2 * c[i] + d[i]);
  }
  return y;
}

/// An example at three steps, each half of the one before, against the exact states q and v of its trajectories.
class FormulasAcceptance : public Families {
 protected:
  struct Expected {
    int order;
    double bound;  ///< of the error at the smallest step
  };
  void expect_order(const std::string& example, double end, double step, const std::vector<std::vector<double>>& q,
                    const std::vector<std::vector<double>>& v, Expected expected,
                    std::vector<std::string> overrides = {}) {
    overrides.insert(overrides.end(), {fmt::format("time.end={}", end), "time.samples=1",
                                       fmt::format("ensemble.axes[0].count={}", q.size()), ""});
    double error[2][3];
    for (int i = 0; i < 3; ++i) {
      overrides.back() = fmt::format("time.step={}", step / (1 << i));
      const Result found = run(load(example, overrides), {.backend = "cpu:scalar"});
      for (const std::uint32_t status : found.status()) EXPECT_EQ(status, 0u);
      error[0][i] = largest_error(found, "/final/q", q);
      error[1][i] = largest_error(found, "/final/v", v);
    }
    for (const auto& of : error) {
      SCOPED_TRACE(fmt::format("{}: {} {} {}", &of == error ? "q" : "v", of[0], of[1], of[2]));
      EXPECT_NEAR(std::log2(of[0] / of[1]), expected.order, 0.2);
      EXPECT_NEAR(std::log2(of[1] / of[2]), expected.order, 0.2);
      EXPECT_LT(of[2], expected.bound);
    }
  }

 private:
  static double largest_error(const Result& found, const char* path, const std::vector<std::vector<double>>& exact) {
    const std::vector<double> x = values(found, path);
    double error = 0.0;
    std::size_t at = 0;
    for (const auto& trajectory : exact)
      for (const double value : trajectory) error = std::max(error, std::abs(x.at(at++) - value));
    EXPECT_EQ(at, x.size());
    return error;
  }
};

/// The first `n` numbers of a state, or those behind.
std::vector<double> positions(const State& y, std::size_t n) {
  return {y.begin(), y.begin() + static_cast<std::ptrdiff_t>(n)};
}
std::vector<double> velocities(const State& y, std::size_t n) {
  return {y.begin() + static_cast<std::ptrdiff_t>(n), y.end()};
}

// The constraint g = (q.D q - 1)/2 stays 0, so v.D v + Dq.a = 0 gives the multiplier.
TEST_F(FormulasAcceptance, ABeadOnAnEllipsoid) {
  const Number axis[] = {1.0L, 1.5L, 0.75L};
  const auto motion = [&](const State& y) {
    Number normal[3], stretch = 0, square = 0;
    for (int i = 0; i < 3; ++i) {
      normal[i] = y[i] / (axis[i] * axis[i]);
      stretch += y[i + 3] * y[i + 3] / (axis[i] * axis[i]);
      square += normal[i] * normal[i];
    }
    const Number multiplier = (normal[2] - stretch) / square;  // the force is -1 along z
    State slope(y.begin() + 3, y.end());
    for (int i = 0; i < 3; ++i) slope.push_back(multiplier * normal[i] - (i == 2));
    return slope;
  };
  std::vector<std::vector<double>> q, v;
  for (const double u : {0.1, 1.0}) {
    const State y = runge_kutta(motion, {1, 0, 0, 0, u, 0.25L}, 2, 4000);
    q.push_back(positions(y, 3));
    v.push_back(velocities(y, 3));
  }
  expect_order("bead-on-ellipsoid", 2.0, 0.1, q, v, {4, 2e-8});
}

// Neimark and Fufaev: from rest with the spin w the edge moves along a cycloid.
TEST_F(FormulasAcceptance, AKnifeEdgeOnAnIncline) {
  std::vector<std::vector<double>> q, v;
  const double t = 3.0, g = 1.0;
  for (const double w : {0.5, 2.0}) {
    const double sine = std::sin(w * t), cosine = std::cos(w * t), radius = g / (2.0 * w * w);
    q.push_back({radius * sine * sine, radius * (w * t - sine * cosine), w * t});
    v.push_back({g / w * sine * cosine, g / w * sine * sine, w});
  }
  expect_order("knife-edge", t, 0.2, q, v, {4, 1e-6});
}

// Without its trap the charge moves on a circle about the origin where v = b r/gamma: at the rate b/gamma, with r = v gamma/b.
TEST_F(FormulasAcceptance, ARelativisticChargeOnACircle) {
  std::vector<std::vector<double>> q, v;
  const double t = 3.0, c = 2.0;
  for (const double speed : {0.5, 1.5}) {
    const double gamma = 1.0 / std::sqrt(1.0 - speed * speed / (c * c)), radius = speed * gamma, angle = t / gamma;
    q.push_back({1.0 + radius * (std::cos(angle) - 1.0), -radius * std::sin(angle)});
    v.push_back({-speed * std::sin(angle), -speed * std::cos(angle)});
  }
  expect_order("relativistic-charge", t, 0.2, q, v, {4, 1e-5}, {"system.parameters.k=0"});
}

// The accelerations of the textbook, with masses 1 and 1/2, lengths 1 and 0.8, gravity 9.81.
TEST_F(FormulasAcceptance, ADoublePendulum) {
  const auto motion = [](const State& y) {
    const Number m1 = 1.0L, m2 = 0.5L, l1 = 1.0L, l2 = 0.8L, g = 9.81L;
    const Number a = y[0], b = y[1], u = y[2], w = y[3], sine = std::sin(a - b), cosine = std::cos(a - b);
    const Number below = m1 + m2 * sine * sine;
    return State{
        u, w,
        (m2 * g * std::sin(b) * cosine - m2 * sine * (l1 * u * u * cosine + l2 * w * w) - (m1 + m2) * g * std::sin(a)) /
            (l1 * below),
        ((m1 + m2) * (l1 * u * u * sine - g * std::sin(b) + g * std::sin(a) * cosine) +
         m2 * l2 * w * w * sine * cosine) /
            (l2 * below)};
  };
  std::vector<std::vector<double>> q, v;
  for (const double a : {0.1, 2.0}) {
    const State y = runge_kutta(motion, {a, -0.4, 0, 0}, 1, 8000);
    q.push_back(positions(y, 2));
    v.push_back(velocities(y, 2));
  }
  expect_order("double-pendulum", 1.0, 0.02, q, v, {4, 3e-7});
}

/// The elliptic functions sn, cn, dn of Jacobi with parameter m, by the arithmetic-geometric mean.
std::array<Number, 3> jacobi(Number u, Number m) {
  std::vector<Number> a{1}, c{std::sqrt(m)};
  for (Number b = std::sqrt(1 - m); c.back() > 1e-18L;) {
    a.push_back((a.back() + b) / 2);
    const Number last = a[a.size() - 2];
    c.push_back((last - b) / 2);
    b = std::sqrt(last * b);
  }
  Number phi = std::ldexp(a.back() * u, static_cast<int>(a.size()) - 1);
  for (std::size_t n = a.size() - 1; n > 0; --n) phi = (phi + std::asin(c[n] / a[n] * std::sin(phi))) / 2;
  return {std::sin(phi), std::cos(phi), std::sqrt(1 - m * std::sin(phi) * std::sin(phi))};
}

/// The angular velocity of a free body with moments 1, 2, 3 that begins with w = (a, 0, c).
std::array<Number, 3> euler_top(Number a, Number c, Number t) {
  if (a * a <= 3 * c * c) {
    const auto [sn, cn, dn] = jacobi(c * t, a * a / (3 * c * c));
    return {a * cn, a * sn, c * dn};
  }
  const Number root = std::sqrt(3.0L);
  const auto [sn, cn, dn] = jacobi(a * t / root, 3 * c * c / (a * a));
  return {a * dn, root * c * sn, c * cn};
}

// Euler's equations, and R' = R hat(w).
TEST_F(FormulasAcceptance, AFreeRigidBody) {
  const auto motion = [](const State& y) {
    const Number p = y[9], q = y[10], r = y[11];
    State slope;
    for (int i = 0; i < 9; i += 3)
      for (const Number s : {y[i + 1] * r - y[i + 2] * q, y[i + 2] * p - y[i] * r, y[i] * q - y[i + 1] * p})
        slope.push_back(s);
    for (const Number s : {-q * r, r * p, -p * q / 3}) slope.push_back(s);
    return slope;
  };
  std::vector<std::vector<double>> q, v;
  for (const Number w : {0.1L, 1.0L}) {
    const State y = runge_kutta(motion, {1, 0, 0, 0, 1, 0, 0, 0, 1, w, 0, 0.3L}, 3, 6000);
    const auto exact = euler_top(w, 0.3L, 3);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(static_cast<double>(y[9 + i] - exact[i]), 0.0, 1e-14);
    q.push_back(positions(y, 9));
    v.push_back({exact.begin(), exact.end()});
  }
  expect_order("free-rigid-body", 3.0, 0.2, q, v, {4, 3e-7}, {"ensemble.initial.v=[\"w\", 0, 0.3]"});
}

// A result holds the effective study, and what reads the result reads the study.
TEST(FormulasStudy, IsReadAgainAsTheSameSystem) {
  const Study study = Study::parse(R"toml(
[system]
name = "chain"
dimensions = { m = 3 }
coordinates = ["x[0..m]"]
parameters = { stiffness = 2, length = 0.1 }
potential = "stiffness sum(i, 1, m, (x[i] - x[i - 1] - length)^2) / 2"
[method]
name = "lobatto"
[time]
step = 0.1
end = 1
[ensemble.initial]
q = [0, "m/10", 0, "stiffness"]
v = [0, 0, 0, 1]
)toml");
  const Study again = Study::parse(study.to_toml());
  EXPECT_EQ(again.to_toml(), study.to_toml());
  EXPECT_EQ(system_header(*again.system.formulas),
            system_header(*study.system.formulas));  // so the kernels are the same
}

// Parameters beyond max_uniform_parameters have rows of their own; those between do not change anything.
TEST(FormulasStudy, TakesAnyNumberOfParameters) {
  const auto found = [](int others) {
    std::string list;
    for (int i = 0; i < others; ++i) list += fmt::format("c{} = {}, ", i, i);
    const Study study = Study::parse(fmt::format(R"toml(
[system]
name = "spring{}"
coordinates = ["x"]
parameters = {{ {} stiffness = 2, shift = "s" }}
potential = "stiffness (x - shift)^2 / 2"
[method]
name = "lobatto"
[time]
step = 0.1
end = 5
[ensemble]
axes = [ {{ name = "s", from = 0, to = 0.5, count = 3 }} ]
[ensemble.initial]
q = [1]
v = ["stiffness"]
[[section]]
surface = "x - stiffness shift"
)toml",
                                                 others, list));
    const Result result = run(study, {.backend = "cpu:scalar"});
    std::vector<double> all = values(result, "/final/q");
    for (const char* path : {"/final/v", "/sections/0/time", "/sections/0/v"})
      for (const double x : values(result, path)) all.push_back(x);
    return all;
  };
  const std::vector<double> few = found(0);
  EXPECT_GT(few.size(), 9u);
  EXPECT_EQ(found(100), few);
}

}  // namespace formulas_acceptance_test
