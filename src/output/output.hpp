#pragma once
// The standard streams of the program.

#include <cstdio>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "rattleback/base/json.hpp"
#include "rattleback/base/message.hpp"

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

/// Writes text on stdout as it is: what a shell, a compiler or a browser reads. Throws std::system_error.
void print_stdout_bytes(std::string_view text);

/// Prints lines on stdout. Other control characters than line breaks, and bytes that are not UTF-8, become \x1b and so on:
/// files and their names may have any bytes, and none of them may reach a terminal.
void print_stdout_lines(std::string_view text);

/// Prints on stdout. A text among the arguments becomes part of one line: its line breaks become \n, too.
template <class... Arguments>
void print_stdout(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  [[maybe_unused]] const auto shown = []<class Argument>(const Argument& argument) -> decltype(auto) {
    if constexpr (std::is_convertible_v<const Argument&, std::string_view>)
      return printable(argument);
    else
      return (argument);
  };
  print_stdout_lines(fmt::format(fmt::runtime(fmt::string_view(format)), shown(arguments)...));
}

/// Prints a JSON value on stdout.
void print_stdout_json(const Json& json);

/// Returns whether stdout has accepted all output. After a failure, prints a message on stderr with the reason from
/// errno.
[[nodiscard]] bool finish_stdout();

}  // namespace rattleback::program
