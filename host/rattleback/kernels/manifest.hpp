#pragma once
// A compiled kernel is a folder: its files, and a manifest with their sizes and hashes.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rattleback {

inline constexpr const char* manifest_name = "manifest.json";
inline constexpr const char* used_name = "used";  ///< an empty file, whose time tells when the kernel was used last

/// A file of an entry.
struct StoredFile {
  std::string name;
  std::uint64_t bytes = 0;
  std::string sha256;  ///< 64 hexadecimal digits
};

/// What a user is told about a compiled kernel.
struct Origin {
  std::string title;               ///< "chaotic (contact), 3 stages, AVX-512"
  std::string name;                ///< a hash of all that the bits depend on: the key without the compiler
  std::string compiler;            ///< path, version and target
  std::vector<std::string> flags;  ///< of the compiler
  double seconds = 0.0;            ///< time that the compiler took
};

/// A compiled kernel on disk.
struct Entry {
  std::string key;  ///< 64 hexadecimal digits
  std::filesystem::path folder;
  Origin origin;
  std::vector<StoredFile> files;  ///< all files but the manifest and the mark of use
  std::int64_t compiled = 0;      ///< seconds since 1970, UTC

  /// Returns the path of a file of the entry; empty when the entry has no such file.
  [[nodiscard]] std::filesystem::path file(std::string_view name) const;
  /// Returns the total size of the files.
  [[nodiscard]] std::uint64_t bytes() const;
};

/// Returns whether a text has the form of a key: 64 hexadecimal digits in lower case.
[[nodiscard]] bool is_key(std::string_view text);

/// Writes the manifest of the regular files of `folder`, after it has written these files to disk. Throws Error(runtime)
/// when a file cannot be read or written, and when the folder has no file.
Entry write_manifest(const std::filesystem::path& folder, const std::string& key, const Origin& origin);

/// How much of an entry is compared with its manifest.
enum class Compare {
  nothing,  ///< the manifest is read only
  files,    ///< sizes and hashes of all files
};

/// Reads the entry of `key` from `folder`. Returns nothing when there is no folder of this name, with an empty `fault`,
/// and when the entry is damaged, with what is wrong in `fault`. Symbolic links are not followed.
[[nodiscard]] std::optional<Entry> read_entry(const std::filesystem::path& folder, const std::string& key,
                                              Compare compare, std::string& fault);

}  // namespace rattleback
