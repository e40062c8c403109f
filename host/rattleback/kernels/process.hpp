#pragma once
// Runs a program and waits for it. A small process of our own stands between: it ends the program, and all that the program has
// started, when this process ends in any way.

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace rattleback {

struct Command {
  /// The program, a path with a '/', and its arguments. No shell is involved.
  std::vector<std::string> arguments;
  /// Receives standard output and standard error. The file is created or emptied.
  std::filesystem::path output = {};
  /// An open file in place of `output`, when that is empty. With neither, the output is discarded.
  int output_file = -1;
  /// Directory for temporary files of the program (TMPDIR); as in this process when empty.
  std::filesystem::path temporary = {};
  /// A folder that is removed if this process ends before the program, also by SIGKILL; none when empty.
  std::filesystem::path remove_if_orphaned = {};
  /// Asked about 20 times a second. The program is killed when it returns true. It must not throw.
  std::function<bool()> cancelled = {};
};

struct Finished {
  enum class How {
    exited,       ///< `value` is the exit status
    signalled,    ///< `value` is the number of the signal
    not_started,  ///< `value` is the error number of the system
    cancelled,    ///< on request
  };
  How how = How::not_started;
  int value = 0;

  [[nodiscard]] bool succeeded() const { return how == How::exited && value == 0; }
};

/// Runs a command to its end. Standard input is empty. The environment is that of this process, but with LC_ALL=C and
/// without variables that change what a compiler does or how its messages look. The program and its children form a
/// process group, so an interrupt from the terminal does not reach them. None of them is left when this function
/// returns. May be called from many threads. Throws Error(runtime) when the output cannot be written or the system starts
/// no more processes.
[[nodiscard]] Finished run_process(const Command& command);

/// Returns in words how a program ended: "exit status 1", "signal 9 (Killed)".
[[nodiscard]] std::string to_string(const Finished& finished);

}  // namespace rattleback
