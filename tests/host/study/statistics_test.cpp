#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "rattleback/kernels/isa.hpp"
#include "rattleback/study/statistics.hpp"

using namespace rattleback;

namespace statistics_test {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Values with offsets and a few NaN (failed trajectories), in whole chunks.
std::vector<double> sample(std::size_t chunks) {
  std::mt19937_64 engine(5);
  std::normal_distribution<double> normal(1e3, 1e-3);
  std::vector<double> x(chunks * chunk_size);
  for (double& value : x) value = engine() % 17 == 0 ? nan : normal(engine);
  return x;
}

std::vector<double> values(const std::vector<ValueWithError>& estimates) {
  std::vector<double> r;
  for (const ValueWithError& estimate : estimates) r.push_back(estimate.value);
  return r;
}

std::vector<Moments> reduce(const std::vector<double>& x, double reference) {
  const std::vector<double> references(chunk_size, reference);
  std::vector<Moments> chunks;
  for (std::size_t i = 0; i < x.size(); i += chunk_size)
    chunks.push_back(reduce_chunk<double>(x.data() + i, references.data()));
  return chunks;
}

TEST(Statistics, AgreeWithSumsInExtendedPrecision) {
  const std::vector<double> x = sample(37);
  ChunkTree<Moments> tree;
  for (const Moments& chunk : reduce(x, 1e3)) tree.push(chunk);
  const Moments m = tree.result();

  long double count = 0, sum = 0, squares = 0, error_squares = 0;
  double minimum = std::numeric_limits<double>::infinity(), maximum = -minimum, maxabs = 0;
  for (const double value : x) {
    if (std::isnan(value)) continue;
    count += 1;
    sum += value;
    error_squares += (static_cast<long double>(value) - 1e3L) * (static_cast<long double>(value) - 1e3L);
    minimum = std::min(minimum, value);
    maximum = std::max(maximum, value);
    maxabs = std::max(maxabs, std::abs(value - 1e3));
  }
  const long double mean = sum / count, error_mean = error_squares / count;
  long double cubes = 0, fourths = 0, error_spread = 0;
  for (const double value : x) {
    if (std::isnan(value)) continue;
    const long double d = value - mean, e = static_cast<long double>(value) - 1e3L;
    squares += d * d, cubes += d * d * d, fourths += d * d * d * d;
    error_spread += (e * e - error_mean) * (e * e - error_mean);
  }

  const auto near = [](double a, long double b, double relative) {
    return std::abs(a - double(b)) <= relative * std::abs(double(b));
  };
  EXPECT_EQ(m.count, double(count));
  EXPECT_TRUE(near(statistic_of(m, "mean"), mean, 1e-15));
  EXPECT_TRUE(near(statistic_of(m, "std"), std::sqrt(squares / count), 1e-13));  // of numbers with 6 common digits
  EXPECT_TRUE(near(statistic_of(m, "mse"), error_squares / count, 1e-13));
  EXPECT_NEAR(m.cubes, double(cubes), 1e-13 * std::pow(double(squares), 1.5));
  EXPECT_TRUE(near(m.fourths, fourths, 1e-12));
  EXPECT_TRUE(near(m.error_spread, error_spread, 1e-12));
  EXPECT_TRUE(near(statistic_of(m, "rms"), std::sqrt(error_squares / count), 1e-13));
  EXPECT_EQ(statistic_of(m, "min"), minimum);
  EXPECT_EQ(statistic_of(m, "max"), maximum);
  EXPECT_EQ(statistic_of(m, "maxabs"), maxabs);
}

TEST(Statistics, JointMomentsAgreeWithSumsInExtendedPrecision) {
  std::mt19937_64 engine(6);
  std::normal_distribution<double> normal;
  const std::size_t count = 11 * chunk_size;
  std::vector<double> x(count), y(count);
  for (std::size_t i = 0; i < count; ++i) {
    x[i] = engine() % 13 == 0 ? nan : 5.0 + normal(engine);
    y[i] = engine() % 19 == 0 ? nan : std::exp(normal(engine)) - 0.3 * x[i];
  }
  ChunkTree<CoMoments> tree;
  for (std::size_t i = 0; i < count; i += chunk_size) tree.push(co_reduce_chunk<double>(x.data() + i, y.data() + i));
  const CoMoments m = tree.result();
  long double c = 0, mean_x = 0, mean_y = 0;
  const auto both = [&](const auto& f) {
    for (std::size_t i = 0; i < count; ++i)
      if (!std::isnan(x[i]) && !std::isnan(y[i])) f(static_cast<long double>(x[i]), static_cast<long double>(y[i]));
  };
  both([&](long double a, long double b) { c += 1, mean_x += a, mean_y += b; });
  mean_x /= c, mean_y /= c;
  EXPECT_EQ(m.count, double(c));
  for (int i = 0; i <= 4; ++i)
    for (int j = 0; i + j <= 4; ++j) {
      if (i + j < 2) continue;
      long double sum = 0, size = 0;
      both([&](long double a, long double b) {
        const long double term = std::pow(a - mean_x, (long double)i) * std::pow(b - mean_y, (long double)j);
        sum += term, size += std::abs(term);
      });
      EXPECT_NEAR(m.sum(i, j), double(sum), 1e-13 * double(size)) << i << j;
    }
}

TEST(Statistics, KeepTheirDigitsWhereTheFirstValueIsAnOutlier) {
  std::mt19937_64 engine(7);
  std::normal_distribution<double> normal;
  for (const double outlier : {10.0, 1e3, 1e6}) {
    std::vector<double> x(chunk_size);
    for (double& value : x) value = 0.5 + normal(engine);
    x[0] = outlier;
    const Moments m = reduce(x, 0.0)[0];
    const CoMoments joint = co_reduce_chunk<double>(x.data(), x.data());
    long double mean = 0, error_mean = 0, squares = 0, fourths = 0, spread = 0;
    for (const long double value : x) mean += value / chunk_size, error_mean += value * value / chunk_size;
    for (const long double value : x) {
      const long double d = value - mean, f = value * value - error_mean;
      squares += d * d, fourths += d * d * d * d, spread += f * f;
    }
    EXPECT_NEAR(m.mean, double(mean), 1e-15 * outlier) << outlier;
    EXPECT_NEAR(m.error_mean, double(error_mean), 1e-13 * double(error_mean)) << outlier;
    EXPECT_NEAR(m.squares, double(squares), 1e-13 * double(squares)) << outlier;
    EXPECT_NEAR(m.fourths, double(fourths), 1e-12 * double(fourths)) << outlier;
    EXPECT_NEAR(m.error_spread, double(spread), 1e-13 * double(spread)) << outlier;
    EXPECT_NEAR(joint.sum(1, 1), double(squares), 1e-13 * double(squares)) << outlier;
    EXPECT_NEAR(joint.sum(2, 2), double(fourths), 1e-12 * double(fourths)) << outlier;
    EXPECT_NEAR(joint.sum(3, 1), double(fourths), 1e-12 * double(fourths)) << outlier;
  }
}

TEST(Statistics, OfEqualValuesHaveNoSpread) {
  std::vector<double> x(chunk_size, nan);
  for (int i = 3; i < 103; ++i) x[static_cast<std::size_t>(i)] = 0.1;
  const Moments m = reduce(x, 0.3)[0];
  EXPECT_EQ(m.count, 100.0);
  EXPECT_EQ(m.mean, 0.1);
  EXPECT_EQ(m.error_mean, (0.1 - 0.3) * (0.1 - 0.3));
  for (const double sum : {m.squares, m.cubes, m.fourths, m.error_spread}) EXPECT_EQ(sum, 0.0);
  const CoMoments joint = co_reduce_chunk<double>(x.data(), x.data());
  EXPECT_EQ(joint.mean_y, 0.1);
  for (const double sum : joint.sums) EXPECT_EQ(sum, 0.0);
}

TEST(Statistics, HaveTheSameBitsForEveryInstructionSet) {
  const IsaFunctions& scalar = functions_of(Isa::scalar);
  std::vector<double> x = sample(2), y = x;
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = std::sin(static_cast<double>(i)) + 1e-3 * x[(i * 7) % x.size()];
  x[4] = std::numeric_limits<double>::infinity();
  for (const Isa isa : all_isas()) {
    if (!has_isa(isa)) continue;
    for (std::size_t i = 0; i < x.size(); i += chunk_size) {
      const Moments a = scalar.reduce(x.data() + i, y.data() + i),
                    b = functions_of(isa).reduce(x.data() + i, y.data() + i);
      EXPECT_EQ(std::memcmp(&a, &b, sizeof(a)), 0) << to_string(isa);
      const CoMoments c = scalar.co_reduce(x.data() + i, y.data() + i),
                      d = functions_of(isa).co_reduce(x.data() + i, y.data() + i);
      EXPECT_EQ(std::memcmp(&c, &d, sizeof(c)), 0) << to_string(isa);
    }
  }
}

TEST(Statistics, OfNoGoodTrajectoryAreNan) {
  ChunkTree<Moments> tree;
  tree.push(reduce(std::vector<double>(chunk_size, nan), 0.0)[0]);
  for (const char* name : {"mean", "std", "mse", "rms", "min", "max", "maxabs"})
    EXPECT_TRUE(std::isnan(statistic_of(tree.result(), name))) << name;
}

TEST(Statistics, CountInfinitiesAsMissingAndNothingElse) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> x = sample(3), finite = x;
  std::size_t missing = 0;
  for (std::size_t i = 0; i < x.size(); i += 5) {
    if (std::isnan(x[i])) continue;
    x[i] = i % 2 == 0 ? infinity : -infinity;
    finite[i] = nan;
    ++missing;
  }
  ChunkTree<Moments> with, without;
  for (const Moments& chunk : reduce(x, 1e3)) with.push(chunk);
  for (const Moments& chunk : reduce(finite, 1e3)) without.push(chunk);
  EXPECT_GT(with.result().count, 0.0);
  EXPECT_EQ(with.result().missing, static_cast<double>(missing));
  EXPECT_EQ(without.result().missing, 0.0);
  for (const char* name : {"mean", "std", "mse", "rms", "min", "max", "maxabs"})
    EXPECT_EQ(statistic_of(with.result(), name), statistic_of(without.result(), name)) << name;

