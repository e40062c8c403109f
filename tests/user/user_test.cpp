// Systems and methods of a user, beyond what the catalogue has so far: a configuration space that is a group, options of every
// kind, a method without stages.

#include <cmath>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "euler_entry.hpp"
#include "rattleback/kernels/kernels.hpp"
#include "rattleback/rattleback.hpp"
#include "rattleback/study/options.hpp"

using namespace rattleback;

namespace {

/// Adds the systems and the method when the tests run, because listing the tests must not compile.
class Entries : public testing::Environment {
 public:
  void SetUp() override {
    Catalogue::instance().add(methods::test_euler);
    for (const char* type : {"TestTop<T>", "TestOscillator<T>"})
      Catalogue::instance().add(Kernels::instance().system({RATTLEBACK_USER "/systems.hpp", type}));
  }
};
[[maybe_unused]] testing::Environment* const entries = testing::AddGlobalTestEnvironment(new Entries);

std::string top(const std::string& method = "", const std::string& ensemble = "") {
  return fmt::format(R"toml([system]
name = "test-top"
[method]
name = "test-euler"
{}
[time]
step = 0.05
end = 2.0
samples = 4
{}
)toml",
                     method, ensemble);
}
std::string oscillator(const std::string& method = "") {
  std::string text = top(method);
  return text.replace(text.find("test-top"), 8, "test-oscillator");
}

template <class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Error::Kind::input);
    return error.what();
  }
  return "";
}
std::string refusal(const std::string& toml) {
  return message_of([&] { check_initial_states(Study::parse(toml, "s.toml")); });
}

std::string differences(const Result& a, const Result& b) {
  std::string found;
  for (const std::string& path : a.paths()) {
    const bool same = std::visit(
        [&](const auto& x) {
          const auto& y = std::get<std::decay_t<decltype(x)>>(b.dataset(path).values);
          return x.size() == y.size() && (x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(x[0])) == 0);
        },
        a.dataset(path).values);
    if (!same) found += path + " ";
  }
  return found;
}

constexpr const char* everything = R"toml([ensemble]
axes = [ { name = "a", from = 0.0, to = 3.0, count = 300 } ]
[ensemble.initial]
q = ["a", "0.3*a", 0.2]
v = [0.3, "a/3", 1]
[[observable]]
name = "energy"
[[observable]]
name = "q[8]"
statistics = ["mean", "std"]
[[observable]]
name = "lyapunov"
[[section]]
surface = "q[8] + v[2] - p[0] - 0.3"
direction = "both"
[output]
trajectories = [0, 299]
covariance = ["q", "p"]
)toml";

TEST(OnAGroup, AStateHasAsManyNumbersAsHoldAConfiguration) {
  const Result result = run(Study::parse(top("", everything)));
  EXPECT_EQ(result.summary.failed, 0u);
  using Shape = std::vector<std::uint64_t>;
  EXPECT_EQ(Shape(result.dataset("/final/q").shape), (Shape{300, 9}));
  EXPECT_EQ(Shape(result.dataset("/final/v").shape), (Shape{300, 3}));
  EXPECT_EQ(Shape(result.dataset("/trajectories/q").shape), (Shape{5, 2, 9}));
  EXPECT_EQ(Shape(result.dataset("/trajectories/p").shape), (Shape{5, 2, 3}));
  EXPECT_EQ(Shape(result.dataset("/state/covariance").shape), (Shape{5, 12, 12}));
  ASSERT_GT(result.array("/sections/0/time").size(), 0u);
  EXPECT_EQ(result.dataset("/sections/0/q").shape[1], 9u);
  for (const double residual : result.array("/sections/0/residual")) EXPECT_LT(residual, 1e-13);

  // rows of /initial, /final and /trajectories agree, and are rotations
  const auto q = result.array("/final/q"), kept = result.array("/trajectories/q");
  for (int i = 0; i < 9; ++i)
    EXPECT_EQ(q[static_cast<std::size_t>(299 * 9 + i)], kept[static_cast<std::size_t>((4 * 2 + 1) * 9 + i)]);
  for (std::size_t k = 0; k < q.size(); k += 9) {
    const Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>> r(q.data() + k);
    EXPECT_LT((r.transpose() * r - Eigen::Matrix3d::Identity()).norm(), 1e-13);
  }
  for (const char* name : {"q[9]", "v[3]", "p[3]"})
    EXPECT_NE(refusal(top("", fmt::format("[[observable]]\nname = \"{}\"", name))).find("unknown observable"),
              std::string::npos);
}

