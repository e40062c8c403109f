#pragma once
// What the last selftest of a device said: results repeat the words.

#include <string>

namespace rattleback {

/// Stores the outcome, one line, of a test of all kernels for this device, driver and build in the user's state folder
/// ($XDG_STATE_HOME, or ~/.local/state). Returns the file name; empty when the user has no such folder.
std::string keep_outcome(const std::string& device, const std::string& driver, const std::string& outcome);
/// Returns the stored outcome for this device, driver and build; empty when no outcome is stored.
std::string kept_outcome(const std::string& device, const std::string& driver);

}  // namespace rattleback
