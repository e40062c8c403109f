#pragma once
// The part of the C++ standard library that kernels may use, as text for NVRTC, which brings none.

#include <span>

namespace rattleback {

/// A header in memory.
struct StandardHeader {
  const char *name, *text;
};

/// Returns the headers that a unit may include: array, bit, cmath and so on, and what they include. The names of the
/// standard library share one text.
[[nodiscard]] std::span<const StandardHeader> standard_headers();

namespace standard {
extern const char types[];
}

}  // namespace rattleback
