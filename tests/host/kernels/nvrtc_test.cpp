// NVRTC takes the kernels of every family of methods, the headers of all systems, and headers of a user.

#include "rattleback/kernels/nvrtc.hpp"

#include <algorithm>
#include <filesystem>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "device_units.hpp"
#include "environment.hpp"
#include "rattleback/base/error.hpp"
#include "rattleback/kernels/ptx.hpp"
#include "rattleback/kernels/standard.hpp"

using namespace rattleback;
using namespace rattleback::tests;
namespace fs = std::filesystem;

namespace nvrtc_test {

template <class F>
std::string message_of(F&& f, Error::Kind kind = Error::Kind::runtime) {
  try {
    f();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    return error.what();
  }
  return "";
}

class NvrtcTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string missing = message_of([] { (void)Nvrtc::instance(); }, Error::Kind::input); !missing.empty())
      GTEST_SKIP() << missing;
  }
};

struct Family {
  const char* name;
  DeviceUnit unit;
  const char* kernels = "RB_DEVICE_ADVANCE";
};
void PrintTo(const Family& family, std::ostream* stream) { *stream << family.name; }

constexpr const char* pendulum = "holonomic/pendulum.hpp";
constexpr const char* chaotic = "nonholonomic/chaotic.hpp";
constexpr const char* lobatto = "lobatto/lobatto.hpp";
constexpr const char* energy_momentum = "energy_momentum/energy_momentum.hpp";
constexpr const char* generalized_alpha = "generalized_alpha/generalized_alpha.hpp";
const Family families[] = {
    {"nonholonomic_lobatto", {chaotic, "Chaotic<T, 3, ChaoticVariant::printed>", lobatto, "LobattoStep<T, S, Cay, 3>"}},
    {"nonholonomic_lobatto_tangent",
     {chaotic, "Chaotic<T, 3, ChaoticVariant::contact>", lobatto, "LobattoStep<T, S, Cay, 5>"},
     "RB_DEVICE_TANGENT"},
    {"nonlinear_constraint",
     {"nonholonomic/isokinetic_particle.hpp", "IsokineticParticle<T>", lobatto, "LobattoStep<T, S, Cay, 3>"}},
    {"holonomic_lobatto", {pendulum, "Pendulum<T, 3>", lobatto, "LobattoStep<T, S, Cay, 2>"}},
    {"group_lobatto", {"nonholonomic/suslov.hpp", "Suslov<T>", lobatto, "LobattoStep<T, S, Exp, 2>"}},
    {"hbvm", {"unconstrained/henon_heiles.hpp", "HenonHeiles<T>", "hbvm/hbvm.hpp", "Hbvm<T, S, 4>"}},
    {"runge_kutta", {pendulum, "Pendulum<T, 2>", "conversion/runge_kutta.hpp", "RungeKutta<T, S>"}},
    {"variational_conversion",
     {"unconstrained/angle_pendulum.hpp", "AnglePendulum<T>", "conversion/variational_conversion.hpp",
      "VariationalConversion<T, S>"}},
    {"vrkmk", {"unconstrained/heavy_top.hpp", "HeavyTop<T>", "lie/vrkmk.hpp", "VrkmkStep<T, S, 1>"}},
    {"vcg", {"unconstrained/heavy_top.hpp", "HeavyTop<T>", "lie/vcg.hpp", "VcgStep<T, S>"}},
    {"ggl_vi_s", {pendulum, "Pendulum<T, 3>", "ggl/ggl.hpp", "GglStep<T, S, GglScheme::vi_s>"}},
    {"ggl_vi_a",
     {"holonomic/four_particle.hpp", "FourParticle<T>", "ggl/ggl.hpp", "GglStep<T, S, GglScheme::theta_a>"}},
    {"energy_momentum",
     {pendulum, "Pendulum<T, 3>", energy_momentum, "EnergyMomentumStep<T, S, GglScheme::energy_momentum>"}},
    {"generalized_alpha", {pendulum, "Pendulum<T, 3>", generalized_alpha, "GeneralizedAlpha<T, S, Stabilised>"}},
    {"generalized_alpha_tangent",
     {chaotic, "Chaotic<T, 3, ChaoticVariant::contact>", generalized_alpha, "GeneralizedAlpha<T, S, Stabilised>"},
     "RB_DEVICE_TANGENT"},
    {"bobenko_suris",
     {"holonomic/heavy_top_directors.hpp", "HeavyTopDirectors<T>", "energy_momentum/bobenko_suris.hpp",
      "BobenkoSuris<T, S>"}},
};

