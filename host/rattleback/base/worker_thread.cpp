#include "rattleback/base/worker_thread.hpp"

#include <cerrno>
#include <cstddef>
#include <system_error>

#include <pthread.h>

namespace rattleback {

struct WorkerThread::State {
  std::function<void()> body;
  pthread_t thread{};

  static void* run(void* state) {
    static_cast<State*>(state)->body();
    return nullptr;
  }
  /// Returns the error of pthread_create with a stack of this size, or for 0 the usual one.
  int start(std::size_t stack) {
    pthread_attr_t attributes;
    if (const int error = pthread_attr_init(&attributes); error != 0) return error;
    int error = stack > 0 ? pthread_attr_setstacksize(&attributes, stack) : 0;
    if (error == 0) error = pthread_create(&thread, &attributes, run, this);
    pthread_attr_destroy(&attributes);
    return error;
  }
};

WorkerThread::WorkerThread(std::function<void()> body) : state_(std::make_unique<State>(std::move(body))) {
  constexpr std::size_t stack = std::size_t{256} << 20;
  if (state_->start(stack) == 0) return;  // a limit of the address space may refuse it
  if (const int error = state_->start(0); error != 0) throw std::system_error(error, std::generic_category());
}

WorkerThread::~WorkerThread() {
  if (state_) pthread_join(state_->thread, nullptr);
}

WorkerThread::WorkerThread(WorkerThread&&) noexcept = default;

}  // namespace rattleback
