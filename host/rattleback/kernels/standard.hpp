#pragma once
// The part of the C++ standard library that kernels may use, as text for NVRTC, which brings none.

#include <span>

namespace rattleback {

/// A header in memory.
struct StandardHeader {
  const char *name, *text;
};

/// Returns the headers that a unit may include: array, bit, cmath and so on. They share one text.
[[nodiscard]] std::span<const StandardHeader> standard_headers();

}  // namespace rattleback
