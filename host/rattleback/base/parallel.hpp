#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <latch>
#include <string>
#include <system_error>
#include <vector>

#include "rattleback/base/error.hpp"
#include "rattleback/base/floating_point.hpp"
#include "rattleback/base/mutex.hpp"
#include "rattleback/base/processors.hpp"
#include "rattleback/base/worker_thread.hpp"

namespace rattleback {

/// Returns `threads`, or for 0 as many as this process may run at once.
inline unsigned worker_count(unsigned threads) { return threads > 0 ? threads : usable_processors(); }

inline Error too_many_threads(unsigned threads, const std::system_error& why) {
  return {Error::Kind::input, std::to_string(threads) + " threads cannot be created (" + why.code().message() +
                                  "); ask for fewer with --threads, or raise the limits of the system"};
}

/// Throws Error(input) when the system cannot run this number of threads at a time.
inline void require_threads(unsigned threads) {
  std::latch go(1);
  std::vector<WorkerThread> workers;
  try {
    for (unsigned t = 0; t < threads; ++t) workers.emplace_back([&go] { go.wait(); });
  } catch (const std::system_error& why) {
    go.count_down();
    throw too_many_threads(threads, why);
  }
  go.count_down();
}

/// Calls body(i) for i in [0, count) on `threads` threads. A free thread takes the next index. Meanwhile the calling
/// thread calls `tick` about ten times a second. The threads compute in the default floating-point environment. The first exception ends the loop and is thrown again here. Throws
/// Error(input) when a thread cannot be created.
inline void parallel_for(std::uint64_t count, unsigned threads, const std::function<void(std::uint64_t)>& body,
                         const std::function<void()>& tick = {}) {
  std::atomic<std::uint64_t> next{0};
  Mutex mutex;
  std::condition_variable_any finished;
  std::exception_ptr error;
  unsigned running = static_cast<unsigned>(std::min<std::uint64_t>(threads, count));

  const auto work = [&] {
    const FloatingPointScope environment;
    try {
      for (std::uint64_t i = next++; i < count; i = next++) body(i);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
      next = count;
    }
    const std::lock_guard lock(mutex);
    if (--running == 0) finished.notify_one();
  };

  std::vector<WorkerThread> workers;
  workers.reserve(running);
  {
    std::unique_lock lock(mutex);
    for (unsigned t = running; t > 0; --t) {
      try {
        workers.emplace_back(work);
      } catch (const std::system_error& why) {
        error = std::make_exception_ptr(too_many_threads(threads, why));
        next = count;
        running -= t;
        break;
      }
    }
    while (!finished.wait_for(lock, std::chrono::milliseconds(100), [&] { return running == 0; })) {
      if (!tick) continue;
      lock.unlock();
      tick();
      lock.lock();
    }
  }
  workers.clear();
  if (error) std::rethrow_exception(error);
}

}  // namespace rattleback
