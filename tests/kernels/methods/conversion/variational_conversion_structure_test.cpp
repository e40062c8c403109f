// The conversion of explicit Runge-Kutta methods as a map: its symmetry, its symplecticity, its tangent map, nodes and
// segments; its iterations, its failures and its options.

#include "conversion_problems.hpp"

using namespace rattleback;
using namespace rattleback::problems;

namespace {

// Bias (-1/2, 1/2): a step back undoes a step; with another bias it does not.
TEST(VariationalConversion, IsSymmetricWithTheSymmetricBias) {
  const auto defect = [](auto p, const char* base, Bias bias) {
    using P = decltype(p);
    const Numbers numbers(base, bias);
    const Conversion<P> step(P::system(), options, numbers);
    auto state = start<P>();
    advance(step, state, 0.1, 1);
    advance(step, state, -0.1, 1);
    return distance(state, start<P>());
  };
  Small::each([&](auto p) {
    for (const char* base : {"euler", "heun2", "rk4"}) EXPECT_LT(defect(p, base, symmetric), 3e-14);
  });
  EXPECT_LT(defect(Body{}, "rk4", symmetric), 1e-14);
  EXPECT_NEAR(defect(KeplerOrbit{}, "rk4", forward), 6.455e-4, 5e-7);
}

// The map of the nodes keeps the canonical form on tangent vectors of the constraint manifold.
template <class P, class Map>
double symplecticity_defect(Map map) {
  constexpr int n = P::n, m = P::m;
  const auto system = P::system();
  const auto at = start<P>();
  // tangent directions of {g = 0, Dg v = 0} from projections of unit vectors
  std::vector<StateOfProblem<P>> image;
  const double e = 1e-5;
  std::vector<std::array<Vector<double, 2 * n>, 2>> pairs;
  for (int i = 0; i < 2 * n; ++i) {
    std::array<Vector<double, 2 * n>, 2> difference;
    const auto moved = [&](double shift) {
      auto q = at.q, v = velocity_of<P>(at);
      (i < n ? q[i] : v[i - n]) += shift;
      if constexpr (m > 0) {
        const auto nearest = nearest_point(system, q);
        q = nearest.q;
        v = nearest.normals.tangential(v);
      }
      return StateOfProblem<P>{q, momentum(system, q, v), at.lambda};
    };
    const auto ahead = moved(e), behind = moved(-e);
    const auto to = map(ahead), from = map(behind);
    difference[0] = (0.5 / e) * (join(ahead.q, ahead.p) - join(behind.q, behind.p));
    difference[1] = (0.5 / e) * (join(to.q, to.p) - join(from.q, from.p));
    pairs.push_back(difference);
  }
  double worst = 0.0;
  for (const auto& a : pairs)
    for (const auto& b : pairs) {
      double form[2] = {0.0, 0.0};
      for (std::size_t k = 0; k < 2; ++k)
        for (int i = 0; i < n; ++i) form[k] += a[k][i] * b[k][n + i] - a[k][n + i] * b[k][i];
      worst = std::max(worst, std::fabs(form[1] - form[0]));
    }
  return worst;
}

TEST(VariationalConversion, IsSymplecticInTheNodes) {
  const auto defect = [](auto p, const char* base, Bias bias) {
    using P = decltype(p);
    const Numbers numbers(base, bias, ConversionState::node);
    const Conversion<P> step(P::system(), options, numbers);
    return symplecticity_defect<P>([&](auto state) {
      advance(step, state, 0.1, 1);
      return state;
    });
  };
  EXPECT_LT(defect(PlanarSwing{}, "rk4", forward), 1e-8);
  EXPECT_LT(defect(InField{}, "rk4", symmetric), 1e-8);
  EXPECT_LT(defect(VariableMass{}, "heun2", symmetric), 1e-8);
  EXPECT_LT(defect(OnTorus{}, "heun2", symmetric), 1e-8);
  EXPECT_LT(defect(Double{}, "rk4", symmetric), 1e-8);
  EXPECT_LT(defect(KeplerOrbit{}, "rk4", forward), 2e-8);
  // the base is not
  const Numbers numbers("rk4", false);
  const Base<KeplerOrbit> base(KeplerOrbit::system(), options, numbers);
  EXPECT_NEAR(symplecticity_defect<KeplerOrbit>([&](auto state) {
                advance(base, state, 0.1, 1);
                return state;
              }),
              3.9e-3, 1e-4);
}

// The step over dual numbers is its own derivative, along tangents of the constraint manifold.
template <class P>
void check_tangent_map(const char* base, Bias bias, ConversionState kind) {
  SCOPED_TRACE(testing::Message() << P::System::name << " " << base);
  using D = Dual<double, 1>;
  using System = typename P::template of<D>;
  constexpr int n = P::n;
  const auto system = P::system();
  double parameters[24];
  std::memcpy(parameters, &system, sizeof(system));
  const Numbers numbers(base, bias, kind);
  const Conversion<P> step(system, options, numbers);
  const VariationalConversion<D, System> dual(make_system<System>([&](int i) { return D(parameters[i]); }),
                                              {D(1e-14), 100}, numbers);
  const auto at = [&](double shift) {
    auto q = P::q(), v = P::v();
    for (int i = 0; i < n; ++i) {
      q[i] += shift * std::sin(1.0 + i);
      v[i] += shift * std::cos(2.0 * i);
    }
    if constexpr (P::m > 0) {
      const auto nearest = nearest_point(system, q);
      q = nearest.q;
      v = nearest.normals.tangential(v);
    }
    return StateOfProblem<P>{q, momentum(system, q, v), {}};
  };
  const double e = 1e-5;
  auto ahead = at(e), behind = at(-e), here = at(0.0);
  StateOf<D, System> moving;
  moving.q = detail::along(here.q, (0.5 / e) * (ahead.q - behind.q));
  moving.p = detail::along(here.p, (0.5 / e) * (ahead.p - behind.p));
  moving.lambda = {};
  for (int k = 0; k < 5; ++k) ASSERT_EQ(dual(moving, D(0.1)).status.value, 0.0);
  for (auto* state : {&ahead, &behind, &here}) advance(step, *state, 0.1, 5);
  EXPECT_LT(max_norm(detail::values(moving.q) - here.q), 1e-14);
  EXPECT_LT(max_norm(detail::derivative(moving.q) - (0.5 / e) * (ahead.q - behind.q)), 1e-7);
  EXPECT_LT(max_norm(detail::derivative(moving.p) - (0.5 / e) * (ahead.p - behind.p)), 1e-7);
}

TEST(VariationalConversion, OverDualNumbersIsItsTangentMap) {
  check_tangent_map<KeplerOrbit>("rk3", symmetric, ConversionState::segment);
  check_tangent_map<InField>("rk4", symmetric, ConversionState::segment);
  check_tangent_map<InField>("heun2", forward, ConversionState::node);
}

// Nodes and segments are one trajectory: from the node after a segment, the map of nodes leads to that after the next segment.
TEST(VariationalConversion, MapsNodesAsItMapsSegments) {
  const auto check = [](auto p) {
    using P = decltype(p);
    SCOPED_TRACE(P::System::name);
    const Numbers numbers("rk4", symmetric), node_numbers("rk4", symmetric, ConversionState::node);
    const Conversion<P> segments(P::system(), options, numbers), nodes(P::system(), options, node_numbers);
    auto state = start<P>();
    Vector<double, P::n> q, mu;
    segments.node(state, 0.1, q, mu);
    StateOfProblem<P> node{q, mu, {}};
    advance(nodes, node, 0.1, 1);
    advance(segments, state, 0.1, 1);
    segments.node(state, 0.1, q, mu);
    EXPECT_LT(max_norm(node.q - q), 2e-14);
    if constexpr (P::m > 0) {
      const detail::Normals<std::remove_cvref_t<decltype(P::system())>, P::m> normals(
          position_jacobian(P::system(), q));
      EXPECT_LT(max_norm(normals.tangential(node.p) - mu), 2e-14);
      EXPECT_LT(max_norm(constraint(P::system(), node.q, velocity_of<P>(node))), 3e-15);
    } else {
      EXPECT_LT(max_norm(node.p - mu), 2e-14);
    }
  };
  Small::each(check);
  check(Body{});
}

/// The variable-mass pendulum as a user would write it: L and g, nothing by hand.
template <class T>
struct Written {
  using scalar = T;
  static constexpr int n = 3, m = 1;
  template <class S>
  RB_HD S lagrangian(const Vector<S, n>& q, const Vector<S, n>& v) const {
    return S(0.5) * (S(1.0) + S(0.3) * q[2] * q[2]) * dot(v, v) - q[2];
  }
  template <class S>
  RB_HD Vector<S, m> position_constraint(const Vector<S, n>& q) const {
    return {S(0.5) * (dot(q, q) - S(1.0))};
  }
};

TEST(VariationalConversion, TakesASystemWithoutDerivativesByHand) {
  const Numbers numbers("rk4", symmetric);
  auto by_hand = start<VariableMass>(), written = by_hand;
  advance(Conversion<VariableMass>(VariableMass::system(), options, numbers), by_hand, 0.1, 20);
  advance(VariationalConversion<double, Written<double>>({}, options, numbers), written, 0.1, 20);
  EXPECT_LT(distance(by_hand, written), 1e-13);
}

/// Coupled oscillators; the last coordinate has a unit of its own.
template <class T>
struct OtherUnit {
  using scalar = T;
  static constexpr int n = 2, m = 0;
  T unit;

