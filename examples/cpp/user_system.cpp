// Runs a study of the system in double_well.hpp, which is compiled when the study is read for the first time, and checks that
// packs of trajectories give the same bits as one trajectory at a time.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <span>

#include "rattleback/rattleback.hpp"

namespace {

// CMakeLists.txt gives the path of the header. In a study file, the path is relative to the folder of the file.
constexpr auto study_text = R"(
[system]
file = ")" DOUBLE_WELL R"("
type = "example::DoubleWell<T>"
parameters = { barrier = "b" }

[method]
name = "nonholonomic-lobatto"
stages = 3

[time]
step = 0.05
end = 50.0

[ensemble]
axes = [
  { name = "b", from = 0.1, to = 0.5, count = 20 },
  { name = "vx", from = 0.2, to = 1.2, count = 20 },
]

[ensemble.initial]
q = [-1.0, 0.5, 0.0]
v = ["vx", 0.6, "0.5*vx"]

[[observable]]
name = "energy"
statistics = ["mse", "maxabs"]
)";

bool same_bits(std::span<const double> a, std::span<const double> b) {
  const auto bits = [](double x) { return std::bit_cast<std::uint64_t>(x); };
  return std::ranges::equal(a, b, {}, bits, bits);
}

}  // namespace

int main() try {
  const rattleback::Study study = rattleback::Study::parse(study_text);
  const rattleback::Result one = rattleback::run(study, {.backend = "cpu:scalar"});
  const rattleback::Result packs = rattleback::run(study, {.backend = "cpu"});
  const bool same = same_bits(one.array("/final/q"), packs.array("/final/q")) &&
                    same_bits(one.statistic("energy", "mse"), packs.statistic("energy", "mse"));
  std::printf("%llu trajectories, largest energy error %.3g; %s and %s: %s\n",
              static_cast<unsigned long long>(packs.summary.trajectories), packs.statistic("energy", "maxabs").back(),
              one.summary.device.c_str(), packs.summary.device.c_str(), same ? "same bits" : "DIFFERENT BITS");
  return same ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "user_system: %s\n", error.what());
  return 1;
}
