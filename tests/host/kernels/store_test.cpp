// Kernels are found only if they are what their manifest says, and only where no other user can put them.

#include "rattleback/kernels/store.hpp"

#include <chrono>
#include <ctime>
#include <functional>

#include <sys/stat.h>
#include <unistd.h>

#include "store_testing.hpp"

namespace rattleback::tests {
namespace {

TEST_F(StoreTest, FindsWhatIsPublished) {
  Store first = store();
  EXPECT_FALSE(fs::exists(cache));
  EXPECT_FALSE(first.find(key));
  EXPECT_FALSE(fs::exists(directory / "cache"));

  const Entry published = put(first, key);
  for (const fs::path& folder : {cache.parent_path(), cache, cache / key})
    EXPECT_EQ(fs::status(folder).permissions(), fs::perms::owner_all) << folder;
  EXPECT_EQ(names(), std::vector{key});

  Store second = store();
  const auto found = second.find(key);
  ASSERT_TRUE(found);
  for (const Entry& entry : {published, *found}) {
    EXPECT_EQ(entry.key, key);
    EXPECT_EQ(entry.folder, cache / key);
    EXPECT_EQ(entry.origin.title, origin.title);
    EXPECT_EQ(entry.origin.name, origin.name);
    EXPECT_EQ(entry.origin.compiler, origin.compiler);
    EXPECT_EQ(entry.origin.flags, origin.flags);
    EXPECT_EQ(entry.origin.seconds, origin.seconds);
    EXPECT_NEAR(static_cast<double>(entry.compiled), static_cast<double>(std::time(nullptr)), 60.0);
    EXPECT_EQ(entry.bytes(), 6u + 7u);
    EXPECT_EQ(text_of(entry.file("kernel.so")), "kernel");
    EXPECT_EQ(text_of(entry.file("unit.cpp")), "int x;\n");
    EXPECT_EQ(entry.file("kernel.cubin"), "");
  }
  EXPECT_FALSE(second.find(other_key));
  EXPECT_FALSE(second.find("../" + key));
  EXPECT_EQ(warnings, std::vector<std::string>{});
}

TEST_F(StoreTest, FindsByNameWhateverTheCompiler) {
  Store first = store();
  put(first, key, "of one compiler");
  put(first, other_key, "of another one");
  fs::create_directory(cache / sha256("c"));  // no kernel
  std::vector<std::string> texts;
  const auto refuse = [&](const Origin& found) {
    EXPECT_EQ(found.name, origin.name);
    texts.push_back(found.compiler);
    return false;
  };
  Store second = store();
  EXPECT_FALSE(second.find_named(origin.name, refuse));
  EXPECT_EQ(texts, (std::vector<std::string>{"g++ 12", "g++ 12"}));
  const auto any = [](const Origin&) { return true; };
  const auto found = second.find_named(origin.name, any);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->folder, cache / found->key);
  EXPECT_FALSE(second.find_named(key, any));
  std::ofstream(cache / found->key / "kernel.so") << "damage";
  const auto other = second.find_named(origin.name, any);
  ASSERT_TRUE(other);
  EXPECT_NE(other->key, found->key);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("damaged"), std::string::npos) << warnings[0];
}

TEST_F(StoreTest, RefusesWhatIsNoKeyAndWhatIsNoKernel) {
  Store own = store();
  for (const std::string& bad : {std::string("x"), std::string(64, 'A'), "../../" + key.substr(6), std::string()})
    EXPECT_NE(message_of([&] { put(own, bad); }, Error::Kind::runtime), "") << bad;
  EXPECT_NE(message_of([&] { own.publish(key, own.work_folder(), origin); }, Error::Kind::runtime), "");
  EXPECT_EQ(names(), std::vector<std::string>{});
}

