// The hand-written AVX-512 loop of bench/micro/hand_written.hpp as a peer.

#include <algorithm>

#include "../../micro/hand_written.hpp"
#include "problems.hpp"

int main(int argc, char** argv) {
  const Task task = parse(argc, argv);
  const auto advance = task.method == "s2"   ? hand_written::advance<2>
                       : task.method == "s3" ? hand_written::advance<3>
                       : task.method == "s4" ? hand_written::advance<4>
                                             : nullptr;
  if (task.system != "chaotic" || !advance || task.step == 0) unknown(task);
  constexpr int rows = 14, lanes = hand_written::lanes;
  std::vector<double> y = ensemble<Chaotic>(task.count);
  const auto start = std::chrono::steady_clock::now();
  for (int first = 0; first < task.count; first += lanes) {
    const int filled = std::min(lanes, task.count - first);
    double block[(rows + 1) * lanes];
    for (int k = 0; k < lanes; ++k) {  // what is left over repeats the last trajectory
      const double* state = &y[(first + std::min(k, filled - 1)) * rows];
      double derivative[rows];
      Chaotic::ode(state, derivative);
      for (int i = 0; i < rows; ++i) block[i * lanes + k] = state[i];
      block[rows * lanes + k] = derivative[7] + state[0];
    }
    advance(block, task.steps, task.step);
    for (int k = 0; k < filled; ++k)
      for (int i = 0; i < rows; ++i) y[(first + k) * rows + i] = block[i * lanes + k];
  }
  answer<Chaotic>(task, "hand-written AVX-512", "GCC " __VERSION__, y, seconds_since(start), -1);
}
