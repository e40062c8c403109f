#include "rattleback/base/fork.hpp"

#include <mutex>

#include <pthread.h>
#include <unistd.h>

#include "rattleback/base/mutex.hpp"

namespace rattleback {
namespace {

Mutex mutex;                   // of forks
thread_local bool is_forking;  // this thread, in fork_alone, which has the lock

// A fork by others waits for the lock, too, so that its child does not inherit one that no thread of it can unlock.
void lock_for_others() {
  if (!is_forking) mutex.lock();
}
void unlock_for_others() {
  if (!is_forking) mutex.unlock();
}

}  // namespace

pid_t fork_alone() {
  [[maybe_unused]] static const int registered =
      pthread_atfork(&lock_for_others, &unlock_for_others, &unlock_for_others);
  const std::lock_guard lock(mutex);  // the child has a copy, which it unlocks
  is_forking = true;
  const pid_t child = fork();
  is_forking = false;
  return child;
}

}  // namespace rattleback
