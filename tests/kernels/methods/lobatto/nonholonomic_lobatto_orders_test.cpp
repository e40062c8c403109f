// Nonholonomic Lobatto IIIA-IIIB: orders, against solutions known or extrapolated, and wrong variants that lower them.

#include <array>
#include <utility>
#include <vector>

#include "nonholonomic_lobatto.hpp"

namespace rattleback {
namespace {

using LongVector = std::vector<Long>;

/// Solution of y' = f(y) after `time`: Gragg's midpoint rule extrapolated to order 16 on intervals of about 0.05.
template <class F>
LongVector flow(F f, LongVector y, Long time) {
  constexpr int rows = 8;
  const int intervals = static_cast<int>(std::ceil(time / 0.05L));
  const auto add = [](const LongVector& a, Long s, const LongVector& b) {
    LongVector r = a;
    for (std::size_t i = 0; i < r.size(); ++i) r[i] += s * b[i];
    return r;
  };
  for (int interval = 0; interval < intervals; ++interval) {
    std::array<LongVector, rows> table;
    for (int k = 0; k < rows; ++k) {
      const int steps = 2 * (k + 1);
      const Long h = time / intervals / steps;
      LongVector before = y, now = add(y, h, f(y));
      for (int i = 1; i < steps; ++i) before = std::exchange(now, add(before, 2 * h, f(now)));
      // Gragg's smoothing, (before + now + h f(now)) / 2
      LongVector column = add(add(before, 1.0L, now), h, f(now));
      for (Long& x : column) x /= 2;
      for (int j = 1; j <= k; ++j) {
        const Long ratio = Long(k + 1) / Long(k + 1 - j);
        const LongVector correction = add(column, -1.0L, table[j - 1]);
        std::swap(table[j - 1], column);
        column = add(table[j - 1], 1 / (ratio * ratio - 1), correction);
      }
      table[k] = column;
    }
    y = table[rows - 1];
  }
  return y;
}

/// The continuous equations of a particle of unit mass with one constraint: q'' = force + lambda mu.
template <class Equations, int n = Equations::n>
PhaseState<double, n, 1> exact(const Vector<double, n>& q, const Vector<double, n>& v, double time) {
  LongVector y(2 * n);
  for (int i = 0; i < n; ++i) {
    y[i] = q[i];
    y[n + i] = v[i];
  }
  const auto rates = [](const LongVector& x) {
    LongVector r(2 * n), force(n), mu(n);
    const Long lambda = Equations::evaluate(x.data(), x.data() + n, force.data(), mu.data());
    for (int i = 0; i < n; ++i) {
      r[i] = x[n + i];
      r[n + i] = force[i] + lambda * mu[i];
    }
    return r;
  };
  y = flow(rates, y, time);
  LongVector force(n), mu(n);
  PhaseState<double, n, 1> state;
  state.lambda[0] = static_cast<double>(Equations::evaluate(y.data(), y.data() + n, force.data(), mu.data()));
  for (int i = 0; i < n; ++i) {
    state.q[i] = static_cast<double>(y[i]);
    state.p[i] = static_cast<double>(y[n + i]);
  }
  return state;
}

/// An initial value problem with its solution at a final time.
template <class System>
struct Problem {
  System system;
  Vector<double, System::n> q, v;
  double time;
  PhaseState<double, System::n, System::m> solution;
};

template <class Equations, class System>
Problem<System> problem(const System& system, const std::type_identity_t<Vector<double, System::n>>& q,
                        const std::type_identity_t<Vector<double, System::n>>& v, double time) {
  return {system, q, v, time, exact<Equations>(q, v, time)};
}
const Problem<Particle> particle_problem =
    problem<ParticleEquations>(Particle{}, to_vector(Particle::default_q), to_vector(Particle::default_v), 5.0);

/// For problems whose solution is known in q only.
template <class System>
Problem<System> default_problem(const Vector<double, System::n>& q_at_5) {
  return {make_default<System>(), to_vector(System::default_q), to_vector(System::default_v), 5.0, {q_at_5, {}, {}}};
}

constexpr double unit_roundoff_floor = 1e-12, multiplier_floor = 1e-11;

/// Errors at the final time for h = 1/2, 1/4, ...
class Errors {
 public:
  void add(double error) { errors_.push_back(error); }
  /// The error at h = 2^-k.
  double at(int k) const { return errors_.at(k - 1); }
  /// log2 of the ratio of the finest pair above the floor.
  double order(double floor) const {
    std::size_t last = errors_.size() - 1;
    while (last > 1 && errors_[last] < floor) --last;
    return std::log2(errors_[last - 1] / errors_[last]);
  }

