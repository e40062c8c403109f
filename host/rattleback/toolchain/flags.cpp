#include <array>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>

#include "rattleback/base/message.hpp"
#include "rattleback/toolchain/compiler.hpp"

namespace rattleback {
namespace {

namespace fs = std::filesystem;

constexpr const char* flags_variable = "RATTLEBACK_CXXFLAGS";
constexpr std::array<std::string_view, 6> folder_options = {"-isystem",   "-iquote",          "-idirafter",
                                                            "--sysroot=", "--gcc-toolchain=", "-I"};

[[noreturn]] void refuse(const std::string& option, std::string_view why) {
  input_error(flags_variable,
              fmt::format("{} is refused ({}); options are -I, -isystem, -iquote and -idirafter with a folder, "
                          "-D and -U with a macro of yours, --sysroot=, --gcc-toolchain=, -g and -w",
                          quote(option), why));
}

/// Refuses macros that the compiler, the C++ library or the kernels read.
void require_macro_of_user(const std::string& option, std::string_view macro) {
  if (macro.empty()) refuse(option, "a macro is missing");
  for (const std::string_view reserved : {"_", "RATTLEBACK_", "RB_", "NDEBUG", "EIGEN_"})
    if (macro.starts_with(reserved)) refuse(option, "this macro could change the bits of results");
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
    } else if (word == "-g" || word == "-w") {
      flags.push_back(word);
    } else {
      refuse(word, "it could change the bits of results");
    }
  };
  for (std::string word; words >> word;) take(word);
  return flags;
}

}  // namespace rattleback
