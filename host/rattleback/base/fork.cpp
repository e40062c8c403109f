#include "rattleback/base/fork.hpp"

#include <mutex>

#include <unistd.h>

#include "rattleback/base/mutex.hpp"

namespace rattleback {

pid_t fork_alone() {
  static Mutex mutex;
  const std::lock_guard lock(mutex);  // the child has a copy, which it unlocks
  return fork();
}

}  // namespace rattleback