TEST(OnAGroup, TheBitsAreTheSameEverywhere) {
  const Study study = Study::parse(top("retraction = \"cay\"\nnormalise = true\npush = [0.1, -0.2]", everything));
  const Result reference = run(study, {.backend = "cpu:scalar", .threads = 1});
  for (const Isa isa : all_isas()) {
    if (!has_isa(isa)) continue;
    const std::string backend = std::string("cpu:") + to_string(isa);
    EXPECT_EQ(differences(reference, run(study, {.backend = backend, .threads = 2, .tile = 256})), "") << backend;
  }
}

TEST(OnAGroup, ARotationMayBeGivenByItsVectorOrItsMatrix) {
  const double angle = std::atan2(0.6, 0.8);
  const auto with = [](const std::string& q) {
    return run(Study::parse(top("", "[ensemble.initial]\nv = [0.3, 0.1, 1.0]\nq = " + q)));
  };
  const Result standard = run(Study::parse(top())), vector = with(fmt::format("[{}, 0, 0]", angle)),
               matrix = with("[1, 0, 0, 0, 0.8, -0.6, 0, 0.6, 0.8]");
  EXPECT_EQ(differences(standard, matrix), "");
  for (std::size_t i = 0; i < 9; ++i)
    EXPECT_NEAR(vector.array("/initial/q")[i], matrix.array("/initial/q")[i], 1e-15) << i;
  EXPECT_EQ(
      refusal(top("", "[ensemble.initial]\nv = [0, 0, 1]\nq = [1, 0, 0, 0]")),
      "s.toml:12: initial q of 'test-top' has 4 values (it needs 9, or 3 with rotation vectors in place of rotation "
      "matrices)");
}

TEST(OnAGroup, AMatrixThatIsNoRotationIsRefusedOrProjected) {
  const auto with = [](const std::string& q, bool project) {
    return top("",
               fmt::format("[ensemble]\nproject = {}\n[ensemble.initial]\nv = [0.3, 0.1, 1.0]\nq = {}", project, q));
  };
  const std::string off = "[1, 0, 0, 0, 0.8, -0.6, 0, 0.6, 0.81]";
  EXPECT_EQ(refusal(with(off, false)),
            "s.toml:10: initial state of trajectory 0 has a q that is not an element of the configuration space (R^T R "
            "differs from 1 by 0.0161; up to 1e-08 would be round-off); give a rotation vector in place of the matrix, "
            "or let [ensemble] project = true move it to the nearest rotation");
  const Result projected = run(Study::parse(with(off, true)));
  const Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>> r(projected.array("/initial/q").data());
  EXPECT_LT((r.transpose() * r - Eigen::Matrix3d::Identity()).norm(), 3e-15);
  // a matrix that was typed with ten digits will do
  EXPECT_EQ(refusal(with("[1, 0, 0, 0, 0.8775825619, -0.4794255386, 0, 0.4794255386, 0.8775825619]", false)), "");
  const std::string reflection = "[1, 0, 0, 0, 1, 0, 0, 0, -1]";
  EXPECT_NE(refusal(with(reflection, false)).find("a rotation matrix whose determinant is not positive"),
            std::string::npos);
  EXPECT_NE(refusal(with(reflection, true)).find("has no rotation matrix near its q"), std::string::npos);
}

TEST(OnAGroup, AResultIsAnEnsembleOfAnotherStudy) {
  const std::filesystem::path file = std::filesystem::temp_directory_path() / "rattleback_user_test.h5";
  const Result first = run(Study::parse(top("", everything)));
  first.save(file);
  const Result again =
      run(Study::parse(top("", fmt::format("[ensemble]\nfile = \"{}\"\ngroup = \"/initial\"", file.string()))));
  EXPECT_EQ(again.summary.trajectories, 300u);
  for (const char* path : {"/initial/q", "/initial/p"}) {
    const auto a = first.array(path), b = again.array(path);
    EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) {
      return std::abs(x - y) < 1e-14;
    })) << path;
  }
  std::filesystem::remove(file);
}

