#pragma once
// Methods that people know by a name that the catalogue does not have.

#include <string_view>

namespace rattleback {

/// Returns which method of the catalogue has the step of a method that textbooks and other programs call `name`, or what comes
/// nearest, as the end of a sentence; "" for other names. Upper case, spaces and underscores make no difference.
[[nodiscard]] std::string_view familiar_method(std::string_view name);

}  // namespace rattleback
