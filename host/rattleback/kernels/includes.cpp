#include "rattleback/kernels/includes.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rattleback/base/message.hpp"

namespace rattleback {
namespace {

namespace fs = std::filesystem;

/// Removes blanks and comments from the beginning of a line.
void skip_blanks(std::string_view& line) {
  while (!line.empty()) {
    const std::size_t comment = line.starts_with("/*") ? line.find("*/", 2) : std::string_view::npos;
    if (comment != std::string_view::npos) {
      line.remove_prefix(comment + 2);
    } else if (line.front() == ' ' || line.front() == '\t') {
      line.remove_prefix(1);
    } else {
      return;
    }
  }
}

bool take(std::string_view& line, std::string_view word) {
  if (!line.starts_with(word)) return false;
  line.remove_prefix(word.size());
  return true;
}

/// Whether a compiler takes a path for a header: there is something, and it is no folder.
bool is_there(const fs::path& file) {
  struct stat status{};
  return stat(file.c_str(), &status) == 0 && !S_ISDIR(status.st_mode);
}

}  // namespace

std::optional<Include> included_by(std::string_view line) {
  skip_blanks(line);
  if (!take(line, "#") && !take(line, "%:")) return {};
  skip_blanks(line);
  const bool next = line.starts_with("include_next");
  if (!take(line, "include_next") && !take(line, "include") && !take(line, "import")) return {};
  const std::string_view behind = line;
  skip_blanks(line);
  if (line.empty()) return {};
  const char end = line.front() == '"' ? '"' : line.front() == '<' ? '>' : '\0';
  if (end == '\0') {
    if (behind.size() == line.size()) return {};  // another word that begins alike
    return Include{Include::Form::macro, std::string(line.substr(0, line.find_first_of(" \t\r"))), next};
  }
  line.remove_prefix(1);
  return Include{end == '"' ? Include::Form::quotes : Include::Form::brackets,
                 std::string(line.substr(0, line.find(end))), next};
}

std::string text_of_header(const fs::path& file, const std::string& name, const std::string& where) {
  constexpr off_t most = off_t{1} << 26;
  const auto fail = [&](std::string_view why) {
    input_error(where, fmt::format("the header {} cannot be read ({})", quote(name, most_of_a_path), why));
  };
  const int id = open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);  // a pipe does not block
  if (id < 0) fail(std::strerror(errno));
  struct stat status{};
  std::string text;
  std::string_view fault;
  if (fstat(id, &status) != 0 || !S_ISREG(status.st_mode)) {
    fault = S_ISDIR(status.st_mode) ? "it is a folder" : "it is not a regular file";
  } else if (status.st_size > most) {
    fault = "it has more than 64 MiB";
  } else {
    text.resize(static_cast<std::size_t>(status.st_size));
    std::size_t done = 0;
    while (done < text.size()) {
      const ssize_t got = read(id, text.data() + done, text.size() - done);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fault = std::strerror(errno);
      if (got <= 0) break;
      done += static_cast<std::size_t>(got);
    }
    text.resize(done);
  }
  close(id);
  if (!fault.empty()) fail(fault);
  return text;
}

fs::path find_header(const Include& include, const fs::path& folder, const HeaderOptions& options) {
  const auto in = [&](const fs::path& place) {
    fs::path file = place / include.name;  // an absolute name stays what it is
    return is_there(file) ? file : fs::path{};
  };
  fs::path found;
  if (include.form == Include::Form::quotes) {
    found = in(folder);
    for (const fs::path& place : options.quote_folders)
      if (found.empty()) found = in(place);
  }
  for (const fs::path& place : options.folders)
    if (found.empty()) found = in(place);
  if (found.empty() && fs::path(include.name).is_absolute()) found = in("/");
  return found;
}

}  // namespace rattleback
