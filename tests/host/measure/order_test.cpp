// Errors against a reference, orders, and which references are taken.

#include <cmath>
#include <filesystem>
#include <limits>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rattleback/measure/reference/extrapolate.hpp"
#include "rattleback/rattleback.hpp"

using namespace rattleback;

namespace {

Study particle(int stages, const std::vector<std::string>& overrides = {}) {
  std::vector<std::string> all{fmt::format("method.stages={}", stages)};
  all.insert(all.end(), overrides.begin(), overrides.end());
  return Study::load(RATTLEBACK_EXAMPLES "/particle-order.toml", all);
}

// Nine trajectories, of which one fails with a step of 1 and eight with a step of 2.5.
constexpr const char* isokinetic = R"toml(
[system]
name = "isokinetic-particle"
[method]
name = "nonholonomic-lobatto"
stages = 3
[time]
step = 0.5
end = 10.0
[ensemble]
project = true
axes = [ { name = "x", from = -2.0, to = 2.0, count = 9 } ]
[ensemble.initial]
q = [0.5, "x"]
v = ["sin(x)", "cos(x)"]
)toml";

std::string message_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Error::Kind::input);
    return error.what();
  }
  return "";
}

TEST(Order, OfMomentaOfGglThetaDependsOnVartheta) {
  const MethodEntry* method = Catalogue::instance().method("ggl-theta");
  const auto systems = Catalogue::instance().instances("spherical-pendulum");
  ASSERT_TRUE(method->take(*systems[0]));
  EXPECT_NE(std::string_view(method->order).find("vartheta"), std::string_view::npos);
  struct Case {
    const char* constraint;
    double theta, vartheta, order_of_q, order_of_p;
  };
  for (const Case& c : {Case{"B", 0.5, 0.5, 2, 2}, Case{"B", 0.5, 0.25, 2, 1}, Case{"B", 0.5, 0.0, 2, 1},
                        Case{"A", 0.5, 0.25, 2, 2}, Case{"B", 0.7, 0.5, 1, 1}}) {
    const Study study = Study::load(
        RATTLEBACK_EXAMPLES "/ggl-theta.toml",
        std::vector<std::string>{fmt::format("method.theta={}", c.theta), fmt::format("method.vartheta={}", c.vartheta),
                                 fmt::format("method.constraint={}", c.constraint), "time.end=1"});
    const OrderReport report =
        order(study, {0.01, 0.005, 0.0025}, {.exact = false, .result = {}, .step = 1e-4, .stages = {}});
    EXPECT_NEAR(report.variables[0].rms.order[2], c.order_of_q, 0.1) << c.constraint << c.theta << c.vartheta;
    EXPECT_NEAR(report.variables[2].rms.order[2], c.order_of_p, 0.1) << c.constraint << c.theta << c.vartheta;
  }
}

TEST(Order, SlopeIsThatOfTheSmallestStepsAboveTheFloor) {
  const std::vector<double> steps{0.8, 0.4, 0.2, 0.1, 0.05}, floor(5, 1e-6);
  const auto series = [&](std::vector<double> errors) { return error_series(steps, std::move(errors), floor); };
  // h^4, with a first step too large for it and a last one at the floor
  ErrorSeries s = series({0.9, 256e-4, 16e-4, 1e-4, 5e-7});
  EXPECT_EQ(s.above_floor, 4u);
  EXPECT_EQ(s.points, 3u);
  EXPECT_NEAR(s.slope, 4.0, 1e-12);
  EXPECT_TRUE(std::isnan(s.order[0]));
  EXPECT_NEAR(s.order[2], 4.0, 1e-12);
  EXPECT_NEAR(s.order[4], std::log2(200.0), 1e-12);
  // errors that do not fall are not used
  s = series({4e-2, 1e-2, 1.1e-2, 1e-3, 1e-4});
  EXPECT_EQ(s.points, 2u);
  EXPECT_NEAR(s.slope, 2.0, 1e-12);
  // nothing to fit
  for (const auto& errors :
       {std::vector{1e-2, 1e-7, 1e-8, 1e-9, 0.0}, std::vector(5, std::nan("")), std::vector(5, 0.0)})
    EXPECT_TRUE(std::isnan(series(errors).slope));
}

