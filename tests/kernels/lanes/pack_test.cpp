// Every operation of a pack gives in each lane the bits of the same operation on a double.

#include "lanes.hpp"

namespace rattleback {
namespace {

class PackTest : public LaneTest {};

/// Zeros, infinities, NaN, subnormals, any bit pattern, and plain numbers, some of them equal to each other.
double any_number(Random& random) {
  constexpr double special[] = {0.0,
                                -0.0,
                                1.0,
                                -1.0,
                                HUGE_VAL,
                                -HUGE_VAL,
                                __builtin_nan(""),
                                0x1p-1074,
                                -0x1.8p-1030,
                                0x1p-1022,
                                0x1.fffffffffffffp1023,
                                -0x1.fffffffffffffp1023};
  switch (random.bits() % 4) {
    case 0:
      return special[random.bits() % std::size(special)];
    case 1:
      return std::bit_cast<double>(random.bits());
    case 2:
      return random.uniform(-4.0, 4.0);
    default:
      return std::floor(random.uniform(-3.0, 3.0));
  }
}

/// A mask as numbers, so that comparisons are compared like the rest.
template <class T>
T as_number(T a) {
  return a;
}
double as_number(bool mask) { return mask ? 1.0 : 0.0; }
Real as_number(Mask<width> mask) { return select(mask, Real(1.0), Real(0.0)); }

/// f on packs of numbers from `draw` against f on each lane.
template <int Arguments, class F, class Draw>
void expect_same(const char* name, F f, Draw draw, int packs = 4000) {
  Random random(Arguments);
  for (int i = 0; i < packs; ++i) {
    double input[Arguments][width];
    for (auto& argument : input)
      for (double& x : argument) x = draw(random);
    [&]<int... A>(std::integer_sequence<int, A...>) {
      const Real result = as_number(f(Real::load(input[A])...));
      for (int k = 0; k < width; ++k) {
        const double expected = as_number(f(input[A][k]...));
        ASSERT_TRUE(same_bits(lane(result, k), expected))
            << name << ::testing::PrintToString(std::array{input[A][k]...}) << " is " << expected << ", in lane " << k
            << " " << lane(result, k);
      }
    }(std::make_integer_sequence<int, Arguments>{});
  }
}

/// Out of line, where a compiler that may fuse the negation would.
template <class T>
[[gnu::noinline]] T negated_fma(T a, T b, T c) {
  return -fma(a, b, c);
}

TEST_F(PackTest, Arithmetic) {
  expect_same<2>("a + b", [](auto a, auto b) { return a + b; }, any_number);
  expect_same<2>("a - b", [](auto a, auto b) { return a - b; }, any_number);
  expect_same<2>("a * b", [](auto a, auto b) { return a * b; }, any_number);
  expect_same<2>("a / b", [](auto a, auto b) { return a / b; }, any_number);
  expect_same<1>("-a", [](auto a) { return -a; }, any_number);
  expect_same<2>("a += b", [](auto a, auto b) { return a += b; }, any_number);
  expect_same<2>("a -= b", [](auto a, auto b) { return a -= b; }, any_number);
  expect_same<2>("a *= b", [](auto a, auto b) { return a *= b; }, any_number);
  expect_same<2>("a /= b", [](auto a, auto b) { return a /= b; }, any_number);
  expect_same<3>("fma(a, b, c)", [](auto a, auto b, auto c) { return fma(a, b, c); }, any_number);
  expect_same<3>("-fma(a, b, c)", [](auto a, auto b, auto c) { return negated_fma(a, b, c); }, any_number);
  expect_same<1>("sqrt(a)", [](auto a) { return sqrt(a); }, any_number);
  expect_same<1>("abs(a)", [](auto a) { return abs(a); }, any_number);
  expect_same<2>("max(a, b)", [](auto a, auto b) { return max(a, b); }, any_number);
  expect_same<2>(
      "max_abs(|a|, b)", [](auto a, auto b) { return max_abs(select(a == a, abs(a), decltype(a)(0.0)), b - a); },
      any_number);
  expect_same<2>("min(a, b)", [](auto a, auto b) { return min(a, b); }, any_number);
  expect_same<1>("sign(a)", [](auto a) { return sign(a); }, any_number);
  const auto sized = [](auto a, auto b) { return with_sign(select(a == a, a, decltype(a)(1.0)), b); };
  expect_same<2>("with_sign(a, b)", [&](auto a, auto b) { return select(b == b, sized(a, b), b); }, any_number);
  expect_same<1>("square(a)", [](auto a) { return square(a); }, any_number);
  expect_same<1>("value_of(a)", [](auto a) { return value_of(a); }, any_number);
}

TEST_F(PackTest, ComparisonsAndMasks) {
  expect_same<2>("a < b", [](auto a, auto b) { return a < b; }, any_number);
  expect_same<2>("a <= b", [](auto a, auto b) { return a <= b; }, any_number);
  expect_same<2>("a > b", [](auto a, auto b) { return a > b; }, any_number);
  expect_same<2>("a >= b", [](auto a, auto b) { return a >= b; }, any_number);
  expect_same<2>("a == b", [](auto a, auto b) { return a == b; }, any_number);
  expect_same<2>("a != b", [](auto a, auto b) { return a != b; }, any_number);
  expect_same<1>("is_finite(a)", [](auto a) { return is_finite(a); }, any_number);
  expect_same<3>("(a < b) & (b < c)", [](auto a, auto b, auto c) { return (a < b) & (b < c); }, any_number);
  expect_same<3>("(a < b) | (b < c)", [](auto a, auto b, auto c) { return (a < b) | (b < c); }, any_number);
  expect_same<2>("!(a < b)", [](auto a, auto b) { return !(a < b); }, any_number);
  expect_same<4>("select(a < b, c, d)", [](auto a, auto b, auto c, auto d) { return select(a < b, c, d); }, any_number);
}

TEST_F(PackTest, AnyAndAll) {
  for (int bits = 0; bits < 1 << width; ++bits) {
    const auto mask = from_lanes([&](int k) { return bits >> k & 1; }) == Real(1.0);
    EXPECT_EQ(any(mask), bits != 0) << bits;
    EXPECT_EQ(all(mask), bits == (1 << width) - 1) << bits;
  }
  for (bool b : {false, true}) {
    EXPECT_EQ(any(Mask<width>(b)), b);
    EXPECT_EQ(all(Mask<width>(b)), b);
  }
}

TEST_F(PackTest, PowersOfTwo) {
  for (int k = -1022; k <= 1023; ++k) {
    EXPECT_EQ(exp2_integer(double(k)), std::ldexp(1.0, k));
    // neighbours in the range, so that the lanes differ
    const auto exponent = [&](int l) { return double(-1022 + (k + 1022 + l) % 2046); };
    const Real powers = exp2_integer(from_lanes(exponent));
    for (int l = 0; l < width; ++l) EXPECT_EQ(lane(powers, l), std::ldexp(1.0, int(exponent(l))));
    const double largest = std::ldexp(0x1.fffffffffffffp0, k);
    EXPECT_EQ(exponent_of(std::ldexp(1.0, k)), k);
    EXPECT_EQ(exponent_of(largest), k);
    const Real exponents = exponent_of(from_lanes([&](int l) { return l % 2 == 0 ? largest : 1.5; }));
    for (int l = 0; l < width; ++l) EXPECT_EQ(lane(exponents, l), l % 2 == 0 ? k : 0.0);
  }
}

TEST_F(PackTest, ElementaryFunctions) {
  const auto angle = [](Random& random) { return random.bits() & 1 ? any_number(random) : random.uniform(-1e9, 1e9); };
  expect_same<1>("sin(a)", [](auto a) { return sin(a); }, angle);
  expect_same<1>("cos(a)", [](auto a) { return cos(a); }, angle);
  const auto sine_and_cosine = [](auto a, auto weight) {
    auto s = a, c = a;
    sincos(a, s, c);
    return select(weight > decltype(a)(0.0), s, c);
  };
  expect_same<2>("sincos(a)", sine_and_cosine, angle);
  const auto exponent = [](Random& random) {
    return random.bits() & 1 ? any_number(random) : random.uniform(-750.0, 715.0);
  };
  expect_same<1>("exp(a)", [](auto a) { return exp(a); }, exponent);
  expect_same<1>("log(a)", [](auto a) { return log(a); }, any_number);
  expect_same<1>("atan(a)", [](auto a) { return atan(a); }, any_number);
}

TEST_F(PackTest, TrigonometricFunctions) {
  const auto angle = [](Random& random) { return random.bits() & 1 ? any_number(random) : random.uniform(-1e9, 1e9); };
  const auto sine = [](Random& random) { return random.bits() & 1 ? any_number(random) : random.uniform(-1.0, 1.0); };
  expect_same<1>("tan(a)", [](auto a) { return tan(a); }, angle);
  expect_same<1>("asin(a)", [](auto a) { return asin(a); }, sine);
  expect_same<1>("acos(a)", [](auto a) { return acos(a); }, sine);
  expect_same<2>("atan2(a, b)", [](auto a, auto b) { return atan2(a, b); }, any_number);
}

TEST_F(PackTest, HyperbolicFunctions) {
  const auto large = [](Random& random) {
    return random.bits() & 1 ? any_number(random) : random.uniform(-712.0, 712.0);
  };
  const auto sine = [](Random& random) { return random.bits() & 1 ? any_number(random) : random.uniform(-1.0, 1.0); };
  expect_same<1>("sinh(a)", [](auto a) { return sinh(a); }, large);
  expect_same<1>("cosh(a)", [](auto a) { return cosh(a); }, large);
  expect_same<1>("tanh(a)", [](auto a) { return tanh(a); }, any_number);
  expect_same<1>("asinh(a)", [](auto a) { return asinh(a); }, any_number);
  expect_same<1>("acosh(a)", [](auto a) { return acosh(a); }, large);
  expect_same<1>("atanh(a)", [](auto a) { return atanh(a); }, sine);
}

TEST_F(PackTest, Powers) {
  expect_same<1>("log2(a)", [](auto a) { return log2(a); }, any_number);
  expect_same<1>("log10(a)", [](auto a) { return log10(a); }, any_number);
  expect_same<2>("pow(a, b)", [](auto a, auto b) { return pow(a, b); }, any_number);
  expect_same<2>(
      "pow(|a|, b)", [](auto a, auto b) { return pow(abs(a), b); },
      [](Random& random) { return random.uniform(-40.0, 40.0); });
  expect_same<1>("pow(a, -1.5)", [](auto a) { return pow(a, -1.5); }, any_number);
}

TEST_F(PackTest, DualNumbers) {
  const auto f = [](auto x, auto y) {
    using D = Dual<decltype(x), 2>;
    const D a(x, 0), b(y, 1);
    const D r = fma(a, b, sqrt(abs(a)) / (exp(b) + D(2.0))) - sin(a * b) * cos(b) + max(a, b) * min(a, b);
    return fma(r.value, r.partial[0], r.partial[1]);
  };
  const auto more = [](auto x, auto y) {
    using D = Dual<decltype(x), 2>;
    const D a(x, 0), b(y, 1), size = sqrt(fma(a, a, b * b + D(0.5)));
    const D r = tan(a) * atan2(a, b) + asin(b / size) - acos(a / size) + sinh(a) / cosh(b) - tanh(a) * asinh(b) +
                acosh(size + D(1.0)) * atanh(a / size) + log2(size) * log10(size) +
                pow(size, a) * pow(size, -1.5) * sign(b);
    return fma(r.value, r.partial[0], r.partial[1]);
  };
  expect_same<2>("more functions of dual numbers", more, [](Random& random) { return random.uniform(-4.0, 4.0); });
  expect_same<2>("a function of dual numbers", f, [](Random& random) { return random.uniform(-4.0, 4.0); });
}

/// Random equations, each lane its own: well and badly scaled, in need of pivoting, singular, not finite.
template <int N>
struct Equations {
  Matrix<double, N, N> a;
  Vector<double, N> b;

