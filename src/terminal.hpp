#pragma once
// What a long command shares with its terminal: Ctrl-C and progress.

#include <csignal>
#include <ctime>
#include <stop_token>
#include <thread>
#include <utility>

#include <pthread.h>
#include <unistd.h>

#include <fmt/format.h>

#include "rattleback/run.hpp"

namespace rattleback::program {

/// Turns SIGINT and SIGTERM into a stop request. Made before any other thread, so that all of them leave the signals to it.
class Interrupt {
 public:
  Interrupt() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGINT);
    sigaddset(&signals_, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
    waiter_ = std::jthread([this](const std::stop_token& end) {
      const timespec tenth{0, 100'000'000};
      while (!end.stop_requested())
        if (sigtimedwait(&signals_, nullptr, &tenth) > 0) source_.request_stop();
    });
  }
  [[nodiscard]] std::stop_token token() const { return source_.get_token(); }

 private:
  sigset_t signals_{};
  std::stop_source source_;
  std::jthread waiter_;
};

/// A bar on a terminal, a line every ten seconds otherwise; on stderr.
class ProgressDisplay {
 public:
  ~ProgressDisplay() { finish(); }
  void operator()(const Progress& p) {
    const double share = p.total > 0 ? static_cast<double>(p.trajectory_steps) / static_cast<double>(p.total) : 1.0;
    const double rate = p.seconds > 0 ? static_cast<double>(p.trajectory_steps) / p.seconds : 0.0;
    const double left = share > 0 ? p.seconds * (1.0 - share) / share : 0.0;
    const std::string text =
        fmt::format("{:5.1f} %  {:.3g} trajectory-steps/s  {:.0f} s left", 100.0 * share, rate, left);
    if (terminal_) {
      constexpr int width = 30;
      const int full = static_cast<int>(share * width);
      fmt::print(stderr, "\r[{:=<{}}{: <{}}] {}   ", "", full, "", width - full, text);
      drawn_ = true;
    } else if (p.seconds >= next_line_) {
      fmt::print(stderr, "{}\n", text);
      next_line_ = p.seconds + 10.0;
    }
  }
  /// Leaves the line of the bar; so does the end of the display.
  void finish() {
    if (std::exchange(drawn_, false)) fmt::print(stderr, "\n");
  }

 private:
  bool terminal_ = isatty(STDERR_FILENO) == 1;
  bool drawn_ = false;
  double next_line_ = 10.0;
};

}  // namespace rattleback::program
