#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>

#include "rattleback/base/message.hpp"
#include "rattleback/kernels/compiler.hpp"

namespace rattleback {
namespace {

namespace fs = std::filesystem;

constexpr const char* flags_variable = "RATTLEBACK_CXXFLAGS";
constexpr std::array<std::string_view, 6> folder_options = {"-isystem",   "-iquote",          "-idirafter",
                                                            "--sysroot=", "--gcc-toolchain=", "-I"};

/// Options without an operand. Contraction is off and kernels call no library function, so that the levels of optimisation, which
/// the tests compare, give the same bits.
constexpr std::array<std::string_view, 5> plain_options = {"-g", "-w", "-O0", "-O1", "-O2"};

[[noreturn]] void refuse(const std::string& option, std::string_view why) {
  input_error(flags_variable,
              fmt::format("{} is refused ({}); options are -I, -isystem, -iquote and -idirafter with a folder, "
                          "-D and -U with a macro of yours, --sysroot=, --gcc-toolchain=, -g, -w, -O0, -O1 and -O2",
                          quote(option), why));
}

/// Refuses macros that the compiler, the C++ library or the kernels read, and those that are more than a name and a value.
void require_macro_of_user(const std::string& option, std::string_view macro) {
  const std::string_view name = macro.substr(0, macro.find('='));
  if (name.empty()) refuse(option, "a macro is missing");
  if (name.find('(') != std::string_view::npos) refuse(option, "a macro has no arguments; write it into your header");
  const auto is_letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  if (!std::ranges::all_of(name, is_letter) || std::isdigit(static_cast<unsigned char>(name.front())) != 0)
    refuse(option, "this is not the name of a macro");
  for (const std::string_view reserved : {"_", "RATTLEBACK_", "RB_", "NDEBUG", "EIGEN_"})
    if (name.starts_with(reserved)) refuse(option, "this macro could change the bits of results");
  const std::string_view value = macro.substr(std::min(macro.size(), name.size() + 1));
  if (value.find("/*") != std::string_view::npos || value.find("R\"") != std::string_view::npos ||
      value.ends_with('\\'))
    refuse(option, "the value has no end");
  if (option.starts_with("-U") && name.size() != macro.size()) refuse(option, "-U takes a name alone");
}

/// Returns the folders in a list that is separated by colons; an empty item is the working folder.
std::vector<fs::path> folders_in(const char* variable) {
  const char* value = std::getenv(variable);
  std::vector<fs::path> folders;
  std::error_code code;
  if (value == nullptr || *value == '\0') return folders;
  const std::string_view list = value;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(':', begin), list.size());
    folders.push_back(fs::absolute(end == begin ? "." : list.substr(begin, end - begin), code).lexically_normal());
    begin = end + 1;
  }
  return folders;
}

}  // namespace

std::vector<std::string> extra_flags() {
  const char* value = std::getenv(flags_variable);
  std::istringstream words(value ? value : "");
  std::vector<std::string> flags;
  // Returns what belongs to an option: the rest of its word, or the next word.
  const auto operand = [&](const std::string& word, std::size_t size) {
    std::string rest = word.substr(size);
    if (rest.empty()) words >> rest;
    return rest;
  };
  const auto take = [&](const std::string& word) {
    for (const std::string_view option : folder_options) {
      if (!word.starts_with(option)) continue;
      const std::string folder = operand(word, option.size());
      if (folder.empty() || folder.front() == '-') refuse(word, "a folder is missing");
      std::error_code code;
      const std::string absolute = fs::absolute(folder, code).lexically_normal().string();
      if (option.ends_with('=') || option == "-I") {
        flags.push_back(std::string(option) + absolute);
      } else {
        flags.emplace_back(option);
        flags.push_back(absolute);
      }
      return;
    }
    if (word.starts_with("-D") || word.starts_with("-U")) {
      const std::string macro = operand(word, 2);
      require_macro_of_user(word, macro);
      flags.push_back(word.substr(0, 2) + macro);
    } else if (std::ranges::find(plain_options, word) != plain_options.end()) {
      flags.push_back(word);
    } else {
      refuse(word, "it could change the bits of results");
    }
  };
  for (std::string word; words >> word;) take(word);
  return flags;
}

HeaderOptions header_options() {
  HeaderOptions options;
  const std::vector<std::string> all = extra_flags();
  std::vector<fs::path> system, after;  // searched behind the folders of -I
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string& flag = all[i];
    if (flag.starts_with("-D") || flag.starts_with("-U")) {
      options.macros.push_back(flag);
      continue;
    }
    options.flags.push_back(flag);
    if (flag.starts_with("-I")) options.folders.emplace_back(flag.substr(2));
    const bool has_folder = flag == "-isystem" || flag == "-iquote" || flag == "-idirafter";
    if (!has_folder) continue;
    options.flags.push_back(all[++i]);
    (flag == "-isystem" ? system : flag == "-iquote" ? options.quote_folders : after).emplace_back(all[i]);
  }
  const auto add = [&options](const std::vector<fs::path>& folders) {
    options.folders.insert(options.folders.end(), folders.begin(), folders.end());
  };
  add(folders_in("CPATH"));
  add(system);
  add(folders_in("CPLUS_INCLUDE_PATH"));
  add(after);
  return options;
}

}  // namespace rattleback
