#pragma once

#include <string>

namespace rattleback {

/// Returns a value and its standard error in the short form of the literature: 3.81(19)e-05 is 3.81e-05 with the error
/// 0.19e-05. The error has two digits, and the value ends at the same place. Without a finite error above 0, or where the
/// error has no digit in common with a value of 17 digits, the value has 17 digits and an error follows as `+- error`.
[[nodiscard]] std::string with_error(double value, double error);

}  // namespace rattleback
