#pragma once
// The files of a run, and checks of the place of a result.

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "rattleback/base/mark.hpp"

namespace rattleback {

class ResultSink;

/// The files of an unfinished run into RESULT.
struct RunFiles {
  std::filesystem::path result, part, damaged, checkpoint, values, crossings, compressed;

  explicit RunFiles(const std::filesystem::path& result);
  /// Returns whether an interrupted run exists.
  [[nodiscard]] bool interrupted() const;
  /// Removes the files that only an unfinished run needs.
  void remove_scratch() const;
};

/// Returns the file of a name. Symbolic links are followed, even to a file that does not exist yet. Throws Error(input)
/// on circular links.
[[nodiscard]] std::filesystem::path followed(const std::filesystem::path& file);

/// Returns whether two names denote one file; false when a file does not exist.
[[nodiscard]] bool same_file(const std::filesystem::path& a, const std::filesystem::path& b);

/// Returns the place of an output, with symbolic links followed. The place must be new in an existing directory, or a
/// writable file that may be replaced: `foreign` then returns "", and otherwise why not. Throws Error(input) for other places,
/// and for one of the inputs.
[[nodiscard]] std::filesystem::path output_place(
    const std::filesystem::path& file, std::span<const std::filesystem::path> inputs,
    const std::function<std::string(const std::filesystem::path&)>& foreign);
/// The reason to keep a file that this program has not written.
inline constexpr const char* not_ours = "rattleback did not write the existing file, which would be lost";

/// Like output_place. Only an HDF5 file of this kind that this program has written may be replaced.
[[nodiscard]] std::filesystem::path result_place(const std::filesystem::path& file,
                                                 std::span<const std::filesystem::path> inputs = {},
                                                 FileKind kind = FileKind::result);

/// Returns the place of an HDF5 file, with links followed. The place must be new or have a file of this kind. The
/// other files of the run must not replace foreign files, and the name must not end like one of another format. Throws
/// Error(input) otherwise, and when the run would replace one of the inputs.
[[nodiscard]] std::filesystem::path check_output(const std::filesystem::path& file,
                                                 std::span<const std::filesystem::path> inputs = {},
                                                 FileKind kind = FileKind::result);

/// make_file_sink() of result.hpp for a file of any kind.
std::unique_ptr<ResultSink> make_file_sink(const std::filesystem::path& file, FileKind kind);

}  // namespace rattleback
