#pragma once
// Mutexes that count the locks of each thread. A function of the user (progress, warnings, a question whether to stop) may call the
// library again, and would then wait for a lock of its own thread for ever. So such a function is called without any lock, and tests
// look at the count.

#include <mutex>

namespace rattleback {

namespace mutexes {
inline thread_local int locks = 0;
}  // namespace mutexes

/// Returns how many locks of the library this thread holds.
inline int locks_held() { return mutexes::locks; }

/// A mutex of the library. `M` is std::mutex or std::recursive_mutex.
template <class M>
class Counted {
 public:
  void lock() {
    mutex_.lock();
    ++mutexes::locks;
  }
  bool try_lock() {
    const bool locked = mutex_.try_lock();
    mutexes::locks += locked ? 1 : 0;
    return locked;
  }
  void unlock() {
    --mutexes::locks;
    mutex_.unlock();
  }

 private:
  M mutex_;
};
using Mutex = Counted<std::mutex>;
using RecursiveMutex = Counted<std::recursive_mutex>;

}  // namespace rattleback
