#pragma once
// The kernel headers inside the program, and units that need no other file.

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rattleback {

struct EmbeddedHeader {
  std::string_view name;  ///< "rattleback/systems/nonholonomic/chaotic.hpp"
  std::string_view text;
};
/// Returns all kernel headers, ordered by name.
[[nodiscard]] std::span<const EmbeddedHeader> embedded_headers();

/// A unit together with all headers that the text includes in quotes.
struct WholeUnit {
  std::string text;  ///< every header stands where the unit includes this header first, with #line directives
  std::vector<std::filesystem::path> files;  ///< the user's headers in the text
};

/// Returns the SHA-256 of a header of the user and of all headers of the user that this header includes. Throws
/// Error(input) at `where` when the header cannot be read.
[[nodiscard]] std::string digest_of_header(const std::filesystem::path& header, const std::string& where);

/// Throws Error(input) at `where` unless the text has the form of a C++ type: names, numbers, '::', '<', '>' and ','.
void check_type(const std::string& type, const std::string& where);

/// Puts the headers into a unit. A name is an embedded header, or the path of a file, absolute or beside the file that
/// includes this file. Throws Error(input) when a file cannot be read.
[[nodiscard]] WholeUnit whole_unit(const std::string& unit);

}  // namespace rattleback
