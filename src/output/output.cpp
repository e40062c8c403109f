#include "output/output.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <iostream>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace rattleback::program {

void prepare_streams() {
  std::signal(SIGPIPE, SIG_IGN);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) == -1) (void)open("/", O_RDONLY);  // the lowest free descriptor; each use fails
}

void print_stdout_bytes(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size())
    throw std::system_error(errno, std::generic_category(), "standard output");
}

void print_stdout_lines(std::string_view text) { print_stdout_bytes(printable_lines(text)); }

void print_stdout_json(const Json& json) { print_stdout_bytes(json_text(json, 2) + "\n"); }

bool finish_stdout() {
  // The first failure has left the reason in errno.
  if (std::fflush(stdout) == 0 && std::cout && std::ferror(stdout) == 0) return true;
  print_stderr("rattleback: standard output: cannot be written ({})\n", std::strerror(errno));
  return false;
}

}  // namespace rattleback::program