  template <class S>
  RB_HD S potential(const Vector<S, n>& q) const {
    const S x = q[1] * S(T(1.0) / unit);
    return S(0.5) * (q[0] * q[0] + x * x) + S(0.3) * x * x * q[0];
  }
  RB_HD Vector<T, n> mass_diagonal() const { return {T(1.0), T(1.0) / (unit * unit)}; }
};
/// A point on a cylinder, whose height has a unit of its own, with an inertia that varies: L and g, nothing by hand.
template <class T>
struct OtherUnitOnCylinder {
  using scalar = T;
  static constexpr int n = 3, m = 1;
  T unit;

  template <class S>
  RB_HD S lagrangian(const Vector<S, n>& q, const Vector<S, n>& v) const {
    const S z = q[2] * S(T(1.0) / unit), rate = v[2] * S(T(1.0) / unit);
    const S kinetic = v[0] * v[0] + v[1] * v[1] + (S(1.0) + S(0.3) * q[0] * q[0]) * rate * rate + S(0.4) * v[0] * rate;
    return S(0.5) * (kinetic - z * z) - S(0.2) * z * q[0] - q[1];
  }
  template <class S>
  RB_HD Vector<S, m> position_constraint(const Vector<S, n>& q) const {
    return {S(0.5) * (q[0] * q[0] + q[1] * q[1] - S(1.0))};
  }
};

/// (q, p) of a system, and its derivative by a turn of the velocity, after steps from (q, v), where the unit of the last coordinate is `unit`;
/// they are returned in the unit 1.
template <template <class> class SystemTemplate, int n>
Vector<double, 4 * n> end_in_unit(double unit, ConversionState kept, const Vector<double, n>& q_0,
                                  const Vector<double, n>& v_0) {
  using D = Dual<double, 1>;
  using System = SystemTemplate<D>;
  const System system{D(unit)};
  Vector<D, n> q, v;
  for (int i = 0; i < n; ++i) {
    const double scale = i == n - 1 ? unit : 1.0;
    const double turned = i == 0 ? q_0[1] : i == 1 ? -q_0[0] : 0.0;  // tangent to the cylinder
    q[i] = D(scale * q_0[i]);
    v[i] = D(scale * v_0[i]);
    v[i].partial[0] = scale * turned;
  }
  StateOf<D, System> state{q, momentum(system, q, v), {}};
  const auto by = ConversionNumbers::of(*named(explicit_tableaus, "rk4"), -0.5, 0.5, kept);
  const VariationalConversion<D, System> step(system, {D(1e-16), 50}, by);
  for (int k = 0; k < 20; ++k) EXPECT_EQ(step(state, D(0.05)).status.value, 0.0) << unit;
  state.q[n - 1] = state.q[n - 1] * D(1.0 / unit);
  state.p[n - 1] = state.p[n - 1] * D(unit);
  return rattleback::join(rattleback::join(detail::values(state.q), detail::values(state.p)),
                          rattleback::join(detail::derivative(state.q), detail::derivative(state.p)));
}

// Rows are exchanged without regard to units. When they had a say, up to one step in eight found no solution at 1e6, and five digits were lost.
TEST(VariationalConversion, DoesNotDependOnTheUnitsOfCoordinates) {
  const auto check = [](auto end) {
    for (const auto kept : {ConversionState::segment, ConversionState::node})
      for (const double unit : {1e6, 1e-6}) EXPECT_LE(max_norm(end(unit, kept) - end(1.0, kept)), 2e-13) << unit;
  };
  check(
      [](double unit, ConversionState kept) { return end_in_unit<OtherUnit, 2>(unit, kept, {0.2, 0.3}, {0.3, 0.1}); });
  check([](double unit, ConversionState kept) {
    return end_in_unit<OtherUnitOnCylinder, 3>(unit, kept, {0.6, -0.8, 0.3}, {0.4, 0.3, 0.2});
  });
}

TEST(VariationalConversion, NeedsFewIterations) {
  const auto iterations = [](const char* base, Bias bias) {
    const Numbers numbers(base, bias);
    const Conversion<InField> step(InField::system(), options, numbers);
    auto state = start<InField>();
    double total = 0.0;
    for (int k = 0; k < 100; ++k) total += step(state, 0.1).iterations;
    return total / 100;
  };
  EXPECT_LT(iterations("rk4", symmetric), 3.0);
  EXPECT_LT(iterations("rk6", symmetric), 3.0);
  EXPECT_LT(iterations("heun2", symmetric), 9.0);
  EXPECT_LT(iterations("euler", forward), 12.0);
}

TEST(VariationalConversion, ReportsAStepWithoutSolution) {
  const Numbers numbers("rk4", symmetric);
  const Conversion<SphericalSwing> step(SphericalSwing::system(), options, numbers);
  auto state = start<SphericalSwing>();
  state.p = {0.0, 300.0, 0.0};
  EXPECT_NE(step(state, 0.1).status, 0.0);
  state = start<SphericalSwing>();
  EXPECT_EQ(Conversion<SphericalSwing>(SphericalSwing::system(), {1e-16, 1}, numbers)(state, 0.1).status,
            double(status_not_converged));
  auto massless = SphericalSwing::system();
  massless.mass = 0.0;
  state = start<SphericalSwing>();
  EXPECT_NE(Conversion<SphericalSwing>(massless, options, numbers)(state, 0.1).status, 0.0);
  auto free = SphericalSwing::system();
  free.constraint_scale = 0.0;  // a constraint without rank
  state = start<SphericalSwing>();
  EXPECT_NE(Conversion<SphericalSwing>(free, options, numbers)(state, 0.1).status, 0.0);
}

/// What becomes of options: base, a, b, bias, state.
Settlement settle(double base, std::vector<double> a, std::vector<double> b, std::vector<double> bias) {
  const int rows = static_cast<int>(std::lround(std::sqrt(static_cast<double>(a.size()))));
  const std::array<OptionValue, 5> values{{{base, {}}, {0.0, a, rows}, {0.0, b}, {0.0, bias}, {0.0, {}}}};
  Settlement r = methods::variational_conversion.settle(values, describe<Spherical>());
  EXPECT_EQ(r.verdict == Settled::good, r.message.empty()) << r.message;
  return r;
}

TEST(VariationalConversion, TakesItsOptionsAndRefusesWhatCannotBe) {
  constexpr auto tableau = static_cast<double>(std::size(explicit_tableaus));
  const Settlement named = settle(3, {}, {}, {-0.5, 0.5});
  const Settlement given = settle(tableau, {0, 0, 0, 0, 0.5, 0, 0, 0, 0, 0.5, 0, 0, 0, 0, 1, 0},
                                  {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6}, {-0.5, 0.5});
  EXPECT_EQ(named.verdict, Settled::good);
  EXPECT_EQ(given.verdict, Settled::good);
  EXPECT_TRUE(std::equal(named.numbers.begin(), named.numbers.end(), given.numbers.begin()));
  const auto refused = [](double base, std::vector<double> a, std::vector<double> b, std::vector<double> bias) {
    return settle(base, std::move(a), std::move(b), std::move(bias)).verdict == Settled::refused;
  };
  EXPECT_TRUE(refused(3, {}, {}, {-0.5, 0.4}));              // does not span the step
  EXPECT_TRUE(refused(3, {}, {}, {0.5, 1.5}));               // beside the state
  EXPECT_TRUE(refused(3, {}, {}, {1.0}));                    // one number
  EXPECT_TRUE(refused(tableau, {0.5}, {1.0}, {-0.5, 0.5}));  // implicit
  EXPECT_TRUE(refused(tableau, {0.0}, {0.5}, {-0.5, 0.5}));  // not consistent
  EXPECT_TRUE(refused(tableau, {0.0}, {0.5, 0.5}, {-0.5, 0.5}));
  EXPECT_TRUE(refused(tableau, {}, {}, {-0.5, 0.5}));
  EXPECT_TRUE(refused(3, {}, {1.0}, {-0.5, 0.5}));  // weights beside a named base
}

}  // namespace
