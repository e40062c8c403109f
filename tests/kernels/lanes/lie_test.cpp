// Groups and retractions give in each lane of a pack the bits of a double.

#include "rattleback/lie/lie.hpp"

#include "lanes.hpp"

namespace rattleback {
namespace {

/// Everything of one chart as one list of numbers.
template <class G, class Tau, class T>
auto everything(const Algebra<G, T>& x, const Algebra<G, T>& eta, const Algebra<G, T>& m) {
  const Chart<G, Tau, T> at(x);
  const auto g = at.tau();
  const auto tangents = join(join(at.dtau(eta), at.dtau_star(m)), join(at.dtau_inverse(eta), at.dtau_inverse_star(m)));
  const auto adjoints = join(join(G::Ad(g, eta), G::Ad_star(g, m)), join(G::Ad_inverse_star(g, m), G::ad(x, eta)));
  const auto others = join(join(at.gradient(m, eta), G::ad_star(eta, m)), Chart<G, Tau, T>::inverse(g));
  const auto elements = join(G::product(g, G::inverse(g)), join(g, at.opposite().tau()));
  return join(join(tangents, adjoints), join(others, elements));
}

/// The derivatives along eta of x, which are not of the same functions as the values.
template <class G, class Tau, class T>
auto derivatives(const Algebra<G, T>& x, const Algebra<G, T>& eta, const Algebra<G, T>& m) {
  Algebra<G, Dual<T, 1>> along, constant, covector;
  for (int i = 0; i < G::dimension; ++i) {
    along[i].value = x[i];
    along[i].partial[0] = eta[i];
    constant[i] = eta[i];
    covector[i] = m[i];
  }
  const auto all = everything<G, Tau>(along, constant, covector);
  Vector<T, decltype(all)::size> r;
  for (int i = 0; i < r.size; ++i) r[i] = all[i].partial[0];
  return r;
}

class LieLaneTest : public LaneTest {};

template <class G, class Tau>
void expect_same_charts() {
  constexpr int n = G::dimension;
  Random random(n);
  for (int trial = 0; trial < 300; ++trial) {
    // lanes of all sizes, and packs of sizes that need no more than the series
    Vector<double, n> x[width], eta[width], m[width];
    for (int k = 0; k < width; ++k) {
      const double largest = trial % 2 == 0 ? 0.5 : 4.0;
      const double size = random.bits() % 8 == 0 ? 0.0 : std::exp2(random.uniform(-30.0, std::log2(largest)));
      x[k] = size * random.vector<n>(-1.0, 1.0);
      eta[k] = random.vector<n>(-1.0, 1.0);
      m[k] = random.vector<n>(-1.0, 1.0);
    }
    const auto xs = vector_from_lanes<n>([&](int k) { return x[k]; });
    const auto etas = vector_from_lanes<n>([&](int k) { return eta[k]; });
    const auto ms = vector_from_lanes<n>([&](int k) { return m[k]; });
    const auto values = everything<G, Tau>(xs, etas, ms);
    const auto slopes = derivatives<G, Tau>(xs, etas, ms);
    for (int k = 0; k < width; ++k) {
      ASSERT_TRUE(same_bits(lane(values, k), everything<G, Tau>(x[k], eta[k], m[k]))) << "lane " << k;
      ASSERT_TRUE(same_bits(lane(slopes, k), derivatives<G, Tau>(x[k], eta[k], m[k]))) << "lane " << k;
    }
  }
}

TEST_F(LieLaneTest, Rotations) {
  expect_same_charts<SO3, Exp>();
  expect_same_charts<SO3, Cay>();
}

TEST_F(LieLaneTest, MotionsOfThePlane) {
  expect_same_charts<SE2, Exp>();
  expect_same_charts<SE2, Cay>();
}

TEST_F(LieLaneTest, MotionsOfSpace) {
  expect_same_charts<SE3, Exp>();
  expect_same_charts<SE3, Cay>();
}

TEST_F(LieLaneTest, Products) { expect_same_charts<Product<S1, Rn<1>, SE2>, Exp>(); }

}  // namespace
}  // namespace rattleback
