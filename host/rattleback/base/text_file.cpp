#include "rattleback/base/text_file.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "rattleback/base/message.hpp"

namespace rattleback {

namespace {

enum class Wanted { any, regular };

/// Returns why an open file is not read; empty for a file that is.
std::string fault_of(int file, Wanted wanted) {
  struct stat status{};
  if (fstat(file, &status) != 0) return std::strerror(errno);
  if (S_ISDIR(status.st_mode)) return std::strerror(EISDIR);
  if (wanted == Wanted::regular && !S_ISREG(status.st_mode)) return "it is not a regular file";
  struct statfs system{};
  if (S_ISFIFO(status.st_mode) && (fstatfs(file, &system) != 0 || system.f_type != PIPEFS_MAGIC))
    return "it is a FIFO, which may never have a writer; give a file, or a pipe of the shell";
  return "";
}

std::string read(const std::filesystem::path& file, std::size_t most, Wanted wanted, std::string_view where) {
  const auto fail = [&](const std::string& why) {
    const std::string name = file.empty() ? "''" : file.string();
    if (where.empty()) input_error(name, fmt::format("cannot be read ({})", why));
    input_error(where, fmt::format("{} cannot be read ({})", quote(name, most_of_a_path), why));
  };
  const int id = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (id < 0) fail(std::strerror(errno));
  std::string text, fault = fault_of(id, wanted);
  // A pipe of the shell waits for its writer.
  if (fault.empty() && fcntl(id, F_SETFL, 0) != 0) fault = std::strerror(errno);
  for (ssize_t got = 1; fault.empty() && got != 0 && text.size() <= most;) {
    char block[1 << 16];
    got = ::read(id, block, sizeof block);
    if (got > 0) text.append(block, static_cast<std::size_t>(got));
    if (got < 0 && errno != EINTR) fault = std::strerror(errno);
  }
  close(id);
  if (!fault.empty()) fail(fault);
  if (text.size() > most)
    fail(fmt::format("it has more than {} MiB, which no file of this kind has; is it another file?", most >> 20));
  return text;
}

}  // namespace

std::string read_text(const std::filesystem::path& file, std::size_t most) { return read(file, most, Wanted::any, ""); }

std::string read_regular(const std::filesystem::path& file, std::size_t most, std::string_view where) {
  return read(file, most, Wanted::regular, where);
}

}  // namespace rattleback