class NvrtcFamily : public NvrtcTest, public testing::WithParamInterface<Family> {};

TEST_P(NvrtcFamily, BecomesMachineCode) {
  const Family& family = GetParam();
  const DeviceImage image =
      Nvrtc::instance().compile(family.unit.text(family.kernels), family.name, "sm_90", kernel_headers());
  EXPECT_FALSE(image.ptx);
  EXPECT_EQ(image.architecture, "sm_90");
  EXPECT_TRUE(image.bytes.starts_with("\177ELF"));
  EXPECT_EQ(image.log, "");
  for (const char* name : {"advance", "fast"})
    EXPECT_EQ(image.bytes.find(fmt::format(".text.{}", name)) != image.bytes.npos,
              std::string(family.kernels) == "RB_DEVICE_ADVANCE")
        << name;
  EXPECT_NE(image.bytes.find("rattleback_kernels"), image.bytes.npos);
}

INSTANTIATE_TEST_SUITE_P(All, NvrtcFamily, testing::ValuesIn(families),
                         [](const auto& family) { return std::string(family.param.name); });

TEST_F(NvrtcTest, ReadsTheHeadersOfAllSystemsAndMethods) {
  std::string unit = "#define RATTLEBACK_ISA cuda\n#include \"rattleback/loop/device.cuh\"\n";
  int count = 0;
  for (const auto& [name, text] : kernel_headers()) {
    if (!name.starts_with("rattleback/systems/") && !name.starts_with("rattleback/methods/")) continue;
    if (name.ends_with("entry.hpp")) continue;  // of the host
    unit += fmt::format("#include \"{}\"\n", name);
    ++count;
  }
  EXPECT_GT(count, 50);
  const DeviceImage image = Nvrtc::instance().compile(unit, "all.cu", "compute_90", kernel_headers());
  EXPECT_TRUE(image.ptx);
  EXPECT_EQ(image.log, "");
}

TEST_F(NvrtcTest, ReadsTheStandardLibraryOneHeaderAtATime) {
  for (const StandardHeader& header : standard_headers()) {
    const std::string unit = fmt::format("#include <{}>\n__global__ void kernel() {{}}\n", header.name);
    EXPECT_EQ(Nvrtc::instance().compile(unit, "unit.cu", "compute_90", {}).log, "") << header.name;
  }
}

constexpr const char* standard_unit = R"unit(
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numbers>
#include <span>
#include <utility>
static_assert(std::same_as<std::remove_cvref_t<const int&>, int> && !std::same_as<int, long>);
static_assert(std::derived_from<std::true_type, std::bool_constant<true>> && !std::derived_from<int, int>);
static_assert(std::convertible_to<int, double> && !std::convertible_to<int*, double>);
static_assert(std::constructible_from<double, int> && !std::constructible_from<int*, double>);
static_assert(std::is_same_v<std::decay_t<const int (&)[3]>, const int*>);
static_assert(std::is_same_v<std::make_integer_sequence<int, 3>, std::integer_sequence<int, 0, 1, 2>>);
static_assert(std::is_same_v<std::remove_cvref_t<const volatile double&&>, double> && std::is_array_v<int[2]>);
static_assert(std::is_same_v<std::decay_t<const double&>, double> && std::is_pointer_v<int*> && !std::is_reference_v<int>);
static_assert(std::is_invocable_v<int (*)(double), float> && !std::is_invocable_v<int (*)(double), int*>);
static_assert(std::bit_cast<std::uint64_t>(1.0) == 0x3ff0000000000000u);
static_assert(std::numeric_limits<int>::lowest() == -2147483647 - 1);
static_assert(std::numeric_limits<unsigned>::max() == 4294967295u && std::numeric_limits<bool>::max());
static_assert(std::numeric_limits<std::int64_t>::max() == 0x7fffffffffffffff && std::numeric_limits<std::uint8_t>::digits == 8);
static_assert(std::numeric_limits<std::uint64_t>::max() == ~0ul && std::numeric_limits<signed char>::lowest() == -128);
static_assert(std::numeric_limits<double>::epsilon() == 0x1p-52 && std::numeric_limits<double>::infinity() > 1e308);
static_assert(std::bit_cast<std::uint64_t>(std::numeric_limits<double>::quiet_NaN()) == 0x7ff8000000000000u);
static_assert(std::abs(-0.5) == 0.5 && std::isnan(__builtin_nan("")) && std::isinf(-__builtin_huge_val()));
static_assert(std::numbers::pi > 3.14159265358979);
static_assert(std::max({1, 3, 2}) == 3 && std::min(2.0, 1.0) == 1.0 && std::clamp(5, 0, 3) == 3);
constexpr std::array numbers{1.0, 2.0, 3.0};
constexpr double sum(std::span<const double> x) {
  double s = 0.0;
  for (double y : x) s += y;
  return s;
}
static_assert(sum(numbers) == 6.0 && sum(std::span(numbers).subspan(1)) == 5.0 && std::size(numbers) == 3);
static_assert(std::array<int, 0>{}.empty() && numbers == std::array{1.0, 2.0, 3.0} && std::get<1>(numbers) == 2.0);
)unit";

