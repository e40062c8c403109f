#include "rattleback/base/message.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "rattleback/base/error.hpp"

namespace rattleback {
namespace {

/// Escapes a text with fmt's debug format, which knows the printable characters. Quotes and backslashes stay unchanged.
std::string escaped(std::string_view text) {
  std::string result;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find_first_of("\"\\", begin), text.size());
    const std::string piece = fmt::format("{:?}", text.substr(begin, end - begin));
    result.append(piece, 1, piece.size() - 2);
    if (end < text.size()) result += text[end];
    begin = end + 1;
  }
  return result;
}

/// Returns whether a byte continues a character of UTF-8.
bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0u) == 0x80u; }

/// Returns whether a text is of printable ASCII, which needs no closer look.
bool is_plain(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c < '\x7f'; });
}

/// Returns the code point of one character of UTF-8; nothing for other bytes.
std::optional<char32_t> code_point(std::string_view character) {
  const auto first = static_cast<unsigned char>(character.front());
  const std::size_t size = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (character.size() != size || (first >= 0x80 && first < 0xc2) || first > 0xf4) return std::nullopt;
  char32_t code = size == 1 ? first : first & (0x7fu >> size);
  for (const char c : character.substr(1)) code = code << 6 | (static_cast<unsigned char>(c) & 0x3fu);
  constexpr char32_t least[] = {0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  return code < least[size - 1] || code > 0x10ffff || surrogate ? std::nullopt : std::optional(code);
}

/// Returns the first `most` bytes, or fewer so that no character is cut.
std::string_view head(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && continues(text[most])) --most;
  return text.substr(0, most);
}

std::string_view tail(std::string_view text, std::size_t most) {
  std::size_t begin = text.size() - std::min(text.size(), most);
  while (begin < text.size() && begin > 0 && continues(text[begin])) ++begin;
  return text.substr(begin);
}

/// Twice the Levenshtein distance, where a missing or additional '_' or '-' counts half: 'vx' is nearer to 'v_x' than to 'x'.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  const auto weight = [](char c) { return c == '_' || c == '-' ? std::size_t{1} : std::size_t{2}; };
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j < b.size(); ++j) row[j + 1] = row[j] + weight(b[j]);
  for (const char c : a) {
    std::size_t diagonal = row[0];
    row[0] += weight(c);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (c != b[j] ? 2 : 0);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + weight(b[j]), row[j + 1] + weight(c)});
    }
  }
  return row.back();
}

}  // namespace

std::string message_at(std::string_view where, std::string_view message) {
  return one_line(where.empty() ? std::string(message) : fmt::format("{}: {}", where, message));
}
void input_error(std::string_view where, std::string_view message) {
  throw Error(Error::Kind::input, message_at(where, message));
}

std::string quote(std::string_view text, std::size_t most) {
  if (text.size() <= most) return fmt::format("'{}'", escaped(text));
  return fmt::format("'{}...' ({} bytes)", escaped(head(text, most)), text.size());
}

std::string one_line(std::string_view text) {
  constexpr std::size_t most = 2000, end = 700;
  constexpr std::string_view gap = " ... ";
  // An escape is never shorter than the replaced bytes. So the second cut would remove all bytes that this cut
  // removes.
  std::string line = text.size() > 2 * most
                         ? fmt::format("{}{}{}", escaped(head(text, most)), gap, escaped(tail(text, end)))
                         : escaped(text);
  if (line.size() > most) line = fmt::format("{}{}{}", head(line, most - end - gap.size()), gap, tail(line, end));
  return line;
}

std::string printable(std::string_view text) { return is_plain(text) ? std::string(text) : escaped(text); }

std::string printable_lines(std::string_view text) {
  std::string lines;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find('\n', begin);
    lines += printable(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return lines;
    lines += '\n';
    begin = end + 1;
  }
}

std::string escape_unprintable(std::string_view text, const std::function<std::string(char32_t)>& escape) {
  std::string result;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t size = 1;
    while (begin + size < text.size() && continues(text[begin + size])) ++size;
    const std::string_view character = text.substr(begin, size);
    begin += size;
    if (is_plain(character) || is_printable(character)) {
      result += character;
    } else if (const auto code = code_point(character)) {
      result += escape(*code);
    } else {
      result += character;
    }
  }
  return result;
}

bool is_printable(std::string_view text) { return escaped(text) == text; }

std::string fault_of_name(std::string_view text) {
  if (text.empty()) return "it is empty";
  if (text.size() > 100) return fmt::format("it has {} bytes; a name has at most 100", text.size());
  if (!is_printable(text)) return "it has control characters or bytes that are not UTF-8";
  if (text.find('/') != std::string_view::npos) return "it has a '/', which separates names";
  if (text == "." || text == "..") return "it stands for a directory";
  return "";
}

std::string nearest(std::string_view word, std::span<const std::string> candidates) {
  std::string best;
  std::size_t best_distance = 2 * std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    // As many changes as the word has letters are no resemblance.
    if (distance < best_distance && distance < 2 * word.size()) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates, std::string_view otherwise) {
  // The edit distance takes a time proportional to the product of the lengths.
  const std::string best = word.size() > 100 ? "" : nearest(word, candidates);
  return best.empty() ? std::string(otherwise) : fmt::format("; did you mean '{}'?", best);
}

std::string join(std::span<const std::string> words) { return fmt::format("{}", fmt::join(words, ", ")); }

}  // namespace rattleback
