#pragma once
// The standard streams of the program.

#include <cstdio>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace rattleback::program {

/// Prepares the standard streams. Call this first. Output to a pipe without a reader then gives an error, not a signal.
/// A closed stream is replaced by an unusable one, so that no file opened later takes its place.
void prepare_streams();

/// Prints on stderr. Failures are ignored, because a broken stderr must not end a run.
template <class... Arguments>
void print_stderr(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  const std::string text = fmt::format(format, std::forward<Arguments>(arguments)...);
  (void)std::fwrite(text.data(), 1, text.size(), stderr);
}

/// Returns whether stdout has accepted all output. After a failure, prints a message on stderr with the reason from
/// errno.
[[nodiscard]] bool finish_stdout();

}  // namespace rattleback::program