TEST_F(StoreTest, DamagedEntriesAreAbsentAndReplaced) {
  using Damage = std::function<void(const fs::path&)>;
  const auto manifest = [](const fs::path& entry, const std::string& from, const std::string& to) {
    std::string text = text_of(entry / "manifest.json");
    const std::size_t place = text.find(from);
    ASSERT_NE(place, std::string::npos) << text;
    std::ofstream(entry / "manifest.json") << text.replace(place, from.size(), to);
  };
  const std::vector<std::pair<std::string, Damage>> damages = {
      {"kernel.so has other contents", [](const fs::path& e) { std::ofstream(e / "kernel.so") << "kernal"; }},
      {"kernel.so has 5 bytes instead of 6", [](const fs::path& e) { fs::resize_file(e / "kernel.so", 5); }},
      {"unit.cpp cannot be read", [](const fs::path& e) { fs::remove(e / "unit.cpp"); }},
      {"kernel.so cannot be read",  // a link is not followed
       [](const fs::path& e) {
         fs::rename(e / "kernel.so", e / "elsewhere");
         fs::create_symlink(e / "elsewhere", e / "kernel.so");
       }},
      {"kernel.so is not a regular file",
       [](const fs::path& e) {
         fs::remove(e / "kernel.so");
         mkfifo((e / "kernel.so").c_str(), 0600);
       }},
      {"manifest is missing or damaged", [](const fs::path& e) { fs::remove(e / "manifest.json"); }},
      {"manifest is missing or damaged", [](const fs::path& e) { fs::resize_file(e / "manifest.json", 100); }},
      {"manifest is missing or damaged", [](const fs::path& e) { std::ofstream(e / "manifest.json") << "[1, 2]"; }},
      {"manifest is missing or damaged", [&](const fs::path& e) { manifest(e, "\"bytes\": 6", "\"bytes\": \"6\""); }},
      {"has the key of another kernel", [&](const fs::path& e) { manifest(e, key, other_key); }},
      {"another version of rattleback", [&](const fs::path& e) { manifest(e, "\"layout\": 2", "\"layout\": 9"); }},
      {"names '../", [&](const fs::path& e) { manifest(e, "\"kernel.so\"", "\"../" + key + "/kernel.so\""); }},
      {"Not a directory",
       [](const fs::path& e) {
         fs::remove_all(e);
         std::ofstream(e) << "x";
       }},
      {"Not a directory", [](const fs::path& e) {
         fs::rename(e, e.parent_path().parent_path() / "moved");
         fs::create_directory_symlink(e.parent_path().parent_path() / "moved", e);
       }}};
  for (const auto& [fault, damage] : damages) {
    SCOPED_TRACE(fault);
    fs::remove_all(directory / "cache");
    warnings.clear();
    Store own = store();
    put(own, key);
    damage(cache / key);
    EXPECT_FALSE(own.find(key));
    EXPECT_FALSE(own.find(key));
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_NE(warnings[0].find(fault), std::string::npos) << warnings[0];

    put(own, key, "again");
    EXPECT_EQ(names(), std::vector{key});
    const auto found = own.find(key);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->folder, cache / key);
    EXPECT_EQ(text_of(found->file("kernel.so")), "again");
    if (fs::exists(directory / "cache" / "moved")) {
      EXPECT_EQ(text_of(directory / "cache" / "moved" / "kernel.so"), "kernel");
    }
  }
}

TEST_F(StoreTest, PacksComeFirstAndAreNotWritten) {
  const auto make_pack = [&](const char* name, const std::string& text) {
    Store pack(directory / name);
    put(pack, key, text);
    return directory / name;
  };
  const fs::path first = make_pack("first", "first"), second = make_pack("second", "second");
  Store own = store();
  put(own, key, "own");
  const std::string path = "::" + first.string() + ":" + second.string() + ":";
  const Variable variable("RATTLEBACK_KERNEL_PATH", path.c_str());
  const std::vector<Pack> packs = Store::packs_of_environment();
  ASSERT_EQ(packs.size(), 2u);
  EXPECT_EQ(packs[0].folder, first);
  EXPECT_EQ(packs[1].folder, second);
  const auto found = [&](Store store) {
    const auto entry = store.find(key);
    return entry ? text_of(entry->file("kernel.so")) : "";
  };
  EXPECT_EQ(found(store(packs)), "first");
  EXPECT_FALSE(fs::exists(first / key / used_name));
  std::ofstream(first / key / "kernel.so") << "bad";
  EXPECT_EQ(found(store(packs)), "second");
  EXPECT_EQ(warnings.size(), 1u);
  fs::remove_all(second / key);
  EXPECT_EQ(found(store(packs)), "own");
  EXPECT_TRUE(fs::exists(cache / key / used_name));
}

/// A change of a pack after which others may have written what it has, and what the warning then says.
struct Danger {
  std::string what;  ///< relative to the folder of the test
  mode_t mode;
  uid_t owner;
  std::string says;
};

