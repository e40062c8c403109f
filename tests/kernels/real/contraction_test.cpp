// The kernels' bits rest on a*b + c being two roundings unless fma is written. GCC 12 keeps to that under
// -ffp-contract=off in scalar code, but its vectoriser of straight-line code forms vfmaddsub from neighbouring sums and
// differences of products (GCC bug 106902).

#include "testing.hpp"

namespace rattleback {
namespace {

using Pair = Vector<double, 2>;

/// x_i y_i -+ w_i, the pattern in question.
[[gnu::noinline]] Pair alternating(const Pair& x, const Pair& y, const Pair& w) {
  return {x[0] * y[0] - w[0], x[1] * y[1] + w[1]};
}
/// x y as complex numbers.
[[gnu::noinline]] Pair complex_product(const Pair& x, const Pair& y) {
  return {x[0] * y[0] - x[1] * y[1], x[0] * y[1] + x[1] * y[0]};
}

/// A product that no later addition can absorb.
double rounded(double a, double b) {
  volatile double product = a * b;
  return product;
}

TEST(Contraction, ProductsAreRoundedBeforeTheyAreAdded) {
  Random random(1);
  for (int i = 0; i < 1000; ++i) {
    const auto x = random.vector<2>(-1.0, 1.0), y = random.vector<2>(-1.0, 1.0), w = random.vector<2>(-1.0, 1.0);
    const Pair z = complex_product(x, y), a = alternating(x, y, w);
    ASSERT_EQ(z[0], rounded(x[0], y[0]) - rounded(x[1], y[1]));
    ASSERT_EQ(z[1], rounded(x[0], y[1]) + rounded(x[1], y[0]));
    ASSERT_EQ(a[0], rounded(x[0], y[0]) - w[0]);
    ASSERT_EQ(a[1], rounded(x[1], y[1]) + w[1]);
  }
}

}  // namespace
}  // namespace rattleback
