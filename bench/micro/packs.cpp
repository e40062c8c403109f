// Measures nanoseconds of processor per trajectory-step on one core for every instruction set. The instruction sets take turns
// within each repetition, and the medians are compared. Prints a Markdown table.
//
//   build/release/bench/bench_packs [repetitions] [part of a system's or a method's name]

#include <algorithm>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "../timing.hpp"
#include "loops.hpp"

using namespace rattleback;

namespace {

using bench::median;

struct Row {
  const char* system;
  const char* variant;
  const char* method;
  const char* options;
  double step = 0.1;
};

constexpr Row rows[] = {
    {"chaotic", "printed", "nonholonomic-lobatto", "stages = 2"},
    {"chaotic", "printed", "nonholonomic-lobatto", "stages = 3"},
    {"chaotic", "printed", "nonholonomic-lobatto", "stages = 4"},
    {"chaotic", "printed", "nonholonomic-lobatto", "stages = 5"},
    {"chaotic", "contact", "nonholonomic-lobatto", "stages = 2"},
    {"chaotic", "contact", "nonholonomic-lobatto", "stages = 3"},
    {"chaotic", "contact", "nonholonomic-lobatto", "stages = 4"},
    {"pendulum-cvt", "", "nonholonomic-lobatto", "stages = 2"},
    {"pendulum-cvt", "", "nonholonomic-lobatto", "stages = 3"},
    {"chaplygin-sleigh", "", "nonholonomic-lobatto", "stages = 3"},
    {"isokinetic-particle", "", "nonholonomic-lobatto", "stages = 3"},
    {"henon-heiles", "", "lobatto", "stages = 2"},
    {"henon-heiles", "", "lobatto", "stages = 3"},
    {"turntable-ball", "space", "nonholonomic-lobatto", "stages = 2"},
    {"turntable-ball", "space", "nonholonomic-lobatto", "stages = 3"},
    {"heavy-top", "", "lobatto", "stages = 2"},
    {"heavy-top", "", "lobatto", "stages = 3"},
    {"heavy-top-cone", "", "holonomic-lobatto", "stages = 2"},
    {"heavy-top-cone", "", "holonomic-lobatto", "stages = 3"},
    {"spherical-pendulum", "", "holonomic-lobatto", "stages = 2"},
    {"spherical-pendulum", "", "holonomic-lobatto", "stages = 3"},
    {"dipole-on-a-stick", "", "vrkmk", "tableau = 'gauss'\nstages = 1", 0.01},
    {"dipole-on-a-stick", "", "vrkmk", "tableau = 'gauss'\nstages = 2", 0.01},
    {"dipole-on-a-stick", "", "vrkmk", "tableau = 'gauss'\nstages = 3", 0.01},
    {"rigid-body-spring", "", "vrkmk", "tableau = 'gauss'\nstages = 2", 0.01},
    {"planar-pendulum", "", "hbvm", "k = 2\ns = 2"},
    {"modified-pendulum", "", "hbvm", "k = 6\ns = 2"},
    {"tethered-satellites", "", "hbvm", "k = 2\ns = 2"},
    {"tethered-satellites", "", "hbvm", "k = 4\ns = 2"},
    {"tethered-satellites", "", "hbvm", "k = 6\ns = 2"},
    {"tethered-satellites", "", "hbvm", "k = 8\ns = 2"},
    {"tethered-satellites", "", "hbvm", "k = 12\ns = 2"},
    {"spherical-pendulum", "", "variational-conversion", "base = 'rk4'"},
    {"heavy-top-directors", "", "ggl-vi-s", "", 0.002},
    {"four-particle", "", "energy-momentum", "", 0.01},
};

}  // namespace

int main(int argc, char** argv) {
  const int repetitions = argc > 1 ? std::atoi(argv[1]) : 15;
  const std::string wanted = argc > 2 ? argv[2] : "";
  fmt::print("| system | method | iterations | scalar ns | AVX2 ns | AVX-512 ns | scalar/AVX2 | scalar/AVX-512 |\n");
  fmt::print("| --- | --- | --- | --- | --- | --- | --- | --- |\n");
  for (const Row& row : rows) {
    const std::string system =
        fmt::format("name = \"{}\"", row.system) + (*row.variant ? fmt::format("\nvariant = \"{}\"", row.variant) : "");
    std::string title = std::string(row.method) + " " + row.options;
    std::ranges::replace(title, '\n', ' ');
    if ((row.system + (" " + title)).find(wanted) == std::string::npos) continue;
    std::vector<double> ns[std::size(known_isas)];
    double iterations = 0.0;
    for (int r = 0; r < repetitions; ++r)
      for (const Isa isa : known_isas) {
        if (!has_isa(isa)) continue;
        bench::Loop loop(system, row.method, row.options, isa, row.step);
        const std::int64_t steps = isa == Isa::scalar ? 100 : 400;
        loop.advance(steps / 4);  // warm-up
        const double time = bench::seconds_of([&] { loop.advance(steps); });
        ns[static_cast<int>(isa)].push_back(1e9 * time / static_cast<double>(steps * chunk_size));
        iterations = loop.iterations_per_step();
        if (!loop.good()) fmt::print(stderr, "a trajectory failed: {} {}\n", row.system, title);
      }
    const auto of = [&](Isa isa) {
      const std::vector<double>& times = ns[static_cast<int>(isa)];
      return times.empty() ? 0.0 : median(times);
    };
    const double scalar = of(Isa::scalar), avx2 = of(Isa::avx2), avx512 = of(Isa::avx512);
    fmt::print("| {} {} | {} | {:.2f} | {:.1f} | {:.1f} | {:.2f} | {:.2f} | {:.2f} |\n", row.system, row.variant, title,
               iterations, scalar, avx2, avx512, scalar / avx2, scalar / avx512);
  }

  if (!wanted.empty()) return 0;

  // This part measures threads: the whole run, with sampling and reductions.
  const Study study = Study::parse(R"toml(
[system]
name = "chaotic"
[method]
name = "nonholonomic-lobatto"
stages = 3
[time]
step = 0.1
end = 100.0
sample_every = 100
[ensemble]
axes = [ { name = "theta", from = 0.0, to = "pi/2", count = 8192 } ]
[ensemble.initial]
q = ["cos(theta)", 0.6, 0.4, 0.2, 1, 1, 1]
v = [0, "sin(theta)", 0, 0, 0, 0, 0]
[[observable]]
name = "energy"
statistics = ["mse"]
)toml");
  std::vector<double> one, two;
  for (int r = 0; r < std::min(repetitions, 9); ++r) {
    one.push_back(run(study, {.backend = "cpu", .threads = 1}).summary.wall_seconds);
    two.push_back(run(study, {.backend = "cpu", .threads = 2}).summary.wall_seconds);
  }
  fmt::print(
      "\nchaotic s = 3, 8192 trajectories, 1000 steps: 1 thread {:.3f} s, 2 threads {:.3f} s, ratio {:.2f} ({} "
      "cores)\n",
      median(one), median(two), median(one) / median(two), std::thread::hardware_concurrency());
}
