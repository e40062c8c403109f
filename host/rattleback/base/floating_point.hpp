#pragma once

#include <cfenv>
#include <limits>

namespace rattleback {

inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// The default floating-point environment of the calling thread while the object lives: rounding to nearest, denormal
/// numbers kept, no traps. The destructor restores the environment that the thread had before.
///
/// A library that GCC before 13 linked with -ffast-math turns on flush-to-zero for the thread that loads the library,
/// and threads inherit the environment of the thread that starts them. The bits of a result must depend on neither.
class FloatingPointScope {
 public:
  FloatingPointScope() {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);  // on x86-64 and aarch64 this turns off flush-to-zero, too
  }
  ~FloatingPointScope() { std::fesetenv(&before_); }
  FloatingPointScope(const FloatingPointScope&) = delete;
  FloatingPointScope& operator=(const FloatingPointScope&) = delete;

 private:
  std::fenv_t before_{};
};

}  // namespace rattleback
