// The property suite: every method on every system instance it takes, for all compiled combinations of its options.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rattleback/engine/backend.hpp"
#include "rattleback/kernels/kernels.hpp"
#include "rattleback/measure/kernel_case.hpp"
#include "rattleback/rattleback.hpp"
#include "testing.hpp"

using namespace rattleback;
using namespace rattleback::tests;

namespace {

struct Case : KernelCase {
  [[nodiscard]] bool composed() const {
    bool composed = false;
    for_options([&](const OptionInfo& option, int value) {
      if (option.name == std::string_view("composition")) composed = value > 0;
    });
    return composed;
  }
  /// 0 for methods without stages.
  [[nodiscard]] int stages() const {
    int stages = 0;
    for_options([&](const OptionInfo& option, int value) {
      if (option.name == std::string_view("stages")) stages = value;
    });
    return stages;
  }
  /// The most stages that are compiled.
  [[nodiscard]] int most_stages() const {
    int most = 0;
    for (const PairKey& compiled : Catalogue::instance().keys(*system, *method))
      most = std::max(most, Case{{system, method, compiled}}.stages());
    return most;
  }
  [[nodiscard]] Case with_stages(int stages) const {
    Case other = *this;
    int i = 0;
    for_options([&](const OptionInfo& option, int) {
      if (option.name == std::string_view("stages")) other.key.value[i] = stages;
      ++i;
    });
    return other;
  }
  /// Of q.
  [[nodiscard]] int order() const {
    return method->order_of == nullptr ? 2 * stages() - 2 : method->order_of(values(), *system);
  }
  [[nodiscard]] bool keeps_hidden_constraint() const {
    return method->keeps_hidden_constraint == nullptr ? method->exact_hidden_constraint
                                                      : method->keeps_hidden_constraint(values(), *system);
  }

 private:
  /// Of all options.
  [[nodiscard]] std::vector<OptionValue> values() const {
    std::vector<OptionValue> values;
    const int* next = key.value;
    for (const OptionInfo& option : method->options)
      values.push_back({option.compiled ? *next++ : option.standard, option.standard_numbers});
    return values;
  }
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name(); }

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr unsigned thinning = 16;  // instrumented kernels are slow to compile and to run
#else
constexpr unsigned thinning = 1;
#endif
/// The environment variable that asks for all kernels. They take an hour.
const bool every_kernel = std::getenv("RATTLEBACK_TEST_EVERY_KERNEL") != nullptr;

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const KernelCase& kernel : kernel_cases()) cases.push_back({kernel});
  return cases;
}

/// A sample of the kernels that has every value of every option of every method, and every system with at least two methods.
/// Hashes of names choose the sample, so it is always the same. Kernels that take long to compile are chosen where there are
/// no others.
std::vector<Case> covering_sample(const std::vector<Case>& all) {
  struct Candidate {
    std::pair<bool, std::uint64_t> key;
    const Case* kernel;
  };
  std::vector<Candidate> candidates;  // with their names' hashes, formed once: every process of this program comes here
  candidates.reserve(all.size());
  for (const Case& c : all) {
    const bool large = c.system->n + c.system->m > 8,
               many = c.stages() > 2 || c.method->name == std::string_view("hbvm");
    candidates.push_back({{large && many, hash_of(c.name())}, &c});
  }
  std::ranges::sort(candidates, {}, &Candidate::key);
  std::vector<Case> chosen;
  std::set<std::string> options;
  std::map<std::string, std::set<const MethodEntry*>> methods;  // of each system and variant, whatever its dimension
  const auto methods_of = [&](const Case& c) -> auto& {
    return methods[fmt::format("{} {}", c.system->name, c.system->variant)];
  };
  const auto choose = [&](const Case& c) {
    chosen.push_back(c);
    methods_of(c).insert(c.method);
  };
  for (const Candidate& candidate : candidates) {
    const Case& c = *candidate.kernel;
    bool found = options.insert(c.method->name).second;
    c.for_options([&](const OptionInfo& option, int value) {
      found |= options.insert(fmt::format("{} {} {}", c.method->name, option.name, value)).second;
    });
    if (found) choose(c);
  }
  for (const Candidate& candidate : candidates)
    if (const Case& c = *candidate.kernel; methods_of(c).size() < 2 && !methods_of(c).contains(c.method)) choose(c);
  return chosen;
}

std::vector<Case> chosen_cases() {
  std::vector<Case> cases = all_cases();
  if (every_kernel) return cases;
  // five to seven stages are the code of eight with other numbers
  std::erase_if(cases, [](const Case& c) { return c.stages() >= 5 && c.stages() <= 7; });
  cases = covering_sample(cases);
  std::erase_if(cases, [](const Case& c) { return !in_sample(c.name(), thinning); });
  return cases;
}
const std::vector<Case>& tested_cases() {
  static const std::vector<Case> cases = chosen_cases();
  return cases;
}
/// A part of the tested kernels, for tests that compile more: a step over dual numbers of a large system takes a minute.
std::vector<Case> sampled_cases() {
  std::vector<Case> cases = tested_cases();
  if (every_kernel) return cases;
  std::erase_if(cases, [](const Case& c) {
    return c.system->n + c.system->m > 8 || (thinning == 1 && !in_sample(c.name() + "?", 4));
  });
  return cases;
}