TEST(Order, ExactSolutionsAgreeWithFineRuns) {
  const std::set<std::string> known{"nonholonomic-particle", "chaplygin-sleigh", "vertical-disc",
                                    "turntable-ball",        "suslov",           "kepler",
                                    "heavy-top-directors"};
  for (const SystemEntry* system : Catalogue::instance().systems()) {
    EXPECT_EQ(system->exact != nullptr, known.contains(system->name)) << system->name;
    if (system->exact == nullptr) continue;
    const char* method = system->constraint == ConstraintKind::velocity    ? "nonholonomic-lobatto"
                         : system->constraint == ConstraintKind::holonomic ? "holonomic-lobatto"
                                                                           : "lobatto";
    Study study;
    study.system.name = system->name;
    study.system.variant = system->variant;
    study.method.name = method;
    study.method.options["stages"] = 5;
    const double unit = system->time_scale, finest = unit / 64;
    double speed = 1.0;
    for (const double v : system->default_v) speed = std::max(speed, std::abs(v));
    study.time.step = unit / 32;
    study.time.start = -2.0 * unit;
    study.time.end = 6.0 * unit;
    Reference reference;
    reference.exact = true;
    const OrderReport report = order(study, {unit / 32, finest}, reference);
    EXPECT_EQ(report.reference, "exact solution");
    for (const VariableOrder& variable : report.variables)
      EXPECT_LT(variable.max.error[1], variable.name == "lambda" ? 1e-8 * speed * speed : 2e-13 * speed)
          << system->name << " " << variable.name;
  }
}

TEST(Order, ErrorsAreThoseOfTheDefinition) {
  Study study = Study::parse(isokinetic);
  study.ensemble.axes[0].count = 3;
  study.time.end = 1.0;
  study.time.steps.reset();
  study.time.sample_every.reset();
  Reference reference;
  reference.step = 0.0625;
  reference.stages = 5;
  const OrderReport report = order(study, {0.25, 0.5}, reference);
  EXPECT_EQ(report.steps, (std::vector{0.5, 0.25}));
  EXPECT_EQ(report.reference, "nonholonomic-lobatto, 5 stages, step 0.0625");
  ASSERT_EQ(report.variables.size(), 4u);
  const Result coarse = run(at_step(study, 0.5));
  study.method.options["stages"] = 5;
  const Result fine = run(at_step(study, 0.0625));
  const auto difference = (coarse.matrix("/final/q") - fine.matrix("/final/q")).eval();
  EXPECT_EQ(report.variables[0].name, "q");
  EXPECT_DOUBLE_EQ(report.variables[0].max.error[0], difference.cwiseAbs().maxCoeff());
  EXPECT_DOUBLE_EQ(report.variables[0].rms.error[0], std::sqrt(difference.squaredNorm() / 3));
}

TEST(Order, LeavesOutWhatFailedInAnyRun) {
  std::vector<double> seen;
  const OrderReport report = order(Study::parse(isokinetic), {0.0625, 1.0, 0.125}, {}, {},
                                   [&](double step, const Summary&) { seen.push_back(step); });
  EXPECT_EQ(seen, (std::vector{1.0, 0.125, 0.0625}));
  EXPECT_EQ(report.trajectories, 9u);
  EXPECT_EQ(report.failed, 1u);
  EXPECT_EQ(report.reference, "nonholonomic-lobatto, 5 stages, step 0.015625");
  const auto final_state = [](double step, int stages) {
    Study study = at_step(Study::parse(isokinetic), step).study;
    study.method.options["stages"] = stages;
    return run(study);
  };
  const Result large = final_state(1.0, 3), small = final_state(0.0625, 3), reference = final_state(0.015625, 5);
  const auto difference = (small.matrix("/final/p") - reference.matrix("/final/p")).cwiseAbs().eval();
  double largest = 0.0, bad = 0.0;
  for (int k = 0; k < 9; ++k) {
    if (large.status()[static_cast<std::size_t>(k)] == 0) {
      largest = std::max(largest, difference.row(k).maxCoeff());
    } else {
      bad = k;
    }
  }
  EXPECT_EQ(report.variables[2].max.error[2], largest);

  // where all fail there is nothing to say
  Study one = Study::parse(isokinetic);
  one.ensemble.axes[0].kind = Axis::Kind::values;
  one.ensemble.axes[0].values = {-2.0 + 0.5 * bad};
  const OrderReport none = order(one, {1.0, 0.5});
  EXPECT_EQ(none.failed, 1u);
  EXPECT_TRUE(std::isnan(none.variables[0].max.error[0]));
  EXPECT_TRUE(std::isnan(none.variables[0].rms.slope));
}

