// The generalized-alpha method: states computed with 30 digits, orders, constraints, and what rho is.

#include "rattleback/methods/generalized_alpha/generalized_alpha.hpp"

#include "nonholonomic_lobatto.hpp"

namespace rattleback {
namespace {

using Spherical = Pendulum<double, 3>;

/// The step with its numbers.
template <class System, class Formulation = Stabilised, class Form = GeneralizedAlpha<double, System, Formulation>>
struct AlphaStep {
  using State = typename Form::State;
  GeneralizedAlphaNumbers numbers;
  Form step;

  AlphaStep(const System& system, double rho)
      : numbers(GeneralizedAlphaNumbers::of(rho)), step(system, {1e-16, 50}, numbers) {}
  StepReport<double> operator()(State& state, double h) const { return step(state, h); }

  /// The state at (q, v), or at the default state.
  static State start(const System& system, const Vector<double, System::n>& q, const Vector<double, System::n>& v) {
    const auto state = rattleback::start(system, q, v);
    return {state.q, state.p, state.lambda};
  }
  static State start(const System& system) {
    return start(system, to_vector(System::default_q), to_vector(System::default_v));
  }
};

/// q, p and lambda are the same to `tolerance`.
template <class State>
void expect_near(const State& a, const State& b, double tolerance) {
  EXPECT_LE(distance(a.q, b.q), tolerance);
  EXPECT_LE(distance(a.p, b.p), tolerance);
  if constexpr (State::multipliers > 0) {
    EXPECT_LE(distance(a.lambda, b.lambda), tolerance);
  }
}

TEST(GeneralizedAlpha, HasTheStatesOfExtendedPrecision) {
  const Spherical system = make_default<Spherical>();
  const AlphaStep<Spherical, Index3> index3(system, 0.8);
  const auto on_positions = advance(index3, index3.start(system), 0.1, 10);
  EXPECT_LE(distance(on_positions.q, {0.36750994162000898, 0.63412925242261092, -0.68030620608105450}), 1e-14);
  // The multiplier is a second difference of positions, with the round-off of these over h^2.
  EXPECT_NEAR(on_positions.lambda[0], -1.5988496204343631, 2e-12);
  const AlphaStep<Spherical> stabilised(system, 0.8);
  const auto on_both = advance(stabilised, stabilised.start(system), 0.1, 10);
  EXPECT_LE(distance(on_both.q, {0.36743610986596718, 0.63418228158670944, -0.68029665506162859}), 1e-14);
  EXPECT_LE(distance(on_both.p, {-0.88844651200695198, 0.29729233343909144, -0.20272009108245369}), 1e-14);
  EXPECT_NEAR(on_both.lambda[0], -1.5995713749367888, 1e-13);
}

/// Newmark's method with beta = 1/4, gamma = 1/2 for a particle of unit mass; a is the acceleration of the equations.
template <class System>
struct Newmark {
  System system;