TEST_F(NvrtcTest, HasTheStandardLibraryThatKernelsNeed) {
  EXPECT_EQ(Nvrtc::instance().compile(standard_unit, "standard.cu", "compute_90", {}).log, "");
}

TEST_F(NvrtcTest, CompilesASystemAndAMethodOfAUser) {
  HeaderTexts headers = kernel_headers();
  for (const char* name : {"systems.hpp", "euler.hpp"}) {
    std::ifstream file(fs::path(RATTLEBACK_USER_FOLDER) / name);
    headers[fmt::format("/home/user/{}", name)] = std::string(std::istreambuf_iterator<char>(file), {});
  }
  const std::string unit =
      "#define RATTLEBACK_ISA cuda\n#include \"rattleback/loop/device.cuh\"\n"
      "#include \"/home/user/systems.hpp\"\n#include \"/home/user/euler.hpp\"\n"
      "template <class T>\nusing System = rattleback::TestTop<T>;\n"
      "struct Method {\n  template <class T, class S>\n  using of = rattleback::TestEuler<T, S, 1, "
      "rattleback::Cay>;\n};\n"
      "RB_DEVICE_ADVANCE(System, Method, rattleback::NoFormulas)\n";
  EXPECT_TRUE(Nvrtc::instance().compile(unit, "user.cu", "sm_90", headers).bytes.starts_with("\177ELF"));
}

TEST_F(NvrtcTest, SaysThatAMethodDoesNotTakeASystem) {
  const DeviceUnit unit{chaotic, "Chaotic<T, 3, ChaoticVariant::printed>", "hbvm/hbvm.hpp", "Hbvm<T, S, 2>"};
  for (const char* kernels : {"RB_DEVICE_ADVANCE", "RB_DEVICE_TANGENT"}) {
    const std::string message =
        message_of([&] { (void)Nvrtc::instance().compile(unit.text(kernels), "unit.cu", "sm_90", kernel_headers()); });
    EXPECT_NE(message.find("the step of the method does not take the system"), message.npos) << message;
  }
}

TEST_F(NvrtcTest, CompilesInSeveralThreadsAndAlwaysTheSame) {
  const auto compile = [](const Family& family) {
    return Nvrtc::instance().compile(family.unit.text(family.kernels), family.name, "sm_90", kernel_headers()).bytes;
  };
  const Family& a = families[0];
  const Family& b = families[5];
  std::string of_a, of_b;
  std::thread first([&] { of_a = compile(a); }), second([&] { of_b = compile(b); });
  first.join();
  second.join();
  EXPECT_NE(of_a, of_b);
  EXPECT_EQ(of_a, compile(a));
  EXPECT_EQ(of_b, compile(b));
}

TEST_F(NvrtcTest, KnowsArchitectures) {
  const Nvrtc& nvrtc = Nvrtc::instance();
  const int newest = nvrtc.architectures().back(), oldest = nvrtc.architectures().front();
  EXPECT_EQ(nvrtc.target("sm_90"), "sm_90");
  EXPECT_EQ(nvrtc.target("compute_90"), "compute_90");
  EXPECT_EQ(nvrtc.target("sm_999"), fmt::format("compute_{}", newest));
  const std::string old = message_of([&] { (void)nvrtc.target("sm_35"); }, Error::Kind::input);
  EXPECT_NE(
      old.find(fmt::format("has no code for GPUs of compute capability 3.5, the oldest is {}.{}; use an older NVRTC",
                           oldest / 10, oldest % 10)),
      old.npos)
      << old;
  for (const char* wrong : {"90", "sm_", "sm_x", "sm_90a?", ""})
    EXPECT_EQ(message_of([&] { (void)nvrtc.target(wrong); }, Error::Kind::input),
              fmt::format("architecture: '{}' is not the architecture of a GPU; example: sm_90", wrong));
  setenv("RATTLEBACK_CUDA_IMAGE", "ptx", 1);
  EXPECT_EQ(nvrtc.target("sm_90"), "compute_90");
  unsetenv("RATTLEBACK_CUDA_IMAGE");
}