/// The instruction sets to compare with the scalar kernels: the widest one, and for a sample of the kernels all others.
std::vector<Isa> compared_isas(const Case& c) {
  std::vector<Isa> isas;
  for (const Isa isa : all_isas())
    if (has_isa(isa) && isa != Isa::scalar &&
        (isa == best_isa() || (thinning == 1 && in_sample(c.name() + to_string(isa), 8))))
      isas.push_back(isa);
  return isas;
}

TEST(Catalogue, HasASystemForEveryMethod) {
  const std::vector<Case> cases = all_cases();
  for (const MethodEntry* method : Catalogue::instance().methods())
    EXPECT_TRUE(std::ranges::any_of(cases, [&](const Case& c) { return c.method == method; }))
        << method->name << " runs with no system: no system meets the requirements of its step";
}

/// A test of the kernels of a case. A sanitizer looks at these kernels, too.
class EveryPair : public testing::TestWithParam<Case> {
 protected:
  EveryPair() {
    std::istringstream flags(RATTLEBACK_KERNEL_CXXFLAGS);
    Kernels::instance().set_test_flags(
        {.quick_scalar = true, .further = {std::istream_iterator<std::string>(flags), {}}});
  }
  ~EveryPair() override { Kernels::instance().set_test_flags({.quick_scalar = true}); }
};
class SampledPair : public EveryPair {};

TEST_P(EveryPair, GivesTheSameBitsOnEveryInstructionSetThreadCountAndTileSize) {
  const Study study = Study::parse(study_of(GetParam(), {.sections = true}));
  const Result reference = run(study, {.backend = "cpu:scalar", .threads = 1});
  EXPECT_EQ(reference.summary.failed, 0u);
  EXPECT_EQ(differences(reference, run(study, {.backend = "cpu:scalar", .threads = 2, .tile = 256})), "");
  for (const Isa isa : compared_isas(GetParam())) {
    const std::string backend = std::string("cpu:") + to_string(isa);
    EXPECT_EQ(differences(reference, run(study, {.backend = backend, .threads = 1})), "") << backend;
    EXPECT_EQ(differences(reference, run(study, {.backend = backend, .threads = 2, .tile = 256})), "") << backend;
  }
}

TEST_P(EveryPair, LetsNoTrajectoryDisturbItsNeighboursInAPack) {
  const Study study = Study::parse(study_of(GetParam(), {.draws = 3, .sections = true, .uneven = true}));
  const Result reference = run(study, {.backend = "cpu:scalar"});
  for (const Isa isa : compared_isas(GetParam()))
    EXPECT_EQ(differences(reference, run(study, {.backend = std::string("cpu:") + to_string(isa)})), "")
        << to_string(isa);
  // two stages without an iteration cannot fail to converge, nor can a planet that the first long step has thrown far out;
  // seven stages follow a pendulum through the longest step
  if (GetParam().stages() > 2 && GetParam().stages() < 7 && GetParam().system->name != std::string_view("kepler")) {
    EXPECT_GT(reference.summary.failed, 0u);
  }
}

TEST_P(SampledPair, CarriesATangentVectorAlongWithTheSameTrajectory) {
  for (Exercise exercise :
       {Exercise{.steps = 15, .sections = true}, Exercise{.draws = 3, .sections = true, .uneven = true}}) {
    const Result plain = run(Study::parse(study_of(GetParam(), exercise)), {.backend = "cpu:scalar", .threads = 1});
    exercise.lyapunov = true;
    const Study study = Study::parse(study_of(GetParam(), exercise));
    const Result reference = run(study, {.backend = "cpu:scalar", .threads = 1});
    EXPECT_EQ(differences(plain, reference, "lyapunov"), "");
    // the exponent is known wherever the trajectory is; with steps far beyond any use the dual step may fail
    const auto& known = std::get<std::vector<std::uint64_t>>(reference.dataset("/observables/lyapunov/count").values);
    auto there = std::get<std::vector<std::uint64_t>>(plain.dataset("/observables/energy/count").values);
    const auto& missing = std::get<std::vector<std::uint64_t>>(plain.dataset("/observables/energy/missing").values);
    for (std::size_t i = 0; i < there.size(); ++i)
      there[i] += missing[i];  // an energy may overflow where q and p do not
    if (exercise.uneven) {
      for (std::size_t i = 0; i < known.size(); ++i) EXPECT_LE(known[i], there[i]);
    } else {
      EXPECT_EQ(known, there);
    }
    EXPECT_EQ(reference.statistic("lyapunov", "max").front(), 0.0);
    EXPECT_TRUE(std::isfinite(reference.statistic("lyapunov", "mean").back()));
    for (const Isa isa : compared_isas(GetParam())) {
      const std::string backend = std::string("cpu:") + to_string(isa);
      EXPECT_EQ(differences(reference, run(study, {.backend = backend, .threads = 2, .tile = 256})), "") << backend;
    }
  }
}

