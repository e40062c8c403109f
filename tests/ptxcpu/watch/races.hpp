#pragma once
// The search for races in a block.

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace ptxcpu {

/// FastTrack for one block: a clock for every thread, joined where threads synchronise, and of every word who wrote and
/// read the word last.
struct Races {
  struct Word {  ///< of 4 bytes
    static constexpr std::uint32_t nobody = ~0u;
    std::uint32_t writer = nobody, written = 0;  ///< thread, and the thread's clock
    int line = 0;
    std::vector<std::uint32_t> read;  ///< clock of every thread that read since the last write
    std::vector<int> read_line;
  };
  std::uint32_t threads;
  std::vector<std::uint32_t> clock;  ///< [thread][thread]
  std::unordered_map<std::uint64_t, Word> words;

  explicit Races(std::uint32_t n);
  /// All members have met.
  void join(const std::vector<std::uint32_t>& members);
};

}  // namespace ptxcpu
