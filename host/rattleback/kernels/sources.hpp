#pragma once
// The kernel headers inside the program, and units that need no other file.

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rattleback/kernels/compiler.hpp"

namespace rattleback {

struct EmbeddedHeader {
  std::string_view name;  ///< "rattleback/systems/nonholonomic/chaotic.hpp"
  std::string_view text;
};
/// Returns all kernel headers, ordered by name.
[[nodiscard]] std::span<const EmbeddedHeader> embedded_headers();

/// A header of the user that a unit includes.
struct OwnHeader {
  std::filesystem::path file;
  /// SHA-256 of all that the compiler takes from the user for this header: the header, all files that it includes from the
  /// folders of the user (beside it, of RATTLEBACK_CXXFLAGS, CPATH and CPLUS_INCLUDE_PATH), and the macros of RATTLEBACK_CXXFLAGS.
  /// Where such a file lies makes no difference.
  std::string digest;
};

/// A unit together with all headers that the text includes in quotes.
struct WholeUnit {
  std::string text;  ///< every header stands where the unit includes this header first, with #line directives
  std::vector<OwnHeader> own;
};

/// Returns OwnHeader::digest of a header. Throws Error(input) at `where` when the header cannot be read.
[[nodiscard]] std::string digest_of_header(const std::filesystem::path& header, const std::string& where,
                                           const HeaderOptions& options);

/// Throws Error(input) at `where` unless the text has the form of a C++ type: names, numbers, '::', '<', '>' and ','.
void check_type(const std::string& type, const std::string& where);

/// Puts the headers into a unit. A name is an embedded header, or the path of a file, absolute or beside the file that
/// includes this file; files in other folders of the user stay with the compiler. The macros of the user hold in the user's headers
/// alone, because the same names in a kernel would change its bits. Throws Error(input) when a file cannot be read.
[[nodiscard]] WholeUnit whole_unit(const std::string& unit, const HeaderOptions& options);

}  // namespace rattleback
