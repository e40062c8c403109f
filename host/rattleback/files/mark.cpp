#include "rattleback/files/mark.hpp"

#include <random>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace rattleback {
namespace {

constexpr std::string_view mark_prefix = "rattleback run ", digits = "0123456789abcdef";
constexpr std::size_t run_size = 32;

}  // namespace

std::string new_run() {
  std::random_device random;
  std::string run;
  while (run.size() < run_size) run += fmt::format("{:08x}", random());
  return run;
}

bool lock_file(int file) {
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  return fcntl(file, F_OFD_SETLK, &whole) == 0;
}

bool write_mark(int file, const std::string& run) {
  std::string mark = fmt::format("{}{}\n", mark_prefix, run);
  mark.resize(mark_size, '\0');
  return pwrite(file, mark.data(), mark.size(), 0) == static_cast<ssize_t>(mark.size());
}

std::string run_of(int file) {
  std::string mark(mark_prefix.size() + run_size + 1, '\0');
  if (pread(file, mark.data(), mark.size(), 0) != static_cast<ssize_t>(mark.size())) return "";
  std::string run = mark.substr(mark_prefix.size(), run_size);
  const bool whole =
      mark.starts_with(mark_prefix) && mark.back() == '\n' && run.find_first_not_of(digits) == std::string::npos;
  return whole ? run : "";
}

std::string run_of(const std::filesystem::path& file) {
  const int descriptor = open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return "";
  std::string run = run_of(descriptor);
  close(descriptor);
  return run;
}

}  // namespace rattleback
