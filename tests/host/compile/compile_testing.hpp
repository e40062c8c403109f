#pragma once
// What the tests of the compiler share.

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

#include "rattleback/base/error.hpp"

namespace rattleback::tests {

namespace fs = std::filesystem;

/// An environment variable for the time of a test; nullptr: none.
class Setting {
 public:
  Setting(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before, had_ = true;
    set(value);
  }
  ~Setting() { set(had_ ? before_.c_str() : nullptr); }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  void set(const char* value) const { value ? setenv(name_, value, 1) : unsetenv(name_); }

  const char* name_;
  std::string before_;
  bool had_ = false;
};

/// A folder for the files of a test, and programs in it.
class CompileTest : public testing::Test {
 protected:
  CompileTest() {
    std::string name = (fs::temp_directory_path() / "rattleback-test-XXXXXX").string();
    directory = mkdtemp(name.data());
  }
  ~CompileTest() override { fs::remove_all(directory); }

  /// Writes a program for the shell.
  [[nodiscard]] fs::path script(const std::string& name, const std::string& body) const {
    const fs::path file = directory / name;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << "#!/bin/sh\n" << body << "\n";
    fs::permissions(file, fs::perms::owner_all);
    return file;
  }
  void write(const std::string& name, const std::string& text) const { std::ofstream(directory / name) << text; }
  [[nodiscard]] std::string text_of(const std::string& name) const {
    std::ifstream stream(directory / name);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  /// Waits up to 20 s. Returns whether the condition has come true.
  static bool eventually(const std::function<bool()>& condition) {
    for (int i = 0; i < 2000; ++i) {
      if (condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
  /// Returns whether a process runs; a zombie does not.
  static bool runs(pid_t process) {
    std::ifstream stat("/proc/" + std::to_string(process) + "/stat");
    const std::string text{std::istreambuf_iterator<char>(stat), {}};
    const std::size_t name_end = text.rfind(')');
    return name_end != std::string::npos && text.substr(name_end, 4).find('Z') == std::string::npos;
  }
  /// The number that a program has written into a file; 0 when there is none yet.
  [[nodiscard]] pid_t number_in(const std::string& name) const {
    const std::string text = text_of(name);
    return text.ends_with('\n') ? static_cast<pid_t>(std::stol(text)) : 0;
  }

  template <class Call>
  static std::string message_of(Call call, Error::Kind kind = Error::Kind::input) {
    try {
      call();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind) << error.what();
      return error.what();
    }
    return "";
  }

  fs::path directory;
};

}  // namespace rattleback::tests
