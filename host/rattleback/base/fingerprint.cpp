#include "rattleback/base/fingerprint.hpp"

#include <bit>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rattleback {

static_assert(std::endian::native == std::endian::little, "the hash is over little-endian numbers");

void Fingerprint::begin(std::string_view path, std::string_view type, std::span<const std::uint64_t> shape) {
  if (!last_.empty() && path <= last_) throw std::logic_error(fmt::format("{} is hashed after {}", path, last_));
  last_ = path;
  hash_.add(fmt::format("{} {} {}\n", path, type, fmt::join(shape, ",")));
}

void Fingerprint::add(const void* numbers, std::size_t bytes) { hash_.add({static_cast<const char*>(numbers), bytes}); }

}  // namespace rattleback
