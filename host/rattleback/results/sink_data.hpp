#pragma once
// Data that a sink writes: the contiguous runs of a block of an array, and one NaN in place of all, because processors and
// GPUs give NaNs with different bits.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "rattleback/base/fingerprint.hpp"
#include "rattleback/base/in_order.hpp"
#include "rattleback/results/result.hpp"

namespace rattleback {

/// Calls visit(first, position, length) for each contiguous run of the block [offset, offset + count) of an array. A run
/// begins at element `first` of the array and at element `position` of the data of the block.
template <class Visit>
void for_each_run(const Shape& shape, const Shape& offset, const Shape& count, Visit visit) {
  std::size_t outer = shape.size();  // dimensions before it are walked through, the others are one run
  std::uint64_t length = 1;
  for (bool whole = true; outer > 0 && whole; --outer) {
    length *= count[outer - 1];
    whole = count[outer - 1] == shape[outer - 1];
  }
  std::uint64_t runs = 1;
  for (std::size_t d = 0; d < outer; ++d) runs *= count[d];
  if (length == 0) return;
  for (std::uint64_t run = 0; run < runs; ++run) {
    std::uint64_t first = 0, rest = run, stride = 1;
    for (std::size_t d = shape.size(); d-- > 0;) {
      const std::uint64_t index = d < outer ? rest % count[d] : 0;
      if (d < outer) rest /= count[d];
      first += (offset[d] + index) * stride;
      stride *= shape[d];
    }
    visit(first, run * length, length);
  }
}

/// The numbers of an array, with std::numeric_limits<double>::quiet_NaN() for each NaN. An array without NaN is not
/// copied, so the array must outlive this object.
class Canonical {
 public:
  Canonical(ResultSink::Type type, const void* data, std::uint64_t count) : data_(data) {
    if (type != ResultSink::Type::f64) return;
    const double* x = static_cast<const double*>(data);
    if (!has_nan(x, count)) return;
    copy_.assign(x, x + count);
    for (double& y : copy_)
      if (std::isnan(y)) y = std::numeric_limits<double>::quiet_NaN();
    data_ = copy_.data();
  }
  Canonical(const Canonical&) = delete;
  Canonical& operator=(const Canonical&) = delete;

  [[nodiscard]] const void* data() const { return data_; }

 private:
  static bool has_nan(const double* x, std::uint64_t count) {
    constexpr std::uint64_t together = 512;  // a loop that ends early is no loop of vectors
    for (; count >= together; x += together, count -= together) {
      int found = 0;
      for (std::uint64_t i = 0; i < together; ++i) found |= static_cast<int>(x[i] != x[i]);
      if (found != 0) return true;
    }
    return std::any_of(x, x + count, [](double y) { return std::isnan(y); });
  }

  std::vector<double> copy_;
  const void* data_;
};

/// Returns the number of elements of a block.
inline std::uint64_t elements_of(const Shape& count) {
  std::uint64_t n = 1;
  for (const std::uint64_t extent : count) n *= extent;
  return n;
}

/// Calls visit(offset, count) for blocks of at most `most` numbers that follow each other in row-major order and together
/// are the whole array.
template <class Visit>
void for_each_block(const Shape& shape, std::uint64_t most, Visit visit) {
  if (elements_of(shape) == 0) return;
  std::size_t whole = shape.size();  // dimensions from here on are whole in every block
  std::uint64_t inner = 1;
  while (whole > 0 && inner * shape[whole - 1] <= most) inner *= shape[--whole];
  Shape offset(shape.size(), 0), count = shape;
  if (whole == 0) return visit(offset, count);
  const std::size_t cut = whole - 1;
  const std::uint64_t length = std::max<std::uint64_t>(most / inner, 1);
  for (std::size_t d = 0; d < cut; ++d) count[d] = 1;
  for (bool more = true; more;) {
    for (offset[cut] = 0; offset[cut] < shape[cut]; offset[cut] += count[cut]) {
      count[cut] = std::min(length, shape[cut] - offset[cut]);
      visit(offset, count);
    }
    more = false;
    for (std::size_t d = cut; d-- > 0 && !more;) {
      more = ++offset[d] < shape[d];
      if (!more) offset[d] = 0;
    }
  }
}

/// Returns the bytes of a number of a type.
inline std::uint64_t bytes_of(ResultSink::Type type) { return type == ResultSink::Type::u32 ? 4 : 8; }

/// Returns the name of a type of numbers: "float64".
inline const char* name_of(ResultSink::Type type) {
  constexpr const char* names[] = {"float64", "uint32", "uint64"};
  return names[static_cast<int>(type)];
}

/// Adds a dataset to a fingerprint. read(offset, count, data) reads a block, while another thread hashes the block before it.
template <class Read>
void add_dataset(Fingerprint& fingerprint, const std::string& path, ResultSink::Type type, const Shape& shape,
                 Read read) {
  fingerprint.begin(path, name_of(type), shape);
  const std::uint64_t word = bytes_of(type), most = fingerprint.bytes_at_once() / word;
  std::vector<double> blocks[2];
  std::size_t which = 0;
  std::optional<InOrder> hashing;
  if (elements_of(shape) > most) hashing.emplace(1);
  for_each_block(shape, most, [&](const Shape& offset, const Shape& count) {
    const std::uint64_t numbers = elements_of(count);
    std::vector<double>& block = blocks[which];
    which = 1 - which;
    block.resize((numbers * word + sizeof(double) - 1) / sizeof(double));
    read(offset, count, block.data());
    const auto hash = [&fingerprint, &block, bytes = numbers * word] { fingerprint.add(block.data(), bytes); };
    if (hashing) {
      hashing->add(hash);
    } else {
      hash();
    }
  });
  if (hashing) hashing->finish();
}

}  // namespace rattleback
