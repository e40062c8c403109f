#pragma once
// The shape of a message about bad input: `WHERE: what is wrong (why); suggestion`.

#include <span>
#include <string>
#include <string_view>

namespace rattleback {

/// Throws Error(input) with "where: message", or the message alone when `where` is empty.
[[noreturn]] void input_error(std::string_view where, std::string_view message);

/// "; did you mean 'NAME'?" with the nearest candidate, or `otherwise` when none is near.
[[nodiscard]] std::string did_you_mean(std::string_view word, std::span<const std::string> candidates,
                                       std::string_view otherwise = "");

/// "a, b, c"
[[nodiscard]] std::string join(std::span<const std::string> words);

}  // namespace rattleback
