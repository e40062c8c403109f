// Lie groups and their retractions. One suite holds every group against its matrices: exponentials, Cayley transforms
// and their derivatives in extended precision, derivatives by dual numbers, and the identities of the adjoint action.

#include "rattleback/lie/lie.hpp"

#include <unsupported/Eigen/MatrixFunctions>

#include "eigen.hpp"
#include "representation.hpp"
#include "testing.hpp"
#include "worst.hpp"

namespace rattleback {
namespace {

/// The matrix of a linear map of R^n.
template <class T, int N, class F>
Matrix<T, N, N> matrix_of(F&& f) {
  Matrix<T, N, N> r;
  for (int j = 0; j < N; ++j) {
    auto unit = Vector<T, N>::zero();
    unit[j] = T(1.0);
    const Vector<T, N> column = f(unit);
    for (int i = 0; i < N; ++i) r[i][j] = column[i];
  }
  return r;
}

template <class G, class T>
auto Ad_matrix(const Vector<T, G::element_size>& g) {
  return matrix_of<T, G::dimension>([&](const Algebra<G, T>& x) { return G::Ad(g, x); });
}
template <class G, class T>
auto ad_matrix(const Vector<T, G::dimension>& x) {
  return matrix_of<T, G::dimension>([&](const Algebra<G, T>& y) { return G::ad(x, y); });
}
template <class G, class Tau, class T>
auto dtau_matrix(const Chart<G, Tau, T>& at) {
  return matrix_of<T, G::dimension>([&](const Algebra<G, T>& x) { return at.dtau(x); });
}
template <class G, class Tau, class T>
auto dtau_inverse_matrix(const Chart<G, Tau, T>& at) {
  return matrix_of<T, G::dimension>([&](const Algebra<G, T>& x) { return at.dtau_inverse(x); });
}

using D1 = Dual<double, 1>;
using Big = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;

/// x + eps d, and the two parts of such a vector or matrix.
template <class T, int N>
Vector<Dual<T, 1>, N> along(const Vector<T, N>& x, const Vector<double, N>& d) {
  Vector<Dual<T, 1>, N> r;
  for (int i = 0; i < N; ++i) {
    r[i].value = x[i];
    r[i].partial[0] = T(d[i]);
  }
  return r;
}
template <int N>
Vector<D1, N> constant(const Vector<double, N>& x) {
  return along(x, Vector<double, N>::zero());
}
template <class T, int N>
Vector<T, N> value(const Vector<Dual<T, 1>, N>& x) {
  Vector<T, N> r;
  for (int i = 0; i < N; ++i) r[i] = x[i].value;
  return r;
}
template <class T, int N>
Vector<T, N> partial(const Vector<Dual<T, 1>, N>& x) {
  Vector<T, N> r;
  for (int i = 0; i < N; ++i) r[i] = x[i].partial[0];
  return r;
}
template <int N>
Matrix<double, N, N> partial(const Matrix<D1, N, N>& a) {
  Matrix<double, N, N> r;
  for (int i = 0; i < N; ++i) r[i] = partial(a[i]);
  return r;
}

template <int N>
Big big(const Matrix<double, N, N>& a) {
  return to_eigen(a).template cast<long double>();
}
template <int N>
Matrix<double, N, N> small(const Big& a) {
  Matrix<double, N, N> r;
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) r[i][j] = static_cast<double>(a(i, j));
  return r;
}
Big unit(Eigen::Index n) { return Big::Identity(n, n); }

template <class G>
class LieGroupTest : public ::testing::Test {
 protected:
  static constexpr int n = G::dimension;
  using Vec = Algebra<G, double>;
  using Elem = Element<G, double>;

  /// An element of the algebra that turns by `size`, with comparable velocities; where nothing turns, of the norm
  /// `size`.
  Vec vector(double size) {
    Vec x;
    for (int i = 0; i < n; ++i) x[i] = (random.bits() & 1 ? 1.0 : -1.0) * random.uniform(0.3, 1.0);
    const double angle = std::sqrt(G::angle_squared(x));
    return (size / (angle > 0.0 ? angle : std::sqrt(dot(x, x)))) * x;
  }
  Elem element() { return Chart<G, Exp, double>(vector(random.uniform(0.0, 3.0))).tau(); }

