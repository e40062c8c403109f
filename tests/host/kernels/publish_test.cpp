// Many processes publish the same kernels at once. All succeed, and nothing but sound entries is left.

#include "rattleback/kernels/publish.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>

#include <sys/wait.h>
#include <unistd.h>

#include "store_testing.hpp"

namespace rattleback::tests {
namespace publish_test {

/// The number of processes, of `count` started at once, in which `body` returns true.
int succeeding(int count, const std::function<bool()>& body) {
  int start[2];
  EXPECT_EQ(pipe(start), 0);
  std::vector<pid_t> processes;
  for (int i = 0; i < count; ++i) {
    const pid_t process = fork();
    if (process != 0) {
      processes.push_back(process);
      continue;
    }
    close(start[1]);
    char byte = 0;
    (void)!read(start[0], &byte, 1);  // until the parent closes its end
    bool good = false;
    try {
      good = body();
    } catch (...) {
    }
    _exit(good ? 0 : 1);
  }
  close(start[0]);
  close(start[1]);
  int good = 0;
  for (const pid_t process : processes) {
    int status = 0;
    EXPECT_EQ(waitpid(process, &status, 0), process);
    good += WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 1 : 0;
  }
  return good;
}

class PublishTest : public StoreTest {
 protected:
  /// Compiles, in effect, a kernel and uses it. The text differs from process to process, as the bytes of an object may.
  bool use_kernel(const std::string& of, bool finds_first = true) {
    Store own(cache);
    if (finds_first && own.find(of)) return true;
    const Entry entry = put(own, of, "kernel of " + std::to_string(getpid()));
    return text_of(entry.file("kernel.so")).starts_with("kernel of ") && own.find(of);
  }
  void expect_sound(const std::vector<std::string>& keys) {
    std::vector<std::string> present = names();
    std::ranges::sort(present);
    std::vector<std::string> sorted = keys;
    std::ranges::sort(sorted);
    EXPECT_EQ(present, sorted);
    Store own = store();
    for (const std::string& each : keys) EXPECT_TRUE(own.find(each));
    EXPECT_EQ(warnings, std::vector<std::string>{});
  }
};

TEST_F(PublishTest, TheFirstWins) {
  Store own = store();
  WorkFolder late = own.work_folder();
  std::ofstream(late.path() / "kernel.so") << "late";
  put(own, key, "early");
  const fs::path folder = late.path();
  const Entry entry = own.publish(key, std::move(late), origin);
  EXPECT_EQ(entry.folder, cache / key);
  EXPECT_EQ(text_of(entry.file("kernel.so")), "early");
  EXPECT_FALSE(fs::exists(folder));
  expect_sound({key});
}

TEST_F(PublishTest, ManyProcessesStartWithAnEmptyCache) {
  constexpr int count = 50;
  EXPECT_EQ(succeeding(count, [&] { return use_kernel(key, false) && use_kernel(other_key); }), count);
  expect_sound({key, other_key});
}

TEST_F(PublishTest, ManyProcessesFindADamagedEntry) {
  constexpr int count = 50;
  Store own = store();
  put(own, key);
  put(own, other_key);
  std::ofstream(cache / key / "kernel.so") << "kernal";
  fs::remove(cache / other_key / manifest_name);
  EXPECT_EQ(succeeding(count, [&] { return use_kernel(key) && use_kernel(other_key); }), count);
  expect_sound({key, other_key});
}

TEST_F(PublishTest, RemovesADamagedEntryButNoSoundOne) {
  Store own = store();
  put(own, key);
  remove_damaged_entry(cache, other_key);
  remove_damaged_entry(cache, key);
  expect_sound({key});
  std::ofstream(cache / key / "kernel.so") << "kernal";
  remove_damaged_entry(cache, key);
  EXPECT_EQ(names(), std::vector<std::string>{});
}

TEST_F(PublishTest, AWorkFolderGoesUnlessItIsPublished) {
  Store own = store();
  fs::path folder;
  {
    WorkFolder work = own.work_folder();
    folder = work.path();
    EXPECT_EQ(fs::status(folder).permissions(), fs::perms::owner_all);
    std::ofstream(folder / "kernel.so") << "half";
    const WorkFolder moved = std::move(work);
    EXPECT_EQ(moved.path(), folder);
    EXPECT_TRUE(fs::exists(folder));
  }
  EXPECT_FALSE(fs::exists(folder));
  EXPECT_EQ(names(), std::vector<std::string>{});
}

TEST_F(PublishTest, UsesItsOwnCopyUntilTheEndWhereNothingCanBeRenamed) {
  Store own = store();
  WorkFolder work = own.work_folder();
  const fs::path folder = work.path();
  std::ofstream(folder / "kernel.so") << "kernel";
  const Entry entry = write_manifest(folder, key, origin);
  const pid_t process = fork();
  if (process == 0) {
    const Entry used = publish_entry(std::move(work), entry, directory / "absent");
    if (used.folder != folder || text_of(used.file("kernel.so")) != "kernel") _exit(1);
    std::exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(process, &status, 0), process);
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(fs::exists(folder));
}

TEST_F(PublishTest, AForkedChildLeavesTheFoldersOfItsParent) {
  fs::create_directory(directory / "private");
  remove_at_exit(directory / "private");
  const pid_t process = fork();
  if (process == 0) std::exit(0);
  ASSERT_EQ(waitpid(process, nullptr, 0), process);
  EXPECT_TRUE(fs::exists(directory / "private"));
}

TEST(WorkFolderNames, AreParsed) {
  const std::string host = host_of_this_process();
  EXPECT_EQ(host.find('/'), std::string::npos);
  std::string name = (fs::temp_directory_path() / "rattleback-test-XXXXXX").string();
  const fs::path directory = mkdtemp(name.data());
  {
    const WorkFolder work(directory);
    const auto parts = parse_work_folder(work.path().filename().string());
    ASSERT_TRUE(parts);
    EXPECT_EQ(parts->host, host);
    EXPECT_EQ(parts->process, getpid());
  }
  fs::remove_all(directory);
  const auto parts = parse_work_folder("tmp-node-7.example-12-0123456789abcdef");
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->host, "node-7.example");
  EXPECT_EQ(parts->process, 12);
  for (const char* bad : {"", "tmp-", "tmp-node", "tmp-node-12", "tmp-node-12-xyz", "tmp-node-x-0123456789abcdef",
                          "tmp-node-0-0123456789abcdef", "tmp-node--1-0123456789abcdeF", "tmp-node-12-0123456789abcde",
                          "tmp-0123456789abcdef", "tmpnode-12-0123456789abcdef", "tmp--0123456789abcdef"})
    EXPECT_FALSE(parse_work_folder(bad)) << bad;
}

}  // namespace publish_test
}  // namespace rattleback::tests
