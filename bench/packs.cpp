// Nanoseconds per trajectory-step on one core for every instruction set, side by side: the instruction sets take turns
// within each repetition, the medians are compared. Prints a Markdown table.
//
//   build/release/bench/bench_packs [repetitions]

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "loops.hpp"

using namespace rattleback;

namespace {

double seconds(const auto& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> x) {
  std::ranges::sort(x);
  return x[x.size() / 2];
}

struct Row {
  const char* system;
  const char* variant;
  const char* method;
  int stages;
  double hand_written;  // ns per trajectory-step of a hand-written AVX-512 loop on the same kind of processor, 0: none
  double step = 0.1;
};

constexpr Row rows[] = {
    {"chaotic", "printed", "nonholonomic-lobatto", 2, 4.3},
    {"chaotic", "printed", "nonholonomic-lobatto", 3, 53},
    {"chaotic", "printed", "nonholonomic-lobatto", 4, 91},
    {"chaotic", "printed", "nonholonomic-lobatto", 5, 0},
    {"chaotic", "contact", "nonholonomic-lobatto", 2, 0},
    {"chaotic", "contact", "nonholonomic-lobatto", 3, 0},
    {"chaotic", "contact", "nonholonomic-lobatto", 4, 0},
    {"pendulum-cvt", "", "nonholonomic-lobatto", 2, 0},
    {"pendulum-cvt", "", "nonholonomic-lobatto", 3, 0},
    {"chaplygin-sleigh", "", "nonholonomic-lobatto", 3, 0},
    {"isokinetic-particle", "", "nonholonomic-lobatto", 3, 0},
    {"henon-heiles", "", "lobatto", 2, 0},
    {"henon-heiles", "", "lobatto", 3, 0},
    {"turntable-ball", "space", "nonholonomic-lobatto", 2, 0},
    {"turntable-ball", "space", "nonholonomic-lobatto", 3, 0},
    {"heavy-top", "", "lobatto", 2, 0},
    {"heavy-top", "", "lobatto", 3, 0},
    {"heavy-top-cone", "", "holonomic-lobatto", 2, 0},
    {"heavy-top-cone", "", "holonomic-lobatto", 3, 0},
    {"dipole-on-a-stick", "", "vrkmk", 1, 0, 0.01},
    {"dipole-on-a-stick", "", "vrkmk", 2, 0, 0.01},
    {"dipole-on-a-stick", "", "vrkmk", 3, 0, 0.01},
    {"rigid-body-spring", "", "vrkmk", 2, 0, 0.01},
};

}  // namespace

int main(int argc, char** argv) {
  const int repetitions = argc > 1 ? std::atoi(argv[1]) : 15;
  fmt::print(
      "| system | s | iterations | scalar ns | AVX2 ns | AVX-512 ns | scalar/AVX2 | scalar/AVX-512 | "
      "AVX-512/hand-written |\n");
  fmt::print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
  for (const Row& row : rows) {
    const SystemEntry& system = bench::instance(row.system, row.variant);
    const MethodEntry& method = *Catalogue::instance().method(row.method);
    std::vector<double> ns[3];
    double iterations = 0.0;
    for (int r = 0; r < repetitions; ++r)
      for (const Isa isa : {Isa::scalar, Isa::avx2, Isa::avx512}) {
        if (!has_isa(isa)) continue;
        bench::Loop loop(system, method, {row.stages}, isa, row.step);
        const std::int64_t steps = isa == Isa::scalar ? 100 : 400;
        loop.advance(steps / 4);  // warm-up
        const double time = seconds([&] { loop.advance(steps); });
        ns[static_cast<int>(isa)].push_back(1e9 * time / static_cast<double>(steps * chunk_size));
        iterations = loop.iterations_per_step();
        if (!loop.good()) fmt::print(stderr, "a trajectory failed: {} s = {}\n", row.system, row.stages);
      }
    const double scalar = median(ns[0]);
    const double avx2 = ns[1].empty() ? 0.0 : median(ns[1]), avx512 = ns[2].empty() ? 0.0 : median(ns[2]);
    fmt::print("| {} {} | {} | {:.2f} | {:.1f} | {:.1f} | {:.2f} | {:.2f} | {:.2f} | {} |\n", row.system, row.variant,
               row.stages, iterations, scalar, avx2, avx512, scalar / avx2, scalar / avx512,
               row.hand_written > 0 ? fmt::format("{:.2f}", avx512 / row.hand_written) : "");
  }

  // threads: the whole run, with its sampling and reductions
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
