// The fingerprint of a result.

#include "rattleback/base/fingerprint.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "rattleback/base/mark.hpp"
#include "rattleback/rattleback.hpp"
#include "rattleback/results/block_hashes.hpp"
#include "rattleback/results/result_file.hpp"
#include "rattleback/results/sink_data.hpp"

using namespace rattleback;

namespace {

TEST(Fingerprint, IsTheHashThatItsDescriptionTells) {
  Fingerprint fingerprint;
  const double numbers[] = {1.0, -2.0};
  const std::uint32_t status[] = {3};
  fingerprint.begin("/a", "float64", std::vector<std::uint64_t>{1, 2});
  fingerprint.add(numbers, sizeof numbers);
  fingerprint.begin("/final/status", "uint32", std::vector<std::uint64_t>{1});
  fingerprint.add(status, sizeof status);
  std::string text = "/a float64 1,2\n";
  text.append(reinterpret_cast<const char*>(numbers), sizeof numbers);
  text += "/final/status uint32 1\n";
  text.append(reinterpret_cast<const char*>(status), sizeof status);
  EXPECT_EQ(fingerprint.digits(), sha256(text));
  // With blocks of 16 bytes the first dataset is one, and this one has three of them, however its numbers come.
  const std::array<double, 5> more{1.0, -2.0, 3.0, 4.0, 0.5};
  const std::string bytes(reinterpret_cast<const char*>(more.data()), sizeof more);
  text += "/more float64 5\n" + sha256(bytes.substr(0, 16)) + sha256(bytes.substr(16, 16)) + sha256(bytes.substr(32));
  for (const std::size_t each : {1u, 2u, 3u, 5u}) {
    Fingerprint in_blocks(16, 2);
    in_blocks.begin("/a", "float64", std::vector<std::uint64_t>{1, 2});
    in_blocks.add(numbers, sizeof numbers);
    in_blocks.begin("/final/status", "uint32", std::vector<std::uint64_t>{1});
    in_blocks.add(status, sizeof status);
    in_blocks.begin("/more", "float64", std::vector<std::uint64_t>{5});
    for (std::size_t i = 0; i < 5; i += each) in_blocks.add(&more[i], std::min(each, 5 - i) * sizeof(double));
    EXPECT_EQ(in_blocks.digits(), sha256(text)) << each;
  }
  Fingerprint wrong;
  wrong.begin("/b", "float64", {});
  EXPECT_THROW(wrong.begin("/a", "float64", {}), std::logic_error);
}

TEST(Fingerprint, BlocksAreTheWholeArrayInItsOrder) {
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{7}, Shape{3, 5}, Shape{2, 3, 4}, Shape{5, 1, 9}, Shape{0, 3}})
    for (const std::uint64_t most : {1u, 2u, 3u, 4u, 7u, 12u, 100u}) {
      std::vector<std::uint64_t> numbers(elements_of(shape)), found;
      std::iota(numbers.begin(), numbers.end(), 0);
      for_each_block(shape, most, [&](const Shape& offset, const Shape& count) {
        EXPECT_LE(elements_of(count), most);
        for_each_run(shape, offset, count, [&](std::uint64_t first, std::uint64_t, std::uint64_t length) {
          for (std::uint64_t i = 0; i < length; ++i) found.push_back(first + i);
        });
      });
      EXPECT_EQ(found, numbers) << testing::PrintToString(shape) << " in blocks of " << most;
    }
}

/// A result in memory, its file, and the same result in smaller tiles and by one thread have one fingerprint. Any change
/// of a number or of a shape changes it.
TEST(Fingerprint, DependsOnTheDatasetsAlone) {
  const Study study = Study::parse(R"toml(
[study]
name = "fingerprint"
[system]
name = "pendulum-cvt"
[method]
name = "nonholonomic-lobatto"
[time]
step = 0.125
end = 1.0
sample_every = 2
[ensemble]
axes = [ { name = "x", from = 0.5, to = 1.0, count = 600 } ]
[ensemble.initial]
q = ["x", 0, 1]
v = [0, 1, 0]
[[observable]]
name = "energy"
statistics = ["mean"]
[output]
trajectories = [1, 3]
)toml");
  RunOptions options;
  options.backend = "cpu";
  const Result result = run(study, options);
  EXPECT_EQ(result.fingerprint().size(), 64u);
  EXPECT_EQ(result.summary.fingerprint, result.fingerprint());
  options.threads = 1;
  options.tile = 256;
  options.backend = "cpu:scalar";
  EXPECT_EQ(run(study, options).fingerprint(), result.fingerprint());

  std::string name = (std::filesystem::temp_directory_path() / "rattleback-fingerprint-XXXXXX").string();
  const std::filesystem::path folder = mkdtemp(name.data());
  result.save(folder / "a.h5");
  const ResultFile file(folder / "a.h5");
  EXPECT_EQ(file.fingerprint(), result.fingerprint());
  EXPECT_EQ(summary_of(file).fingerprint, result.fingerprint());
  std::filesystem::remove_all(folder);

  Study other = study;
  other.ensemble.axes[0].to = 1.0000000000000002;
  EXPECT_NE(run(other, options).fingerprint(), result.fingerprint());
  other = study;
  other.output.trajectories = {1};
  EXPECT_NE(run(other, options).fingerprint(), result.fingerprint());
  other = study;
  other.name = "another name";
  EXPECT_EQ(run(other, options).fingerprint(), result.fingerprint());
}

