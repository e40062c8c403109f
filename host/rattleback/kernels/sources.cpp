#include "rattleback/kernels/sources.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "rattleback/base/message.hpp"
#include "rattleback/base/sha256.hpp"
#include "rattleback/kernels/includes.hpp"

namespace rattleback {
namespace {

namespace fs = std::filesystem;

/// Returns a name as #line takes it.
std::string escaped(const std::string& name) {
  std::string text;
  for (const char letter : name) {
    if (letter == '"' || letter == '\\') text += '\\';
    if (letter != '\n') text += letter;
  }
  return text;
}

/// The macros of the user as lines.
struct Macros {
  std::string define, undefine;

  explicit Macros(const std::vector<std::string>& options) {
    for (const std::string& option : options) {
      const std::size_t equals = std::min(option.find('='), option.size());
      const std::string name = option.substr(2, equals - 2);
      const std::string value = equals < option.size() ? option.substr(equals + 1) : "1";
      undefine += fmt::format("#undef {}\n", name);
      define += fmt::format("#undef {}\n", name);
      if (option.starts_with("-D")) define += fmt::format("#define {} {}\n", name, value);
    }
  }
};

class Gatherer {
 public:
  explicit Gatherer(const HeaderOptions& options) : options_(options), macros_(options.macros) {}

  WholeUnit operator()(const std::string& unit) {
    add(unit, "unit.cpp", {});
    return std::move(whole_);
  }

 private:
  /// Adds a text. `name` is for messages of the compiler, `folder` that of a file of the user; empty for other texts.
  void add(std::string_view text, const std::string& name, const fs::path& folder) {
    whole_.text += fmt::format("#line 1 \"{}\"\n", escaped(name));
    for (int number = 1; !text.empty(); ++number) {
      const std::string_view line = text.substr(0, text.find('\n'));
      text.remove_prefix(std::min(text.size(), line.size() + 1));
      const std::optional<Include> include = included_by(line);
      if (include && put(*include, folder, fmt::format("{}:{}", name, number))) {
        whole_.text += fmt::format("#line {} \"{}\"\n", number + 1, escaped(name));
      } else {
        if (line != "#pragma once") whole_.text += line;
        whole_.text += '\n';
      }
    }
  }

  /// Puts a header in place of its include. Returns false where the compiler is to find the header.
  bool put(const Include& include, const fs::path& folder, const std::string& where) {
    const bool by_user = !folder.empty();
    if (include.form == Include::Form::quotes) {
      const auto all = embedded_headers();
      const auto found = std::ranges::lower_bound(all, std::string_view(include.name), {}, &EmbeddedHeader::name);
      if (found != all.end() && found->name == include.name) {
        if (!seen_.insert(include.name).second) return true;
        if (by_user) whole_.text += macros_.undefine;
        add(found->text, include.name, {});
        if (by_user) whole_.text += macros_.define;
        return true;
      }
      if (!by_user) {
        whole_.own.push_back({weakly_canonical(fs::path(include.name)), ""});
        digest_.clear();
        whole_.text += macros_.define;
        put_file(whole_.own.back().file, include.name, where);
        whole_.text += macros_.undefine;
        for (const std::string& macro : options_.macros) digest_ += fmt::format("macro {}\n", macro);
        whole_.own.back().digest = sha256(digest_);
        return true;
      }
    }
    if (!by_user) return false;
    if (include.form == Include::Form::macro)
      input_error(
          where, fmt::format("the header that the macro {} names cannot be followed, so a result would not know of its "
                             "changes; write its name",
                             quote(include.name)));
    if (include.next) {
      follow_named(include, folder, where);
      return false;
    }
    const fs::path file = find_header(include, folder, options_);
    const bool beside = include.form == Include::Form::quotes && file == folder / include.name;
    if (beside || (file.empty() && include.form == Include::Form::quotes)) {
      put_file(weakly_canonical(folder / include.name), include.name, where);
      return true;
    }
    if (!file.empty()) follow(file, where);
    return false;
  }

  void put_file(const fs::path& file, const std::string& name, const std::string& where) {
    if (!seen_.insert(file.string()).second) return;
    const std::string text = text_of_header(file, name, where);
    digest_ += sha256(text) + "\n";
    add(text, file.string(), file.parent_path());
  }

  /// Takes a file that the compiler finds into the digest, and all files of the user that it may include: conditions are not
  /// looked at.
  void follow(const fs::path& file, const std::string& where) {
    if (!followed_.insert(weakly_canonical(file).string()).second) return;
    const std::string text = text_of_header(file, file.string(), where);
    digest_ += sha256(text) + "\n";
    std::string_view rest = text;
    for (int number = 1; !rest.empty(); ++number) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
      const std::optional<Include> include = included_by(line);
      if (!include || include->form == Include::Form::macro) continue;
      follow_named(*include, file.parent_path(), fmt::format("{}:{}", file.string(), number));
    }
  }

  /// Follows the file that an include names; for #include_next all files of this name.
  void follow_named(Include include, const fs::path& folder, const std::string& where) {
    HeaderOptions folders = options_;
    if (include.next) include.form = Include::Form::brackets;
    do {
      if (const fs::path found = find_header(include, folder, folders); !found.empty()) follow(found, where);
      if (!folders.folders.empty()) folders.folders.erase(folders.folders.begin());
    } while (include.next && !folders.folders.empty());
  }

  static fs::path weakly_canonical(const fs::path& file) {
    std::error_code code;
    return fs::weakly_canonical(file, code);
  }

  const HeaderOptions& options_;
  Macros macros_;
  WholeUnit whole_;
  std::set<std::string> seen_, followed_;
  std::string digest_;  ///< of the header of the user that is gathered
};

}  // namespace

std::string digest_of_header(const fs::path& header, const std::string& where, const HeaderOptions& options) {
  const std::string name = header.string();
  std::error_code code;
  if (!fs::is_regular_file(header, code))
    input_error(where, fmt::format("{} is not a file that can be read", quote(name, most_of_a_path)));
  if (std::ranges::any_of(name, [](unsigned char c) { return c == '"' || c < ' '; }))
    input_error(where, fmt::format("{} has a quote or a control character, which no #include can name; rename it",
                                   quote(name, most_of_a_path)));
  return whole_unit(fmt::format("#include \"{}\"\n", name), options).own.at(0).digest;
}

void check_type(const std::string& type, const std::string& where) {
  const bool fine = !type.empty() && type.size() <= 1000 && std::ranges::all_of(type, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || std::string_view("_:<>, -").find(c) != std::string_view::npos;
  });
  if (!fine)
    input_error(where, fmt::format("{} is not a C++ type over T, such as \"example::DoubleWell<T>\"", quote(type)));
}

WholeUnit whole_unit(const std::string& unit, const HeaderOptions& options) { return Gatherer(options)(unit); }

}  // namespace rattleback