  ValueStore store(1, 6);
  const double mixed[] = {3, infinity, 1, -infinity, nan, 2};
  store.write(0, 0, mixed, 6);
  EXPECT_EQ(values(quantiles_of(store.read(0), {0.0, 0.5, 1.0})), (std::vector<double>{1, 2, 3}));
  std::uint64_t counts[4] = {};
  count_into({0.0, 2.0, 2}, mixed, 6, counts);
  EXPECT_EQ((std::vector<std::uint64_t>(counts, counts + 4)), (std::vector<std::uint64_t>{0, 0, 2, 1}));

  std::vector<double> y(chunk_size, 2.0), z(chunk_size, nan);
  for (int i = 0; i < 4; ++i) z[static_cast<std::size_t>(i)] = i;
  y[0] = infinity;
  y[1] = 5.0;
  const CoMoments joint = co_reduce_chunk<double>(y.data(), z.data());
  EXPECT_EQ(joint.count, 3.0);
  EXPECT_NEAR(correlation_of(joint), -std::sqrt(0.75), 1e-15);  // of (5, 2, 2) and (1, 2, 3)
}

TEST(Statistics, OfValuesNearTheLargestNumberHaveAMean) {
  std::vector<double> x(chunk_size, nan);
  x[0] = x[3] = 1.5e308;
  x[1] = x[2] = -1.5e308;
  const Moments m = reduce(x, 0.0)[0];
  EXPECT_EQ(m.count, 4.0);
  EXPECT_EQ(statistic_of(m, "mean"), 0.0);
  EXPECT_EQ(statistic_of(m, "maxabs"), 1.5e308);
  for (const char* name : {"std", "rms"}) EXPECT_DOUBLE_EQ(statistic_of(m, name), 1.5e308) << name;
  EXPECT_TRUE(std::isinf(statistic_of(m, "mse")));  // it exceeds the largest number
}

