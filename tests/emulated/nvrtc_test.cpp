// Kernels that NVRTC compiles at run time, on the emulator, compute the bits of the processor's loops.

#include <bit>
#include <cstring>
#include <random>
#include <vector>

#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "device_units.hpp"
#include "rattleback/base/error.hpp"
#include "rattleback/catalogue/settings.hpp"
#include "rattleback/kernels/module.hpp"
#include "rattleback/loop/describe.hpp"
#include "rattleback/loop/instantiate.hpp"
#include "rattleback/methods/generalized_alpha/generalized_alpha.hpp"
#include "rattleback/methods/ggl/ggl.hpp"
#include "rattleback/methods/hbvm/hbvm.hpp"
#include "rattleback/methods/lobatto/lobatto.hpp"
#include "rattleback/methods/nonholonomic/dla.hpp"
#include "rattleback/methods/nonholonomic/leapfrog.hpp"
#include "rattleback/systems/holonomic/four_particle.hpp"
#include "rattleback/systems/holonomic/pendulum.hpp"
#include "rattleback/systems/nonholonomic/chaotic.hpp"
#include "rattleback/systems/nonholonomic/suslov.hpp"
#include "rattleback/systems/unconstrained/henon_heiles.hpp"

namespace rattleback {
namespace {

using tests::DeviceUnit;

using Numbers = std::array<double, max_method_numbers>;

void expect_success(cudaError_t code) { EXPECT_EQ(code, cudaSuccess) << cudaGetErrorString(code); }

/// A formula for the processor and, as text, for the device: q[0] less a number that stands behind the parameters.
template <class T>
struct FirstCoordinate {
  static constexpr int count = 1;
  template <class Point>
  RB_HD static Vector<T, count> evaluate(const Point& x) {
    return {x.q[0] - x.parameter(max_uniform_parameters - 1)};
  }
};
constexpr const char* first_coordinate =
    "template <class T> struct FirstCoordinate { static constexpr int count = 1; template <class Point> RB_HD static "
    "Vector<T, count> evaluate(const Point& x) { return {x.q[0] - x.parameter(max_uniform_parameters - 1)}; } };";

/// The image of a unit for the present device.
std::string compiled(const DeviceUnit& unit, const char* kernels, const char* formulas = "NoFormulas",
                     const std::vector<std::string>& options = {}) {
  const DeviceImage image = Nvrtc::instance().compile(unit.text(kernels, formulas, first_coordinate), "unit.cu",
                                                      architecture_of(0), tests::kernel_headers(), options);
  EXPECT_TRUE(image.ptx);  // the emulator asks for PTX
  return image.bytes;
}

/// Memory of the device with a copy of numbers of the host.
template <class T>
class OnDevice {
 public:
  explicit OnDevice(const std::vector<T>& host) : size_(host.size()) {
    expect_success(cudaMalloc(reinterpret_cast<void**>(&data_), size_ * sizeof(T)));
    expect_success(cudaMemcpy(data_, host.data(), size_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~OnDevice() { expect_success(cudaFree(data_)); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  T* get() const { return data_; }
  std::vector<T> fetched() const {
    std::vector<T> host(size_);
    expect_success(cudaMemcpy(host.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
  }

 private:
  std::size_t size_;
  T* data_ = nullptr;
};

/// Numbers with other bits; NaNs of all bits are the same.
int differences(const std::vector<double>& a, const std::vector<double>& b) {
  int count = a.size() != b.size();
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    count += std::bit_cast<std::uint64_t>(a[i]) != std::bit_cast<std::uint64_t>(b[i]) && (a[i] == a[i] || b[i] == b[i]);
  return count;
}

struct Trial {
  const char* kernels;  ///< the kernels of steps that there must be
  double large_step;    ///< of some trajectories fails
  int trajectories = 300;
  Numbers numbers{};
  int lanes = 1;  ///< that advance a trajectory together

  [[nodiscard]] int of_chunk() const { return std::min(trajectories, chunk_size); }
};

/// States near the default state of a system, and what kernels are called with.
template <template <class> class System, int own = 0>
struct Ensemble {
  using S = System<double>;
  static constexpr int n = S::n, m = S::m, N = element_size<S>, state = N + n + m + own;
  const SystemEntry& entry = describe<System>();
  const int chunks;
  KernelArguments arguments{};
  std::vector<double> data;

  Ensemble(const Trial& trial, double step) : chunks((trial.trajectories + chunk_size - 1) / chunk_size) {
    KernelArguments& a = arguments;
    int next = 0;
    const auto take = [&](int count) { return std::exchange(next, next + count); };
    a.layout = {.q = take(N),
                .p = take(n),
                .lambda = take(m),
                .status = take(1),
                .steps = take(1),
                .iterations = take(1),
                .residual = take(1),
                .step = -1,
                .steps_per_sample = -1,
                .fixed = 0,
                .fixed_rows = 0,
                .references = -1,
                .surfaces = take(1),
                .crossings = take(1),
                .slots = take(crossing_slots * (state + 2)),
                .persistent = 0,
                .rows = 0};
    a.layout.carried = take(own);
    a.layout.tangent = take(state);
    a.layout.tangent_exponent = take(1);
    a.layout.rows = next;
    for (std::size_t i = 0; i < entry.parameters.size(); ++i) a.parameters[i] = entry.parameters[i].value;
    for (int& row : a.parameter_row) row = -1;
    a.step = step;
    a.target = 3;
    a.tolerance = 1e-15;
    a.max_iterations = 50;
    std::copy(trial.numbers.begin(), trial.numbers.end(), a.method);
    a.parameters[max_uniform_parameters - 1] = entry.default_q[0] + 0.01;  // where the surface is
    a.surfaces = {.count = 1, .direction = {0}};
    data.assign(static_cast<std::size_t>(chunks * next * row_size), 0.0);
    std::mt19937_64 random(1);
    for (int k = 0; k < chunks * chunk_size; ++k) {
      set_state(k, random);
      if (k >= trial.trajectories) put(k, a.layout.status, {double(status_padding)});
    }
    for (int c = 0; c < chunks; ++c) surfaces_chunk<System, FirstCoordinate>(arguments, chunk(data, c), 0, chunk_size);
  }

  double* chunk(std::vector<double>& of, int c) const { return of.data() + c * arguments.layout.rows * row_size; }

  void run(AdvanceFunction advance, std::vector<double>& of) const {
    for (int c = 0; c < chunks; ++c) advance(arguments, chunk(of, c), 0, chunk_size);
  }
  KernelArguments on_device(const OnDevice<double>& memory) const {
    KernelArguments a = arguments;
    a.chunks = memory.get();
    return a;
  }

 private:
  void put(int k, int row, const std::vector<double>& x) {
    for (std::size_t i = 0; i < x.size(); ++i)
      chunk(data, k / chunk_size)[(row + static_cast<int>(i)) * row_size + k % chunk_size] = x[i];
  }

  void set_state(int k, std::mt19937_64& random) {
    std::vector<double> q(entry.default_q.begin(), entry.default_q.end());
    std::vector<double> v(entry.default_v.begin(), entry.default_v.end());
    std::vector<double> p(n), lambda(m), tangent(N + n + m);
    std::uniform_real_distribution<double> change(-0.3, 0.3);
    for (double& x : v) x += change(random);
    const PointView point{q.data(), v.data(), p.data(), lambda.data()};
    (*entry.functions)
        ->prepare({arguments.parameters, 0.0}, point,
                  {.from_momentum = false, .keep_multiplier = false, .project = true});
    (*entry.functions)
        ->tangents({arguments.parameters, 0.0}, q.data(), v.data(), nullptr, false, false, 1, tangent.data());
    put(k, arguments.layout.q, q);
    put(k, arguments.layout.p, p);
    put(k, arguments.layout.lambda, lambda);
    put(k, arguments.layout.tangent, tangent);
  }
};

std::string names(const std::vector<KernelFigures>& figures) {
  std::string all;
  for (const KernelFigures& kernel : figures) all += std::string(all.empty() ? "" : " ") + kernel.kernel;
  return all;
}

/// Runs each kernel of a pair on the device and on the processor.
template <template <class> class System, class Method>
void compare(const DeviceUnit& unit, const Trial& trial) {
  std::vector<std::string> options;
  if (trial.lanes > 1) options.push_back(fmt::format("-DRATTLEBACK_TEAM_LANES={}", trial.lanes));
  const std::string plain_images[] = {compiled(unit, "RB_DEVICE_ADVANCE", "NoFormulas", options),
                                      compiled(unit, "RB_DEVICE_SAMPLES", "FirstCoordinate", options)};
  const std::string images[] = {compiled(unit, "RB_DEVICE_ADVANCE", "FirstCoordinate", options),
                                compiled(unit, "RB_DEVICE_TANGENT", "FirstCoordinate", options)};
  const CudaModule plain(plain_images), sections(images);
  EXPECT_EQ(names(plain.figures()), trial.kernels);
  for (const KernelFigures& kernel : plain.figures()) EXPECT_EQ(kernel.lanes, trial.lanes);
  EXPECT_EQ(names(sections.figures()), "advance tangent");
  for (const double step : {describe<System>().time_scale / 40, trial.large_step}) {
    Ensemble<System, Method::template of<double, System<double>>::State::carries> ensemble(trial, step);
    const auto expect_same = [&](const char* what, AdvanceFunction cpu, const CudaModule& module, auto cuda) {
      std::vector<double> expected = ensemble.data;
      ensemble.run(cpu, expected);
      const OnDevice<double> memory(ensemble.data);
      (module.*cuda)(ensemble.on_device(memory), ensemble.chunks, nullptr);
      const std::vector<double> found = memory.fetched();
      EXPECT_EQ(differences(expected, found), 0) << what << ", step " << step;
      EXPECT_NE(differences(ensemble.data, found), 0) << what << ", step " << step;
      const double* status = found.data() + ensemble.arguments.layout.status * row_size;
      const auto good = std::count(status, status + trial.of_chunk(), 0.0);
      EXPECT_GT(good, 0) << what << ", step " << step;
      EXPECT_EQ(good < trial.of_chunk(), step == trial.large_step)
          << what << ", step " << step << ", " << good << " good";
    };
    expect_same("sections", advance_chunk<System, Method, FirstCoordinate>, sections, &CudaModule::advance);
    expect_same("tangent", advance_chunk_with<System, Method, CarryTangent, FirstCoordinate>, sections,
                &CudaModule::advance_tangent);
    expect_same("plain", advance_chunk<System, Method>, plain, &CudaModule::advance);

    const std::vector<ObservableCode> codes{
        {ObservableCode::system, 0}, {ObservableCode::v, 0}, {ObservableCode::formula, 0}};
    const int count = static_cast<int>(codes.size());
    std::vector<double> expected(static_cast<std::size_t>(ensemble.chunks * count * chunk_size));
    for (int c = 0; c < ensemble.chunks; ++c)
      observe_chunk<System, FirstCoordinate>(ensemble.arguments, ensemble.chunk(ensemble.data, c), 0, chunk_size,
                                             codes.data(), count, expected.data() + c * count * chunk_size);
    const OnDevice<double> memory(ensemble.data), values(std::vector<double>(expected.size()));
    const OnDevice<ObservableCode> device_codes(codes);
    plain.observe(ensemble.on_device(memory), ensemble.chunks, device_codes.get(), count, values.get(), nullptr);
    EXPECT_EQ(differences(expected, values.fetched()), 0) << "observables";
  }
}

class NvrtcOnTheEmulator : public testing::Test {
 protected:
  void SetUp() override {
    try {
      (void)Nvrtc::instance();
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }
};

template <class T>
using Chaotic3 = Chaotic<T, 3, ChaoticVariant::printed>;
template <class T>
using SphericalPendulum = Pendulum<T, 3>;
template <int stages>
struct Lobatto {
  template <class T, class S>
  using of = LobattoStep<T, S, Cay, stages>;
};
struct Hbvm2 {
  template <class T, class S>
  using of = Hbvm<T, S, 2>;
};
struct Leapfrog {
  template <class T, class S>
  using of = LeapfrogStep<T, S>;
};
struct MidpointDla {
  template <class T, class S>
  using of = DlaStep<T, S, DlaLagrangian::midpoint, DlaConstraint::mid>;
};
struct DampedNewmark {
  template <class T, class S>
  using of = GeneralizedAlpha<T, S, Stabilised>;
};
struct GglViA {
  template <class T, class S>
  using of = GglStep<T, S, GglScheme::theta_a>;
};

constexpr DeviceUnit chaotic{"nonholonomic/chaotic.hpp", "Chaotic<T, 3, ChaoticVariant::printed>",
                             "lobatto/lobatto.hpp", "LobattoStep<T, S, Cay, 3>"};

TEST_F(NvrtcOnTheEmulator, NonholonomicLobattoHasTheBitsOfTheProcessor) {
  compare<Chaotic3, Lobatto<3>>(chaotic, {"advance", 2.0});
}

TEST_F(NvrtcOnTheEmulator, HolonomicLobattoHasTheBitsOfTheProcessor) {
  compare<SphericalPendulum, Lobatto<3>>(
      {"holonomic/pendulum.hpp", "Pendulum<T, 3>", "lobatto/lobatto.hpp", "LobattoStep<T, S, Cay, 3>"},
      {"advance fast", 2.0});
}

TEST_F(NvrtcOnTheEmulator, LobattoOnAGroupHasTheBitsOfTheProcessor) {
  compare<Suslov, Lobatto<2>>(
      {"nonholonomic/suslov.hpp", "Suslov<T>", "lobatto/lobatto.hpp", "LobattoStep<T, S, Cay, 2>"},
      {"advance fast", 1.0, 60});
}

TEST_F(NvrtcOnTheEmulator, LineIntegralsHaveTheBitsOfTheProcessor) {
  Trial trial{"advance fast", 20.0};
  trial.numbers = Settlement::of(HbvmNumbers::of(2, {.k = 3})).numbers;
  compare<HenonHeiles, Hbvm2>({"unconstrained/henon_heiles.hpp", "HenonHeiles<T>", "hbvm/hbvm.hpp", "Hbvm<T, S, 2>"},
                              trial);
}

TEST_F(NvrtcOnTheEmulator, GeneralizedAlphaHasTheBitsOfTheProcessor) {
  Trial trial{"advance fast", 6.0, 40};
  trial.numbers = Settlement::of(GeneralizedAlphaNumbers::of(0.8)).numbers;
  compare<Chaotic3, DampedNewmark>({"nonholonomic/chaotic.hpp", "Chaotic<T, 3, ChaoticVariant::printed>",
                                    "generalized_alpha/generalized_alpha.hpp", "GeneralizedAlpha<T, S, Stabilised>"},
                                   trial);
}

TEST_F(NvrtcOnTheEmulator, NonholonomicStepsWithoutMultiplierHaveTheBitsOfTheProcessor) {
  const auto unit = [](const char* header, const char* step) {
    return DeviceUnit{"nonholonomic/chaotic.hpp", "Chaotic<T, 3, ChaoticVariant::printed>", header, step};
  };
  compare<Chaotic3, Leapfrog>(unit("nonholonomic/leapfrog.hpp", "LeapfrogStep<T, S>"), {"advance", 1.0, 60});
  compare<Chaotic3, MidpointDla>(
      unit("nonholonomic/dla.hpp", "DlaStep<T, S, DlaLagrangian::midpoint, DlaConstraint::mid>"), {"advance", 0.8, 60});
}

// Teams of lanes advance a trajectory together. The emulator is slow there.
TEST_F(NvrtcOnTheEmulator, TeamsHaveTheBitsOfTheProcessor) {
  compare<FourParticle, GglViA>(
      {"holonomic/four_particle.hpp", "FourParticle<T>", "ggl/ggl.hpp", "GglStep<T, S, GglScheme::theta_a>"},
      {"advance", 2.0, 20, {0.5, 0.5}, 8});
}

TEST_F(NvrtcOnTheEmulator, AModuleKnowsItsKernels) {
  const std::string images[] = {compiled(chaotic, "RB_DEVICE_ADVANCE")};
  const CudaModule module(images);
  EXPECT_TRUE(module.has(DeviceKernel::advance));
  EXPECT_FALSE(module.has(DeviceKernel::fast));
  EXPECT_FALSE(module.has(DeviceKernel::tangent));
  const std::vector<KernelFigures> figures = module.figures();
  EXPECT_EQ(names(figures), "advance");
  for (const KernelFigures& kernel : figures) {
    EXPECT_EQ(kernel.lanes, 1);
    EXPECT_EQ(kernel.threads, threads_of_block);
    EXPECT_GT(kernel.blocks, 0);
  }
  try {
    module.advance_tangent({}, 1, nullptr);
    ADD_FAILURE() << "a kernel that was not compiled was launched";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "CUDA: the kernel 'tangent' was not compiled");
  }
}

TEST_F(NvrtcOnTheEmulator, AnImageOfAnotherVersionIsRefused) {
  const std::string image = Nvrtc::instance()
                                .compile(
                                    "struct Table { long bytes; int shapes[12]; };\n"
                                    "extern \"C\" __constant__ Table rattleback_kernels{1};\n",
                                    "old.cu", architecture_of(0), {})
                                .bytes;
  try {
    const CudaModule module(std::span(&image, 1));
    ADD_FAILURE() << "the image was taken";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "CUDA: the kernels are of another version of rattleback; compile them anew");
  }
}

}  // namespace
}  // namespace rattleback
