#pragma once

#include <functional>
#include <memory>

namespace rattleback {

/// A thread with room for the matrices of a step, which a kernel keeps on the stack: with 60 coordinates, 20 constraints and three stages
/// they need more than the 8 MiB that threads usually have. Pages that nobody touches cost no memory. It is joined when it is destroyed.
class WorkerThread {
 public:
  /// Throws std::system_error when the system has no thread left.
  explicit WorkerThread(std::function<void()> body);
  ~WorkerThread();
  WorkerThread(WorkerThread&&) noexcept;
  WorkerThread(const WorkerThread&) = delete;
  WorkerThread& operator=(const WorkerThread&) = delete;
  WorkerThread& operator=(WorkerThread&&) = delete;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rattleback
