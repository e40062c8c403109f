#include "races.hpp"

#include <algorithm>
#include <cstdio>

#include "launch.hpp"
#include "options.hpp"

namespace ptxcpu {

Races::Races(std::uint32_t n) : threads(n), clock(std::size_t(n) * n, 0) {
  for (std::uint32_t i = 0; i < n; ++i) clock[std::size_t(i) * n + i] = 1;
}

void Races::join(const std::vector<std::uint32_t>& members) {
  std::vector<std::uint32_t> latest(threads, 0);
  for (std::uint32_t m : members)
    for (std::uint32_t i = 0; i < threads; ++i) latest[i] = std::max(latest[i], clock[std::size_t(m) * threads + i]);
  for (std::uint32_t m : members) {
    std::copy(latest.begin(), latest.end(), clock.begin() + std::ptrdiff_t(m) * threads);
    ++clock[std::size_t(m) * threads + m];
  }
}

void note_access(Thread& t, uint64_t address, uint32_t size, Access access, int line) {
  if (access == Access::strong_read || access == Access::strong_write) return;
  Races& races = *t.block->races;
  const std::uint32_t me = t.index, n = races.threads;
  const std::uint32_t* clock = &races.clock[std::size_t(me) * n];
  const auto race = [&](const char* what, std::uint32_t other, int other_line) {
    char more[128];
    std::snprintf(more, sizeof(more), " (%s by thread %u, line %d, was not waited for)", what, other, other_line);
    tell(t, Fault::race, address, line, more);
    if (options().races > 1) return;  // the kernel goes on
    t.block->launch->fault = Fault::race;
    throw KernelFault{};
  };
  for (std::uint64_t number = address / 4; number <= (address + size - 1) / 4; ++number) {
    Races::Word& word = races.words[number];
    if (word.writer != Races::Word::nobody && word.writer != me && word.written > clock[word.writer])
      race("a write", word.writer, word.line);
    if (access == Access::write) {
      for (std::uint32_t i = 0; i < word.read.size(); ++i)
        if (i != me && word.read[i] > clock[i]) race("a read", i, word.read_line[i]);
      word.writer = me;
      word.written = clock[me];
      word.line = line;
      word.read.clear();
      word.read_line.clear();
    } else {
      word.read.resize(n, 0);
      word.read_line.resize(n, 0);
      word.read[me] = clock[me];
      word.read_line[me] = line;
    }
  }
}

}  // namespace ptxcpu
