#pragma once
// The lanes of a team (linalg/team.hpp) as threads, which the thread sanitizer watches.

#include <barrier>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace team_crew {

class Crew {
 public:
  explicit Crew(int lanes) : lanes_(lanes) {}

  /// work() in every lane.
  template <class Work>
  void run(const Work& work);

  /// Lanes of the crew that are a team.
  struct Group {
    explicit Group(int lanes) : barrier(lanes) {}
    std::barrier<> barrier;
    std::vector<std::max_align_t> memory;
  };
  Group& group(int width, int index) {
    const std::lock_guard lock(mutex_);
    auto& group = groups_[{width, index}];
    if (!group) group = std::make_unique<Group>(width);
    return *group;
  }
  void* memory(Group& group, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (group.memory.empty()) group.memory.resize((std::size_t{1} << 17) / sizeof(std::max_align_t));
    if (bytes > group.memory.size() * sizeof(std::max_align_t)) std::abort();
    return group.memory.data();
  }

 private:
  int lanes_;
  std::mutex mutex_;
  std::map<std::pair<int, int>, std::unique_ptr<Group>> groups_;
};

inline thread_local Crew* crew = nullptr;
inline thread_local int number = 0;

template <class Work>
void Crew::run(const Work& work) {
  std::vector<std::jthread> threads;
  for (int lane = 0; lane < lanes_; ++lane)
    threads.emplace_back([&, lane] {
      crew = this;
      number = lane;
      work();
    });
}

// what linalg/team.hpp asks for
template <int W>
int lane() {
  return number % W;
}
template <int W>
void sync() {
  crew->group(W, number / W).barrier.arrive_and_wait();
}
template <int W, class Object>
Object& shared() {
  return *static_cast<Object*>(crew->memory(crew->group(W, number / W), sizeof(Object)));
}

}  // namespace team_crew
