#pragma once
// The files of a run, and where a result may be written.

#include <filesystem>
#include <functional>
#include <span>
#include <string>

namespace rattleback {

/// The files of a run into RESULT while it is under way.
struct RunFiles {
  std::filesystem::path result, part, damaged, checkpoint, values, crossings;

  explicit RunFiles(const std::filesystem::path& result);
  /// An interrupted run waits there.
  [[nodiscard]] bool interrupted() const;
  /// Removes what only a run under way needs.
  void remove_scratch() const;
};

/// The file that a name stands for: symbolic links followed, also to what is not there yet. Throws Error(input) where they go
/// round in circles.
[[nodiscard]] std::filesystem::path followed(const std::filesystem::path& file);

/// Whether two names are of one file; false where one of them is not there.
[[nodiscard]] bool same_file(const std::filesystem::path& a, const std::filesystem::path& b);

/// Where an output goes: symbolic links followed. Throws Error(input) unless nothing is there, in a directory that is, or a
/// file that may be written and for which `own` holds, and also where it is one of the inputs.
[[nodiscard]] std::filesystem::path output_place(const std::filesystem::path& file,
                                                 std::span<const std::filesystem::path> inputs,
                                                 const std::function<bool(const std::filesystem::path&)>& own);

/// The same where only a file that a run of this program has written may be replaced.
[[nodiscard]] std::filesystem::path result_place(const std::filesystem::path& file,
                                                 std::span<const std::filesystem::path> inputs = {});

/// The place of a result, links followed. Only a result of this program may be there, or nothing, and none of the files that
/// a run needs beside it may stand for another file. Throws Error(input) otherwise, also where the result would replace one
/// of the inputs.
[[nodiscard]] std::filesystem::path check_output(const std::filesystem::path& file,
                                                 std::span<const std::filesystem::path> inputs = {});

}  // namespace rattleback
