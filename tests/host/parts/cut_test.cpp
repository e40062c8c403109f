// How ensembles are cut, and the trees of parts.

#include <bit>
#include <cstring>
#include <random>

#include <gtest/gtest.h>

#include "rattleback/base/error.hpp"
#include "rattleback/loop/reduction.hpp"
#include "rattleback/parts/cut.hpp"
#include "rattleback/study/statistics.hpp"

using namespace rattleback;

namespace cut_test {

TEST(Cut, CoversTheEnsembleOnceWithPartsOfAboutTheSameSize) {
  for (const std::uint64_t trajectories : {1ull, 255ull, 256ull, 257ull, 100'000ull, 10'000'000ull, 1'000'000'001ull}) {
    const auto chunks_of = [](std::uint64_t count) { return (count + chunk_size - 1) / chunk_size; };
    const std::uint64_t chunks = chunks_of(trajectories);
    for (const std::uint64_t parts : {1ull, 2ull, 3ull, 7ull, 64ull, 1000ull, 10'000ull}) {
      if (parts > chunks) continue;
      const Cut cut(trajectories, parts);
      std::uint64_t next = 0, least = trajectories, most = 0;
      for (std::uint64_t k = 1; k <= parts; ++k) {
        const Range range = cut.range(k);
        EXPECT_EQ(range.first, next);
        EXPECT_EQ(range.first % chunk_size, 0u);
        EXPECT_LT(range.first, range.last);
        next = range.last;
        least = std::min(least, chunks_of(range.count()));
        most = std::max(most, chunks_of(range.count()));
        const std::uint64_t begin = range.first / chunk_size, end = chunks_of(range.last);
        EXPECT_LE(ChunkTree<Moments>::levels_of(begin, end).size(), 32u);
      }
      EXPECT_EQ(next, trajectories);
      EXPECT_LE(most - least, 1 + chunks / parts / 32) << trajectories << " in " << parts;
    }
    EXPECT_THROW(Cut(trajectories, 0), Error);
    EXPECT_THROW(Cut(trajectories, chunks + 1), Error);
  }
}

TEST(Cut, IntoPowersOfTwoMakesEachPartOneNode) {
  for (const std::uint64_t parts : {1, 2, 64, 1024}) {
    const Cut cut(256 * 65536, parts);
    for (std::uint64_t k = 1; k <= parts; ++k) {
      const Range range = cut.range(k);
      EXPECT_EQ(ChunkTree<Moments>::levels_of(range.first / chunk_size, range.last / chunk_size).size(), 1u);
    }
  }
}

TEST(Cut, NamesSort) {
  EXPECT_EQ(Cut(1'000'000, 64).name(3), "003-of-064");
  EXPECT_EQ(Cut(10'000'000, 12345).name(3), "00003-of-12345");
}

TEST(ChunkTree, OfPartsIsThatOfTheWhole) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  for (std::uint64_t chunks = 1; chunks <= 70; ++chunks) {
    std::vector<Moments> leaves;
    for (std::uint64_t c = 0; c < chunks; ++c) {
      std::vector<double> x(chunk_size), zero(chunk_size);
      for (double& value : x) value = normal(random);
      leaves.push_back(reduce_chunk<double>(x.data(), zero.data()));
    }
    ChunkTree<Moments> whole;
    for (const Moments& leaf : leaves) whole.push(leaf);
    for (int cuts = 0; cuts < 5; ++cuts) {
      ChunkTree<Moments> joined;
      for (std::uint64_t begin = 0; begin < chunks;) {
        const std::uint64_t end = begin + 1 + random() % (chunks - begin);
        ChunkTree<Moments> part(begin);
        for (std::uint64_t c = begin; c < end; ++c) part.push(leaves[c]);
        EXPECT_EQ(part.waiting().size(), ChunkTree<Moments>::levels_of(begin, end).size());
        joined.append(part);
        begin = end;
      }
      EXPECT_EQ(joined.end(), chunks);
      const Moments a = whole.result(), b = joined.result();
      EXPECT_EQ(std::memcmp(&a, &b, sizeof a), 0) << chunks;
    }
  }
}

}  // namespace cut_test
