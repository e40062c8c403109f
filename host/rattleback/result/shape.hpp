#pragma once
// Divides blocks of row-major arrays into contiguous runs.

#include <cstdint>

#include "rattleback/result/result.hpp"

namespace rattleback {

/// Calls visit(first, position, length) for each contiguous run of elements of the block [offset, offset + count) of an
/// array. The run has `length` elements, from index `first` of the array and from index `position` of the block's data.
template <class Visit>
void for_each_run(const Shape& shape, const Shape& offset, const Shape& count, Visit visit) {
  std::size_t outer = shape.size();  // each index of the dimensions before `outer` starts a new run
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

}  // namespace rattleback
