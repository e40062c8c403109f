#pragma once
// A message about bad input has the form `WHERE: what is wrong (why); suggestion`. The message is one line, even with
// line breaks in a user's text.

#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace rattleback {

/// Returns one_line("where: message"), or that of the message alone when `where` is empty.
[[nodiscard]] std::string message_at(std::string_view where, std::string_view message);
/// Throws Error(input) with message_at(where, message).
[[noreturn]] void input_error(std::string_view where, std::string_view message);

/// Returns a user's text for a message: in single quotes, with control characters and bytes that are not UTF-8 as \n,
/// \x1b and so on. A text of more than `most` bytes is cut and followed by the total number of bytes. File names use
/// `most_of_a_path`.
[[nodiscard]] std::string quote(std::string_view text, std::size_t most = 100);
inline constexpr std::size_t most_of_a_path = 1000;

/// Returns a message in the form that leaves the program: one line of at most 2000 bytes, with control characters and
/// bytes that are not UTF-8 as \n, \x1b and so on. A long message loses the middle part, because the suggestion is at
/// the end.
[[nodiscard]] std::string one_line(std::string_view text);

/// Returns why `text` cannot name a study, an axis, a section or an observable; empty when `text` is a valid name. A
/// name has 1 to 100 bytes of UTF-8 without control characters and '/', and is neither "." nor "..", because names
/// become parts of paths in the result.
[[nodiscard]] std::string fault_of_name(std::string_view text);

/// Returns a text in which control characters and bytes that are not UTF-8 are \n, \x1b and so on; in `printable_lines`, line
/// breaks stay. Nothing is cut.
[[nodiscard]] std::string printable(std::string_view text);
[[nodiscard]] std::string printable_lines(std::string_view text);

/// Returns a text with escape(c) in place of each character that a terminal does not show as written. Bytes that are not UTF-8
/// stay.
[[nodiscard]] std::string escape_unprintable(std::string_view text, const std::function<std::string(char32_t)>& escape);

/// Returns whether a text is UTF-8 in which a terminal shows every character as written.
[[nodiscard]] bool is_printable(std::string_view text);

/// Returns the candidate with the smallest edit distance to `word`, or "" when no candidate is near.
[[nodiscard]] std::string nearest(std::string_view word, std::span<const std::string> candidates);

/// Returns "; did you mean 'NAME'?" with the nearest candidate, or `otherwise` when no candidate is near.
[[nodiscard]] std::string did_you_mean(std::string_view word, std::span<const std::string> candidates,
                                       std::string_view otherwise = "");

/// Returns "a, b, c".
[[nodiscard]] std::string join(std::span<const std::string> words);

}  // namespace rattleback
