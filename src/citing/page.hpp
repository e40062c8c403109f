#pragma once
// A page of HTML that needs no other file: text, tables and figures in sections.

#include <string>
#include <string_view>
#include <vector>

namespace rattleback::program {

/// Returns text in which no character has a meaning in HTML.
[[nodiscard]] std::string escaped(std::string_view text);
/// Returns an SVG file as the value of the attribute `src` of an image.
[[nodiscard]] std::string data_url(std::string_view svg);

/// Collects the body of a page. All arguments are plain text.
class Page {
 public:
  void heading(int level, std::string_view text, std::string_view anchor = "");
  void paragraph(std::string_view text, std::string_view kind = "");
  /// Adds a table of two columns.
  void facts(const std::vector<std::pair<std::string, std::string>>& rows);
  void table(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows);
  void code(std::string_view text);
  /// Adds text that a click shows.
  void folded(std::string_view title, std::string_view text);
  void figure(std::string_view svg, std::string_view caption);
  /// Adds a list; each item has a text, and a link where the second is not empty.
  void list(const std::vector<std::pair<std::string, std::string>>& items);
  /// Adds links to headings of this page.
  void contents(const std::vector<std::pair<std::string, std::string>>& titles_and_anchors);

  /// Returns the page, without its first line that tells the type.
  [[nodiscard]] std::string html(std::string_view title) const;

 private:
  std::string body_;
};

}  // namespace rattleback::program
