#pragma once
// What the tests of the compiler share.

#include <chrono>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include <sys/types.h>

#include "environment.hpp"

namespace rattleback::tests {

/// A test that makes programs and runs them.
class CompileTest : public FolderTest {
 protected:
  /// Writes a program for the shell.
  [[nodiscard]] fs::path script(const std::string& name, const std::string& body) const {
    const fs::path file = directory / name;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << "#!/bin/sh\n" << body << "\n";
    fs::permissions(file, fs::perms::owner_all);
    return file;
  }
  void write(const std::string& name, const std::string& text) const { std::ofstream(directory / name) << text; }

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
    const std::string text = text_of(directory / name);
    return text.ends_with('\n') ? static_cast<pid_t>(std::stol(text)) : 0;
  }
};

}  // namespace rattleback::tests