// Sums of powers of tiny and of huge values: a power of two as a factor changes no digit of any statistic.
TEST(Statistics, OfTinyAndHugeValuesAreThoseOfValuesNearOne) {
  std::mt19937_64 engine(8);
  std::normal_distribution<double> normal;
  std::vector<double> x(5 * chunk_size), y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = i / chunk_size == 3 ? 0.25 : 0.5 + normal(engine);  // one chunk of equal values
    y[i] = x[i] + normal(engine);
  }
  for (const int k : {-940, -565, -300, -210, 210, 300, 565, 940}) {
    std::vector<double> scaled = x;
    for (double& value : scaled) value = std::ldexp(value, k);
    ChunkTree<Moments> near_one, far;
    for (const Moments& chunk : reduce(x, 0.125)) near_one.push(chunk);
    for (const Moments& chunk : reduce(scaled, std::ldexp(0.125, k))) far.push(chunk);
    const auto expect = [&](double value, double of_one) { EXPECT_EQ(value, std::ldexp(of_one, k)) << k; };
    for (const char* name : {"mean", "std", "rms", "min", "max", "maxabs"}) {
      expect(statistic_of(far.result(), name), statistic_of(near_one.result(), name));
      if (has_error(name)) expect(error_of(far.result(), name), error_of(near_one.result(), name));
    }
    EXPECT_EQ(statistic_of(far.result(), "mse"), std::ldexp(statistic_of(near_one.result(), "mse"), 2 * k));
    EXPECT_EQ(effective_number(far.result()), effective_number(near_one.result()));
    EXPECT_EQ(largest_share(far.result()), largest_share(near_one.result()));
    ChunkTree<CoMoments> joint, joint_far;
    for (std::size_t i = 0; i < x.size(); i += chunk_size) {
      joint.push(co_reduce_chunk<double>(x.data() + i, y.data() + i));
      joint_far.push(co_reduce_chunk<double>(scaled.data() + i, y.data() + i));
    }
    expect(covariance_of(joint_far.result()), covariance_of(joint.result()));
    expect(covariance_error(joint_far.result()), covariance_error(joint.result()));
    EXPECT_EQ(correlation_of(joint_far.result()), correlation_of(joint.result()));
    EXPECT_EQ(correlation_error(joint_far.result()), correlation_error(joint.result()));
    std::vector<double> estimates(x.begin(), x.begin() + 7), tiny(scaled.begin(), scaled.begin() + 7);
    EXPECT_NEAR(scatter_error(tiny), std::ldexp(scatter_error(estimates), k),
                std::ldexp(1e-15 * scatter_error(estimates), k));
  }
  // Chunks of other sizes than the differences between them.
  std::vector<double> steps(4 * chunk_size);
  for (std::size_t i = 0; i < steps.size(); ++i) steps[i] = std::ldexp(double(i / chunk_size), -600);
  ChunkTree<Moments> tree;
  for (const Moments& chunk : reduce(steps, 0.0)) tree.push(chunk);
  EXPECT_EQ(statistic_of(tree.result(), "std"), std::ldexp(std::sqrt(1.25), -600));
}

