#pragma once
// What the tests of the host library share.

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>

#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rattleback/base/fnv.hpp"
#include "rattleback/kernels/kernels.hpp"
#include "rattleback/rattleback.hpp"

namespace rattleback::tests {

/// Kernels without packs are references here. They are compiled quickly instead of well; the bits are the same.
class QuickKernels : public testing::Environment {
 public:
  void SetUp() override { Kernels::instance().set_test_flags({.quick_scalar = true}); }
};
inline testing::Environment* const quick_kernels = testing::AddGlobalTestEnvironment(new QuickKernels);

/// Returns a hash of a name, which chooses samples.
inline std::uint64_t hash_of(std::string_view name) {
  Fnv1a hash;
  hash.add(name);
  // names that differ at their ends have hashes that differ everywhere (the finaliser of MurmurHash3)
  std::uint64_t mixed = hash.value;
  for (const std::uint64_t factor : {0xff51afd7ed558ccdu, 0xc4ceb9fe1a85ec53u}) mixed = (mixed ^ mixed >> 33) * factor;
  return mixed >> 33;
}
/// Returns whether a name is in a sample of one in `n` names. The sample is always the same.
inline bool in_sample(std::string_view name, unsigned n) { return hash_of(name) % n == 0; }

/// The beginning of a study of 700 orbits, many of which cross x = 0 often. It ends within [time]: `end` follows.
inline const std::string henon_heiles_orbits = R"toml(
[system]
name = "henon-heiles"
[method]
name = "lobatto"
stages = 3
[ensemble]
axes = [ { name = "a", from = -0.2, to = 0.3, count = 700 } ]
[ensemble.initial]
q = [0, "a"]
v = [0.35, 0.1]
[time]
step = 0.05
)toml";

/// The paths of the datasets that not both results have, or not with the same bits, each with a blank behind. Only one of them
/// need have those with `optional` in their names.
inline std::string differences(const Result& a, const Result& b, const std::string& optional = "\n") {
  const auto is_optional = [&](const std::string& path) { return path.find(optional) != std::string::npos; };
  std::string found;
  for (const std::string& path : b.paths())
    if (!a.has(path) && !is_optional(path)) found += path + " ";
  for (const std::string& path : a.paths()) {
    if (!b.has(path) && is_optional(path)) continue;
    const bool same = std::visit(
        [&](const auto& x) {
          const auto* y = b.has(path) ? std::get_if<std::decay_t<decltype(x)>>(&b.dataset(path).values) : nullptr;
          return y && x.size() == y->size() &&
                 (x.empty() || std::memcmp(x.data(), y->data(), x.size() * sizeof(x[0])) == 0);
        },
        a.dataset(path).values);
    if (!same) found += path + " ";
  }
  return found;
}

/// The study run into a file, stopped after its first steps and gone on with.
inline Result in_two_pieces(const Study& study) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / fmt::format("rattleback-two-pieces-{}.h5", getpid());
  std::stop_source source;
  RunOptions options;
  options.stop = source.get_token();
  options.progress = [&](const Progress&) { source.request_stop(); };  // when the initial states are checked
  EXPECT_THROW(Session(options).run(study, file), Error);
  EXPECT_TRUE(std::filesystem::exists(file.string() + ".checkpoint"));
  Session().resume(file);
  const Result result = Result::load(file);
  std::filesystem::remove(file);
  return result;
}

}  // namespace rattleback::tests
