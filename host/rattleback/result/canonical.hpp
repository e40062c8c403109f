#pragma once
// Replaces every NaN by one NaN, because processors and GPUs give NaNs with different bits.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "rattleback/result/result.hpp"

namespace rattleback {

/// The numbers of an array, with std::numeric_limits<double>::quiet_NaN() for each NaN. An array without NaN is not
/// copied, so the array must outlive this object.
class Canonical {
 public:
  Canonical(ResultSink::Type type, const void* data, std::uint64_t count) : data_(data) {
    if (type != ResultSink::Type::f64) return;
    const double* x = static_cast<const double*>(data);
    if (std::none_of(x, x + count, [](double y) { return std::isnan(y); })) return;
    copy_.assign(x, x + count);
    for (double& y : copy_)
      if (std::isnan(y)) y = std::numeric_limits<double>::quiet_NaN();
    data_ = copy_.data();
  }
  Canonical(const Canonical&) = delete;
  Canonical& operator=(const Canonical&) = delete;

  [[nodiscard]] const void* data() const { return data_; }

 private:
  std::vector<double> copy_;
  const void* data_;
};

/// Returns the number of elements of a block.
inline std::uint64_t elements_of(const Shape& count) {
  std::uint64_t n = 1;
  for (const std::uint64_t extent : count) n *= extent;
  return n;
}

}  // namespace rattleback