TEST(Statistics, KeepTheDigitsOfSpreadsFarBelowTheMean) {
  std::mt19937_64 engine(9);
  std::normal_distribution<double> normal(1e8, 1e-6);
  for (const std::size_t chunks : {1, 7, 512}) {
    std::vector<double> x(chunks * chunk_size);
    for (double& value : x) value = normal(engine);
    ChunkTree<Moments> tree;
    ChunkTree<CoMoments> joint;
    for (const Moments& chunk : reduce(x, 0.0)) tree.push(chunk);
    for (std::size_t i = 0; i < x.size(); i += chunk_size)
      joint.push(co_reduce_chunk<double>(x.data() + i, x.data() + i));
    const long double count = static_cast<long double>(x.size());
    long double sum = 0, squares = 0, spread = 0;  // of the deviations from 1e8, which are exact
    for (const double value : x) sum += value - 1e8;
    const long double mean = sum / count;
    for (const double value : x) squares += (value - 1e8 - mean) * (value - 1e8 - mean);
    const auto square = [&](double value) { return (value - 1e8L) * (value + 1e8L); };
    long double mean_square = 0;
    for (const double value : x) mean_square += square(value) / count;
    for (const double value : x) spread += (square(value) - mean_square) * (square(value) - mean_square);
    const double deviation = double(std::sqrt(squares / count));
    EXPECT_NEAR(statistic_of(tree.result(), "std"), deviation, 1e-12 * deviation) << chunks;
    EXPECT_NEAR(std::sqrt(covariance_of(joint.result())), deviation, 1e-12 * deviation) << chunks;
    EXPECT_NEAR(error_of(tree.result(), "mse"), double(std::sqrt(spread / (count * (count - 1)))),
                1e-11 * double(std::sqrt(spread / (count * (count - 1)))))
        << chunks;
  }
}

