// Advances 256 trajectories of some systems by a compiled loop and prints the bits of what it leaves: states, counts,
// residuals, observables and moments. cross_test.py compares what the programs of all compilers and instruction sets print.

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "bits.hpp"
#include "rattleback/catalogue/settings.hpp"
#include "rattleback/loop/describe.hpp"
#include "rattleback/loop/instantiate.hpp"
#include "rattleback/loop/reduction.hpp"
#include "rattleback/methods/ggl/ggl.hpp"
#include "rattleback/methods/hbvm/hbvm.hpp"
#include "rattleback/methods/lobatto/lobatto.hpp"
#include "rattleback/systems/holonomic/heavy_top_directors.hpp"
#include "rattleback/systems/holonomic/pendulum.hpp"
#include "rattleback/systems/nonholonomic/chaotic.hpp"
#include "rattleback/systems/nonholonomic/rattleback.hpp"
#include "rattleback/systems/unconstrained/henon_heiles.hpp"

namespace rattleback {
namespace {

template <class T>
using Chaotic3 = Chaotic<T, 3, ChaoticVariant::printed>;
template <class T>
using SphericalPendulum = Pendulum<T, 3>;

template <int stages>
struct Lobatto {
  template <class T, class System>
  using of = LobattoStep<T, System, Cay, stages>;
};
template <int s>
struct LineIntegral {
  template <class T, class System>
  using of = Hbvm<T, System, s>;
};
struct GglViS {
  template <class T, class System>
  using of = GglStep<T, System, GglScheme::vi_s>;
};

/// Random states near the default state, on the constraint, with a step size and a number of steps of their own. Every
/// eighth step is so long that iterations are hard or fail.
template <template <class> class System, class Method>
void print_trajectories(const char* name, const Settlement& settled = {}) {
  using Sys = System<double>;
  constexpr int elements = element_size<Sys>, n = Sys::n, m = Sys::m;
  constexpr auto parameters = parameters_of<Sys>();
  constexpr auto listed = observables<Sys>();
  KernelArguments arguments{};
  arguments.tolerance = 1e-15;
  arguments.max_iterations = 50;
  arguments.target = 30;
  std::ranges::copy(settled.numbers, arguments.method);
  std::ranges::fill(arguments.parameter_row, -1);
  for (std::size_t i = 0; i < parameters.size(); ++i) arguments.parameters[i] = parameters[i].value;
  ChunkLayout& rows = arguments.layout;
  rows.p = elements;
  rows.lambda = rows.p + n;
  rows.status = rows.lambda + m;
  rows.steps = rows.status + 1;
  rows.iterations = rows.status + 2;
  rows.residual = rows.status + 3;
  rows.step = rows.status + 4;
  rows.steps_per_sample = rows.status + 5;
  rows.rows = rows.status + 6;

  std::vector<double> chunk(static_cast<std::size_t>(rows.rows) * row_size);
  const auto at = [&](int row, int lane) -> double& { return chunk[static_cast<std::size_t>(row * row_size + lane)]; };
  const double width = time_scale<Sys>() < 1.0 ? 0.005 : 0.1;
  Random random(11);
  for (int lane = 0; lane < chunk_size; ++lane) {
    std::array<double, elements> q = Sys::default_q;
    std::array<double, n> v = Sys::default_v, p{};
    std::array<double, m> lambda{};
    for (double& x : q) x += random.uniform(-width, width);
    for (double& x : v) x += random.uniform(-width, width);
    prepare<System>({arguments.parameters, 0.0}, {q.data(), v.data(), p.data(), lambda.data()}, {false, false, true});
    for (int i = 0; i < elements; ++i) at(i, lane) = q[static_cast<std::size_t>(i)];
    for (int i = 0; i < n; ++i) at(rows.p + i, lane) = p[static_cast<std::size_t>(i)];
    for (int i = 0; i < m; ++i) at(rows.lambda + i, lane) = lambda[static_cast<std::size_t>(i)];
    const double factor = lane % 8 == 5 ? random.uniform(1.0, 8.0) : random.uniform(0.02, 0.1);
    at(rows.step, lane) = factor * time_scale<Sys>();
    at(rows.steps_per_sample, lane) = 20 + static_cast<double>(random.bits() % 11);
  }
  advance_chunk<System, Method>(arguments, chunk.data(), 0, chunk_size);

  std::vector<ObservableCode> codes;
  for (int i = 0; i < static_cast<int>(listed.size()); ++i) codes.push_back({ObservableCode::system, i});
  const int count = static_cast<int>(codes.size());
  std::vector<double> values(codes.size() * chunk_size);
  observe_chunk<System>(arguments, chunk.data(), 0, chunk_size, codes.data(), count, values.data());
  for (int lane = 0; lane < chunk_size; ++lane) {
    for (int row = 0; row < rows.step; ++row)
      print((std::string(name) + ", row " + std::to_string(row) + ", trajectory").c_str(), lane, {at(row, lane)});
    for (int i = 0; i < count; ++i)
      print((std::string(name) + ", " + listed[static_cast<std::size_t>(i)].name + ", trajectory").c_str(), lane,
            {values[static_cast<std::size_t>(i * chunk_size + lane)]});
  }
  for (int i = 0; i < count; ++i) {
    const double* x = values.data() + i * chunk_size;
    const Moments m = reduce_chunk<Real>(x, x);
    print((std::string(name) + ", moments").c_str(), i, {m.count, m.mean, m.squares, m.minimum, m.maximum, m.missing});
  }
  int failed = 0;
  for (int lane = 0; lane < chunk_size; ++lane) failed += at(rows.status, lane) != 0.0;
  std::printf("%s, failed %d\n", name, failed);
}

Settlement line_integral_numbers(int s) { return Settlement::of(HbvmNumbers::of(s, HbvmOptions{})); }

}  // namespace
}  // namespace rattleback

int main() {
  using namespace rattleback;
  print_trajectories<Chaotic3, Lobatto<3>>("chaotic, Lobatto, 3 stages");
  print_trajectories<SphericalPendulum, Lobatto<3>>("spherical pendulum, Lobatto, 3 stages");
  print_trajectories<Rattleback, Lobatto<2>>("rattleback, Lobatto, 2 stages");
  print_trajectories<HenonHeiles, LineIntegral<2>>("henon-heiles, HBVM, s = 2", line_integral_numbers(2));
  print_trajectories<HeavyTopDirectors, GglViS>("heavy top in directors, ggl-vi-s");
}
