#pragma once
// What the tests of the cache of kernels share.

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "environment.hpp"
#include "rattleback/base/sha256.hpp"
#include "rattleback/kernels/store.hpp"

namespace rattleback::tests {

/// A test with a cache, which does not exist at its beginning.
class StoreTest : public FolderTest {
 protected:
  [[nodiscard]] Store store(std::vector<Pack> packs = {}) {
    return Store(cache, std::move(packs), [this](const std::string& message) {
      EXPECT_EQ(locks_held(), 0);
      warnings.push_back(message);
    });
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
  static inline const Origin origin{
      "spherical pendulum, lobatto, 3 stages", sha256("the bits"), "g++ 12", {"-O2", "-Dx=\"y\""}, 1.5};

  const fs::path cache = directory / "cache" / "kernels";
  std::vector<std::string> warnings;
};

}  // namespace rattleback::tests
