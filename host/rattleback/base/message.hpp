#pragma once
// The shape of a message about bad input: `WHERE: what is wrong (why); suggestion`. One line, whatever text of a user is in it.

#include <span>
#include <string>
#include <string_view>

namespace rattleback {

/// Throws Error(input) with one_line("where: message"), or the message alone when `where` is empty.
[[noreturn]] void input_error(std::string_view where, std::string_view message);

/// Text of a user within a message: in single quotes, control characters and bytes that are not UTF-8 as \n, \x1b and so on,
/// cut after `most` bytes, with the number of bytes in all. Names of files take more than the default.
[[nodiscard]] std::string quote(std::string_view text, std::size_t most = 100);
inline constexpr std::size_t most_of_a_path = 1000;

/// A message as it leaves the program: one line, control characters and bytes that are not UTF-8 as \n, \x1b and so on, at
/// most 2000 bytes. What is too much is left out of the middle, because the suggestion stands at the end.
[[nodiscard]] std::string one_line(std::string_view text);

/// Why `text` cannot name a study, an axis, a section or an observable; empty when it can. A name is 1 to 100 bytes of UTF-8
/// without control characters and without '/', and neither "." nor "..": it becomes a part of paths in the result.
[[nodiscard]] std::string fault_of_name(std::string_view text);

/// Whether a text has characters that a terminal would not show as they are, or bytes that are not UTF-8.
[[nodiscard]] bool is_printable(std::string_view text);

/// The candidate closest to `word` (edit distance), or "" when none is near.
[[nodiscard]] std::string nearest(std::string_view word, std::span<const std::string> candidates);

/// "; did you mean 'NAME'?" with the nearest candidate, or `otherwise` when none is near.
[[nodiscard]] std::string did_you_mean(std::string_view word, std::span<const std::string> candidates,
                                       std::string_view otherwise = "");

/// "a, b, c"
[[nodiscard]] std::string join(std::span<const std::string> words);

}  // namespace rattleback