TEST(Order, StepsAreWholePartsOfTheTimeSpan) {
  const Study study = particle(3, {"time.end=1.0"});
  EXPECT_EQ(std::get<double>(at_step(study, 0.33333333333).study.time.step.content), 1.0 / 3);
  std::vector<double> steps;
  for (const Problem& run : at_steps(study, {0.1, 0.33333333333, 0.5}, 2)) steps.push_back(step_of(run));
  EXPECT_EQ(steps, (std::vector{0.5, 1.0 / 3, 0.1}));
  int runs = 0;
  const auto attempt = [&](const std::vector<double>& tried) {
    return message_of([&] { order(study, tried, {}, {}, [&](double, const Summary&) { ++runs; }); });
  };
  EXPECT_NE(attempt({0.5, 0.25, 0.3}).find("step 0.3: the time from 0 to 1 is not a whole number of steps"),
            std::string::npos);
  EXPECT_NE(attempt({0.5, 0.0}).find("step 0: is not a positive number"), std::string::npos);
  EXPECT_NE(attempt({0.5, std::numeric_limits<double>::infinity()}).find("positive"), std::string::npos);
  EXPECT_NE(attempt({0.5, 0.25, 0.5}).find("step 0.5: appears twice"), std::string::npos);
  EXPECT_NE(attempt({0.5}).find("at least 2 are needed (got 1)"), std::string::npos);
  EXPECT_EQ(runs, 0);
}

TEST(Order, AStoredReferenceIsAsGoodAsOneThatIsRun) {
  const auto file = std::filesystem::temp_directory_path() / "rattleback-order-test.h5";
  const Study study = Study::parse(isokinetic);
  const auto set = [](const std::vector<std::string>& overrides) {
    return Study::parse(isokinetic, "study", overrides);
  };
  const std::vector<double> steps{0.125, 0.0625};
  Reference stored, by_step;
  stored.result = file;
  by_step.step = 0.015625;
  by_step.stages = 5;
  run(at_step(set({"method.stages=5"}), 0.015625)).save(file);
  const OrderReport a = order(study, steps, stored), b = order(study, steps, by_step);
  EXPECT_EQ(a.reference, file.string() + " (nonholonomic-lobatto, 5 stages, step 0.015625)");
  for (std::size_t i = 0; i < a.variables.size(); ++i)
    EXPECT_EQ(a.variables[i].max.error, b.variables[i].max.error) << a.variables[i].name;
  // A stored result cannot be refined. Its error, of lambda of order 2, is stated.
  run(at_step(study, 0.015625)).save(file);
  EXPECT_EQ(order(study, steps, stored).reference,
            file.string() +
                " (nonholonomic-lobatto, 3 stages, step 0.015625); its own error is about 0.06 of the smallest "
                "one here, and shifts the orders");

  const auto refused = [&](const Study& tested) { return message_of([&] { order(tested, steps, stored); }); };
  const auto expect = [&](const std::string& message, const std::string& part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
    EXPECT_TRUE(message.starts_with(file.string() + ": ")) << message;
  };
  expect(refused(set({"time.end=5.0"})), "another end time (10, and the study has 5)");
  expect(refused(set({"time.start=-10.0"})), "another start time");
  expect(refused(set({"ensemble.axes[0].count=5"})), "another ensemble or other initial states");
  expect(refused(set({"ensemble.initial.q=[0.25, \"x\"]"})), "another ensemble or other initial states");
  expect(refused(particle(3, {"time.end=10.0"})), "another system (isokinetic-particle, and");
  expect(message_of([&] { order(study, {0.125, 0.015625}, stored); }), "has fewer digits");
  expect(refused(set({"method.stages=4"})), "has fewer digits");
  // more stages at the same step are finer
  run(at_step(set({"method.stages=5"}), 0.0625)).save(file);
  EXPECT_EQ(refused(study), "");
  run(at_step(study, 2.5)).save(file);
  expect(message_of([&] { order(study, {10.0, 5.0}, stored); }), "8 trajectories of the reference failed");
  Study bare = at_step(study, 0.015625).study;
  bare.output.final_state = false;
  run(bare).save(file);
  expect(refused(study), "has no /final/q (it keeps no final states)");
  // a parameter that differs
  const Study sleigh = Study::load(RATTLEBACK_EXAMPLES "/sleigh.toml");
  run(at_step(sleigh, 0.015625)).save(file);
  Study heavier = sleigh;
  heavier.system.parameters["mass"] = 2.0;
  expect(refused(heavier), "another parameter (mass = 1, and the study has mass = 2)");
  std::filesystem::remove(file);
}