class BlockHashesTest : public testing::Test {
 protected:
  static constexpr std::uint64_t size = 1000, block = 64;  // the last block has 40 bytes

  BlockHashesTest() {
    for (char& byte : bytes) byte = static_cast<char>(random());
  }
  void add(BlockHashes& hashes, std::uint64_t first, std::uint64_t count, unsigned threads = 1) const {
    hashes.add(first, std::string_view(bytes).substr(first, count), threads);
  }
  /// Returns how many blocks have a hash. Each must be that of the bytes.
  [[nodiscard]] std::uint64_t known(const BlockHashes& hashes) const {
    std::uint64_t found = 0;
    for (std::uint64_t i = 0; i < hashes.count(); ++i) {
      if (hashes.of(i).empty()) continue;
      EXPECT_EQ(hashes.of(i), sha256(bytes.substr(i * block, block))) << i;
      ++found;
    }
    return found;
  }

  std::mt19937 random{5};
  std::string bytes = std::string(size, '\0');
};

TEST_F(BlockHashesTest, AnArrayThatComesInOrderHasAllHashes) {
  for (const std::uint64_t each : {1u, 7u, 63u, 64u, 65u, 128u, 300u, 1000u})
    for (const unsigned threads : {1u, 3u}) {
      BlockHashes hashes(size, block);
      ASSERT_EQ(hashes.count(), 16u);
      for (std::uint64_t first = 0; first < size; first += each)
        add(hashes, first, std::min(each, size - first), threads);
      EXPECT_EQ(known(hashes), 16u) << each;
    }
}

TEST_F(BlockHashesTest, NoHashIsThatOfOtherBytes) {
  std::uint64_t found = 0;
  for (int round = 0; round < 200; ++round) {
    BlockHashes hashes(size, block);
    std::uint64_t next = 0;
    for (int piece = 0; piece < 40; ++piece) {
      const std::uint64_t first = random() % 2 == 0   ? next
                                  : random() % 3 == 0 ? random() % 16 * block
                                                      : random() % size,
                          count = std::min<std::uint64_t>(random() % 200, size - first);
      for (std::uint64_t i = 0; i < count && random() % 4 == 0; ++i) bytes[first + i] = static_cast<char>(random());
      add(hashes, first, count, 1 + random() % 3);
      next = (first + count) % size;
      found += known(hashes);
    }
  }
  EXPECT_GT(found, 10'000u);
}

TEST_F(BlockHashesTest, AnArrayOfOneBlockHasNone) {
  BlockHashes hashes(block, block);
  add(hashes, 0, block);
  EXPECT_EQ(hashes.count(), 0u);
}

/// Two datasets of several blocks and one of a part of a block, written in some order, have the fingerprint of the definition.
TEST(FingerprintOfAFile, IsThatOfItsDatasetsInWhateverOrderTheyWereWritten) {
  constexpr std::uint64_t rows = 3, columns = 200'001, many = 400'003, few = 5;
  std::vector<double> table(rows * columns);
  std::vector<std::uint32_t> status(many);
  std::vector<std::uint64_t> counts(few, 7);
  std::iota(table.begin(), table.end(), -0.5);
  std::iota(status.begin(), status.end(), 3u);
  Fingerprint expected;
  const auto add = [&](const char* path, const char* type, const std::vector<std::uint64_t>& shape,
                       const auto& numbers) {
    expected.begin(path, type, shape);
    expected.add(numbers.data(), numbers.size() * sizeof numbers[0]);
  };
  add("/counts", "uint64", {few}, counts);
  add("/status", "uint32", {many}, status);
  add("/table", "float64", {rows, columns}, table);
  const std::string digits = expected.digits();

  std::string name = (std::filesystem::temp_directory_path() / "rattleback-blocks-XXXXXX").string();
  const std::filesystem::path folder = mkdtemp(name.data());
  using Type = ResultSink::Type;
  std::mt19937 random(2);
  for (const bool in_order : {true, false})
    for (const unsigned threads : {1u, 3u}) {
      FileSink sink(folder / "a.h5", new_run(), FileKind::result);
      sink.compress(0, threads);
      sink.create("/counts", Type::u64, {few});
      sink.create("/status", Type::u32, {many});
      sink.create("/table", Type::f64, {rows, columns});
      struct Piece {
        std::uint64_t row, first;
      };
      constexpr std::uint64_t each = 70'000;
      std::vector<Piece> pieces;
      for (std::uint64_t row = 0; row < rows; ++row)
        for (std::uint64_t first = 0; first < columns; first += each) pieces.push_back({row, first});
      if (!in_order) {
        const std::vector<double> other(columns);  // is written again
        sink.write("/table", {1, 0}, {1, columns}, other.data());
        std::ranges::shuffle(pieces, random);
      }
      for (const auto [row, first] : pieces)
        sink.write("/table", {row, first}, {1, std::min(each, columns - first)}, &table[row * columns + first]);
      sink.write("/status", {0}, {many}, status.data());
      sink.write("/counts", {0}, {few}, counts.data());
      EXPECT_EQ(sink.fingerprint(), digits) << in_order << " " << threads;
    }
  std::filesystem::remove_all(folder);
}

}  // namespace
