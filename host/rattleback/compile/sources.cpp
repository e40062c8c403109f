#include "rattleback/compile/sources.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <set>

#include <fmt/format.h>

#include "rattleback/base/message.hpp"
#include "rattleback/base/sha256.hpp"

namespace rattleback {
namespace {

/// Returns the name in `#include "name"`; empty for another line.
std::string_view included(std::string_view line) {
  const auto skip = [&line] {
    while (line.starts_with(' ') || line.starts_with('\t')) line.remove_prefix(1);
  };
  skip();
  if (!line.starts_with('#')) return {};
  line.remove_prefix(1);
  skip();
  if (!line.starts_with("include")) return {};
  line.remove_prefix(7);
  skip();
  if (!line.starts_with('"')) return {};
  line.remove_prefix(1);
  return line.substr(0, line.find('"'));
}

/// Returns a name as #line takes it.
std::string escaped(const std::string& name) {
  std::string text;
  for (const char letter : name) {
    if (letter == '"' || letter == '\\') text += '\\';
    if (letter != '\n') text += letter;
  }
  return text;
}

class Gatherer {
 public:
  /// Adds a text. `name` is for messages of the compiler, `folder` for the user's headers beside the text.
  void add(std::string_view text, const std::string& name, const std::filesystem::path& folder) {
    whole_.text += fmt::format("#line 1 \"{}\"\n", escaped(name));
    for (int number = 1; !text.empty(); ++number) {
      const std::string_view line = text.substr(0, text.find('\n'));
      text.remove_prefix(std::min(text.size(), line.size() + 1));
      const std::string_view header = included(line);
      if (header.empty()) {
        if (line != "#pragma once") whole_.text += line;
        whole_.text += '\n';
        continue;
      }
      include(std::string(header), folder, fmt::format("{}:{}", name, number));
      whole_.text += fmt::format("#line {} \"{}\"\n", number + 1, escaped(name));
    }
  }

  WholeUnit take() { return std::move(whole_); }

 private:
  void include(const std::string& header, const std::filesystem::path& folder, const std::string& where) {
    const auto all = embedded_headers();
    const auto found = std::ranges::lower_bound(all, std::string_view(header), {}, &EmbeddedHeader::name);
    if (found != all.end() && found->name == header) {
      if (seen_.insert(header).second) add(found->text, header, {});
      return;
    }
    std::error_code code;
    const std::filesystem::path path = std::filesystem::weakly_canonical(folder / header, code);
    if (!seen_.insert(path.string()).second) return;
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    if (!file || std::filesystem::is_directory(path, code))
      input_error(where, fmt::format("the header {} cannot be read", quote(header)));
    whole_.files.push_back(path);
    add(text, path.string(), path.parent_path());
  }

  WholeUnit whole_;
  std::set<std::string> seen_;
};

}  // namespace

std::string digest_of_header(const std::filesystem::path& header, const std::string& where) {
  std::error_code code;
  if (!std::filesystem::is_regular_file(header, code))
    input_error(where, fmt::format("{} is no file that can be read", quote(header.string(), most_of_a_path)));
  std::string all;
  for (const std::filesystem::path& file : whole_unit(fmt::format("#include \"{}\"\n", header.string())).files) {
    std::ifstream stream(file, std::ios::binary);
    all += sha256(std::string{std::istreambuf_iterator<char>(stream), {}}) + "\n";
  }
  return sha256(all);
}

void check_type(const std::string& type, const std::string& where) {
  const bool fine = !type.empty() && type.size() <= 1000 && std::ranges::all_of(type, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || std::string_view("_:<>, -").find(c) != std::string_view::npos;
  });
  if (!fine)
    input_error(where, fmt::format("{} is no C++ type over T, such as \"example::DoubleWell<T>\"", quote(type)));
}

WholeUnit whole_unit(const std::string& unit) {
  Gatherer gatherer;
  gatherer.add(unit, "unit.cpp", {});
  return gatherer.take();
}

}  // namespace rattleback
