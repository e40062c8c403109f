#include "citing/page.hpp"

#include <fmt/format.h>

namespace rattleback::program {
namespace {

/// Figures have a white ground. In the dark their colours are turned around, and hues stay.
constexpr std::string_view style = R"css(
:root { color-scheme: light dark; --ground: #ffffff; --text: #1a1c1e; --quiet: #5b6269; --line: #d5d9dd; --soft: #f3f5f7;
        --accent: #0b5cad; --alarm: #a3210f; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #15181b; --text: #e4e7ea; --quiet: #a0a8b0; --line: #3a4148; --soft: #1f2429; --accent: #7ab8f5;
          --alarm: #ff9580; }
  figure img { filter: invert(0.9) hue-rotate(180deg); }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.6rem; line-height: 1.25; } h2 { font-size: 1.3rem; margin-top: 2.5rem; border-top: 1px solid var(--line);
padding-top: 1rem; } h3 { font-size: 1.05rem; margin-top: 1.8rem; }
h1, h2, h3, p, li, td, th, code { overflow-wrap: anywhere; }
a { color: var(--accent); }
p.quiet { color: var(--quiet); } p.alarm { color: var(--alarm); font-weight: 600; }
.wide { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.92rem; }
th, td { text-align: left; padding: 0.25rem 0.9rem 0.25rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
table.numbers th, table.numbers td { text-align: right; white-space: nowrap; overflow-wrap: normal; }
table.numbers th:first-child, table.numbers td:first-child { text-align: left; }
table.facts th { color: var(--quiet); font-weight: 500; white-space: nowrap; overflow-wrap: normal; }
pre { background: var(--soft); border-radius: 0.4rem; padding: 0.8rem; overflow-x: auto; font-size: 0.85rem; line-height: 1.4; }
figure { margin: 1rem 0; } figure img { display: block; width: 100%; max-width: 46rem; height: auto; background: #ffffff; }
figcaption { color: var(--quiet); font-size: 0.92rem; }
summary { cursor: pointer; color: var(--accent); }
@media print { details:not([open]) > summary { display: none; } }
)css";

std::string id(std::string_view anchor) { return anchor.empty() ? "" : fmt::format(" id=\"{}\"", escaped(anchor)); }

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  return result;
}

std::string data_url(std::string_view svg) {
  std::string result = "data:image/svg+xml,";
  for (const char c : svg) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      result += ' ';
    } else if (byte < 0x20 || byte >= 0x7f || std::string_view("%#\"<>&?{}|\\^`").find(c) != std::string_view::npos) {
      result += fmt::format("%{:02X}", byte);
    } else {
      result += c;
    }
  }
  return result;
}

void Page::heading(int level, std::string_view text, std::string_view anchor) {
  body_ += fmt::format("<h{0}{1}>{2}</h{0}>\n", level, id(anchor), escaped(text));
}

void Page::paragraph(std::string_view text, std::string_view kind) {
  body_ += fmt::format("<p{}>{}</p>\n", kind.empty() ? "" : fmt::format(" class=\"{}\"", kind), escaped(text));
}

void Page::facts(const std::vector<std::pair<std::string, std::string>>& rows) {
  body_ += "<div class=\"wide\"><table class=\"facts\">\n";
  for (const auto& [name, value] : rows)
    body_ += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", escaped(name), escaped(value));
  body_ += "</table></div>\n";
}

void Page::table(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows) {
  body_ += "<div class=\"wide\"><table class=\"numbers\">\n<thead><tr>";
  for (const std::string& cell : head) body_ += fmt::format("<th scope=\"col\">{}</th>", escaped(cell));
  body_ += "</tr></thead>\n<tbody>\n";
  for (const auto& row : rows) {
    body_ += "<tr>";
    for (const std::string& cell : row) body_ += fmt::format("<td>{}</td>", escaped(cell));
    body_ += "</tr>\n";
  }
  body_ += "</tbody></table></div>\n";
}

void Page::code(std::string_view text) { body_ += fmt::format("<pre>{}</pre>\n", escaped(text)); }

void Page::folded(std::string_view title, std::string_view text) {
  body_ += fmt::format("<details><summary>{}</summary>\n<pre>{}</pre></details>\n", escaped(title), escaped(text));
}

void Page::figure(std::string_view svg, std::string_view caption) {
  body_ += fmt::format("<figure><img alt=\"{0}\" src=\"{1}\"><figcaption>{0}</figcaption></figure>\n", escaped(caption),
                       data_url(svg));
}

void Page::list(const std::vector<std::pair<std::string, std::string>>& items) {
  body_ += "<ul>\n";
  for (const auto& [text, link] : items)
    body_ += link.empty() ? fmt::format("<li>{}</li>\n", escaped(text))
                          : fmt::format("<li><a href=\"{}\">{}</a></li>\n", escaped(link), escaped(text));
  body_ += "</ul>\n";
}

void Page::contents(const std::vector<std::pair<std::string, std::string>>& titles_and_anchors) {
  body_ += "<nav><ul>\n";
  for (const auto& [title, anchor] : titles_and_anchors)
    body_ += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", escaped(anchor), escaped(title));
  body_ += "</ul></nav>\n";
}

std::string Page::html(std::string_view title) const {
  return fmt::format(
      "<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n<main>\n{}</main>\n</body>\n</html>\n",
      escaped(title), style, body_);
}

}  // namespace rattleback::program