  explicit Equations(Random& random) : b(random.vector<N>(-1.0, 1.0)) {
    const int flavour = random.bits() % 5;
    for (int i = 0; i < N; ++i) {
      a[i] = random.vector<N>(-1.0, 1.0);
      if (flavour == 1) a[i] = std::ldexp(1.0, 200 - 400 * i / N) * a[i];
      if (flavour == 2) a[i][i] = 0.0;
      if (flavour == 3 && i == N / 2) a[i] = a[0];
      if (flavour == 4) a[i][random.bits() % N] = any_number(random);
    }
  }
};

template <class Policy, int N>
void expect_same_solution(const std::vector<Equations<N>>& equations, const Matrix<Real, N, N>& a,
                          const Vector<Real, N>& b) {
  const Factors<Real, N, Policy> factors(a);
  const auto x = factors.solve(b);
  const auto singular = as_number(factors.singular());
  for (int k = 0; k < width; ++k) {
    const Factors<double, N, Policy> of_lane(equations[k].a);
    ASSERT_EQ(lane(singular, k), as_number(of_lane.singular())) << "lane " << k;
    ASSERT_TRUE(same_bits(lane(x, k), of_lane.solve(equations[k].b))) << "lane " << k;
  }
}

template <int N>
void expect_same_solutions() {
  Random random(N);
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<Equations<N>> equations;
    for (int k = 0; k < width; ++k) equations.emplace_back(random);
    Matrix<Real, N, N> a;
    for (int i = 0; i < N; ++i) a[i] = vector_from_lanes<N>([&](int k) { return equations[k].a[i]; });
    const auto b = vector_from_lanes<N>([&](int k) { return equations[k].b; });

    expect_same_solution<Pivoted<>>(equations, a, b);
    expect_same_solution<PivotedUnrolled>(equations, a, b);
    expect_same_solution<Guide<>>(equations, a, b);
    expect_same_solution<InSingle<Guide<>>>(equations, a, b);
    expect_same_solution<InSingle<PivotedUnrolled>>(equations, a, b);
  }
}

TEST_F(PackTest, LinearEquations) {
  expect_same_solutions<1>();
  expect_same_solutions<2>();
  expect_same_solutions<3>();
  expect_same_solutions<4>();
  expect_same_solutions<8>();
}

}  // namespace
}  // namespace rattleback