TEST(Histograms, HaveTheirEdgesInTheBinsOnTheRight) {
  const Histogram histograms[] = {{0.1, 0.7, 6},     {-3.3, 4.7, 100},      {0.0, 1.0, 10},         {-1.0, 1.0, 7},
                                  {1e-3, 1e9, 1000}, {1.0, 1.0 + 1e-15, 3}, {-1.7e308, 1.7e308, 9}, {-0.3, 0.3, 6}};
  for (const Histogram& h : histograms) {
    const Bins bins(h);
    const std::vector<double>& edges = bins.edges();
    ASSERT_EQ(edges.size(), h.bins + 1);
    EXPECT_EQ(edges.front(), h.from);
    EXPECT_EQ(edges.back(), h.to);
    const auto expect = [&](double value) {
      std::vector<std::uint64_t> counts(h.bins + 2), expected(h.bins + 2);
      count_into(h, &value, 1, counts.data());
      const auto above = static_cast<std::size_t>(std::ranges::upper_bound(edges, value) - edges.begin());
      ++expected[value == h.to ? h.bins : above];  // 0: below; bins + 1: above
      EXPECT_EQ(counts, expected) << h.from << ' ' << h.to << ' ' << value;
    };
    for (const double edge : edges)
      for (const double value : {edge, std::nextafter(edge, -HUGE_VAL), std::nextafter(edge, HUGE_VAL)})
        if (std::isfinite(value)) expect(value);
  }
  const double written[] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7};
  EXPECT_TRUE(std::ranges::equal(Bins(histograms[0]).edges(), written));
}

TEST(ChunkTree, PairsNeighboursLevelByLevel) {
  for (std::size_t chunks = 1; chunks <= 40; ++chunks) {
    std::vector<Moments> level = reduce(sample(chunks), 999.0);
    ChunkTree<Moments> tree;
    for (const Moments& chunk : level) tree.push(chunk);
    while (level.size() > 1) {
      std::vector<Moments> next;
      for (std::size_t i = 0; i < level.size(); i += 2)
        next.push_back(i + 1 < level.size() ? combine(level[i], level[i + 1]) : level[i]);
      level = next;
    }
    const Moments result = tree.result();
    EXPECT_EQ(std::memcmp(&result, &level[0], sizeof(Moments)), 0) << chunks << " chunks";
  }
}

TEST(ValueStore, QuantilesInterpolateBetweenOrderStatistics) {
  ValueStore store(2, 5);
  const double first[] = {3, 1, 2}, second[] = {5, 4}, with_failures[] = {nan, 2, nan, 4, 8};
  store.write(0, 0, first, 3);
  store.write(0, 3, second, 2);
  store.write(1, 0, with_failures, 5);
  EXPECT_EQ(values(quantiles_of(store.read(0), {0.0, 0.25, 0.5, 0.9, 1.0})), (std::vector<double>{1, 2, 3, 4.6, 5}));
  EXPECT_EQ(values(quantiles_of(store.read(1), {0.0, 0.25, 0.5, 1.0})), (std::vector<double>{2, 3, 4, 8}));
}

TEST(ValueStore, AboveAQuarterOfAGigabyteLivesInAFile) {
  const std::uint64_t trajectories = 1'000'000, series = 40;  // 320 MB, sparse but for one series
  ValueStore store(series, trajectories);
  std::vector<double> x(trajectories);
  for (std::uint64_t k = 0; k < trajectories; ++k) x[k] = static_cast<double>((k * 7919) % trajectories);
  store.write(39, 0, x.data(), trajectories / 2);
  store.write(39, trajectories / 2, x.data() + trajectories / 2, trajectories / 2);
  EXPECT_EQ(values(quantiles_of(store.read(39), {0.5})), std::vector<double>{499999.5});
}

}  // namespace statistics_test
