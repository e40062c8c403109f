#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace rattleback {

/// What a number of threads means: 0 is all cores.
inline unsigned worker_count(unsigned threads) {
  return threads > 0 ? threads : std::max(1u, std::thread::hardware_concurrency());
}

/// Calls body(i) for i in [0, count) on `threads` threads, each taking the next index when it is free. The calling thread
/// calls `tick` about ten times a second meanwhile. The first exception ends the loop and is thrown again here.
inline void parallel_for(std::uint64_t count, unsigned threads, const std::function<void(std::uint64_t)>& body,
                         const std::function<void()>& tick = {}) {
  std::atomic<std::uint64_t> next{0};
  std::mutex mutex;
  std::condition_variable finished;
  std::exception_ptr error;
  unsigned running = static_cast<unsigned>(std::min<std::uint64_t>(threads, count));

  const auto work = [&] {
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

  std::vector<std::jthread> workers;
  workers.reserve(running);
  {
    std::unique_lock lock(mutex);
    for (unsigned t = running; t > 0; --t) workers.emplace_back(work);
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
