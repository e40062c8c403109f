// Measurements: what is counted, and the arithmetic around the clock.

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "rattleback/catalogue/settings.hpp"
#include "rattleback/kernels/kernels.hpp"
#include "rattleback/measure/kernel_case.hpp"
#include "rattleback/rattleback.hpp"
#include "testing.hpp"

using namespace rattleback;
using rattleback::tests::in_sample;

namespace {

/// One chunk that holds the default state of a system in lane 0.
struct Chunk {
  KernelArguments arguments{};
  std::vector<double> data;

  Chunk(const SystemEntry& system, const MethodEntry& method, PairKey key, std::int64_t steps) {
    if (method.settle != nullptr) {
      std::vector<OptionValue> values;
      const int* compiled = key.value;
      for (const OptionInfo& option : method.options)
        values.push_back({option.compiled ? *compiled++ : option.standard, option.standard_numbers});
      std::ranges::copy(method.settle(values, system).numbers, arguments.method);
    }
    ChunkLayout& rows = arguments.layout;
    const int N = system.elements, n = system.n, m = system.m;
    rows.q = 0;
    rows.p = N;
    rows.lambda = N + n;
    rows.status = N + n + m;
    rows.steps = rows.status + 1;
    rows.iterations = rows.status + 2;
    rows.residual = rows.status + 3;
    rows.step = rows.steps_per_sample = -1;
    rows.carried = rows.status + 4;
    rows.rows = rows.carried + carried_numbers(system, method);
    arguments.step = 0.1 * system.time_scale;
    arguments.target = steps;
    arguments.tolerance = 1e-16;
    arguments.max_iterations = 50;
    std::vector<double> parameters, q(system.default_q.begin(), system.default_q.end()),
        v(system.default_v.begin(), system.default_v.end()), p(v.size()), lambda(static_cast<std::size_t>(m));
    for (std::size_t i = 0; i < system.parameters.size(); ++i) {
      parameters.push_back(system.parameters[i].value);
      arguments.parameters[i] = parameters.back();
      arguments.parameter_row[i] = -1;
    }
    point_functions(system).prepare({parameters.data(), 0.0}, {q.data(), v.data(), p.data(), lambda.data()},
                                    {false, false, false, false, method.in_space});
    data.assign(static_cast<std::size_t>(rows.rows) * row_size, 0.0);
    const auto put = [this](int row, const std::vector<double>& x) {
      for (std::size_t i = 0; i < x.size(); ++i) data[(static_cast<std::size_t>(row) + i) * row_size] = x[i];
    };
    put(rows.q, q);
    put(rows.p, p);
    put(rows.lambda, lambda);
  }
};

TEST(Bench, CountingDoesNotChangeABit) {
  const Catalogue& catalogue = Catalogue::instance();
  std::map<std::string, int> kernels_of;
  std::vector<const SystemEntry*> systems(catalogue.systems().begin(), catalogue.systems().end());
  const auto size = [](const SystemEntry* system) { return system->n + system->m; };
  std::ranges::stable_sort(systems, {}, size);
  for (const SystemEntry* system : systems)
    for (const MethodEntry* method : catalogue.methods()) {
      std::uint64_t before = 0;
      for (const PairKey key : catalogue.keys(*system, *method)) {
        const auto name = [&] {
          return fmt::format("{} {} {}", system->name, method->name, fmt::join(key.value, " "));
        };
        // every method with its smallest system, and a sample; large systems take long to compile and count alike
        int& chosen = kernels_of[method->name];
        if (chosen > 0 && (size(system) > 8 || !in_sample(KernelCase{system, method, key}.name(), 150))) continue;
        ++chosen;
        Chunk plain(*system, *method, key, 5), counted(*system, *method, key, 5);
        Kernels& kernels = Kernels::instance();
        kernels.get({UnitKind::advance, system, method, key, Isa::scalar})
            .advance(plain.arguments, plain.data.data(), 0, 1);
        const std::uint64_t operations = kernels.get({UnitKind::counted, system, method, key, Isa::scalar})
                                             .count(counted.arguments, counted.data.data(), 0, 1);
        for (std::size_t i = 0; i < plain.data.size(); i += row_size)
          EXPECT_EQ(std::bit_cast<std::uint64_t>(plain.data[i]), std::bit_cast<std::uint64_t>(counted.data[i]))
              << name() << " row " << i / row_size;
        EXPECT_GT(operations, 0u) << name();
        if (std::all_of(key.value + 1, std::end(key.value), [](int value) { return value == 0; }) &&
            !method->options.empty() &&
            method->options.front().name == std::string_view("stages")) {  // more stages cost more
          EXPECT_GT(operations, before) << name();
          before = operations;
        }
      }
    }
  for (const MethodEntry* method : catalogue.methods()) EXPECT_GE(kernels_of[method->name], 1) << method->name;
}

TEST(Bench, CountsTheSameForEveryStepOfAnExplicitMethod) {
  const Catalogue& catalogue = Catalogue::instance();
  const SystemEntry& system = *catalogue.instances("henon-heiles").front();
  const MethodEntry& method = *catalogue.method("lobatto");
  const CompiledUnit& unit = Kernels::instance().get({UnitKind::counted, &system, &method, {2}, Isa::scalar});
  const auto operations = [&](std::int64_t steps) {
    Chunk chunk(system, method, {2}, steps);
    return unit.count(chunk.arguments, chunk.data.data(), 0, 1);
  };
  const std::uint64_t one = operations(2) - operations(1);
  EXPECT_EQ(operations(20) - operations(10), 10 * one);
  // velocity Verlet in two dimensions: two forces, and some fused multiply-adds for the position and the momentum
  EXPECT_GT(one, 20u);
  EXPECT_LT(one, 80u);
}

TEST(Bench, SpreadInterpolatesBetweenOrderStatistics) {
  const Spread s = spread_of({4.0, 1.0, 3.0, 2.0});
  EXPECT_EQ(s.min, 1.0);
  EXPECT_EQ(s.lower_quartile, 1.75);
  EXPECT_EQ(s.median, 2.5);
  EXPECT_EQ(s.upper_quartile, 3.25);
  EXPECT_EQ(s.max, 4.0);
  EXPECT_EQ(spread_of({7.0}).upper_quartile, 7.0);
}

TEST(Bench, ReportsWhatOneRunDoes) {
  const Study study = Study::load(RATTLEBACK_EXAMPLES "/chaotic.toml",
                                  std::vector<std::string>{"time.end=2.0", "ensemble.axes[0].count=64"});
  BenchOptions options;
  options.run.backend = "cpu";
  options.run.threads = 1;
  options.repetitions = 3;
  const BenchReport report = measure(study, options);
  const Summary expected = run(study).summary;
  EXPECT_EQ(report.seconds.size(), 3u);
  EXPECT_EQ(report.summary.trajectory_steps, expected.trajectory_steps);
  EXPECT_DOUBLE_EQ(report.iterations_per_step,
                   static_cast<double>(expected.iterations) / static_cast<double>(expected.trajectory_steps));
  EXPECT_EQ(report.state_bytes, (2 * 7 + 1 + 4 + 2 + 2) * sizeof(double));  // with the references of two observables
  EXPECT_DOUBLE_EQ(report.nanoseconds, 1e9 / report.rate.median);
  EXPECT_LE(report.rate.min, report.rate.median);
  EXPECT_GT(report.flops_per_step, 100.0);
  EXPECT_GT(report.peak_flops, 1e6);  // far below those of any machine, also beside other work and with a sanitizer
  EXPECT_GT(report.copy_rate, 1e6);
  EXPECT_GT(report.counted_over_peak(), 0.0);

  options.seconds = 0.05;
  double total = 0.0;
  for (const double seconds : measure(study, options).seconds) total += seconds;
  EXPECT_GE(total, 0.05);
  options.repetitions = 0;
  EXPECT_THROW(measure(study, options), Error);
  options.repetitions = 1;
  options.seconds = std::nan("");
  EXPECT_THROW(measure(study, options), Error);
}

TEST(Bench, CountsWhereTheStepVaries) {
  const BenchReport report = measure(Study::load(RATTLEBACK_EXAMPLES "/particle-order.toml"));
  EXPECT_EQ(report.state_bytes, (2 * 3 + 1 + 4 + 2 + 2 + 2) * sizeof(double));
  EXPECT_GT(report.flops_per_step, 50.0);
  EXPECT_LT(report.flops_per_step, 2000.0);
}

TEST(Bench, WorkPrecisionHasTheErrorsOfOrder) {
  const auto with = [](int stages) {
    return Study::load(RATTLEBACK_EXAMPLES "/particle-order.toml",
                       std::vector<std::string>{fmt::format("method.stages={}", stages)});
  };
  BenchOptions options;
  options.repetitions = 2;
  const WorkPrecisionReport report =
      work_precision(with(3), {{"two", with(2)}, {"four", with(4)}}, {0.125, 0.25}, {}, options);
  ASSERT_EQ(report.runs.size(), 4u);
  EXPECT_EQ(report.reference, "exact solution");
  for (std::size_t i = 0; i < 4; ++i) {
    const WorkPrecisionRun& run = report.runs[i];
    EXPECT_EQ(run.label, i < 2 ? "two" : "four");
    EXPECT_EQ(run.step, i % 2 == 0 ? 0.25 : 0.125);
    EXPECT_GT(run.seconds, 0.0);
    const OrderReport expected = order(with(*run.method.stages()), {0.25, 0.125});
    ASSERT_EQ(run.errors.size(), 4u);
    for (std::size_t v = 0; v < 4; ++v) {
      EXPECT_EQ(run.errors[v].first, expected.variables[v].name);
      EXPECT_EQ(run.errors[v].second.max, expected.variables[v].max.error[i % 2]) << run.errors[v].first;
    }
    ASSERT_EQ(run.drifts.size(), 3u);
    EXPECT_EQ(run.drifts[0].first, "energy");
    EXPECT_GT(run.drifts[0].second, 0.0);
  }
  EXPECT_THROW(work_precision(with(3), {}, {0.25}, {}, options), Error);
  EXPECT_THROW(work_precision(with(3), {{"two", with(2)}}, std::vector<double>{}, {}, options), Error);
  EXPECT_THROW(work_precision(with(3), {{"two", with(2)}}, std::vector<Problem>{}, {}, options), Error);
}

}  // namespace
