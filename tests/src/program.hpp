#pragma once
// Runs the executable as a user runs it, and reads what it leaves.

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <nlohmann/json.hpp>

namespace fs = std::filesystem;

struct Outcome {
  int exit_code;
  std::string out, err;
};

inline std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Program : public testing::Test {
 protected:
  Program() {
    std::string name = (fs::temp_directory_path() / "rattleback-test-XXXXXX").string();
    directory = mkdtemp(name.data());
  }
  ~Program() override { fs::remove_all(directory); }

  /// Runs a shell command in which RB stands for the program, in the scratch directory. Lines about kernels that are
  /// compiled are left out of `err`, because only the first run compiles.
  Outcome shell(const std::string& command) const {
    Outcome outcome = shell_with_kernels(command);
    std::istringstream lines(outcome.err);
    outcome.err.clear();
    for (std::string line; std::getline(lines, line);)
      if (!line.starts_with("rattleback: compiling ")) outcome.err += line + (lines.eof() ? "" : "\n");
    return outcome;
  }
  /// No test may need a file beyond 1 GB, so that all of them pass on a disk that is nearly full.
  static constexpr const char* small_files = "ulimit -f 2000000";
  /// Returns all that the command prints.
  Outcome shell_with_kernels(const std::string& command) const {
    const std::string line = fmt::format("cd '{}' && {} && RB='{}' && {{ {}; }} > out 2> err", directory.string(),
                                         small_files, RATTLEBACK_PROGRAM, command);
    const int status = std::system(line.c_str());
    Outcome outcome{WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(directory / "out"),
                    read_file(directory / "err")};
    fs::remove(directory / "out");
    fs::remove(directory / "err");
    return outcome;
  }
  void write(const std::string& name, const std::string& text) const { std::ofstream(directory / name) << text; }

  /// Everything in the scratch directory.
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory)) names.push_back(entry.path().filename());
    std::ranges::sort(names);
    return names;
  }

  fs::path directory;
};

/// All datasets of a file as raw bytes.
inline std::map<std::string, std::vector<char>> datasets(const fs::path& path) {
  std::map<std::string, std::vector<char>> all;
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  EXPECT_GE(file, 0) << path;
  const auto visit = [](hid_t group, const char* name, const H5O_info_t* info, void* data) -> herr_t {
    if (info->type != H5O_TYPE_DATASET) return 0;
    const hid_t set = H5Dopen2(group, name, H5P_DEFAULT), type = H5Dget_type(set), space = H5Dget_space(set);
    std::vector<char> bytes(H5Tget_size(type) * static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
    H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data());
    (*static_cast<std::map<std::string, std::vector<char>>*>(data))[name] = std::move(bytes);
    H5Sclose(space);
    H5Tclose(type);
    H5Dclose(set);
    return 0;
  };
  H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_NATIVE, visit, &all, H5O_INFO_BASIC);
  H5Fclose(file);
  return all;
}

inline std::vector<double> numbers(const fs::path& path, const std::string& name) {
  const auto bytes = datasets(path).at(name);
  std::vector<double> values(bytes.size() / sizeof(double));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

inline const std::string chaotic = R"toml([study]
name = "test"
[system]
name = "chaotic"
variant = "contact"
[method]
name = "nonholonomic-lobatto"
stages = 3
[time]
step = 0.1
end = 30
sample_every = 10
[ensemble]
axes = [ { name = "theta", from = 0.0, to = "pi/2", count = 600 } ]
[ensemble.initial]
q = ["cos(theta)", 0.6, 0.4, 0.2, 1, 1, 1]
v = [0, "sin(theta)", 0, 0, 0, 0, 0]
[[observable]]
name = "energy"
reference = 3.06
statistics = ["mse", "mean", "std", "rms", "min", "max", "maxabs"]
quantiles = [0.05, 0.5]
[output]
trajectories = [0, 511, 599]
)toml";
