#pragma once
// The text of a C++ header that a program writes: lines of limited width, members with constant values.

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rattleback/base/message.hpp"
#include "rattleback/language/code.hpp"

namespace rattleback {

/// Collects the lines of a header, with members of one struct.
class HeaderText {
 public:
  /// Writes a line, and breaks it where it is too long: after a comma or before an operator.
  void line(std::string text) {
    std::size_t indent = std::min(text.find_first_not_of(' '), text.size());
    std::string begin(indent, ' ');
    while (text.size() > width) {
      std::size_t cut = std::string::npos;
      bool quoted = false;
      for (std::size_t i = indent; i < std::min(width, text.size()); ++i) {
        if (quoted && text[i] == '\\')
          ++i;  // the next character belongs to this one
        else if (text[i] == '"')
          quoted = !quoted;
        else if (!quoted && text[i] == ' ' && i > indent + 20)
          cut = i;
      }
      if (cut == std::string::npos) break;
      out_ += text.substr(0, cut) + '\n';
      text = begin + "    " + text.substr(cut + 1);
      indent = begin.size() + 4;
    }
    out_ += text + '\n';
  }
  /// A comment that names the entries of a vector.
  void comment(std::string_view letter, const std::vector<std::string>& names) {
    std::string words = fmt::format("/// {} =", letter);
    for (const std::string& name : names) {
      if (words.size() + name.size() > width) {
        out_ += words + '\n';
        words = "///  ";
      }
      words += ' ' + name;
    }
    out_ += words + '\n';
  }
  /// A member with a text, in pieces where it is long.
  void text(std::string_view member, std::string_view value) {
    constexpr std::size_t most = 80;
    std::vector<std::string> pieces;
    while (value.size() > most) {
      const std::size_t cut = value.rfind(' ', most);
      if (cut == std::string_view::npos) break;
      pieces.push_back(cpp_string(value.substr(0, cut + 1)));
      value.remove_prefix(cut + 1);
    }
    pieces.push_back(cpp_string(value));
    line(fmt::format("  static constexpr auto {} = {};", member, fmt::join(pieces, " ")));
  }
  /// A member with an array of numbers.
  void numbers(std::string_view member, const std::vector<double>& values) {
    std::vector<std::string> entries;
    for (const double value : values) entries.push_back(cpp_number(value));
    line(fmt::format("  static constexpr std::array<double, {}> {}{{{}}};", values.size(), member, join(entries)));
  }
  /// A member function that returns an array; nothing for an empty one.
  void list(std::string_view type, std::string_view name, const std::vector<std::string>& entries) {
    if (entries.empty()) return;
    line(fmt::format("  static constexpr std::array<{}, {}> {}() {{", type, entries.size(), name));
    for (std::size_t i = 0; i < entries.size(); ++i)
      line(fmt::format("    {}{}{}", i == 0 ? "return {{" : "         ", entries[i],
                       i + 1 < entries.size() ? "," : "}};"));
    line("  }");
  }
  /// A static member function that looks up a table.
  void print_table(std::string_view head, std::string_view size, const std::vector<std::string>& entries,
                   std::string_view result) {
    line(fmt::format("  RB_HD static constexpr {} {{", head));
    const bool large = std::ranges::any_of(entries, [](const std::string& entry) { return entry.ends_with("ull"); });
    line(fmt::format("    constexpr {}long long table[{}] = {{{}}};", large ? "unsigned " : "", size, join(entries)));
    line(fmt::format("    return {};\n  }}", result));
  }
  /// The text. The object is empty after this call.
  std::string finished() { return std::exchange(out_, {}); }

 protected:
  static constexpr std::size_t width = 116;

 private:
  std::string out_;
};

}  // namespace rattleback