TEST_F(StoreTest, KernelsThatOthersMayHaveWrittenAreNotLoaded) {
  const std::string entry = "above/pack/" + key;
  std::vector<Danger> dangers;
  for (const std::string& what :
       {std::string("above/pack"), entry, entry + "/kernel.so", entry + "/unit.cpp", entry + "/manifest.json"}) {
    dangers.push_back({what, 0777, 0, "can be written by every user"});
    dangers.push_back({what, 0770, 0, "can be written by its group"});
    dangers.push_back({what, 0755, 65534, "belongs to the user 65534"});
  }
  dangers.push_back({"above", 0777, 0, "above' can be written by every user"});
  dangers.push_back({"above", 0755, 65534, "above' belongs to the user 65534"});
  for (const auto& [what, mode, owner, says] : dangers) {
    if (owner != 0 && geteuid() != 0) continue;
    SCOPED_TRACE(what + ": " + says);
    fs::remove_all(directory / "above");
    {
      Store pack(directory / "above" / "pack");
      put(pack, key);
    }
    EXPECT_TRUE(store({{directory / "above" / "pack"}}).find(key));
    ASSERT_EQ(warnings.size(), 0u) << warnings[0];
    ASSERT_EQ(chmod((directory / what).c_str(), mode), 0);
    if (owner != 0) {
      ASSERT_EQ(chown((directory / what).c_str(), owner, owner), 0);
      EXPECT_TRUE(store({{directory / "above" / "pack", owner}}).find(key));  // one who owns the program is trusted
    }
    EXPECT_FALSE(store({{directory / "above" / "pack"}}).find(key));
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_NE(warnings[0].find(says), std::string::npos) << warnings[0];
    EXPECT_NE(warnings[0].find("loaded as code"), std::string::npos) << warnings[0];
    warnings.clear();
  }
}

TEST_F(StoreTest, AnEntryOfTheCacheThatOthersMayHaveWrittenIsReplaced) {
  Store own = store();
  put(own, key, "theirs");
  for (const char* what : {"", "kernel.so"}) {
    ASSERT_EQ(chmod((cache / key / what).c_str(), 0777), 0);
    EXPECT_FALSE(store().find(key));
    Store again = store();
    EXPECT_EQ(text_of(put(again, key, "ours").file("kernel.so")), "ours");
    EXPECT_TRUE(store().find(key));
  }
  EXPECT_EQ(warnings.size(), 2u);
}

TEST_F(StoreTest, ACompilerMayLeaveItsFilesToTheGroup) {
  const mode_t before = umask(0);
  Store own = store();
  const Entry entry = put(own, key);
  umask(before);
  EXPECT_EQ(fs::status(entry.file("kernel.so")).permissions() & (fs::perms::group_write | fs::perms::others_write),
            fs::perms::none);
  EXPECT_TRUE(store().find(key));
}

TEST_F(StoreTest, ALinkToAPackIsFollowedOnce) {
  {
    Store pack(directory / "pack");
    put(pack, key);
  }
  fs::create_directory_symlink(directory / "pack", directory / "link");
  Store linked = store({{directory / "link"}});
  fs::remove(directory / "link");
  fs::create_directory_symlink("/nowhere", directory / "link");
  ASSERT_TRUE(linked.find(key));
  EXPECT_EQ(linked.find(key)->folder, fs::canonical(directory) / "pack" / key);
}

TEST_F(StoreTest, APackThatIsNoFolderIsLeftOut) {
  std::ofstream(directory / "file") << "x";
  Store own = store({{directory / "absent"}, {directory / "file"}});
  ASSERT_EQ(warnings.size(), 2u);
  for (const std::string& warning : warnings) EXPECT_NE(warning.find("it is no folder"), std::string::npos) << warning;
}

TEST_F(StoreTest, RefusesACacheThatOthersMayWrite) {
  Store own = store();
  put(own, key);
  for (const fs::perms bad : {fs::perms::group_write, fs::perms::others_write}) {
    fs::permissions(cache, fs::perms::owner_all | bad);
    const std::string message = message_of([&] { (void)store(); });
    EXPECT_NE(message.find("can be written by other users (its kernels are loaded as code)"), std::string::npos);
    EXPECT_NE(message.find("chmod 700 " + cache.string()), std::string::npos) << message;
    EXPECT_NE(message_of([&] { (void)own.work_folder(); }), "");
  }
}

TEST_F(StoreTest, RefusesACacheBelowAFolderThatEverybodyMayWrite) {
  Store own = store();
  put(own, key);
  ASSERT_EQ(chmod(cache.parent_path().c_str(), 0777), 0);
  const std::string message = message_of([&] { (void)store(); });
  EXPECT_NE(message.find("can be written by every user (its kernels are loaded as code); set XDG_CACHE_HOME"),
            std::string::npos)
      << message;
  ASSERT_EQ(chmod(cache.parent_path().c_str(), 01777), 0);
  EXPECT_TRUE(store().find(key));
}

TEST_F(StoreTest, RefusesACacheOfAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make such a folder";
  fs::create_directories(cache);
  ASSERT_EQ(chown(cache.c_str(), 65534, 65534), 0);
  const std::string message = message_of([&] { (void)store(); });
  EXPECT_NE(message.find("belongs to the user 65534"), std::string::npos) << message;
  EXPECT_NE(message.find("set XDG_CACHE_HOME"), std::string::npos) << message;
}

