#pragma once
// Kernels on demand, through the executable. Every test has a cache of its own in its scratch directory.

#include <set>

#include "program.hpp"

/// A study whose kernels compile in a moment.
inline const std::string henon_heiles = R"toml([study]
name = "test"
[system]
name = "henon-heiles"
[method]
name = "lobatto"
stages = 2
[time]
step = 0.1
end = 1
[ensemble]
draws = 40
axes = [ { name = "a", distribution = "uniform", from = 0.1, to = 0.4, seed = 3 } ]
[ensemble.initial]
q = [0, "a"]
v = [0.1, 0.2]
[[observable]]
name = "energy"
statistics = ["mean", "max"]
)toml";

class KernelsOnDemand : public Program {
 protected:
  void SetUp() override { write("s.toml", henon_heiles); }

  /// Puts the cache into the scratch directory.
  static std::string in(const std::string& cache) { return fmt::format("export XDG_CACHE_HOME=$PWD/{}; ", cache); }
  /// A machine without a compiler.
  static constexpr auto no_compiler = "export RATTLEBACK_CXX=/nonexistent; ", empty_path = "export PATH=/nonexistent; ";
  static constexpr auto run = "$RB run s.toml --backend cpu:scalar --quiet";

  Outcome in_cache(const std::string& command, const std::string& cache = "cache") const {
    return shell_with_kernels(in(cache) + command);
  }
  /// Runs the study; returns the bytes of all datasets.
  auto result(const std::string& before = "", const std::string& cache = "cache") const {
    const Outcome outcome = in_cache(before + run + " -o r.h5", cache);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    auto all = datasets(directory / "r.h5");
    fs::remove(directory / "r.h5");
    return all;
  }
  /// The folders of kernels in a cache or a pack, and of compilations there.
  std::vector<fs::path> folders(const fs::path& place) const {
    std::vector<fs::path> found;
    std::error_code code;
    for (const auto& entry : fs::directory_iterator(directory / place, code)) found.push_back(entry.path());
    return found;
  }
  const fs::path kernels = "cache/rattleback/kernels";

  static std::size_t lines(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    std::istringstream all(text);
    for (std::string line; std::getline(all, line);) count += line.find(part) != std::string::npos;
    return count;
  }
  /// One line with these words, exit code 2, and no result.
  void expect_refused(const Outcome& outcome, std::initializer_list<const char*> words) const {
    EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
    for (const char* word : words) EXPECT_NE(outcome.err.find(word), std::string::npos) << outcome.err;
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    EXPECT_EQ(files(), (std::vector<std::string>{"s.toml"}));
  }
};