TEST_P(EveryPair, GivesTheSameBitsOnTheGpu) {
  std::string reason;
  if (!make_cuda_backend(reason)) GTEST_SKIP() << reason;
  for (const Exercise& exercise : {Exercise{}, Exercise{.sections = true}, Exercise{.sections = true, .lyapunov = true},
                                   Exercise{.draws = 3, .sections = true, .uneven = true}}) {
    const Study study = Study::parse(study_of(GetParam(), exercise));
    const Result cpu = run(study, {.backend = "cpu"}), gpu = run(study, {.backend = "cuda"});
    EXPECT_EQ(differences(cpu, gpu), "");
    const Result tiled = run(study, {.backend = "cuda", .tile = 256});
    EXPECT_EQ(differences(cpu, tiled), "");
  }
}

TEST_P(EveryPair, StaysOnTheConstraintAndKeepsWhatTheSystemConserves) {
  const Case& c = GetParam();
  const Result result = run(Study::parse(study_of(c, {.step = 0.02, .steps = 100, .draws = 64, .sections = true})));
  EXPECT_EQ(result.summary.failed, 0u);
  // truncation error over two time units at h = 0.02
  const double bound = c.order() <= 2 ? 3e-2 : c.order() <= 4 ? 2e-5 : 2e-8;
  double size = 1.0, speed = 1.0;
  for (const double x : c.system->default_q) size = std::max(size, std::abs(x));
  for (const double x : c.system->default_v) speed = std::max(speed, std::abs(x));
  const double exact = 1e-14 * size * size;
  const auto largest = [&](const char* name) { return result.statistic(name, "max").back(); };
  if (c.system->constraint == ConstraintKind::holonomic) {
    EXPECT_LT(largest("constraint"), c.method->exact_constraint ? exact : bound);
    EXPECT_LT(largest("hidden_constraint"), speed * (c.keeps_hidden_constraint() ? exact : 0.1));
  } else if (c.system->m > 0) {
    EXPECT_LT(largest("constraint"), exact);
  }
  for (const ObservableInfo& o : c.system->observables) {
    if (o.conserved) {
      EXPECT_LT(result.statistic(o.name, "maxabs").back(), bound) << o.name;
    }
  }
}

TEST_P(EveryPair, ReachesItsOrder) {
  const Case& c = GetParam();
  const int order = c.order(), s = c.composed() ? 0 : c.stages();
  const double end = order >= 8 ? 12.0 : order >= 6 ? 6.0 : 1.0;
  const auto final_q = [&](const Case& of, int steps) {
    const Result r =
        run(Study::parse(study_of(of, {.step = end / steps, .steps = steps, .draws = 4, .sections = true})));
    return Eigen::MatrixXd(r.matrix("/final/q"));
  };
  // the errors are those against many stages, or for methods without stages against half the step
  Eigen::MatrixXd exact;
  double floor = 0.0;
  if (s > 0) {
    const int fine = order >= 6 ? 480 : 160;
    exact = final_q(c.with_stages(c.most_stages()), 2 * fine);
    // the finest halving whose errors stand well above the round-off of the reference
    floor = 30.0 * (final_q(c.with_stages(c.most_stages()), fine) - exact).norm();
  } else {
    // nonholonomic-energy counts the work of forces over ways as they were rounded, which costs digits of q where ways are short
    const double round_off = c.method->name == std::string_view("nonholonomic-energy") ? 1e-10 : 1e-12;
    floor = round_off * (1.0 + final_q(c, 320).norm());
  }
  double error = 0.0, slope = std::numeric_limits<double>::quiet_NaN();
  for (int steps = order <= 2 ? 80 : order < 8 ? 10 : 5; steps <= 320; steps *= 2) {
    const double coarser = error;
    error = (final_q(c, steps) - (s > 0 ? exact : final_q(c, 2 * steps))).norm();
    if (error < floor) break;
    if (coarser > 0.0) slope = std::log2(coarser / error);
  }
  // with five stages round-off comes before the slope has settled from above; and errors of order one may be small ones
  // from order ten on the first steps already come near round-off, or reach it
  if (order < 10) {
    EXPECT_GT(slope, order - 0.2);
  } else if (!std::isnan(slope)) {
    EXPECT_GT(slope, 0.6 * order);
  }
  // the errors of line integrals of constrained systems settle late, from above, and so do those of compositions of order 8
  if (order < (c.composed() ? 8 : 10) && !(c.method->name == std::string_view("hbvm") && c.system->m > 0) && s < 5 &&
      order > 1) {
    EXPECT_LT(slope, order + 0.2);
  }
}

INSTANTIATE_TEST_SUITE_P(Catalogue, EveryPair, testing::ValuesIn(tested_cases()),
                         [](const auto& test) { return test.param.name(); });
INSTANTIATE_TEST_SUITE_P(Catalogue, SampledPair, testing::ValuesIn(sampled_cases()),
                         [](const auto& test) { return test.param.name(); });

}  // namespace
