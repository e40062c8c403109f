#include "rattleback/base/in_order.hpp"

#include <chrono>
#include <system_error>
#include <utility>

#include "rattleback/base/floating_point.hpp"

namespace rattleback {

InOrder::~InOrder() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    changed_.notify_all();
  }
  thread_.reset();
}

void InOrder::add(std::function<void()> work) {
  {
    std::unique_lock lock(mutex_);
    if (!thread_) try {
        thread_.emplace([this] { run(); });
      } catch (const std::system_error&) {
      }
    if (thread_) {
      await(lock, [this] { return pieces_.size() < most_; });
      pieces_.push_back(std::move(work));
      changed_.notify_all();
      return;
    }
    if (failure_) std::rethrow_exception(failure_);
  }
  one(work);
}

void InOrder::finish() {
  std::unique_lock lock(mutex_);
  await(lock, [this] { return pieces_.empty(); });
}

void InOrder::await(std::unique_lock<Mutex>& lock, const std::function<bool()>& holds) {
  while (!changed_.wait_for(lock, std::chrono::milliseconds(100), [&] { return failure_ || holds(); })) {
    if (!tick_) continue;
    lock.unlock();
    tick_();
    lock.lock();
  }
  if (failure_) std::rethrow_exception(failure_);
}

void InOrder::wait(const std::function<bool()>& holds) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return failure_ || holds(); });
  if (failure_) std::rethrow_exception(failure_);
}

void InOrder::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ends_ || !pieces_.empty(); });
    if (ends_) return;
    const std::function<void()> work = std::move(pieces_.front());
    lock.unlock();
    one(work);
    lock.lock();
    pieces_.pop_front();
    if (failure_) pieces_.clear();
    changed_.notify_all();
  }
}

void InOrder::one(const std::function<void()>& work) {
  const FloatingPointScope environment;
  try {
    work();
  } catch (...) {
    const std::lock_guard lock(mutex_);
    failure_ = std::current_exception();
  }
}

}  // namespace rattleback
