#pragma once
// What the last selftest of a device said: results repeat the words.

#include <string>

namespace rattleback {

/// Keeps the outcome, one line, of a test of all kernels for this device, driver and build, in the user's folder of states
/// ($XDG_STATE_HOME, or ~/.local/state). Returns the file; empty where there is no such folder.
std::string keep_outcome(const std::string& device, const std::string& driver, const std::string& outcome);
/// What was kept for this device, driver and build; empty where no test was made.
std::string kept_outcome(const std::string& device, const std::string& driver);

}  // namespace rattleback
