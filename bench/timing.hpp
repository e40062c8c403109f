#pragma once
// Times of work on one core, and their middle.

#include <algorithm>
#include <vector>

#include <time.h>

namespace rattleback::bench {

/// Seconds of processor that this thread has taken. Other programs on the machine lengthen wall-clock times, and those of the slowest
/// rows the most, because a long row is interrupted more often.
inline double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Seconds of processor that a function takes on this thread.
double seconds_of(const auto& work) {
  const double start = thread_seconds();
  work();
  return thread_seconds() - start;
}

/// The median; the upper of the two middle numbers where the count is even.
inline double median(std::vector<double> x) {
  const auto middle = x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2);
  std::ranges::nth_element(x, middle);
  return *middle;
}

}  // namespace rattleback::bench
