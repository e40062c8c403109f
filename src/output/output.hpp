#pragma once
// The standard streams of the program.

#include <cstdio>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace rattleback::program {

/// Prepares the standard streams; called before anything else. A pipe that nobody reads gives an error and no signal.
/// A stream that is closed stays without use: no file that is opened later can take its place.
void prepare_streams();

/// Prints on stderr. A failure is ignored: a broken stderr ends no run.
template <class... Arguments>
void print_stderr(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  const std::string text = fmt::format(format, std::forward<Arguments>(arguments)...);
  (void)std::fwrite(text.data(), 1, text.size(), stderr);
}

/// Whether stdout has taken all that was printed. Where it has not, says so on stderr, with the reason in errno.
[[nodiscard]] bool finish_stdout();

}  // namespace rattleback::program