TEST_F(NvrtcTest, ShowsTheFirstErrorAndKeepsTheLog) {
  const fs::path log = fs::temp_directory_path() / fmt::format("rattleback-nvrtc-{}.log", getpid());
  EXPECT_EQ(message_of(
                [&] { (void)Nvrtc::instance().compile("int a = b;\nint c = d;\n", "wrong.cu", "sm_90", {}, {}, log); }),
            fmt::format("compiling wrong.cu for sm_90 failed: wrong.cu(1): error: identifier \"b\" is undefined; all "
                        "messages are in '{}'",
                        log.string()));
  std::ifstream file(log);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_NE(text.find("identifier \"d\" is undefined"), text.npos) << text;
  fs::remove(log);
  const std::string missing =
      message_of([] { (void)Nvrtc::instance().compile("#include \"missing.hpp\"\n", "wrong.cu", "sm_90", {}); });
  EXPECT_NE(missing.find("could not open source file \"missing.hpp\""), missing.npos) << missing;
}

TEST_F(NvrtcTest, IsLeftToItselfByAnInterrupt) {
  const std::string unit = "extern \"C\" __global__ void add(double* x) { x[0] += x[1]; }";
  const auto compiled = [&](const std::function<bool()>& stop) {
    return Nvrtc::instance().compile_unless(stop, unit, "unit.cu", "sm_90", {}, {}).bytes;
  };
  EXPECT_EQ(message_of([&] { (void)compiled([] { return true; }); }), "interrupted");
  EXPECT_EQ(compiled({}), Nvrtc::instance().compile(unit, "unit.cu", "sm_90", {}).bytes);
}

TEST_F(NvrtcTest, RefusesKernelsThatCouldHaveOtherBits) {
  const auto refusal = [](const char* expression, const char* architecture = "sm_90") {
    const std::string unit =
        fmt::format("#include <cmath>\n__global__ void kernel(double* x, float* y) {{ x[0] = {}; }}", expression);
    return message_of([&] { (void)Nvrtc::instance().compile(unit, "kernel.cu", architecture, {}); });
  };
  EXPECT_EQ(refusal("x[1] * x[2] + x[3]"), "");
  EXPECT_NE(refusal("__dadd_rz(x[1], x[2])").find("add.rz.f64 does not round to nearest (.rn)"), std::string::npos);
  EXPECT_EQ(refusal("std::sin(x[1])"),
            "compiling kernel.cu for sm_90 failed: a kernel calls std::sin(double), which gives other bits on a GPU "
            "than on a CPU; "
            "call rattleback's function of this name, without std::");
  EXPECT_NE(refusal("std::sin(x[1])", "compute_90").find("a kernel calls std::sin(double)"), std::string::npos);
  EXPECT_NE(refusal("__sinf(y[1])").find("sin.approx.f32 approximates"), std::string::npos);
}

TEST(NvrtcOptions, ChangeLaunchesAndNothingElse) {
  const auto options = [](const char* text) {
    setenv("RATTLEBACK_NVRTCFLAGS", text, 1);
    const std::string refused = message_of([] { (void)Nvrtc::launch_options(); }, Error::Kind::input);
    const std::string taken = refused.empty() ? fmt::format("{}", fmt::join(Nvrtc::launch_options(), " ")) : refused;
    unsetenv("RATTLEBACK_NVRTCFLAGS");
    return taken;
  };
  EXPECT_EQ(options(""), "");
  EXPECT_EQ(options(" -DRATTLEBACK_TEAM_LANES=16\t-DRATTLEBACK_BLOCKS=2  -DRATTLEBACK_BLOCK_THREADS=128"),
            "-DRATTLEBACK_TEAM_LANES=16 -DRATTLEBACK_BLOCKS=2 -DRATTLEBACK_BLOCK_THREADS=128");
  const std::string known =
      " is refused (known: -DRATTLEBACK_TEAM_LANES=1, 8, 16, 32; -DRATTLEBACK_BLOCK_THREADS=32, 64, 128, 256; "
      "-DRATTLEBACK_BLOCKS=1, 2, 3, 4, 6, 8, 16, 32)";
  for (const char* wrong : {"--fmad=true", "-DRATTLEBACK_TEAM_LANES=7", "-DRATTLEBACK_TEAM_LANES=8;", "-DX", "-D",
                            "-DRATTLEBACK_BLOCKS=-1"})
    EXPECT_EQ(options(fmt::format("-DRATTLEBACK_BLOCKS=2 {}", wrong).c_str()),
              fmt::format("RATTLEBACK_NVRTCFLAGS: '{}'{}", wrong, known));
}