TEST(Order, TheOwnErrorOfAReferenceShiftsNoOrder) {
  // The error of a reference of order 2 at h/4 makes an order 2.07.
  const Study study =
      Study::load(RATTLEBACK_EXAMPLES "/conversion-order.toml", std::vector<std::string>{"method.base=heun2"});
  Reference by_step;
  by_step.step = 0.00625;
  for (const Reference& reference : {Reference{}, by_step}) {
    const OrderReport report = order(study, {0.1, 0.05, 0.025}, reference);
    EXPECT_EQ(report.reference,
              "variational-conversion, base heun2, steps 0.00625 and 0.003125, extrapolated with orders q 2, v 2, p 2, "
              "lambda 2");
    for (const VariableOrder& variable : report.variables)
      EXPECT_NEAR(variable.max.order[2], 2.0, 0.005) << variable.name;
  }
  // lambda has a lower order than q; a reference with more stages has no error to speak of
  Reference fine, exact;
  fine.step = exact.step = 0.015625;
  exact.stages = 5;
  const Study study_of_lambda = Study::parse(isokinetic);
  const OrderReport a = order(study_of_lambda, {0.125, 0.0625}, fine),
                    b = order(study_of_lambda, {0.125, 0.0625}, exact);
  for (std::size_t i : {std::size_t{0}, std::size_t{3}})
    EXPECT_NEAR(a.variables[i].rms.order[1], b.variables[i].rms.order[1], 0.01) << a.variables[i].name;
}

/// Without stages a method has its order from its composition, and so has its reference.
TEST(Order, AReferenceWithoutStagesKeepsTheComposition) {
  const Study study = Study::load(RATTLEBACK_EXAMPLES "/chaotic.toml",
                                  std::vector<std::string>{"time.end=1.0",
                                                           "method={name=\"nonholonomic-leapfrog\", "
                                                           "composition=\"suzuki4\"}"});
  const OrderReport report = order(study, {0.25, 0.125, 0.0625});
  EXPECT_EQ(report.reference.find("nonholonomic-leapfrog, composition suzuki4, step"), 0u) << report.reference;
}

TEST(Order, ExtrapolatesWithTheOrderThatTheRunsShow) {
  const auto value = [](double step, int order) { return 1.5 + 0.25 * std::pow(step, order); };
  for (int q = 1; q <= 8; ++q) {
    const std::vector<double> coarse{value(0.4, q), 7.0}, half{value(0.05, q), 7.0};
    std::vector<double> fine{value(0.1, q), 3.0};
    const std::vector<std::uint8_t> good{1, 0};
    const Runs runs{coarse, fine, half, good, 4.0};
    EXPECT_EQ(observed_order(runs), q);
    extrapolate(runs, q);
    EXPECT_NEAR(fine[0], 1.5, 1e-14);
  }
  const std::vector<double> same{2.0};
  std::vector<double> fine{2.0};
  const std::vector<std::uint8_t> good{1};
  EXPECT_EQ(observed_order({same, fine, same, good, 4.0}), 0);
}

TEST(Order, RefusesReferencesThatAreNotFiner) {
  const Study study = Study::parse(isokinetic);
  const auto refused = [&](const Reference& reference) {
    return message_of([&] { order(study, {0.5, 0.25}, reference); });
  };
  Reference same_step, fewer_stages, unknown, two, many;
  same_step.step = 0.25;
  fewer_stages.stages = 2;
  unknown.exact = true;
  two.exact = true;
  two.step = 0.1;
  many.stages = 9;
  EXPECT_NE(refused(same_step).find("fewer digits"), std::string::npos);
  EXPECT_NE(refused(fewer_stages).find("fewer digits"), std::string::npos);
  EXPECT_NE(refused(unknown).find("exact solution of 'isokinetic-particle' is not known"), std::string::npos);
  EXPECT_NE(refused(two).find("choose one"), std::string::npos);
  EXPECT_NE(refused(many).find("method.stages = 9 is out of range"), std::string::npos);
  Study fluid = Study::load(RATTLEBACK_EXAMPLES "/sleigh.toml");
  fluid.system.parameters["inertia"] = -1.0;
  EXPECT_NE(message_of([&] { order(fluid, {0.5, 0.25}, unknown); }).find("exact solution of trajectory 0 is not known"),
            std::string::npos);
}

TEST(Order, WritesAResultFile) {
  const OrderReport report = order(particle(3), {0.25, 0.125});
  Result result;
  MemorySink sink(result);
  report.write(sink);
  EXPECT_EQ(result.array("/step")[1], 0.125);
  EXPECT_EQ(result.array("/lambda/max")[0], report.variables[3].max.error[0]);
  EXPECT_EQ(result.array("/q/order_rms")[1], report.variables[0].rms.order[1]);
  EXPECT_EQ(std::get<double>(*result.attribute("/p/max", "slope")), report.variables[2].max.slope);
  EXPECT_EQ(Study::parse(std::get<std::string>(*result.attribute("/", "study"))).name, "particle-order");
}

}  // namespace
