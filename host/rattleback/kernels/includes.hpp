#pragma once
// Lines with #include in headers of the user, and the files that they name.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "rattleback/kernels/compiler.hpp"

namespace rattleback {

/// What a line includes.
struct Include {
  enum class Form {
    quotes,    ///< "name"
    brackets,  ///< <name>
    macro      ///< a macro, whose value only the compiler knows
  };
  Form form;
  std::string name;
  bool next = false;  ///< #include_next
};
/// Returns what a line includes; nothing for another line.
[[nodiscard]] std::optional<Include> included_by(std::string_view line);

/// Returns the text of a header. Throws Error(input) at `where` when it is not a regular file: a pipe would be waited for. `name` is
/// for the message.
[[nodiscard]] std::string text_of_header(const std::filesystem::path& file, const std::string& name,
                                         const std::string& where);

/// Returns the file that an include names: beside the file that includes it (quotes), or else in the first folder of the user
/// that has it. Empty when there is none; the compiler may then have one. `folder` is that of the file with the include.
[[nodiscard]] std::filesystem::path find_header(const Include& include, const std::filesystem::path& folder,
                                                const HeaderOptions& options);

}  // namespace rattleback
