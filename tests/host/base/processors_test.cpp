// A process uses the processors that it was granted, and calls no function of a user under a lock.

#include "rattleback/base/processors.hpp"

#include <fstream>
#include <thread>

#include <sched.h>

#include "environment.hpp"
#include "rattleback/base/parallel.hpp"

namespace rattleback::tests {
namespace {

class ProcessorsTest : public FolderTest {
 protected:
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((directory / name).parent_path());
    std::ofstream(directory / name) << text;
  }
};

TEST_F(ProcessorsTest, AreThoseOfTheAffinity) {
  cpu_set_t all, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  EXPECT_GE(usable_processors(), 1u);
  EXPECT_LE(usable_processors(), static_cast<unsigned>(CPU_COUNT(&all)));
  int first = 0;
  while (!CPU_ISSET(first, &all)) ++first;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(usable_processors(), 1u);
  EXPECT_EQ(worker_count(0), 1u);
  EXPECT_EQ(worker_count(3), 3u);
  ASSERT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
}

TEST_F(ProcessorsTest, OfGroupsAreTheLeastOfAllLevels) {
  EXPECT_EQ(processors_of_groups(directory), 0.0);
  write("proc/self/cgroup", "0::/user/job/step\n");
  write("proc/self/mountinfo", "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
  EXPECT_EQ(processors_of_groups(directory), 0.0);
  write("sys/fs/cgroup/user/job/step/cpu.max", "max 100000\n");
  EXPECT_EQ(processors_of_groups(directory), 0.0);
  write("sys/fs/cgroup/user/job/cpu.max", "250000 100000\n");
  EXPECT_EQ(processors_of_groups(directory), 2.5);
  write("sys/fs/cgroup/user/cpu.max", "400000 100000\n");
  EXPECT_EQ(processors_of_groups(directory), 2.5);
  write("sys/fs/cgroup/user/job/step/cpu.max", "50000 100000\n");
  EXPECT_EQ(processors_of_groups(directory), 0.5);
}

TEST_F(ProcessorsTest, OfGroupsInAContainerAndOfVersionOne) {
  // A container sees its own group as the root of what is mounted.
  write("proc/self/cgroup", "4:cpu,cpuacct:/docker/a1\n3:cpuset:/docker/a1\n");
  write("proc/self/mountinfo",
        "30 24 0:26 /docker/a1 /sys/fs/cgroup/cpuset ro - cgroup cgroup rw,cpuset\n"
        "31 24 0:27 /docker/a1 /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n");
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(processors_of_groups(directory), 0.0);
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "300000\n");
  EXPECT_EQ(processors_of_groups(directory), 3.0);
}

TEST(Locks, AreCountedPerThread) {
  Mutex mutex;
  RecursiveMutex again;
  EXPECT_EQ(locks_held(), 0);
  {
    const std::lock_guard lock(mutex);
    const std::lock_guard first(again), second(again);
    EXPECT_EQ(locks_held(), 3);
    std::thread([] { EXPECT_EQ(locks_held(), 0); }).join();
    std::thread([&] {
      EXPECT_FALSE(mutex.try_lock());
      EXPECT_EQ(locks_held(), 0);
    }).join();
  }
  EXPECT_EQ(locks_held(), 0);
}

}  // namespace
}  // namespace rattleback::tests
