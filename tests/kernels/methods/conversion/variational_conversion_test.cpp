// The conversion of explicit Runge-Kutta methods: stored states and errors, orders, what it keeps and what its base loses.

#include "conversion_problems.hpp"

using namespace rattleback;
using namespace rattleback::problems;

namespace {

// One step of the spherical pendulum, base rk4, bias (-1/2, 1/2), h = 0.1, and the node after its first segment.
TEST(VariationalConversion, GivesTheStoredStep) {
  const Numbers numbers("rk4", symmetric);
  const Conversion<SphericalSwing> step(SphericalSwing::system(), options, numbers);
  auto state = start<SphericalSwing>();
  Vector<double, 3> q, p;
  step.node(state, 0.1, q, p);
  EXPECT_LT(max_norm(q - Vector<double, 3>{0.81605044798956, 0.04995991955120, -0.57581739533856}), 1e-14);
  EXPECT_LT(max_norm(p - Vector<double, 3>{0.28224944575853, 0.99761080294010, 0.48656109451091}), 1e-14);
  advance(step, state, 0.1, 1);
  EXPECT_LT(distance<SphericalSwing>(state, {0.82825230904266, 0.09968570841549, -0.55141714890199, 0.20613864056726,
                                             0.99069932215524, 0.48872866816922}),
            1e-14);
  step.node(state, 0.1, q, p);
  EXPECT_LT(max_norm(q - Vector<double, 3>{0.83669926200121, 0.14896104307392, -0.52701513508908}), 1e-14);
  EXPECT_LT(max_norm(p - Vector<double, 3>{0.13212254408702, 0.97965987573038, 0.48666153019390}), 1e-14);
}

template <class P, std::size_t count>
void check_after_40(const char* base, Bias bias, const double (&expected)[count],
                    std::initializer_list<double> p = {}) {
  SCOPED_TRACE(testing::Message() << P::System::name << " " << base << " " << bias.minus);
  const Numbers numbers(base, bias);
  const Conversion<P> step(P::system(), options, numbers);
  auto state = start<P>();
  advance(step, state, 0.05, 40);
  Vector<double, P::n> node, mu;
  step.node(state, 0.05, node, mu);
  EXPECT_LT(distance<P>(state, expected), 1e-13);
  int i = 0;
  for (const double component : p) EXPECT_NEAR(mu[i++], component, 1e-13);
}

TEST(VariationalConversion, GivesTheStoredStatesAfter40Steps) {
  check_after_40<KeplerOrbit>("euler", forward,
                              {-1.23586071543806, 0.85377846508668, -0.54050857193024, -0.27391874898396});
  check_after_40<KeplerOrbit>("rk4", symmetric,
                              {-1.33986869429976, 0.53817716999344, -0.46592145435437, -0.40993076193023});
  check_after_40<Polar>("rk4", forward, {0.75237396968166, 1.14104865399248, 0.10718222694669, 1.08992533426250},
                        {0.15390960586065, 0.90000077733172});
  check_after_40<PlanarSwing>("heun2", symmetric,
                              {0.98662877201422, -0.16298363793248, -0.12274374722040, -0.74303478636708});
  check_after_40<InField>(
      "rk4", backward,
      {0.07979646393863, 0.93031918970955, -0.35796470440681, -0.74775214077235, -0.14511086362139, -0.54381729651548},
      {-1.21291158981254, -0.10521272906948, -0.54381751719031});
  check_after_40<VariableMass>("rk4", symmetric,
                               {-0.35655865977463, 0.75742430143585, -0.54696832607943, -0.74296682080437,
                                -0.70298312532027, -0.48914212391709});
  check_after_40<OnTorus>(
      "rk4", forward,
      {2.64349046674584, 1.37354918129504, -0.20366815648134, -0.52385519002623, 0.52221080606355, -1.07712928061978});
  check_after_40<Double>("heun2", symmetric,
                         {-0.41310134074197, 0.60914626497199, -0.67696980002645, 0.12281868920893, 1.13024948993824,
                          -1.34122965161106, -0.61143580400861, -0.34407357397174, 0.06350921112208, -0.72380429909466,
                          -0.65709186813710, -0.27270766135980});
}

// Errors at time 2, measured by two other implementations, and the orders that follow from them.

template <class P, std::size_t count>
void check_errors(const char* base, Bias bias, int steps, const double (&expected)[count]) {
  SCOPED_TRACE(testing::Message() << P::System::name << " " << base << " " << bias.minus);
  const Numbers numbers(base, bias);
  const Conversion<P> step(P::system(), options, numbers);
  for (const double error : expected) {
    auto state = start<P>();
    advance(step, state, 2.0 / steps, steps);
    EXPECT_NEAR(distance<P>(state, P::exact) / error, 1.0, error > 1e-10 ? 1e-3 : 0.1) << steps;
    steps *= 2;
  }
}

TEST(VariationalConversion, HasTheStoredErrors) {
  check_errors<KeplerOrbit>("euler", forward, 40, {3.156e-1, 1.453e-1, 6.919e-2, 3.369e-2});
  check_errors<KeplerOrbit>("euler", symmetric, 40, {4.371e-2, 1.096e-2, 2.741e-3, 6.853e-4});
  check_errors<KeplerOrbit>("heun2", forward, 40, {8.991e-2, 2.401e-2, 6.149e-3, 1.552e-3});
  check_errors<KeplerOrbit>("heun2", symmetric, 40, {2.468e-2, 6.231e-3, 1.562e-3, 3.907e-4});
  check_errors<KeplerOrbit>("rk3", symmetric, 40, {6.777e-5, 4.398e-6, 2.774e-7, 1.738e-8});
  check_errors<KeplerOrbit>("rk4", forward, 40, {4.690e-4, 3.111e-5, 2.011e-6, 1.280e-7});
  check_errors<KeplerOrbit>("rk4", symmetric, 40, {3.236e-5, 2.069e-6, 1.301e-7, 8.141e-9});
  check_errors<KeplerOrbit>("rk6", symmetric, 20, {3.049e-6, 5.083e-8, 8.083e-10, 1.267e-11});
  check_errors<InField>("euler", forward, 20, {3.960e-2, 2.054e-2, 1.040e-2, 5.231e-3});
  check_errors<InField>("euler", symmetric, 20, {4.412e-3, 1.107e-3, 2.769e-4, 6.925e-5});
  check_errors<InField>("heun2", symmetric, 20, {2.543e-3, 6.357e-4, 1.589e-4, 3.973e-5});
  check_errors<InField>("rk3", forward, 20, {2.179e-4, 2.451e-5, 2.945e-6, 3.615e-7});
  check_errors<InField>("rk3", symmetric, 20, {1.236e-5, 7.726e-7, 4.828e-8, 3.018e-9});
  check_errors<InField>("rk4", forward, 20, {1.202e-5, 7.611e-7, 4.771e-8, 2.983e-9});
  check_errors<InField>("rk4", symmetric, 20, {7.599e-7, 4.767e-8, 2.982e-9, 1.864e-10});
  check_errors<InField>("rk4", {-1.0 / 3, 2.0 / 3}, 20, {1.666e-6, 1.041e-7, 6.498e-9, 4.057e-10});
  check_errors<InField>("dp5", symmetric, 10, {2.316e-7, 3.575e-9, 5.568e-11});
  check_errors<InField>("rk6", forward, 10, {1.303e-6, 1.703e-8, 2.463e-10, 3.729e-12});
  check_errors<OnTorus>("heun2", forward, 20, {1.071e-2, 2.725e-3, 6.863e-4, 1.722e-4});
  check_errors<OnTorus>("rk4", symmetric, 20, {2.014e-6, 1.257e-7, 7.855e-9, 4.909e-10});
  check_errors<Double>("rk4", symmetric, 20, {1.385e-6, 8.607e-8, 5.372e-9, 3.356e-10});
  check_errors<VariableMass>("rk4", forward, 20, {6.502e-6, 4.191e-7, 2.652e-8, 1.667e-9});
}

// The rigid body's errors are of positions and velocities; its exact velocity is not stored, so a fine step serves.
TEST(VariationalConversion, HasTheStoredErrorsOnTheRigidBody) {
  auto exact = start<Body>();
  const Numbers fine("rk6", symmetric);
  advance(Conversion<Body>(Body::system(), options, fine), exact, 0.02, 100);
  EXPECT_LT(distance<Body>(exact, Body::exact), 1e-12);
  const auto check = [&](const char* base, std::initializer_list<double> errors) {
    const Numbers numbers(base, symmetric);
    const Conversion<Body> step(Body::system(), options, numbers);
    int steps = 20;
    for (const double error : errors) {
      auto state = start<Body>();
      advance(step, state, 2.0 / steps, steps);
      const double v_error = max_norm(velocity_of<Body>(state) - velocity_of<Body>(exact));
      EXPECT_NEAR(std::max(max_norm(state.q - exact.q), v_error) / error, 1.0, 1e-2) << base << " " << steps;
      steps *= 2;
    }
  };
  check("heun2", {9.144e-4, 2.288e-4, 5.720e-5});
  check("rk4", {1.330e-7, 8.317e-9, 5.199e-10});
}

/// Slope of the error from the last halving of the step.
template <class P>
double order(const char* base, Bias bias, int steps) {
  const Numbers numbers(base, bias);
  const Conversion<P> step(P::system(), options, numbers);
  double error[2];
  for (int i = 0; i < 2; ++i) {
    auto state = start<P>();
    advance(step, state, 2.0 / (steps << i), steps << i);
    error[i] = distance<P>(state, P::exact);
  }
  return std::log2(error[0] / error[1]);
}

TEST(VariationalConversion, HasTheOrderOfTheBaseAndTheNextEvenOneWhenSymmetric) {
  Small::each([](auto p) {
    using P = decltype(p);
    const bool fine = std::is_same_v<P, KeplerOrbit> || std::is_same_v<P, Polar>;
    EXPECT_NEAR(order<P>("euler", symmetric, fine ? 160 : 80), 2.0, 0.05);
    EXPECT_NEAR(order<P>("heun2", symmetric, fine ? 160 : 80), 2.0, 0.05);
    EXPECT_NEAR(order<P>("rk3", symmetric, fine ? 160 : 80), 4.0, 0.05);
    EXPECT_NEAR(order<P>("rk4", symmetric, fine ? 160 : 80), 4.0, 0.05);
    EXPECT_NEAR(order<P>("dp5", symmetric, fine ? 40 : 20), 6.0, 0.15);
    EXPECT_NEAR(order<P>("rk6", symmetric, fine ? 40 : 20), 6.0, 0.15);
    for (const Bias bias : {forward, backward}) {
      EXPECT_GT(order<P>("euler", bias, fine ? 160 : 80), 0.9);
      EXPECT_GT(order<P>("heun2", bias, fine ? 160 : 80), 1.95);
      EXPECT_GT(order<P>("rk3", bias, fine ? 160 : 80), 2.8);
      EXPECT_GT(order<P>("rk4", bias, fine ? 160 : 80), 3.93);
      EXPECT_GT(order<P>("dp5", bias, fine ? 40 : 20), 5.3);
      EXPECT_GT(order<P>("rk6", bias, fine ? 40 : 20), 5.85);
    }
  });
}

// Euler's method, no constraint, constant mass: symplectic Euler of either kind, the trapezoidal rule.
template <class P>
void check_euler() {
  SCOPED_TRACE(P::System::name);
  constexpr int n = P::n;
  const auto system = P::system();
  const double h = 0.05;
  const auto force = [&](const Vector<double, n>& q) { return rattleback::force(system, q); };
  const auto each_step = [&](Bias bias, auto defect) {
    const Numbers numbers("euler", bias);
    const Conversion<P> step(system, options, numbers);
    auto state = start<P>();
    for (int k = 0; k < 20; ++k) {
      const auto before = state;
      advance(step, state, h, 1);
      EXPECT_LT(defect(before.q, before.p, state.q, state.p), 2e-15) << bias.minus << " " << k;
    }
  };
  using V = Vector<double, n>;
  const auto size = [](const V& a, const V& b) { return std::max(max_norm(a), max_norm(b)); };
  each_step(forward, [&](const V& q, const V& v, const V& q2, const V& v2) {
    return size(q2 - fma(h, v, q), v2 - fma(h, force(q2), v));
  });
  each_step(backward, [&](const V& q, const V& v, const V& q2, const V& v2) {
    return size(v2 - fma(h, force(q), v), q2 - fma(h, v2, q));
  });
  each_step(symmetric, [&](const V& q, const V& v, const V& q2, const V& v2) {
    return size(q2 - fma(0.5 * h, v + v2, q), v2 - fma(0.5 * h, force(q) + force(q2), v));
  });

  // in the nodes the symmetric one is the implicit midpoint rule
  const Numbers numbers("euler", symmetric, ConversionState::node);
  const Conversion<P> step(system, options, numbers);
  auto state = start<P>();
  for (int k = 0; k < 20; ++k) {
    const auto before = state;
    advance(step, state, h, 1);
    const V q = 0.5 * (before.q + state.q), p = 0.5 * (before.p + state.p);
    EXPECT_LT(size(state.q - before.q - h * p, state.p - before.p - h * force(q)), 2e-15);
  }
}

TEST(VariationalConversion, OfEulersMethodIsSymplecticEulerOrTrapezoidalRule) {
  check_euler<Angle>();
  check_euler<KeplerOrbit>();
}

// Segments: momentum maps in the nodes, constraints. Nodes: momentum maps of the state itself.
template <class P>
void check_momentum(const char* base, double h, int steps, double tolerance) {
  SCOPED_TRACE(testing::Message() << P::System::name << " " << base);
  const auto system = P::system();
  const auto map = [&](const Vector<double, P::n>& q, const Vector<double, P::n>& p) {
    if constexpr (std::is_same_v<P, Body>) {
      auto total = Vector<double, 3>::zero();
      for (int c = 0; c < 3; ++c)
        total = total + cross(Vector<double, 3>{q[c], q[3 + c], q[6 + c]}, {p[c], p[3 + c], p[6 + c]});
      return total;
    } else if constexpr (std::is_same_v<P, Polar>) {
      return Vector<double, 1>{p[1]};
    } else {
      double total = 0.0;
      for (int i = 0; i + 1 < P::n; i += 3) total += q[i] * p[i + 1] - q[i + 1] * p[i];
      return Vector<double, 1>{total};
    }
  };
  for (const auto kind : {ConversionState::segment, ConversionState::node}) {
    const Numbers numbers(base, symmetric, kind);
    const Conversion<P> step(system, options, numbers);
    auto state = start<P>();
    const auto node_of = [&] {
      auto q = state.q, p = state.p;
      if (kind == ConversionState::segment) step.node(state, h, q, p);
      return map(q, p);
    };
    const auto at_start = node_of();
    double drift = 0.0, violation = 0.0;
    for (int k = 1; k <= steps; ++k) {
      advance(step, state, h, 1);
      if (k % 16 == 0) drift = std::max(drift, max_norm(node_of() - at_start));
      if constexpr (P::m > 0) {
        const auto g = system.position_constraint(state.q), dg = constraint(system, state.q, velocity_of<P>(state));
        violation = std::max({violation, max_norm(g), max_norm(dg)});
      }
    }
    EXPECT_LT(drift, tolerance);
    EXPECT_LT(violation, 1e-14);
  }
}

TEST(VariationalConversion, KeepsConstraintsAndMomentumMaps) {
  check_momentum<KeplerOrbit>("rk4", 0.0628318530717958648, 10000, 1e-13);
  check_momentum<Polar>("rk4", 0.1, 10000, 1e-13);
  check_momentum<SphericalSwing>("rk4", 0.1, 10000, 1e-12);
  check_momentum<SphericalSwing>("heun2", 0.1, 4000, 1e-12);
  check_momentum<InField>("rk4", 0.1, 4000, 1e-12);
  check_momentum<VariableMass>("rk4", 0.1, 4000, 1e-12);
  check_momentum<OnTorus>("rk4", 0.1, 4000, 1e-12);
  check_momentum<Double>("rk4", 0.1, 2000, 1e-12);
  check_momentum<Body>("heun2", 0.1, 500, 1e-12);
}

// The energy error of a long run stays what it is early on; that of the base grows.
template <class P>
void check_energy(const char* base, Bias bias, double h, int steps, double expected) {
  SCOPED_TRACE(testing::Message() << P::System::name << " " << base << " " << bias.minus);
  const Numbers numbers(base, bias);
  const auto worst = energy_errors<P>(Conversion<P>(P::system(), options, numbers), h, steps);
  EXPECT_LT(worst[3], 1.02 * worst[0]);
  EXPECT_NEAR(std::max({worst[0], worst[1], worst[2], worst[3]}) / expected, 1.0, 1e-2);
}

TEST(VariationalConversion, KeepsTheEnergyErrorBounded) {
  const double period = 6.28318530717958648;
  check_energy<KeplerOrbit>("euler", symmetric, period / 100, 10000, 3.331e-2);
  check_energy<KeplerOrbit>("heun2", forward, period / 100, 10000, 3.387e-2);
  check_energy<KeplerOrbit>("heun2", symmetric, period / 100, 10000, 8.436e-3);
  check_energy<KeplerOrbit>("rk3", symmetric, period / 100, 10000, 3.006e-5);
  check_energy<KeplerOrbit>("rk4", forward, period / 100, 10000, 5.200e-5);
  check_energy<KeplerOrbit>("rk4", symmetric, period / 100, 10000, 9.018e-7);
  check_energy<KeplerOrbit>("rk6", symmetric, period / 100, 2000, 3.202e-8);
  check_energy<Polar>("rk4", forward, 0.1, 5000, 6.331e-5);
  check_energy<Polar>("rk4", symmetric, 0.1, 5000, 4.021e-6);
  check_energy<SphericalSwing>("euler", forward, 0.1, 10000, 5.410e-2);
  check_energy<SphericalSwing>("euler", symmetric, 0.1, 10000, 2.568e-3);
  check_energy<SphericalSwing>("heun2", symmetric, 0.1, 10000, 1.902e-3);
  check_energy<SphericalSwing>("rk4", forward, 0.1, 10000, 1.520e-5);
  check_energy<SphericalSwing>("rk4", symmetric, 0.1, 10000, 9.662e-7);
  check_energy<InField>("rk4", symmetric, 0.1, 5000, 9.642e-7);
  check_energy<VariableMass>("rk4", symmetric, 0.1, 5000, 6.886e-7);
  check_energy<PlanarSwing>("rk4", forward, 0.2, 5000, 6.816e-4);
  check_energy<PlanarSwing>("rk4", symmetric, 0.2, 5000, 4.559e-5);
  check_energy<OnTorus>("rk4", symmetric, 0.1, 5000, 5.688e-6);
  check_energy<Body>("heun2", symmetric, 0.1, 2000, 5.182e-4);
  // chaotic: no repetition to compare with
  const Numbers numbers("rk4", symmetric), low("heun2", symmetric);
  for (const double worst : energy_errors<Double>(Conversion<Double>(Double::system(), options, numbers), 0.1, 5000))
    EXPECT_LT(worst, 2e-4);
  for (const double worst : energy_errors<Double>(Conversion<Double>(Double::system(), options, low), 0.05, 5000))
    EXPECT_LT(worst, 1.5e-2);
}

// Peak to peak of the energy, with the step halved twice.
TEST(VariationalConversion, HasAnEnergyErrorOfItsOrder) {
  const auto amplitude = [](const char* base, double h, int steps) {
    const Numbers numbers(base, symmetric);
    const Conversion<SphericalSwing> step(SphericalSwing::system(), options, numbers);
    auto state = start<SphericalSwing>();
    double low = energy_of<SphericalSwing>(state), high = low;
    for (int k = 0; k < steps; ++k) {
      advance(step, state, h, 1);
      low = std::min(low, energy_of<SphericalSwing>(state));
      high = std::max(high, energy_of<SphericalSwing>(state));
    }
    return high - low;
  };
  const std::pair<const char*, std::array<double, 3>> expected[] = {{"heun2", {1.421e-2, 3.593e-3, 9.008e-4}},
                                                                    {"rk3", {2.051e-4, 1.283e-5, 8.016e-7}},
                                                                    {"rk4", {2.330e-5, 1.474e-6, 9.241e-8}}};
  for (const auto& [base, sizes] : expected)
    for (int i = 0; i < 3; ++i)
      EXPECT_NEAR(amplitude(base, 0.2 / (1 << i), 200 << i) / sizes[static_cast<std::size_t>(i)], 1.0, 1e-3) << base;
}

// 64 spherical pendulums: the mean squared error of the energy after so many steps.
TEST(VariationalConversion, KeepsTheEnergyOfAnEnsemble) {
  const auto errors = [](const auto& step) {
    constexpr double pi = 3.14159265358979324;
    std::vector<double> mse(1001, 0.0);
    for (int i = 0; i < 64; ++i) {
      const double theta = 0.4 + 1.6 * (i + 0.5) / 64, phi = 2 * pi * i / 64;
      const double a = 0.5 * std::cos(6 * pi * i / 64), b = 0.6 + 0.4 * std::sin(10 * pi * i / 64);
      const double st = std::sin(theta), ct = std::cos(theta), sp = std::sin(phi), cp = std::cos(phi);
      StateOfProblem<SphericalSwing> state{
          {st * cp, st * sp, -ct}, {a * ct * cp - b * sp, a * ct * sp + b * cp, a * st}, {}};
      const double e = energy_of<SphericalSwing>(state);
      for (std::size_t k = 1; k < mse.size(); ++k) {
        advance(step, state, 0.1, 1);
        mse[k] += std::pow(energy_of<SphericalSwing>(state) - e, 2) / 64;
      }
    }
    return mse;
  };
  const auto converted = [&](const char* base) {
    const Numbers numbers(base, symmetric);
    return errors(Conversion<SphericalSwing>(SphericalSwing::system(), options, numbers));
  };
  const auto heun2 = converted("heun2"), rk4 = converted("rk4");
  const std::size_t at[] = {10, 100, 500, 1000};
  const double heun2_expected[] = {7.757518e-6, 5.590492e-6, 5.462695e-6, 9.225681e-6},
               rk4_expected[] = {1.454855e-12, 8.304768e-13, 8.067178e-13, 1.761735e-12};
  for (int i = 0; i < 4; ++i) {
    EXPECT_NEAR(heun2[at[i]] / heun2_expected[i], 1.0, 1e-4);
    EXPECT_NEAR(rk4[at[i]] / rk4_expected[i], 1.0, 1e-3);
  }
  for (const auto* mse : {&heun2, &rk4})
    EXPECT_LT(*std::max_element(mse->begin() + 501, mse->end()),
              1.05 * *std::max_element(mse->begin(), mse->begin() + 501));
  const Numbers numbers("rk4", true);
  const auto projected = errors(Base<SphericalSwing>(SphericalSwing::system(), options, numbers));
  EXPECT_GT(projected[1000], 3.5 * projected[500]);
  EXPECT_NEAR(projected[1000] / 6.572534e-8, 1.0, 1e-3);
}

}  // namespace
