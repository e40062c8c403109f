#pragma once
// A finished file is copied with its series compressed. While a run goes on, its datasets are contiguous (result_file.hpp), because
// only those survive the death of the program at any moment.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "rattleback/base/mark.hpp"
#include "rattleback/results/scales.hpp"

namespace rattleback {

/// Returns whether a dataset has the numbers of single trajectories at all samples: states, or values of an observable and their derivatives.
[[nodiscard]] bool is_series(std::string_view path);

/// Copies a file, in which no scales are attached yet, to the new file `to`, attaches the scales, and writes all to the disk. Series become
/// chunks that are shuffled and compressed by deflate with this level, on some threads. `datasets` are those of the file. Returns why the file cannot be
/// written, which is then removed; empty for a whole copy.
[[nodiscard]] std::string copy_compressed(hid_t from, const std::vector<ScaledDataset>& datasets,
                                          const std::filesystem::path& to, const std::string& run, FileKind kind,
                                          unsigned level, unsigned threads);

}  // namespace rattleback
