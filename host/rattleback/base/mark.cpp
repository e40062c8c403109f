#include "rattleback/base/mark.hpp"

#include <random>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace rattleback {
namespace {

constexpr std::string_view mark_prefix = "rattleback run ", digits = "0123456789abcdef";
constexpr std::size_t run_size = 32;
constexpr std::string_view kind_prefix = "kind ", kinds[] = {"result", "part", "order", "states"};

}  // namespace

std::string new_run() {
  std::random_device random;
  std::string run;
  while (run.size() < run_size) run += fmt::format("{:08x}", random());
  return run;
}

bool lock_file(int file) {
  struct flock whole{};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  return fcntl(file, F_OFD_SETLK, &whole) == 0;
}

bool write_mark(int file, const std::string& run, FileKind kind) {
  std::string mark = fmt::format("{}{}\n", mark_prefix, run);
  mark += fmt::format("{}{}\n", kind_prefix, kinds[static_cast<std::size_t>(kind)]);
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

std::optional<FileKind> stated_kind(const std::filesystem::path& file) {
  const int descriptor = open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return std::nullopt;
  const bool marked = !run_of(descriptor).empty();
  std::string text(64, '\0');
  const ssize_t size =
      pread(descriptor, text.data(), text.size(), static_cast<off_t>(mark_prefix.size() + run_size + 1));
  close(descriptor);
  if (!marked || size < 0) return std::nullopt;
  text.resize(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < std::size(kinds); ++i)
    if (text.starts_with(fmt::format("{}{}\n", kind_prefix, kinds[i]))) return static_cast<FileKind>(i);
  return std::nullopt;
}

}  // namespace rattleback
