#pragma once
// Mutexes that count the locks of each thread. A function of the user (progress, warnings, a question whether to stop) may call the
// library again, and would then wait for a lock of its own thread for ever. So such a function is called without any lock, and tests
// look at the count.

#include <mutex>

namespace rattleback {

namespace detail {
inline thread_local int locks = 0;
}  // namespace detail

/// Returns how many locks of the library this thread holds.
inline int locks_held() { return detail::locks; }

/// A mutex of the library. `M` is std::mutex or std::recursive_mutex.
template <class M>
class Counted {
 public:
  void lock() {
    mutex_.lock();
    ++detail::locks;
  }
  bool try_lock() {
    const bool locked = mutex_.try_lock();
    detail::locks += locked ? 1 : 0;
    return locked;
  }
  void unlock() {
    --detail::locks;
    mutex_.unlock();
  }

 private:
  M mutex_;
};
using Mutex = Counted<std::mutex>;
using RecursiveMutex = Counted<std::recursive_mutex>;

}  // namespace rattleback
