#include "output/output.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <iostream>

#include <fcntl.h>
#include <unistd.h>

namespace rattleback::program {

void prepare_streams() {
  std::signal(SIGPIPE, SIG_IGN);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) == -1) (void)open("/", O_RDONLY);  // the lowest free descriptor; each use fails
}

bool finish_stdout() {
  // The first failure has left the reason in errno.
  if (std::fflush(stdout) == 0 && std::cout && std::ferror(stdout) == 0) return true;
  print_stderr("rattleback: standard output: cannot be written ({})\n", std::strerror(errno));
  return false;
}

}  // namespace rattleback::program
