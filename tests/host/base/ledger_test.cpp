// What has been written is known by its bits, in whatever order it was written.

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>

#include <gtest/gtest.h>
#include <unistd.h>

#include "rattleback/base/ledger.hpp"
#include "rattleback/results/sink_data.hpp"

using namespace rattleback;

namespace {

class LedgerTest : public testing::Test {
 protected:
  LedgerTest() {
    char name[] = "/tmp/rattleback-ledger-XXXXXX";
    file = mkstemp(name);
    unlink(name);
    std::mt19937_64 random(3);
    for (std::uint64_t& word : words) word = random();
    EXPECT_EQ(pwrite(file, words.data(), bytes, offset), static_cast<ssize_t>(bytes));
  }
  ~LedgerTest() override { close(file); }

  static constexpr std::size_t size = 1000, bytes = size * sizeof(std::uint64_t), offset = 24;
  std::vector<std::uint64_t> words = std::vector<std::uint64_t>(size);
  int file = -1;
};

TEST_F(LedgerTest, DoesNotDependOnTheOrderAndCountsRepeatedWordsOnce) {
  Ledger whole;
  whole.add(0, words.data(), size);
  EXPECT_TRUE(whole.agrees_with(file, offset));
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    Ledger pieces;
    std::vector<std::uint64_t> starts(size);
    std::iota(starts.begin(), starts.end(), 0);
    std::ranges::shuffle(starts, random);
    for (const std::uint64_t first : starts) {  // pieces that overlap each other
      const std::uint64_t count = std::min<std::uint64_t>(random() % 9, size - first);
      pieces.add(first, words.data() + first, count);
    }
    EXPECT_TRUE(pieces.agrees_with(file, offset)) << round;
    pieces.add(0, words.data(), size);
    EXPECT_EQ(pieces.numbers(), whole.numbers()) << round;
    EXPECT_TRUE(Ledger(pieces.numbers()).agrees_with(file, offset));
  }
}

TEST_F(LedgerTest, ManyWordsAreReadByThreads) {
  std::vector<std::uint32_t> many(500'001);
  std::iota(many.begin(), many.end(), 9u);
  Ledger alone(4), together(4);
  alone.add(11, many.data(), many.size());
  together.add(11, many.data(), many.size(), 3);
  EXPECT_EQ(together.numbers(), alone.numbers());
  many[400'000] ^= 1u;
  Ledger other(4);
  other.add(11, many.data(), many.size(), 3);
  EXPECT_NE(other.numbers(), alone.numbers());
}

TEST_F(LedgerTest, NoticesEveryFlippedBitOfWhatItKnowsAndNothingElse) {
  Ledger ledger;
  ledger.add(100, words.data() + 100, 200);
  ledger.add(700, words.data() + 700, 1);
  for (const std::size_t word : {0u, 99u, 100u, 299u, 300u, 699u, 700u, 701u}) {
    const bool known = (word >= 100 && word < 300) || word == 700;
    for (int bit = 0; bit < 64; ++bit) {
      const std::uint64_t flipped = words[word] ^ std::uint64_t{1} << bit;
      const auto place = static_cast<off_t>(offset + word * sizeof flipped);
      ASSERT_EQ(pwrite(file, &flipped, sizeof flipped, place), static_cast<ssize_t>(sizeof flipped));
      EXPECT_EQ(ledger.agrees_with(file, offset), !known) << word << " " << bit;
      ASSERT_EQ(pwrite(file, &words[word], sizeof flipped, place), static_cast<ssize_t>(sizeof flipped));
    }
  }
  std::swap(words[100], words[101]);  // two words in each other's place
  ASSERT_EQ(pwrite(file, words.data(), bytes, offset), static_cast<ssize_t>(bytes));
  EXPECT_FALSE(ledger.agrees_with(file, offset));
  ASSERT_EQ(ftruncate(file, offset + 400), 0);
  EXPECT_FALSE(ledger.agrees_with(file, offset));
}

TEST_F(LedgerTest, RefusesNumbersThatAreNone) {
  EXPECT_THROW(Ledger(std::vector<std::uint64_t>{}), std::out_of_range);
  EXPECT_THROW(Ledger(std::vector<std::uint64_t>{8, 0, 1}), std::out_of_range);
  EXPECT_THROW(Ledger(std::vector<std::uint64_t>{3, 0}), std::out_of_range);
}

TEST(Runs, OfABlockAreItsElementsInOrder) {
  const Shape shape{3, 4, 5};
  for (const auto& [offset, count] : {std::pair<Shape, Shape>{{0, 0, 0}, {3, 4, 5}},
                                      {{1, 0, 0}, {2, 4, 5}},
                                      {{0, 1, 0}, {3, 2, 5}},
                                      {{1, 2, 3}, {2, 2, 2}},
                                      {{2, 3, 4}, {1, 1, 1}}}) {
    std::vector<std::uint64_t> expected, found;
    for (std::uint64_t i = 0; i < count[0]; ++i)
      for (std::uint64_t j = 0; j < count[1]; ++j)
        for (std::uint64_t k = 0; k < count[2]; ++k)
          expected.push_back(((offset[0] + i) * 4 + offset[1] + j) * 5 + offset[2] + k);
    for_each_run(shape, offset, count, [&](std::uint64_t first, std::uint64_t position, std::uint64_t length) {
      EXPECT_EQ(position, found.size());
      for (std::uint64_t i = 0; i < length; ++i) found.push_back(first + i);
    });
    EXPECT_EQ(found, expected);
  }
  for_each_run(shape, {0, 0, 0}, {0, 4, 5}, [](std::uint64_t, std::uint64_t, std::uint64_t) { FAIL(); });
}

}  // namespace
