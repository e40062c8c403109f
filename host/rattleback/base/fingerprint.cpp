#include "rattleback/base/fingerprint.hpp"

#include <bit>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rattleback {

static_assert(std::endian::native == std::endian::little, "the hash is over little-endian numbers");

void Fingerprint::begin(std::string_view path, std::string_view type, std::span<const std::uint64_t> shape) {
  if (!last_.empty() && path <= last_) throw std::logic_error(fmt::format("{} is hashed after {}", path, last_));
  end();
  last_ = path;
  hash_.add(fmt::format("{} {} {}\n", path, type, fmt::join(shape, ",")));
  std::uint64_t bytes = type == "uint32" ? 4 : 8;
  for (const std::uint64_t extent : shape) bytes *= extent;
  in_blocks_ = bytes > block_;
}

void Fingerprint::add(const void* numbers, std::size_t bytes) {
  std::string_view left(static_cast<const char*>(numbers), bytes);
  if (!in_blocks_) return hash_.add(left);
  const auto take = [&left](std::size_t size) {
    const std::string_view taken = left.substr(0, size);
    left.remove_prefix(taken.size());
    return taken;
  };
  std::vector<std::string_view> blocks;
  if (!rest_.empty()) {
    rest_ += take(block_ - rest_.size());
    if (rest_.size() < block_) return;
    blocks.emplace_back(rest_);
  }
  while (left.size() >= block_) blocks.push_back(take(block_));
  std::vector<std::string> digests(blocks.size());
  const auto hash = [&](std::uint64_t i) { digests[i] = sha256(blocks[i]); };
  if (blocks.size() == 1) {
    hash(0);
  } else {
    parallel_for(blocks.size(), threads_, hash);
  }
  for (const std::string& digest : digests) hash_.add(digest);
  rest_ = left;
}

void Fingerprint::end() {
  if (!rest_.empty()) hash_.add(sha256(rest_));
  rest_.clear();
}

}  // namespace rattleback