TEST(Options, PickTheCompiledLoops) {
  const Catalogue& catalogue = Catalogue::instance();
  const MethodEntry& method = *catalogue.method("test-euler");
  const SystemEntry &body = *catalogue.instances("test-top").front(),
                    &point = *catalogue.instances("test-oscillator").front();
  EXPECT_EQ(catalogue.keys(body, method), (std::vector<PairKey>{{1, 0}, {1, 1}, {2, 0}, {2, 1}}));
  // on R^n the retraction makes no difference: one loop, under both keys
  EXPECT_EQ(catalogue.keys(point, method), (std::vector<PairKey>{{1, 0}, {2, 0}}));
  const auto text = [&](int parts, int retraction) {
    return Unit{UnitKind::advance, &point, &method, {parts, retraction}, Isa::scalar}.text();
  };
  for (const int parts : {1, 2}) EXPECT_EQ(text(parts, 0), text(parts, 1));
  EXPECT_NE(text(1, 0), text(2, 0));
  EXPECT_EQ(Problem(Study::parse(top("parts = 2"))).key, (PairKey{2, 1}));
  EXPECT_EQ(Problem(Study::parse(top("retraction = \"cay\""))).key, (PairKey{1, 0}));
  const auto final_q = [](const std::string& options) { return run(Study::parse(top(options))).array("/final/q")[0]; };
  EXPECT_NE(final_q("retraction = \"cay\""), final_q("retraction = \"exp\""));
}

TEST(Options, ReachTheStepAsNumbers) {
  // symplectic Euler of the oscillator, by hand
  double q = 1.0, p = 0.0;
  for (int i = 0; i < 40; ++i) {
    p += 0.05 * (-q - 0.5 * p + 0.125);
    q += 0.05 * p;
  }
  const Result result = run(Study::parse(oscillator("damping = \"1/2\"\npush = [0.125]")));
  EXPECT_NEAR(result.array("/final/q")[0], q, 1e-14);
  EXPECT_NEAR(result.array("/final/p")[0], p, 1e-14);
  // the loops of a tangent vector take them too
  const Result damped = run(Study::parse(oscillator("damping = 0.5") + "[[observable]]\nname = \"lyapunov\"\n"));
  EXPECT_LT(damped.array("/final/lyapunov")[0], -0.1);
}

TEST(Options, StandInTheEffectiveStudyWithTheirDefaults) {
  const Study study = Study::parse(top());
  const std::string text = study.to_toml();
  EXPECT_NE(
      text.find("[method]\nname = \"test-euler\"\nparts = 1\ndamping = 0.25\nretraction = \"exp\"\nnormalise = false\n"
                "push = [0.0]\nsolver = {"),
      std::string::npos)
      << text;
  EXPECT_EQ(Study::parse(text).to_toml(), text);
  // what is for groups alone is not there on R^n
  const std::string flat = Study::parse(oscillator()).to_toml();
  EXPECT_EQ(flat.find("normalise"), std::string::npos);
  EXPECT_NE(flat.find("retraction"), std::string::npos);
  EXPECT_EQ(Study::parse(flat).to_toml(), flat);
  Study code = study;
  code.method.options["parts"] = 2;
  code.method.options["damping"] = 1;
  code.method.options["push"] = std::vector{0.5};
  code.validate();
  EXPECT_NE(code.to_toml().find("parts = 2\ndamping = 1.0\nretraction = \"exp\"\nnormalise = false\npush = [0.5]"),
            std::string::npos)
      << code.to_toml();
}

