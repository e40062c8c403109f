#pragma once
// What the tests of the cache of kernels share.

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "rattleback/base/error.hpp"
#include "rattleback/base/sha256.hpp"
#include "rattleback/store/store.hpp"

namespace rattleback::tests {

namespace fs = std::filesystem;

inline std::string text_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// The message of the Error(input) that a call throws; empty without one.
template <class Call>
std::string message_of(Call call, Error::Kind kind = Error::Kind::input) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    return error.what();
  }
  return "";
}

/// An environment variable for the time of a test; nullptr: none.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before, had_ = true;
    set(value);
  }
  ~Variable() { set(had_ ? before_.c_str() : nullptr); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  void set(const char* value) const { value ? setenv(name_, value, 1) : unsetenv(name_); }

  const char* name_;
  std::string before_;
  bool had_ = false;
};

/// A folder of the test, with a cache in it that does not exist yet.
class StoreTest : public testing::Test {
 protected:
  StoreTest() {
    std::string name = (fs::temp_directory_path() / "rattleback-test-XXXXXX").string();
    directory = mkdtemp(name.data());
    cache = directory / "cache" / "kernels";
  }
  ~StoreTest() override { fs::remove_all(directory); }

  [[nodiscard]] Store store(std::vector<fs::path> packs = {}) {
    return Store(cache, std::move(packs), [this](const std::string& message) { warnings.push_back(message); });
  }

  /// Puts a kernel with this text into a store.
  static Entry put(Store& store, const std::string& key, const std::string& text = "kernel") {
    WorkFolder work = store.work_folder();
    std::ofstream(work.path() / "kernel.so") << text;
    std::ofstream(work.path() / "unit.cpp") << "int x;\n";
    return store.publish(key, std::move(work), origin);
  }

  /// Names in the folder of the cache.
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& item : fs::directory_iterator(cache)) names.push_back(item.path().filename());
    return names;
  }

  static inline const std::string key = sha256("a"), other_key = sha256("b");
  static inline const Origin origin{"spherical pendulum, lobatto, 3 stages", "g++ 12", {"-O2", "-Dx=\"y\""}, 1.5};

  fs::path directory, cache;
  std::vector<std::string> warnings;
  Variable no_packs{"RATTLEBACK_KERNEL_PATH", nullptr};
};

}  // namespace rattleback::tests