  auto acceleration(const auto& state) const {
    return force(system, state.q) + transpose_times(system.constraint_matrix(state.q), state.lambda);
  }
  void operator()(StateOf<double, System>& state, double h) const {
    const auto [q, v, lambda, nothing] = state;
    const auto a = acceleration(state);
    for (int i = 0; i < 60; ++i) {
      const auto next = acceleration(state);
      state.q = q + h * v + 0.25 * h * h * (a + next);
      const auto forms = system.constraint_matrix(state.q);
      const auto free = v + 0.5 * h * (a + force(system, state.q));
      state.lambda[0] = -dot(forms[0], free) / (0.5 * h * dot(forms[0], forms[0]));
      state.p = v + 0.5 * h * (a + acceleration(state));
    }
  }
};

TEST(GeneralizedAlpha, IsNewmarksMethodWhereItDampsNothing) {
  const auto compare = [](const auto& system) {
    using System = std::remove_cvref_t<decltype(system)>;
    const AlphaStep<System> step(system, 1.0);
    const auto state = advance(step, step.start(system), 0.1, 10);
    auto newmark = default_start(system);
    for (int k = 0; k < 10; ++k) Newmark<System>{system}(newmark, 0.1);
    EXPECT_LE(distance(state.q, newmark.q), 1e-13);
    EXPECT_LE(distance(state.p, newmark.p), 1e-13);
    EXPECT_LE(distance(state.lambda, newmark.lambda), 1e-13);
  };
  compare(Particle{});
  compare(Contact{});
}

TEST(GeneralizedAlpha, HasTwoFormsOfTheSameStep) {
  const auto compare = [](const auto& system) {
    using System = std::remove_cvref_t<decltype(system)>;
    for (const double rho : {0.0, 0.8, 1.0}) {
      const AlphaStep<System> condensed(system, rho);
      const AlphaStep<System, Stabilised, GeneralGeneralizedAlpha<double, System, Stabilised>> general(system, rho);
      expect_near(advance(condensed, condensed.start(system), 0.1, 10),
                  advance(general, general.start(system), 0.1, 10), 5e-14);
    }
  };
  compare(Particle{});
  compare(Contact{});
  compare(Galactic{});
}

/// The errors of q and p, and of lambda, with steps h and h/2.
template <class Step, class State>
void expect_order_two(const Step& step, const State& state, double h, int steps, double tolerance) {
  const auto reference = advance(step, state, h / 8, 8 * steps);
  const auto coarse = advance(step, state, h, steps), fine = advance(step, state, h / 2, 2 * steps);
  // error(h) - error(h/8) = (1 - 1/64) error(h)
  const double settled = std::log2((1.0 - 1.0 / 64) / (0.25 - 1.0 / 64));
  const auto slope = [&](const auto& part) {
    return std::log2(distance(part(coarse), part(reference)) / distance(part(fine), part(reference)));
  };
  EXPECT_NEAR(slope([](const State& s) { return s.q; }), settled, tolerance);
  EXPECT_NEAR(slope([](const State& s) { return s.p; }), settled, tolerance);
  if constexpr (State::multipliers > 0) {
    EXPECT_NEAR(slope([](const State& s) { return s.lambda; }), settled, 2 * tolerance);
  }
}

TEST(GeneralizedAlpha, HasOrderTwo) {
  for (const double rho : {1.0, 0.8, 0.5, 0.0}) {
    SCOPED_TRACE(rho);
    const AlphaStep<Particle> particle(Particle{}, rho);
    expect_order_two(particle, particle.start(Particle{}), 1.0 / 32, 160, 0.04);
    const auto sleigh = make_default<Sleigh>();  // a mass matrix that varies
    const AlphaStep<Sleigh> on_sleigh(sleigh, rho);
    expect_order_two(on_sleigh, on_sleigh.start(sleigh), 1.0 / 64, 128, 0.1);
    const auto spherical = make_default<Spherical>();
    const AlphaStep<Spherical> stabilised(spherical, rho);
    expect_order_two(stabilised, stabilised.start(spherical), 1.0 / 64, 128, 0.1);
    const AlphaStep<Spherical, Index3> index3(spherical, rho);
    expect_order_two(index3, index3.start(spherical), 1.0 / 64, 128, 0.1);
  }
  // the maximum error of a known run
  const AlphaStep<Particle> particle(Particle{}, 0.8);
  const auto end = advance(particle, particle.start(Particle{}), 1.0 / 16, 80);
  EXPECT_NEAR(distance(end.q, {-0.93682153194653513, -0.62530832699889767, -0.28618286593039145}), 1.2160e-3, 1e-7);
}

// The start of the acceleration matters: from 0 the method has order 1, unless rho = 1, where only a + a' counts.
TEST(GeneralizedAlpha, LosesAnOrderWhereItsAccelerationStartsFromZero) {
  for (const double rho : {1.0, 0.8}) {
    const AlphaStep<Particle> step(Particle{}, rho);
    const auto error = [&](double h, int steps) {
      auto state = step.start(Particle{});
      state.carried[3] = h;  // as if a step had left a = 0
      return distance(advance(step, state, h, steps).q,
                      {-0.93682153194653513, -0.62530832699889767, -0.28618286593039145});
    };
    EXPECT_NEAR(std::log2(error(1.0 / 64, 320) / error(1.0 / 128, 640)), rho == 1.0 ? 2.0 : 1.0, 0.1);
  }
}

// The search for a crossing takes parts of a step: steps of other sizes keep the order, of the multiplier too.
TEST(GeneralizedAlpha, TakesItsAccelerationToAStepOfAnotherSize) {
  const AlphaStep<Particle> step(Particle{}, 0.8);
  const auto error = [&](double h, int pairs) {
    auto state = step.start(Particle{});
    for (int k = 0; k < pairs; ++k) state = advance(step, advance(step, state, 0.75 * h, 1), 0.25 * h, 1);
    return std::fabs(state.lambda[0] + 0.17666506081139642);
  };
  EXPECT_NEAR(std::log2(error(1.0 / 32, 160) / error(1.0 / 64, 320)), 2.0, 0.1);
}

TEST(GeneralizedAlpha, KeepsTheConstraintsThatItImposes) {
  const auto spherical = make_default<Spherical>();
  const auto largest = [&](const auto& step, double& position, double& velocity) {
    auto state = step.start(spherical);
    position = velocity = 0.0;
    for (int k = 0; k < 200; ++k) {
      state = advance(step, state, 0.05, 1);
      position = std::max(position, std::fabs(spherical.position_constraint(state.q)[0]));
      velocity = std::max(velocity, std::fabs(dot(state.q, state.p)));
    }
  };
  double position, velocity;
  largest(AlphaStep<Spherical>(spherical, 0.8), position, velocity);
  EXPECT_LT(position, 1e-14);
  EXPECT_LT(velocity, 1e-14);
  largest(AlphaStep<Spherical, Index3>(spherical, 0.8), position, velocity);
  EXPECT_LT(position, 1e-14);
  EXPECT_GT(velocity, 1e-6);
  EXPECT_LT(velocity, 1e-3);

  const AlphaStep<Contact> step(Contact{}, 0.8);
  auto state = step.start(Contact{});
  double violation = 0.0;
  for (int k = 0; k < 1000; ++k) {
    state = advance(step, state, 0.1, 1);
    violation = std::max(violation, max_norm(constraint(Contact{}, state.q, state.p)));
  }
  EXPECT_LT(violation, 1e-14);
}

// Twenty steps there and, with the opposite velocity and the acceleration kept, twenty back.
TEST(GeneralizedAlpha, IsSymmetricWithoutDampingOnly) {
  const auto defect = [](double rho) {
    const AlphaStep<Particle> step(Particle{}, rho);
    const auto start = step.start(Particle{});
    auto state = advance(step, start, 0.1, 20);
    state.p = -state.p;
    state = advance(step, state, 0.1, 20);
    return std::max(distance(state.q, start.q), distance(-state.p, start.p));
  };
  EXPECT_LT(defect(1.0), 1e-13);
  EXPECT_GT(defect(0.8), 1e-4);
  EXPECT_GT(defect(0.5), 1e-3);
}

// Where the motion contracts, the multiplier that the Lobatto pair carries grows until it destroys the motion. Here it acts through the
// acceleration only: its part that alternates stays with rho = 1, and decays otherwise.
TEST(GeneralizedAlpha, CarriesItsMultiplierThroughMotionsThatContract) {
  const auto sleigh = make_default<Sleigh>();
  for (const double rho : {1.0, 0.8}) {
    const AlphaStep<Sleigh> step(sleigh, rho);
    auto state = step.start(sleigh);
    const double energy_0 = energy(sleigh, state.q, velocity(sleigh, state.q, state.p));
    double error = 0.0, late = 0.0;
    for (int k = 0; k < 2000; ++k) {
      state = advance(step, state, 0.05, 1);
      const auto v = velocity(sleigh, state.q, state.p);
      Vector<double, 1> exact;
      EXPECT_TRUE(detail::continuous_multiplier(sleigh, state.q, v, exact));
      error = std::max(error, std::fabs(energy(sleigh, state.q, v) - energy_0));
      if (k >= 1000) late = std::max(late, std::fabs(state.lambda[0] - exact[0]));
    }
    EXPECT_NEAR(error / (rho == 1.0 ? 1.55e-4 : 1.67e-4), 1.0, 0.1);
    EXPECT_LT(late, rho == 1.0 ? 5e-4 : 1e-12);
  }
}

/// The largest difference between the derivative of five steps by dual numbers and by central differences of eighth order, along a
/// change of q[0] and p[1]. The first step finds the acceleration, the others have it from the step before.
template <template <class> class SystemOf>
double defect_of_tangent(double h) {
  using D = Dual<double, 1>;
  using Step = GeneralizedAlpha<D, SystemOf<D>, Stabilised>;
  const auto system = make_default<SystemOf<double>>();
  const auto over_duals = make_system<SystemOf<D>>([](int i) { return D(parameters_of<SystemOf<D>>()[i].value); });
  const auto numbers = GeneralizedAlphaNumbers::of(0.8);
  const AlphaStep<SystemOf<double>> step(system, 0.8);
  const auto at = [&](double x) {
    auto state = step.start(system);
    state.q[0] += x;
    state.p[1] += x;
    return advance(step, state, h, 5);
  };
  const auto start = step.start(system);
  typename Step::State tangent;
  for (int i = 0; i < SystemOf<double>::n; ++i) {
    tangent.q[i] = D(start.q[i]);
    tangent.p[i] = D(start.p[i]);
  }
  for (int k = 0; k < SystemOf<double>::m; ++k) tangent.lambda[k] = D(start.lambda[k]);
  tangent.q[0].partial[0] = tangent.p[1].partial[0] = 1.0;
  tangent.carried = decltype(tangent.carried)::zero();
  const Step dual_step(over_duals, {D(1e-14), 100}, numbers);
  for (int k = 0; k < 5; ++k) EXPECT_EQ(dual_step(tangent, D(h)).status.value, 0.0);

  constexpr double e = 0x1p-8, weight[] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
  auto dq = Vector<double, SystemOf<double>::n>::zero(), dp = dq;
  for (int k = 1; k <= 4; ++k) {
    const auto there = at(k * e), back = at(-k * e);
    dq = fma(weight[k - 1] / e, there.q - back.q, dq);
    dp = fma(weight[k - 1] / e, there.p - back.p, dp);
  }
  return std::max(distance(dq, detail::derivative(tangent.q)), distance(dp, detail::derivative(tangent.p)));
}
template <class T>
using ContactOf = Chaotic<T, 3, ChaoticVariant::contact>;

TEST(GeneralizedAlpha, HasATangentMapWithItsAcceleration) {
  EXPECT_LT(defect_of_tangent<ContactOf>(0.1), 1e-11);
  EXPECT_LT(defect_of_tangent<ChaplyginSleigh>(0.1), 1e-11);
  EXPECT_LT(defect_of_tangent<HenonHeiles>(0.1), 1e-11);
}

/// A slow and a very fast oscillator of unit mass.
struct Stiff {
  using scalar = double;
  static constexpr int n = 2, m = 0;
  template <class S>
  S potential(const Vector<S, 2>& q) const {
    return S(0.5) * q[0] * q[0] + S(0.5e8) * (q[1] * q[1]);
  }
};

// rho is defined by motions that a step does not resolve: here h omega = 1000. Functional iteration does not converge for them, so
// Newton's method takes these steps.
TEST(GeneralizedAlpha, DampsUnresolvedMotionsByRho) {
  for (const double rho : {1.0, 0.8, 0.5}) {
    const AlphaStep<Stiff> step(Stiff{}, rho);
    typename AlphaStep<Stiff>::State state{{1.0, 1e-4}, {0.0, 0.0}, {}};
    std::vector<double> size;
    for (int k = 0; k < 60; ++k) {
      state = advance(step, state, 0.1, 1);
      size.push_back(std::hypot(state.p[1], 1e4 * state.q[1]));
    }
    // the three eigenvalues -rho meet at infinity, so powers of the step number go with rho^k
    const double rate = std::pow(size[59] / size[29], 1.0 / 30);
    EXPECT_NEAR(rate, rho, 0.08) << rho;
    EXPECT_LT(*std::max_element(size.begin(), size.end()), 100.0) << rho;  // it starts at 1
    EXPECT_NEAR(state.q[0], std::cos(6.0), 0.02);
  }
}

}  // namespace
}  // namespace rattleback
