#pragma once
// What tests of files and programs share: a folder of their own, environment variables, and messages of errors.

#include <concepts>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

#include "rattleback/base/error.hpp"

namespace rattleback::tests {

namespace fs = std::filesystem;

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

/// A test with a folder, which is empty at its beginning and removed at its end.
class FolderTest : public testing::Test {
 protected:
  FolderTest() {
    std::string name = (fs::temp_directory_path() / "rattleback-test-XXXXXX").string();
    directory = mkdtemp(name.data());
  }
  ~FolderTest() override { fs::remove_all(directory); }

  fs::path directory;
};

/// Returns the bytes of a file; empty when it cannot be read.
inline std::string text_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Returns the message of the Error that a call throws; empty without one.
template <std::invocable Call>
std::string message_of(Call call, Error::Kind kind = Error::Kind::input) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  return "";
}

}  // namespace rattleback::tests
