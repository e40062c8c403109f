#include "rattleback/files/text_file.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "rattleback/base/message.hpp"

namespace rattleback {

std::string read_text(const std::filesystem::path& file, std::size_t most) {
  const auto fail = [&](int error) {
    input_error(file.empty() ? "''" : file.string(), fmt::format("cannot be read ({})", std::strerror(error)));
  };
  const int id = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (id < 0) fail(errno);
  std::string text;
  ssize_t got = 1;
  int error = 0;
  while (got > 0 && text.size() <= most) {
    char block[1 << 16];
    got = read(id, block, sizeof block);
    if (got > 0) text.append(block, static_cast<std::size_t>(got));
    if (got >= 0) continue;
    if (errno == EINTR) {
      got = 1;
    } else {
      error = errno;
    }
  }
  close(id);
  if (error != 0) fail(error);
  if (text.size() > most) {
    input_error(file.string(),
                fmt::format("cannot be read (it has more than {} MiB, which no study has); is it another "
                            "file?",
                            most >> 20));
  }
  return text;
}

}  // namespace rattleback
