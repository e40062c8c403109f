// The discrete Lagrange top over a long time, against the same map in quadruple precision.

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rattleback/kernels/isa.hpp"
#include "rattleback/rattleback.hpp"
#include "testing.hpp"

using namespace rattleback;
using namespace rattleback::tests;

namespace {

__extension__ typedef __float128 Quad;
using Triple = std::array<Quad, 3>;

constexpr double step_size = 0.002;

Triple cross(const Triple& a, const Triple& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

Study study(int steps, const std::string& more = "") {
  return Study::parse(fmt::format(R"toml(
[system]
name = "heavy-top-directors"
[method]
name = "bobenko-suris"
[time]
step = {}
steps = {}
{}
)toml",
                                  step_size, steps, more));
}

/// The axis after each of the numbers of steps, from the map of (a, M) alone: M' = M + h mgl e_3 x a, then the Cayley rotation of
/// a by h M'/I'.
std::vector<Triple> exact_axes(const std::vector<int>& steps) {
  const SystemEntry& top = *Catalogue::instance().instances("heavy-top-directors")[0];
  const auto parameter = [&](int i) -> Quad { return top.parameters[static_cast<std::size_t>(i)].value; };
  const Quad mass = parameter(0), inertia = parameter(1), axial = parameter(2), length = parameter(3),
             gravity = parameter(4), h = step_size;
  const Quad weights[4] = {mass, axial / 2, axial / 2, inertia - axial / 2};
  const auto part = [](std::span<const double> x, std::size_t b) {
    return Triple{Quad(x[3 * b]), Quad(x[3 * b + 1]), Quad(x[3 * b + 2])};
  };
  Triple total{};
  for (std::size_t b = 0; b < 4; ++b) {
    const Triple moment = cross(part(top.default_q, b), part(top.default_v, b));
    for (std::size_t i = 0; i < 3; ++i) total[i] += weights[b] * moment[i];
  }
  Triple a = part(top.default_q, 3);
  std::vector<Triple> axes;
  for (int n = 1; n <= steps.back(); ++n) {
    total[0] -= h * mass * gravity * length * a[1];
    total[1] += h * mass * gravity * length * a[0];
    Triple w;
    Quad square = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      w[i] = h / 2 / (inertia + mass * length * length) * total[i];
      square += w[i] * w[i];
    }
    const Triple once = cross(w, a), twice = cross(w, once);
    for (std::size_t i = 0; i < 3; ++i) a[i] += 2 / (1 + square) * (once[i] + twice[i]);
    if (n == steps[axes.size()]) axes.push_back(a);
  }
  return axes;
}

TEST(BobenkoSuris, HasNoErrorsButThoseOfRounding) {
  const std::vector<int> steps{1000, 10000, 100000};
  const double bounds[] = {1e-14, 1e-13, 2e-12};
  const std::vector<Triple> exact = exact_axes(steps);
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const Result r = run(study(steps[k]));
    for (std::size_t i = 0; i < 3; ++i) {
      const auto a = Quad(r.matrix("/final/q")(0, static_cast<int>(9 + i)));
      EXPECT_LT(std::fabs(static_cast<double>(a - exact[k][i])), bounds[k]) << steps[k] << " steps, d3[" << i << "]";
    }
  }
}

TEST(BobenkoSuris, HasTheSameBitsOnEveryBackendAndInPieces) {
  const Study swept = study(300, R"toml(sample_every = 100
[system.parameters]
mass = "m"
[ensemble]
axes = [ { name = "m", from = 0.5, to = 1.0, count = 37 } ]
[[observable]]
name = "q[9]"
statistics = ["mean", "maxabs"]
)toml");
  const Result scalar = run(swept, {.backend = "cpu:scalar", .threads = 1});
  for (const char* backend : {has_isa(Isa::avx2) ? "cpu:avx2" : "cpu:scalar", "cpu"}) {
    const Result other = run(swept, {.backend = backend, .threads = 2});
    EXPECT_TRUE(other.matrix("/final/q") == scalar.matrix("/final/q")) << backend;
    EXPECT_TRUE(other.matrix("/final/p") == scalar.matrix("/final/p")) << backend;
    EXPECT_TRUE(std::ranges::equal(other.statistic("q[9]", "mean"), scalar.statistic("q[9]", "mean"))) << backend;
  }
  EXPECT_TRUE(in_two_pieces(swept).matrix("/final/q") == scalar.matrix("/final/q"));
}

}  // namespace
