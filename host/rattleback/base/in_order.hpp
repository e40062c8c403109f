#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

#include "rattleback/base/mutex.hpp"
#include "rattleback/base/worker_thread.hpp"

namespace rattleback {

/// Does pieces of work one after the other, in the order in which they come, on a thread of its own. When a piece fails, the pieces after it
/// are left undone. The work computes in the default floating-point environment.
class InOrder {
 public:
  /// add() waits while `most` pieces are there. While it waits, and while finish() does, the calling thread calls `tick` about ten times a
  /// second.
  explicit InOrder(std::size_t most, std::function<void()> tick = {}) : most_(most), tick_(std::move(tick)) {}
  /// Waits for the piece that is being done. The others are left undone.
  ~InOrder();
  InOrder(const InOrder&) = delete;
  InOrder& operator=(const InOrder&) = delete;

  /// Takes a piece. Throws the failure of an earlier one. Where the system has no thread left, the piece is done at once.
  void add(std::function<void()> work);
  /// Waits until every piece is done. Throws the failure of a piece.
  void finish();
  /// Waits until a condition holds, which changes when a piece is done. Throws the failure of a piece. Any thread may wait, while
  /// another one adds pieces. The condition is asked under the lock of this object.
  void wait(const std::function<bool()>& holds);

 private:
  void run();
  /// Waits under the lock of this object, which ticks are called without.
  void await(std::unique_lock<Mutex>& lock, const std::function<bool()>& holds);
  void one(const std::function<void()>& work);

  const std::size_t most_;
  const std::function<void()> tick_;
  Mutex mutex_;  ///< of all that follows
  std::condition_variable_any changed_;
  std::deque<std::function<void()>> pieces_;  ///< the first is being done
  std::exception_ptr failure_;
  bool ends_ = false;
  std::optional<WorkerThread> thread_;
};

}  // namespace rattleback