// What cmake/check_ptx finds in the PTX of nvcc (check_ptx_test.py).
TEST(Ptx, IsReadOpcodeByOpcode) {
  EXPECT_EQ(fault_of_ptx(""), "");
  EXPECT_EQ(fault_of_ptx(".reg .f64 %fd<4>;\n\tadd.rn.f64 \t%fd1, %fd2, %fd3;\n\tadd.s32 %r1, %r2, %r3;\n"), "");
  EXPECT_EQ(fault_of_ptx("\t@%p1 fma.rn.f64 %fd1, %fd2, %fd3, %fd1;\n\tsetp.gt.f64 %p1, %fd1, %fd2;\n"), "");
  const std::string rounding = " does not round to nearest (.rn)";
  for (const char* opcode : {"add.f64", "sub.f64", "mul.f64", "add.rz.f64", "fma.rm.f64", "mad.f32", "div.rp.f64",
                             "sqrt.f64", "rcp.rz.f64", "add.f32x2", "fma.f16", "mul.bf16x2"})
    for (const char* before : {"\t", "\t@%p1 ", "@!%p1\t", "{ mov.b32 %r1, 0; ", "\t{"})
      EXPECT_EQ(fault_of_ptx(std::string("\tret;\n") + before + opcode + " %a, %b, %c;\n"), opcode + rounding)
          << before;
  EXPECT_EQ(fault_of_ptx("\tfma.rn.ftz.f32 %a, %b, %c, %d;\n"), "fma.rn.ftz.f32 flushes to zero");
  EXPECT_EQ(fault_of_ptx("\tdiv.approx.f32 %a, %b, %c;\n"), "div.approx.f32 approximates");
  EXPECT_EQ(fault_of_ptx("\tdiv.full.f32 %a, %b, %c;\n"), "div.full.f32 approximates");
  for (const char* name : {"sin", "cos", "tan", "ex2", "lg2", "tanh", "rsqrt"})
    EXPECT_EQ(fault_of_ptx(fmt::format("\t{}.f64 %a, %b;\n", name)), fmt::format("{}.f64 approximates", name));
}

TEST(NvrtcLibrary, ThatIsMissingIsToldWithARemedy) {
  const fs::path nowhere[] = {"/nonexistent"};
  EXPECT_EQ(message_of([&] { Nvrtc{nowhere}; }, Error::Kind::input),
            "kernels for a GPU need NVIDIA's compiler library NVRTC, which was not found in '/nonexistent'; install it "
            "with `python3 -m pip "
            "install nvidia-cuda-nvrtc` or with the CUDA toolkit (apt: nvidia-cuda-toolkit), or name the library in "
            "RATTLEBACK_NVRTC");
}

TEST(NvrtcLibrary, OfAnActiveCondaEnvironmentGoesBeforeThoseOfTheMachine) {
  const Variable conda("CONDA_PREFIX", "/conda"), home("CUDA_HOME", "/home"), path("CUDA_PATH", nullptr);
  const std::vector<fs::path> places = Nvrtc::usual_places();
  ASSERT_GE(places.size(), 3u);
  EXPECT_EQ(places[0], "/conda");
  EXPECT_EQ(places[1], "/home");
  EXPECT_EQ(places[2], "/usr/local/cuda");
}

TEST(NvrtcLibrary, ThatIsAnotherIsRefused) {
  const fs::path other[] = {"libm.so.6"};
  const std::string message = message_of([&] { Nvrtc{other}; }, Error::Kind::input);
  EXPECT_NE(message.find("libm.so.6 is not NVRTC (it has no nvrtcVersion)"), message.npos) << message;
}

}  // namespace nvrtc_test