 private:
  std::vector<double> errors_;
};
struct StateErrors {
  Errors q, p, lambda;
};

/// The errors of `integrate(state, h, steps)`.
template <class System, class Integrate>
StateErrors errors_of(const Problem<System>& problem, Integrate integrate, int finest) {
  StateErrors errors;
  for (int k = 1; k <= finest; ++k) {
    const double h = std::ldexp(1.0, -k);
    const auto state =
        integrate(start(problem.system, problem.q, problem.v), h, static_cast<int>(std::lround(problem.time / h)));
    errors.q.add(distance(state.q, problem.solution.q));
    errors.p.add(distance(state.p, problem.solution.p));
    errors.lambda.add(distance(state.lambda, problem.solution.lambda));
  }
  return errors;
}
template <int S, class System>
StateErrors errors_of(const Problem<System>& problem, int finest = 6) {
  const LobattoStep<double, System, Cay, S> step(problem.system, to_round_off);
  const auto integrate = [&](const auto& state, double h, int steps) { return advance(step, state, h, steps); };
  return errors_of(problem, integrate, finest);
}

TEST(Reference, ExtrapolationAgreesWithTheKnownSolution) {
  const PhaseState<double, 3, 1> known{{-0.93682153194653513, -0.62530832699889767, -0.28618286593039145},
                                       {0.48140325005912975, 0.70639188570215026, -0.30102546090630642},
                                       {-0.17666506081139642}};
  EXPECT_LE(distance(particle_problem.solution, known), 2e-16);
}

TEST(Order, OfTheParticle) {
  // positions, momenta: 2s - 2; multipliers: s for even s, s - 1 for odd s
  const double tolerance[] = {0.03, 0.03, 0.06, 0.1}, order_of_lambda[] = {2, 2, 4, 4};
  for_stages<2, 3, 4, 5>([&](auto s) {
    const StateErrors errors = errors_of<s()>(particle_problem);
    EXPECT_NEAR(errors.q.order(unit_roundoff_floor), 2 * s() - 2, tolerance[s() - 2]);
    EXPECT_NEAR(errors.p.order(unit_roundoff_floor), 2 * s() - 2, 0.1);
    EXPECT_NEAR(errors.lambda.order(multiplier_floor), order_of_lambda[s() - 2], 0.1);
  });
}

TEST(Order, ErrorConstantsOfTheParticle) {
  const double q[] = {1.4167e-3, 2.0439e-7, 6.954e-11}, p[] = {6.552e-4, 8.446e-8, 4.149e-11};
  for_stages<2, 3, 4>([&](auto s) {
    const StateErrors errors = errors_of<s()>(particle_problem, 4);
    EXPECT_NEAR(errors.q.at(4), q[s() - 2], 0.01 * q[s() - 2]);
    EXPECT_NEAR(errors.p.at(4), p[s() - 2], 0.01 * p[s() - 2]);
  });
}

TEST(Order, OfTheCvt) {
  const auto low = problem<CvtEquations>(cvt, {1, 0, 1}, cvt_low, 5.0);
  const double order_of_lambda[] = {2, 2, 4};
  for_stages<2, 3, 4>([&](auto s) {
    const StateErrors errors = errors_of<s()>(low, 8);
    EXPECT_NEAR(errors.q.order(unit_roundoff_floor), 2 * s() - 2, 0.1);
    EXPECT_NEAR(errors.lambda.order(multiplier_floor), order_of_lambda[s() - 2], 0.1);
  });
}

TEST(Order, OfTheChaoticSystem) {
  const Member member(13, 31);
  const StateErrors errors = errors_of<3>(problem<ContactEquations>(Contact{}, member.q, member.v, 2.0));
  EXPECT_NEAR(errors.q.order(unit_roundoff_floor), 4.0, 0.03);
  EXPECT_NEAR(errors.q.at(4), 1.5305e-7, 0.01 * 1.5305e-7);
}

TEST(Order, OfTheSleigh) {
  const auto sleigh = default_problem<Sleigh>({-1.6032285553463604, 4.0081124898352743, 2.4381068601991443});
  const double error[] = {1.0051e-3, 1.4559e-7, 1.9323e-11};
  for_stages<2, 3, 4>([&](auto s) {
    const StateErrors errors = errors_of<s()>(sleigh);
    EXPECT_NEAR(errors.q.order(unit_roundoff_floor), 2 * s() - 2, 0.05);
    EXPECT_NEAR(errors.q.at(4), error[s() - 2], 0.01 * error[s() - 2]);
  });
}

TEST(Order, OfTheIsokineticParticleAndHenonHeiles) {
  const auto isokinetic = default_problem<Isokinetic>({-0.012845359634470730, -1.8168692213169371});
  const auto galactic = default_problem<Galactic>({-0.19710880006909205, 0.24304838299964441});
  for_stages<2, 3, 4, 5>([&](auto s) {
    EXPECT_NEAR(errors_of<s()>(isokinetic).q.order(unit_roundoff_floor), 2 * s() - 2, 0.05);
    EXPECT_NEAR(errors_of<s()>(galactic).q.order(unit_roundoff_floor), 2 * s() - 2, 0.1);
  });
}

// --- wrong variants ---

TEST(WrongVariant, InaccurateInitialMultiplierLowersTheOrder) {
  const double order[] = {2, 2, 4, 4};
  for_stages<2, 3, 4, 5>([&](auto s) {
    const LobattoStep<double, Particle, Cay, s()> step(Particle{}, to_round_off);
    const auto integrate = [&](auto state, double h, int steps) {
      state.lambda[0] += 0.1;
      return advance(step, state, h, steps);
    };
    const StateErrors errors = errors_of(particle_problem, integrate, 5);
    EXPECT_NEAR(errors.q.order(unit_roundoff_floor), order[s() - 2], 0.1);
    // the multiplier's error neither grows nor decays
    EXPECT_NEAR(errors.lambda.at(5), 0.095, 0.02);
  });
}

/// The constraint imposed on the stage velocities themselves, that is on the IIIB momenta, i = 2..s, with a free first
/// multiplier; the last one puts the new momentum on the constraint. For the particle.
template <int S>
struct ConstraintOnStageVelocities {
  static constexpr int n = 3;
  static Vec force(const Vec& q) { return Vec{{-q[0], -q[1], 0.0}}; }
  static Vec mu(const Vec& q) { return Vec{{-q[1], 0.0, 1.0}}; }

