// The conversion of explicit Runge-Kutta methods: stored states and errors, orders, what it keeps and what its base loses.

#include "conversion_problems.hpp"

using namespace rattleback;
using namespace rattleback::problems;

namespace {

// One step of the spherical pendulum, base rk4, bias (-1/2, 1/2), h = 0.1, and the node after its first segment.
TEST(VariationalConversion, GivesTheStoredStep) {
  const Numbers numbers("rk4", symmetric);
  const Conversion<SphericalSwing> step(SphericalSwing::system(), options, numbers.at);
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
void check_after_40(const char* base, Bias bias, const double (&expected)[count], std::initializer_list<double> p = {}) {
  SCOPED_TRACE(testing::Message() << P::System::name << " " << base << " " << bias.minus);
  const Numbers numbers(base, bias);
  const Conversion<P> step(P::system(), options, numbers.at);
  auto state = start<P>();
  advance(step, state, 0.05, 40);
  Vector<double, P::n> node, mu;
  step.node(state, 0.05, node, mu);
  EXPECT_LT(distance<P>(state, expected), 1e-13);
  int i = 0;
  for (const double component : p) EXPECT_NEAR(mu[i++], component, 1e-13);
}

TEST(VariationalConversion, GivesTheStoredStatesAfter40Steps) {
  check_after_40<KeplerOrbit>("euler", forward, {-1.23586071543806, 0.85377846508668, -0.54050857193024, -0.27391874898396});
  check_after_40<KeplerOrbit>("rk4", symmetric,
                              {-1.33986869429976, 0.53817716999344, -0.46592145435437, -0.40993076193023});
  check_after_40<Polar>("rk4", forward, {0.75237396968166, 1.14104865399248, 0.10718222694669, 1.08992533426250},
                        {0.15390960586065, 0.90000077733172});
  check_after_40<PlanarSwing>("heun2", symmetric,
                              {0.98662877201422, -0.16298363793248, -0.12274374722040, -0.74303478636708});
  check_after_40<InField>("rk4", backward,
                          {0.07979646393863, 0.93031918970955, -0.35796470440681, -0.74775214077235, -0.14511086362139,
                           -0.54381729651548},
                          {-1.21291158981254, -0.10521272906948, -0.54381751719031});
  check_after_40<VariableMass>("rk4", symmetric,
                               {-0.35655865977463, 0.75742430143585, -0.54696832607943, -0.74296682080437,
                                -0.70298312532027, -0.48914212391709});
  check_after_40<OnTorus>("rk4", forward,
                          {2.64349046674584, 1.37354918129504, -0.20366815648134, -0.52385519002623, 0.52221080606355,
                           -1.07712928061978});
  check_after_40<Double>("heun2", symmetric,
                         {-0.41310134074197, 0.60914626497199, -0.67696980002645, 0.12281868920893, 1.13024948993824,
                          -1.34122965161106, -0.61143580400861, -0.34407357397174, 0.06350921112208, -0.72380429909466,
                          -0.65709186813710, -0.27270766135980});
}

}  // namespace
