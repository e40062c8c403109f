#include <bit>

#include <fmt/format.h>

#include "rattleback/base/fnv.hpp"
#include "rattleback/study/study.hpp"

namespace rattleback {

std::string StateTable::file_name() const {
  Fnv1a hash;
  const auto add = [&](const double* numbers, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) hash.add_word(std::bit_cast<std::uint64_t>(numbers[i]));
  };
  hash.add_word(rows);
  for (const Block* block : {&q, &v, &p, &lambda}) {
    hash.add_word(block->width);
    add(block->values, rows * block->width);
  }
  for (const auto& [name, numbers] : columns) {
    hash.add(name);
    add(numbers, rows);
  }
  return fmt::format("states-{:016x}.h5", hash.value);
}

}  // namespace rattleback