  StepReport<double> operator()(PhaseState<double, n, 1>& state, double h) const {
    constexpr auto t = lobatto_pair<S>();
    const Vec q0 = to_eigen(state.q), p0 = to_eigen(state.p);
    Vec q, p;  // at the end of the step
    const auto residual = [&](const Vec& x) {
      Vec Q[S], W[S], r(x.size());
      for (int i = 0; i < S; ++i) {
        Q[i] = q0;
        for (int j = 0; j < S; ++j) Q[i] += h * t.a[i][j] * x.segment(n * j, n);
        W[i] = force(Q[i]) + mu(Q[i]) * x[n * S + i];
      }
      p = p0;
      for (int i = 0; i < S; ++i) {
        const Vec V = x.segment(n * i, n);
        Vec P = p0;
        for (int j = 0; j < S; ++j) P += h * t.ah[i][j] * W[j];
        p += h * t.b[i] * W[i];
        r.segment(n * i, n) = V - P;
        if (i > 0) r[n * S + i - 1] = mu(Q[i]).dot(V);
      }
      q = Q[S - 1];
      r[n * S + S - 1] = mu(q).dot(p);
      return r;
    };
    Vec guess(n * S + S);
    for (int i = 0; i < S; ++i) guess.segment(n * i, n) = p0;
    guess.tail(S).setConstant(state.lambda[0]);
    const Vec x = solve_numerically(residual, guess);
    residual(x);
    state = {from_eigen<n>(q), from_eigen<n>(p), {x[n * S + S - 1]}};
    return {0.0, 0.0, 0.0};
  }
};

TEST(WrongVariant, ConstraintOnTheStageVelocitiesHasOrderSMinusOne) {
  for_stages<2, 3, 4, 5>([&](auto s) {
    const auto integrate = [&](const auto& state, double h, int steps) {
      return advance(ConstraintOnStageVelocities<s()>{}, state, h, steps);
    };
    EXPECT_NEAR(errors_of(particle_problem, integrate, 5).q.order(unit_roundoff_floor), s() - 1, 0.1);
  });
}

}  // namespace
}  // namespace rattleback
