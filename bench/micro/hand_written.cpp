// Compares the chaotic system's compiled time loop with the loop of hand_written.hpp: nanoseconds of processor per
// trajectory-step, medians of alternating runs. Initial states, step, tolerance and criterion of convergence are the same.
// Prints a Markdown table.
//
//   build/release/bench/bench_hand_written [repetitions]

#include "hand_written.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>

#include "../timing.hpp"
#include "loops.hpp"

using namespace rattleback;

namespace {

constexpr double step = 0.1;
constexpr int rows = 2 * hand_written::n + 1, lanes = hand_written::lanes;

double nanoseconds(std::int64_t steps, const auto& work) {
  return 1e9 * bench::seconds_of(work) / static_cast<double>(steps * chunk_size);
}

using bench::median;

/// Returns the states of a chunk in the layout of the hand-written loop: blocks of eight trajectories.
std::vector<double> blocks(bench::Loop& loop) {
  std::vector<double> state(static_cast<std::size_t>(rows) * chunk_size);
  for (int lane = 0; lane < chunk_size; ++lane)
    for (int row = 0; row < rows; ++row)
      state[static_cast<std::size_t>((lane / lanes * rows + row) * lanes + lane % lanes)] = loop.at(row, lane);
  return state;
}

template <int S>
void compare(int repetitions) {
  const auto by_hand = [](std::vector<double>& state, std::int64_t steps) {
    for (std::size_t block = 0; block < state.size(); block += rows * lanes)
      hand_written::advance<S>(&state[block], static_cast<long>(steps), step);
  };
  std::vector<double> generic_ns, hand_ns;
  double difference = 0.0;
  for (int r = 0; r < repetitions; ++r) {
    bench::Loop loop("name = 'chaotic'", "nonholonomic-lobatto", fmt::format("stages = {}", S), Isa::avx512, step);
    std::vector<double> state = blocks(loop);
    loop.advance(10);
    by_hand(state, 10);
    const std::vector<double> reached = blocks(loop);  // in ten steps chaos amplifies round-off only a little
    for (std::size_t i = 0; i < state.size(); ++i) difference = std::max(difference, std::abs(state[i] - reached[i]));
    const std::int64_t steps = 1000;
    generic_ns.push_back(nanoseconds(steps, [&] { loop.advance(steps); }));
    hand_ns.push_back(nanoseconds(steps, [&] { by_hand(state, steps); }));
    if (!loop.good()) fmt::print(stderr, "a trajectory failed: s = {}\n", S);
  }
  fmt::print("| {} | {:.2f} | {:.2f} | {:.2f} | {:.1e} |\n", S, median(generic_ns), median(hand_ns),
             median(generic_ns) / median(hand_ns), difference);
}

}  // namespace

int main(int argc, char** argv) {
  if (!has_isa(Isa::avx512)) {
    fmt::print("skipped: this processor has no AVX-512\n");
    return 0;
  }
  const int repetitions = argc > 1 ? std::atoi(argv[1]) : 9;
  fmt::print(
      "| s | rattleback ns | hand-written ns | ratio | difference after 10 steps |\n| --- | --- | --- | --- | --- |\n");
  compare<2>(repetitions);
  compare<3>(repetitions);
  compare<4>(repetitions);
}
