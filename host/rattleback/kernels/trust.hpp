#pragma once
// Compiled kernels are loaded as code. So they are taken only from files that no other user can have written.

#include <filesystem>
#include <string>

#include <unistd.h>

#include "rattleback/kernels/manifest.hpp"

namespace rattleback {

/// Returns why other users may have written a file or a folder (its target, where it is a symbolic link), in words that follow its
/// name: "belongs to the user 1000". Returns an empty text when it belongs to root, to this user or to `owner`, and nobody else may
/// write it, and when there is no such file.
[[nodiscard]] std::string fault_of_owner(const std::filesystem::path& path, uid_t owner = geteuid());

/// Returns the same for the folder of an entry and its files, with the name of the one concerned.
[[nodiscard]] std::string fault_of_owner(const Entry& entry, uid_t owner = geteuid());

/// How the folders above a folder are looked at. Who may write one of them can put another folder in place.
enum class Above {
  owners,    ///< they belong to root, to this user or to `owner`, and not everybody may write them
  everybody  ///< not everybody may write them
};
/// Returns what is wrong with the folders above a folder, whose path has no symbolic links, with the name of the one concerned; empty
/// when nothing is. A folder such as /tmp, where everybody may write but change only what is theirs (sticky bit), is good.
[[nodiscard]] std::string fault_above(const std::filesystem::path& folder, Above look, uid_t owner = geteuid());

/// Returns the file that has this library: the program, or a shared object that the program has loaded. Empty when it is not known.
[[nodiscard]] std::filesystem::path file_of_library();

/// Returns `path`, which is relative to the folder of that file. Throws Error(input) when there is such a file, and another user
/// than root, this one and who owns that file may have written it.
[[nodiscard]] std::filesystem::path path_from_program(const std::filesystem::path& path);

}  // namespace rattleback