TEST(Method, WithoutAHeaderOrAStepIsRefused) {
  const auto refused = [](MethodEntry entry) -> std::string {
    try {
      Catalogue::instance().add(entry);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  MethodEntry entry = methods::test_euler;
  entry.header = nullptr;
  EXPECT_EQ(refused(entry), "the entry of the method 'test-euler' has no header");
  entry = methods::test_euler;
  entry.step = nullptr;
  EXPECT_EQ(refused(entry), "the entry of the method 'test-euler' has no step");
}

TEST(Options, OutOfPlaceGiveTheirMessages) {
  const auto expect = [](const std::string& message, const std::string& expected) { EXPECT_EQ(message, expected); };
  expect(
      refusal(top("stages = 2")),
      "s.toml:5: unknown key 'stages' in [method] of 'test-euler' (known: name, parts, damping, retraction, normalise, "
      "push, solver)");
  expect(
      refusal(top("dampin = 2")),
      "s.toml:5: unknown key 'dampin' in [method] of 'test-euler' (known: name, parts, damping, retraction, normalise, "
      "push, solver); did you mean 'damping'?");
  expect(refusal(top("parts = 3")), "s.toml:5: method.parts = 3 is out of range; 'test-euler' takes 1 to 2");
  expect(refusal(top("damping = -1")), "s.toml:5: method.damping = -1 is out of range; 'test-euler' takes at least 0");
  expect(refusal(top("damping = inf")),
         "s.toml:5: method.damping = inf is out of range; 'test-euler' takes at least 0");
  expect(refusal(top("damping = true")), "s.toml:5: method.damping must be a number (got a boolean)");
  expect(refusal(top("normalise = 1")), "s.toml:5: method.normalise must be true or false (got a whole number)");
  expect(refusal(top("push = 1")), "s.toml:5: method.push must be an array of numbers (got a whole number)");
  expect(refusal(top("push = [0, 2]")), "s.toml:5: method.push = 2 is out of range; 'test-euler' takes -1 to 1");
  expect(refusal(top("push = [0, 0, 0, 0]")),
         "s.toml:3: method.push has 4 numbers (the dimension is 3); leave the last ones out");
  expect(
      refusal(oscillator("normalise = true")),
      "s.toml:5: method.normalise is for systems on Lie groups (the configuration space of 'test-oscillator' is R^1); "
      "leave it out");
  EXPECT_EQ(refusal(oscillator("retraction = \"cay\"")), "");
}

TEST(Options, OfDoubtfulValueAreWarnedOf) {
  std::vector<std::string> warnings;
  RunOptions options;
  options.warn = [&](const std::string& text) { warnings.push_back(text); };
  run(Study::parse(top("damping = 2")), options);
  EXPECT_EQ(warnings, std::vector<std::string>{"method.damping = 2 is strong"});
  run(Study::parse(top("damping = 0.5")), options);
  EXPECT_EQ(warnings.size(), 1u);
}

TEST(AMethodWithoutStages, HasOrdersAllTheSame) {
  const Study study = Study::parse(top("damping = 0.5"));
  EXPECT_EQ(options_in_words(study), "parts 1, damping 0.5, retraction exp");
  EXPECT_EQ(options_in_words(Study::parse(oscillator("parts = 2"))), "parts 2");
  const OrderReport report = order(study, {0.05, 0.025, 0.0125});
  EXPECT_EQ(report.reference,
            "test-euler, parts 1, damping 0.5, retraction exp, steps 0.003125 and 0.0015625, extrapolated with orders "
            "q 1, v 1, "
            "p 1");
  for (const VariableOrder& variable : report.variables) EXPECT_NEAR(variable.max.slope, 1.0, 0.05) << variable.name;
  Reference stages;
  stages.stages = 3;
  EXPECT_EQ(message_of([&] { order(study, {0.05, 0.025}, stages); }),
            "reference: method 'test-euler' has no stages; give a step for the reference");
  Reference step;
  step.step = 0.025;
  EXPECT_EQ(
      message_of([&] { order(study, {0.05, 0.025}, step); }),
      "reference: the reference (test-euler, parts 1, damping 0.5, retraction exp, step 0.025) has fewer digits than "
      "what is tested (test-euler, parts 1, damping 0.5, retraction exp, step 0.025); give it a smaller step");
  const BenchReport bench = measure(study, {.run = {}, .repetitions = 1});
  EXPECT_GT(bench.flops_per_step, 10.0);
}

}  // namespace