  /// f(tau, x) for both retractions and random x of all sizes up to `largest`, zero included.
  template <class F>
  void for_charts(double largest, F&& f) {
    for (double size : {0.0, 1e-300, 1e-160, 1e-12,  1e-8,   1e-6, 1e-4, 1e-2, 0.1, 0.5, 1.0, 1.6,
                        2.5, 3.1,    3.1415, 3.1416, 3.1623, 3.2,  4.0,  5.0,  6.2, 7.0, 12.0}) {
      if (size > largest) continue;
      SCOPED_TRACE("size " + std::to_string(size));
      for (int trial = 0; trial < 20; ++trial) {
        f(Exp{}, vector(size));
        f(Cay{}, vector(size));
      }
    }
  }

  Random random{std::uint64_t(n)};
};

/// The matrix of tau(x) and its derivative along eta from the matrices X and H, in extended precision.
struct Tangent {
  Big matrix, derivative;
};
Tangent by_definition(Exp, const Big& x, const Big& h) {
  const auto k = x.rows();
  Big blocks = Big::Zero(2 * k, 2 * k);
  blocks << x, h, Big::Zero(k, k), x;
  const Big e = blocks.exp();
  return {e.topLeftCorner(k, k), e.topRightCorner(k, k)};
}
Tangent by_definition(Cay, const Big& x, const Big& h) {
  const Big one = unit(x.rows());
  const Eigen::FullPivLU<Big> minus(one - x / 2);
  const Big cay = minus.solve(one + x / 2);
  return {cay, minus.solve(h / 2 * (one + cay))};
}

/// Whether Cay is the Cayley transform of the matrices: not on the circle.
template <class G>
inline constexpr bool is_cayley_transform = true;
template <>
inline constexpr bool is_cayley_transform<S1> = false;
template <class... Groups>
inline constexpr bool is_cayley_transform<Product<Groups...>> = (is_cayley_transform<Groups> && ...);

using Groups =
    ::testing::Types<Rn<3>, S1, SO3, SE2, SE3, Product<SO3, Rn<2>>, Product<SE2, S1>, Product<S1, Rn<1>, SO3>>;
TYPED_TEST_SUITE(LieGroupTest, Groups);

TYPED_TEST(LieGroupTest, IsAGroupWithTwoRetractions) {
  using G = TypeParam;
  Worst worst;
  const auto e = G::template identity<double>();
  for (int trial = 0; trial < 100; ++trial) {
    const auto f = this->element(), g = this->element(), h = this->element();
    EXPECT_EQ(distance(G::product(e, g), g), 0.0);
    EXPECT_EQ(distance(G::product(g, e), g), 0.0);
    worst.compare(G::product(g, G::inverse(g)), e, max_norm(g));
    worst.compare(G::product(G::inverse(g), g), e, max_norm(g));
    worst.compare(G::product(G::product(f, g), h), G::product(f, G::product(g, h)));
    worst.compare(
        Representation<G>::matrix(G::product(g, h)),
        small<Representation<G>::size>(big(Representation<G>::matrix(g)) * big(Representation<G>::matrix(h))));
  }
}

TYPED_TEST(LieGroupTest, HatIsTheDerivativeOfTauAtZero) {
  using G = TypeParam;
  const auto zero = Algebra<G, double>::zero();
  for (int trial = 0; trial < 20; ++trial) {
    const auto x = this->vector(1.0);
    EXPECT_EQ(distance(Representation<G>::vee(Representation<G>::hat(x)), x), 0.0);
    const auto expect = [&](auto tau) {
      const auto derivative = partial(Representation<G>::matrix(Chart<G, decltype(tau), D1>(along(zero, x)).tau()));
      for (int i = 0; i < Representation<G>::size; ++i)
        EXPECT_EQ(distance(derivative[i], Representation<G>::hat(x)[i]), 0.0);
    };
    expect(Exp{});
    expect(Cay{});
  }
}

TYPED_TEST(LieGroupTest, AdjointAction) {
  using G = TypeParam;
  Worst worst;
  for (int trial = 0; trial < 100; ++trial) {
    const auto g = this->element(), h = this->element();
    const auto x = this->vector(1.0), y = this->vector(1.0), m = this->vector(1.0);
    const Big matrix = big(Representation<G>::matrix(g));
    worst.compare(G::Ad(g, x), Representation<G>::vee(small<Representation<G>::size>(
                                   matrix * big(Representation<G>::hat(x)) * matrix.inverse())));
    worst.compare(G::Ad(G::product(g, h), x), G::Ad(g, G::Ad(h, x)));
    worst.compare(G::Ad(g, G::ad(x, y)), G::ad(G::Ad(g, x), G::Ad(g, y)));
    worst.compare(Ad_matrix<G>(g) * x, G::Ad(g, x));
    worst.compare(G::Ad_star(g, m), transpose_times(Ad_matrix<G>(g), m));
    worst.compare(G::Ad_inverse_star(g, m), transpose_times(Ad_matrix<G>(G::inverse(g)), m));
    worst.compare(G::Ad_star(g, G::Ad_inverse_star(g, m)), m, max_norm(G::Ad_inverse_star(g, m)));
  }
}

TYPED_TEST(LieGroupTest, Bracket) {
  using G = TypeParam;
  Worst worst;
  const auto zero = Algebra<G, double>::zero();
  for (int trial = 0; trial < 100; ++trial) {
    const auto x = this->vector(1.0), y = this->vector(1.0), z = this->vector(1.0), m = this->vector(1.0);
    const Big a = big(Representation<G>::hat(x)), b = big(Representation<G>::hat(y));
    worst.compare(G::ad(x, y), Representation<G>::vee(small<Representation<G>::size>(a * b - b * a)));
    // the derivative of Ad, at zero exactly
    const auto g = Chart<G, Exp, D1>(along(zero, x)).tau();
    worst.compare(partial(G::Ad(g, constant(y))), G::ad(x, y));
    worst.compare(G::ad(x, y), -G::ad(y, x));
    EXPECT_EQ(max_norm(G::ad(x, x)), 0.0);
    worst.compare(G::ad(x, G::ad(y, z)) + G::ad(y, G::ad(z, x)), -G::ad(z, G::ad(x, y)));
    worst.compare(ad_matrix<G>(x) * y, G::ad(x, y));
    worst.compare(G::ad_star(x, m), transpose_times(ad_matrix<G>(x), m));
  }
}

TYPED_TEST(LieGroupTest, TauIsThatOfTheMatrices) {
  using G = TypeParam;
  Worst worst;
  this->for_charts(13.0, [&](auto tau, const auto& x) {
    using Tau = decltype(tau);
    if constexpr (std::same_as<Tau, Exp> || is_cayley_transform<G>) {
      const Big hat = big(Representation<G>::hat(x));
      const auto g = Representation<G>::matrix(Chart<G, Tau, double>(x).tau());
      worst.compare(g, small<Representation<G>::size>(by_definition(tau, hat, hat).matrix));
    }
  });
}

TYPED_TEST(LieGroupTest, TauAtTheOppositeIsTheInverse) {
  using G = TypeParam;
  Worst worst;
  this->for_charts(13.0, [&](auto tau, const auto& x) {
    const Chart<G, decltype(tau), double> at(x), opposite = at.opposite();
    EXPECT_EQ(distance(at.x(), x), 0.0);
    EXPECT_EQ(distance(opposite.x(), -x), 0.0);
    worst.compare(opposite.tau(), G::inverse(at.tau()));
  });
}

TYPED_TEST(LieGroupTest, ChartsActLikeTheirElements) {
  using G = TypeParam;
  Worst worst;
  this->for_charts(13.0, [&](auto tau, const auto& x) {
    const Chart<G, decltype(tau), double> at(x);
    const auto g = this->element();
    const auto m = this->vector(1.0);
    worst.compare(at.move(g), G::product(g, at.tau()));
    worst.compare(at.Ad(m), G::Ad(at.tau(), m));
    worst.compare(at.Ad_star(m), G::Ad_star(at.tau(), m));
    worst.compare(at.Ad_inverse_star(m), G::Ad_inverse_star(at.tau(), m));
  });
}

TYPED_TEST(LieGroupTest, TranslationIsTheDerivativeOfTheProduct) {
  using G = TypeParam;
  Worst worst;
  this->for_charts(13.0, [&](auto tau, const auto& x) {
    const auto g = this->element();
    auto zero = x;
    for (int i = 0; i < G::dimension; ++i) zero[i] = 0.0;
    const Chart<G, decltype(tau), D1> small(along(zero, x));
    Vector<D1, G::element_size> lifted;
    for (int i = 0; i < G::element_size; ++i) lifted[i] = D1(g[i]);
    const auto moved = small.move(lifted);
    const auto rate = G::translate(g, x);
    for (int i = 0; i < G::element_size; ++i) worst.compare(moved[i].partial[0], rate[i], max_norm(x));
  });
}

TYPED_TEST(LieGroupTest, NormalisingRestoresWhatRoundingTook) {
  using G = TypeParam;
  for (int k = 0; k < 20; ++k) {
    auto g = this->element();
    EXPECT_LE(G::defect(g), 2e-15);
    if (G::element_size == G::dimension) continue;
    for (int i = 0; i < G::element_size; ++i) g[i] *= 1.0 + 1e-5 * (i % 3);
    EXPECT_GT(G::defect(g), 1e-6);
    g = G::normalise(G::normalise(g));
    EXPECT_LE(G::defect(g), 1e-14);
  }
}

TYPED_TEST(LieGroupTest, DtauIsTheDerivativeOfTheMatrices) {
  using G = TypeParam;
  constexpr int k = Representation<G>::size;
  Worst worst;
  this->for_charts(13.0, [&](auto tau, const auto& x) {
    using Tau = decltype(tau);
    if constexpr (std::same_as<Tau, Exp> || is_cayley_transform<G>) {
      const auto eta = this->vector(1.0);
      const Chart<G, Tau, double> at(x);
      const auto [matrix, derivative] =
          by_definition(tau, big(Representation<G>::hat(x)), big(Representation<G>::hat(eta)));
      const Big inverse = matrix.inverse();
      worst.compare(at.dtau(eta), Representation<G>::vee(small<k>(inverse * derivative)));
      worst.compare(at.opposite().dtau(eta), Representation<G>::vee(small<k>(derivative * inverse)));
    }
  });
}

TYPED_TEST(LieGroupTest, DtauIsTheDerivativeByDualNumbers) {
  using G = TypeParam;
  constexpr int k = Representation<G>::size;
  Worst worst;
  this->for_charts(13.0, [&](auto tau, const auto& x) {
    using Tau = decltype(tau);
    const auto eta = this->vector(1.0);
    const Chart<G, Tau, double> at(x);
    const Big inverse = big(Representation<G>::matrix(at.tau())).inverse();
    const Big derivative = big(partial(Representation<G>::matrix(Chart<G, Tau, D1>(along(x, eta)).tau())));
    worst.compare(at.dtau(eta), Representation<G>::vee(small<k>(inverse * derivative)));
    worst.compare(at.opposite().dtau(eta), Representation<G>::vee(small<k>(derivative * inverse)));
    worst.compare(G::Ad(at.tau(), at.dtau(eta)), at.opposite().dtau(eta), max_norm(at.dtau(eta)));
  });
}

TYPED_TEST(LieGroupTest, TransposesAndInversesOfDtau) {
  using G = TypeParam;
  Worst worst;
  this->for_charts(6.3, [&](auto tau, const auto& x) {
    using Tau = decltype(tau);
    const auto eta = this->vector(1.0), m = this->vector(1.0);
    const Chart<G, Tau, double> at(x);
    const auto matrix = dtau_matrix<G, Tau>(at), inverse = dtau_inverse_matrix<G, Tau>(at);
    // the condition number of dtau enters
    const double size = to_eigen(matrix).norm() * to_eigen(inverse).norm();
    worst.compare(matrix * eta, at.dtau(eta), size);
    worst.compare(at.dtau_star(m), transpose_times(matrix, m), size);
    worst.compare(inverse * eta, at.dtau_inverse(eta), size);
    worst.compare(at.dtau_inverse_star(m), transpose_times(inverse, m), size);
    worst.compare(at.dtau_inverse(at.dtau(eta)), eta, size);
    worst.compare(at.dtau(at.dtau_inverse(eta)), eta, size);
    worst.compare(at.dtau_inverse_star(at.dtau_star(m)), m, size);
  });
}

TYPED_TEST(LieGroupTest, GradientOfThePairing) {
  using G = TypeParam;
  Worst worst;
  this->for_charts(13.0, [&](auto tau, const auto& x) {
    using Tau = decltype(tau);
    const auto eta = this->vector(1.0), m = this->vector(1.0), d = this->vector(1.0);
    const auto dtau = partial(Chart<G, Tau, D1>(along(x, d)).dtau(constant(eta)));
    const auto gradient = Chart<G, Tau, double>(x).gradient(m, eta);
    worst.compare(dot(gradient, d), dot(m, dtau), max_norm(gradient));
  });
}

// The Hessian of the pairing, from the gradient over dual numbers, is that of nested dual numbers, and symmetric.
TYPED_TEST(LieGroupTest, SecondDerivatives) {
  using G = TypeParam;
  Worst worst(2e-14);
  this->for_charts(7.0, [&](auto tau, const auto& x) {
    using Tau = decltype(tau);
    const auto eta = this->vector(1.0), m = this->vector(1.0), d = this->vector(1.0), e = this->vector(1.0);
    const auto derivative = [&](const auto& along_it) {
      return partial(Chart<G, Tau, D1>(along(x, along_it)).gradient(constant(m), constant(eta)));
    };
    const auto twice = along(along(x, d), e);
    Vector<Dual<D1, 1>, G::dimension> eta_twice;
    for (int i = 0; i < G::dimension; ++i) eta_twice[i] = eta[i];
    const auto dtau = partial(partial(Chart<G, Tau, Dual<D1, 1>>(twice).dtau(eta_twice)));
    const auto along_d = derivative(d);
    const double size = max_norm(along_d);
    worst.compare(dot(along_d, e), dot(m, dtau), size);
    worst.compare(dot(along_d, e), dot(derivative(e), d), size);
  });
}

// Relative to x: also the logarithm of a tiny motion is accurate.
TYPED_TEST(LieGroupTest, InverseOfTau) {
  using G = TypeParam;
  Worst worst(1e-14, 0.0);
  this->for_charts(3.1416, [&](auto tau, const auto& x) {
    using Tau = decltype(tau);
    const double size = max_norm(x);
    if (size < 1e-290 || G::angle_squared(x) > 9.8695) return;
    // the angle 2 atan(|x|/2) approaches pi: x is as ill-conditioned as a tangent
    worst.compare(Chart<G, Tau, double>::inverse(Chart<G, Tau, double>(x).tau()), x);
  });
}

TYPED_TEST(LieGroupTest, DerivativeOfTheInverseOfTau) {
  using G = TypeParam;
  Worst worst;
  this->for_charts(3.1, [&](auto tau, const auto& x) {
    using Tau = decltype(tau);
    const auto d = this->vector(1.0);
    const Chart<G, Tau, D1> at(along(x, d));
    const auto inverse = Chart<G, Tau, D1>::inverse(at.tau());
    worst.compare(value(inverse), x);
    worst.compare(partial(inverse), d);
  });
}

TYPED_TEST(LieGroupTest, RotationsAreOrthogonal) {
  using G = TypeParam;
  if constexpr (std::same_as<G, SO3> || std::same_as<G, SE3>) {
    Worst worst(8 * std::numeric_limits<double>::epsilon());
    this->for_charts(13.0, [&](auto tau, const auto& x) {
      const auto g = Representation<G>::matrix(Chart<G, decltype(tau), double>(x).tau());
      const Big r = big(g).topLeftCorner(3, 3);
      worst.compare(small<3>(r.transpose() * r), small<3>(unit(3)));
      EXPECT_GT(r.determinant(), 0.0L);
    });
  }
}

}  // namespace
}  // namespace rattleback
