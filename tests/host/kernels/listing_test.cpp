// What a cache holds is listed, and only what is old or left over is removed.

#include "rattleback/kernels/listing.hpp"

#include <chrono>
#include <ctime>

#include <sys/wait.h>
#include <unistd.h>

#include "store_testing.hpp"

namespace rattleback::tests {
namespace {

void set_age(const fs::path& file, double days) {
  const auto age =
      std::chrono::duration_cast<fs::file_time_type::duration>(std::chrono::duration<double>(days * 86400));
  fs::last_write_time(file, fs::file_time_type::clock::now() - age);
}

/// The number of a process that is gone.
pid_t gone() {
  const pid_t process = fork();
  if (process == 0) _exit(0);
  waitpid(process, nullptr, 0);
  return process;
}

class ListingTest : public StoreTest {
 protected:
  fs::path make_work(const std::string& host, pid_t process, double age = 0.0) const {
    const fs::path folder = cache / ("tmp-" + host + "-" + std::to_string(process) + "-0123456789abcdef");
    fs::create_directories(folder);
    std::ofstream(folder / "kernel.so") << "half";
    set_age(folder, age);
    return folder;
  }
};

TEST_F(ListingTest, OfNoCacheIsEmpty) {
  EXPECT_TRUE(list_cache(cache).entries.empty());
  EXPECT_EQ(trim_cache(cache, 0).entries, 0u);
  EXPECT_FALSE(fs::exists(cache));
}

TEST_F(ListingTest, NamesEntriesAndWork) {
  Store own = store();
  put(own, key);
  put(own, other_key);
  ASSERT_TRUE(own.find(other_key));
  set_age(cache / key / manifest_name, 0.5);
  const std::string damaged = sha256("c");
  fs::create_directory(cache / damaged);
  std::ofstream(cache / damaged / "kernel.so") << "1234";
  set_age(cache / damaged, 7);
  make_work("elsewhere", 1);
  std::ofstream(cache / "notes.txt") << "not ours";

  const Listing listing = list_cache(cache);
  ASSERT_EQ(listing.entries.size(), 3u);
  const double now = static_cast<double>(std::time(nullptr));
  for (const ListedEntry& entry : listing.entries) {
    if (entry.key == damaged) continue;
    EXPECT_EQ(entry.title, origin.title);
    EXPECT_EQ(entry.fault, "");
    EXPECT_GT(entry.bytes, 13u);
    EXPECT_NEAR(static_cast<double>(entry.compiled), now, 60.0);
    EXPECT_NEAR(static_cast<double>(entry.used), now, 60.0);
  }
  EXPECT_EQ(listing.entries[2].key, damaged);
  EXPECT_EQ(listing.entries[2].title, "");
  EXPECT_NE(listing.entries[2].fault, "");
  EXPECT_EQ(listing.entries[2].bytes, 4u);
  EXPECT_NEAR(static_cast<double>(listing.entries[2].used), now - 7 * 86400, 60.0);
  ASSERT_EQ(listing.work.size(), 1u);
  EXPECT_FALSE(listing.work[0].stale);
  EXPECT_EQ(listing.bytes(), listing.entries[0].bytes + listing.entries[1].bytes + 4u + 4u);
}

TEST_F(ListingTest, NumbersWithoutSenseAreDamageOfOneEntry) {
  Store own = store();
  put(own, key);
  put(own, other_key);
  const std::string good = text_of(cache / key / manifest_name);
  for (const auto& [name, number] :
       std::vector<std::pair<std::string, std::string>>{{"compiled", "1e30"},
                                                        {"compiled", "1e400"},
                                                        {"compiled", "9223372036854775807"},
                                                        {"compiled", "-1"},
                                                        {"bytes", "1e300"},
                                                        {"bytes", "-1"},
                                                        {"layout", "1e300"}}) {
    SCOPED_TRACE(name + " " + number);
    const std::size_t place = good.find("\"" + name + "\": ") + name.size() + 4;
    std::string bad = good;
    bad.replace(place, good.find_first_not_of("0123456789", place) - place, number);
    std::ofstream(cache / key / manifest_name) << bad;
    const Listing listing = list_cache(cache);
    ASSERT_EQ(listing.entries.size(), 2u);
    for (const ListedEntry& entry : listing.entries)
      EXPECT_EQ(entry.fault.empty(), entry.key == other_key) << entry.fault;
    EXPECT_FALSE(store().find(key));
  }
}

TEST_F(ListingTest, TrimRemovesWhatIsNotUsed) {
  Store own = store();
  for (const std::string& each : {key, other_key}) {
    put(own, each);
    ASSERT_TRUE(own.find(each));
  }
  set_age(cache / key / used_name, 29);
  EXPECT_EQ(trim_cache(cache, 30).entries, 0u);
  set_age(cache / key / used_name, 31);
  const std::uint64_t bytes = list_cache(cache).entries.back().bytes;
  const Trimmed trimmed = trim_cache(cache, 30);
  EXPECT_EQ(trimmed.entries, 1u);
  EXPECT_EQ(trimmed.bytes, bytes);
  EXPECT_EQ(trimmed.work_folders, 0u);
  EXPECT_EQ(names(), std::vector{other_key});
  EXPECT_EQ(trim_cache(cache, 0).entries, 1u);
  EXPECT_EQ(names(), std::vector<std::string>{});
}

TEST_F(ListingTest, TrimRemovesWorkOfProcessesThatAreGone) {
  const std::string here = host_of_this_process();
  const fs::path dead = make_work(here, gone()), old = make_work("elsewhere", 1, 1.5);
  const fs::path alive = make_work(here, getpid()), remote = make_work("elsewhere", gone(), 0.5);
  const Trimmed trimmed = trim_cache(cache, 1000);
  EXPECT_EQ(trimmed.work_folders, 2u);
  EXPECT_EQ(trimmed.bytes, 8u);
  EXPECT_FALSE(fs::exists(dead));
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(alive));
  EXPECT_TRUE(fs::exists(remote));
}

TEST_F(ListingTest, TrimTouchesNothingElse) {
  fs::create_directories(cache / "notes");
  fs::create_directories(cache / key.substr(1));
  std::ofstream(cache / "tmp-x") << "x";
  std::ofstream(cache / other_key) << "a file with the name of an entry";
  fs::create_directory(directory / "precious");
  std::ofstream(directory / "precious" / "data") << "x";
  fs::create_directory_symlink(directory / "precious", cache / key);
  fs::create_directory_symlink(directory / "precious", cache / "tmp-elsewhere-1-0123456789abcdef");
  Store own = store();
  const std::string third = sha256("c");
  put(own, third);
  fs::create_directory_symlink(directory / "precious", cache / third / "link");
  for (const auto& item : fs::directory_iterator(cache))
    if (!item.is_symlink()) set_age(item.path(), 1000);
  set_age(directory / "precious", 1000);
  EXPECT_EQ(list_cache(cache).entries.size(), 1u);
  const Trimmed trimmed = trim_cache(cache, 0);
  EXPECT_EQ(trimmed.entries, 1u);
  EXPECT_EQ(trimmed.work_folders, 0u);
  EXPECT_EQ(names().size(), 6u);
  EXPECT_FALSE(fs::exists(cache / third));
  EXPECT_EQ(text_of(directory / "precious" / "data"), "x");
}

}  // namespace
}  // namespace rattleback::tests
