#pragma once
// How many processors this process may use: a batch system, a container or `taskset` often grants fewer than the machine has.

#include <filesystem>

namespace rattleback {

/// Returns how many threads can run at once: the processors of the affinity of this process, but not more than its control groups
/// grant in time, rounded up. At least 1.
[[nodiscard]] unsigned usable_processors();

/// Returns the processors that the control groups grant in time, in versions 1 and 2: the least quota / period of the group of
/// this process and of those above it. Returns 0 where there is no limit. `root` is the folder that has /proc and /sys.
[[nodiscard]] double processors_of_groups(const std::filesystem::path& root = "/");

}  // namespace rattleback