TEST_F(StoreTest, UsesAPrivateFolderWhereTheCacheCannotBeWritten) {
  std::ofstream(directory / "file") << "x";
  fs::create_directory(directory / "temporary");
  const Variable variable("TMPDIR", (directory / "temporary").c_str());
  for (const fs::path& bad :
       {directory / "file" / "kernels", directory / "file", fs::path("/proc/rattleback"), fs::path()}) {
    SCOPED_TRACE(bad);
    warnings.clear();
    Store own(bad, {}, [this](const std::string& message) { warnings.push_back(message); });
    const Entry entry = put(own, key);
    EXPECT_EQ(entry.folder.parent_path().parent_path(), directory / "temporary");
    EXPECT_EQ(fs::status(entry.folder.parent_path()).permissions(), fs::perms::owner_all);
    const auto found = own.find(key);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->folder, entry.folder);
    put(own, other_key);
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_NE(warnings[0].find("kernels are lost at the end of this program"), std::string::npos) << warnings[0];
    if (!bad.empty()) {
      EXPECT_NE(warnings[0].find(bad.string()), std::string::npos) << warnings[0];
    }
  }
  {
    warnings.clear();
    Store full = store();
    (void)put(full, key);
    full.leave_cache("No space left on device");
    EXPECT_EQ(put(full, other_key).folder.parent_path().parent_path(), directory / "temporary");
    EXPECT_TRUE(full.find(key));
    EXPECT_TRUE(full.find(other_key));
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_NE(warnings[0].find(cache.string() + ", cannot be written (No space left on device)"), std::string::npos);
  }
  const Variable nowhere("TMPDIR", "/proc");
  Store none(directory / "file");
  const std::string message = message_of([&] { (void)none.work_folder(); }, Error::Kind::runtime);
  EXPECT_NE(message.find("set XDG_CACHE_HOME or TMPDIR"), std::string::npos) << message;
}

/// Another user in place of root, for the time of a test.
class OtherUser {
 public:
  OtherUser() { EXPECT_EQ(seteuid(65534), 0); }
  ~OtherUser() { EXPECT_EQ(seteuid(0), 0); }
  OtherUser(const OtherUser&) = delete;
  OtherUser& operator=(const OtherUser&) = delete;
};

TEST_F(StoreTest, FindsInACacheThatCannotBeWritten) {
  if (geteuid() != 0) GTEST_SKIP() << "needs a second user";
  ASSERT_EQ(chmod(directory.c_str(), 01777), 0);
  const OtherUser other;
  Store own = store();
  put(own, key);
  const fs::perms read_only = fs::perms::owner_read | fs::perms::owner_exec;
  fs::permissions(cache / key, read_only);
  fs::permissions(cache, read_only);
  Store again = store();
  EXPECT_TRUE(again.find(key));
  EXPECT_FALSE(fs::exists(cache / key / used_name));
  EXPECT_EQ(warnings.size(), 0u);
  const Entry another = put(again, other_key);
  EXPECT_EQ(warnings.size(), 1u);
  EXPECT_NE(another.folder.parent_path(), cache);
  EXPECT_TRUE(again.find(key));
  EXPECT_TRUE(again.find(other_key));
  fs::permissions(cache, fs::perms::owner_all);
  fs::permissions(cache / key, fs::perms::owner_all);
  fs::remove_all(another.folder.parent_path());
}

TEST_F(StoreTest, NamesTheDefaultFolder) {
  const Variable cache_home("XDG_CACHE_HOME", "/x/y"), home("HOME", "/home/z");
  EXPECT_EQ(Store::default_folder(), "/x/y/rattleback/kernels");
  const Variable relative("XDG_CACHE_HOME", "x/y");
  EXPECT_EQ(Store::default_folder(), "/home/z/.cache/rattleback/kernels");
  const Variable no_home("HOME", nullptr);
  EXPECT_EQ(Store::default_folder(), "");
}

TEST_F(StoreTest, MarksTheUseOncePerDay) {
  Store own = store();
  put(own, key);
  const fs::path mark = cache / key / used_name;
  ASSERT_FALSE(fs::exists(mark));
  ASSERT_TRUE(own.find(key));
  ASSERT_TRUE(fs::exists(mark));
  const auto now = fs::file_time_type::clock::now();
  for (const auto& [hours, changes] : {std::pair{20, false}, std::pair{30, true}}) {
    const auto before = now - std::chrono::hours(hours);
    fs::last_write_time(mark, before);
    ASSERT_TRUE(own.find(key));
    EXPECT_EQ(fs::last_write_time(mark) > before + std::chrono::hours(1), changes);
  }
}

}  // namespace
}  // namespace rattleback::tests
