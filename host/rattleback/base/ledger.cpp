#include "rattleback/base/ledger.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <stdexcept>

#include <unistd.h>

#include "rattleback/base/parallel.hpp"

namespace rattleback {
namespace {

/// Returns the contribution of one word to the digest: the finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA
/// 2014).
std::uint64_t mix(std::uint64_t index, std::uint64_t word) {
  std::uint64_t x = word ^ (index + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

template <class Word>
std::uint64_t digest_as(std::uint64_t first, const char* data, std::uint64_t count) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    Word word = 0;
    std::memcpy(&word, data + i * sizeof word, sizeof word);
    sum += mix(first + i, word);
  }
  return sum;
}

std::uint64_t digest_of(unsigned word_size, std::uint64_t first, const char* data, std::uint64_t count) {
  return word_size == 4 ? digest_as<std::uint32_t>(first, data, count) : digest_as<std::uint64_t>(first, data, count);
}

/// The same on some threads.
std::uint64_t digest_of(unsigned word_size, std::uint64_t first, const char* data, std::uint64_t count,
                        unsigned threads) {
  constexpr std::uint64_t together = std::uint64_t{1} << 17;
  const std::uint64_t pieces = (count + together - 1) / together;
  if (pieces <= 1 || threads == 1) return digest_of(word_size, first, data, count);
  std::atomic<std::uint64_t> sum{0};
  parallel_for(pieces, threads, [&](std::uint64_t i) {
    const std::uint64_t begin = i * together;
    sum += digest_of(word_size, first + begin, data + begin * word_size, std::min(together, count - begin));
  });
  return sum;
}

}  // namespace

Ledger::Ledger(std::span<const std::uint64_t> numbers) : word_size_(0) {
  if (numbers.size() < 2 || numbers.size() % 2 != 0 || (numbers[0] != 4 && numbers[0] != 8))
    throw std::out_of_range("not a ledger");
  word_size_ = static_cast<unsigned>(numbers[0]);
  digest_ = numbers[1];
  for (std::size_t i = 2; i < numbers.size(); i += 2) ranges_[numbers[i]] = numbers[i + 1];
}

void Ledger::add(std::uint64_t first, const void* data, std::uint64_t count, unsigned threads) {
  if (count == 0) return;
  const char* bytes = static_cast<const char*>(data);
  const std::uint64_t end = first + count;
  std::uint64_t begin_of_range = first, end_of_range = end;
  // All ranges that touch [first, end) merge with [first, end). Only words between these ranges are new.
  auto range = ranges_.upper_bound(first);
  if (range != ranges_.begin() && std::prev(range)->second >= first) --range;
  std::uint64_t at = first;
  while (range != ranges_.end() && range->first <= end) {
    if (range->first > at)
      digest_ += digest_of(word_size_, at, bytes + (at - first) * word_size_, range->first - at, threads);
    at = std::max(at, range->second);
    begin_of_range = std::min(begin_of_range, range->first);
    end_of_range = std::max(end_of_range, range->second);
    range = ranges_.erase(range);
  }
  if (at < end) digest_ += digest_of(word_size_, at, bytes + (at - first) * word_size_, end - at, threads);
  ranges_[begin_of_range] = end_of_range;
}

bool Ledger::agrees_with(int file, std::uint64_t offset) const {
  std::vector<char> buffer(std::size_t{1} << 20);
  std::uint64_t digest = 0;
  for (const auto& [first, end] : ranges_) {
    for (std::uint64_t at = first; at < end;) {
      const std::uint64_t count = std::min<std::uint64_t>(end - at, buffer.size() / word_size_);
      for (std::uint64_t done = 0; done < count * word_size_;) {
        const ssize_t got = pread(file, buffer.data() + done, count * word_size_ - done,
                                  static_cast<off_t>(offset + at * word_size_ + done));
        if (got <= 0) return false;
        done += static_cast<std::uint64_t>(got);
      }
      digest += digest_of(word_size_, at, buffer.data(), count);
      at += count;
    }
  }
  return digest == digest_;
}

std::vector<std::uint64_t> Ledger::numbers() const {
  std::vector<std::uint64_t> numbers{word_size_, digest_};
  for (const auto& [first, end] : ranges_) {
    numbers.push_back(first);
    numbers.push_back(end);
  }
  return numbers;
}

}  // namespace rattleback
