#include "rattleback/base/scratch.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rattleback/base/error.hpp"
#include "rattleback/base/mark.hpp"

namespace rattleback {

ScratchFile::ScratchFile(const std::filesystem::path& file, const std::string& run, const char* what)
    : name_(file), what_(what) {
  if (!file.empty()) {
    file_ = open(file.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
  } else {
    std::error_code code;
    std::string name = (std::filesystem::temp_directory_path(code) / "rattleback-XXXXXX").string();
    file_ = mkstemp(name.data());
    if (file_ >= 0) unlink(name.c_str());
    name_ = name;
  }
  if (file_ < 0) fail("make");
  if (run_of(file_) == run) return;
  struct stat status{};
  if (fstat(file_, &status) != 0 || (status.st_size > 0 && run_of(file_).empty())) {
    close(file_);
    throw Error(Error::Kind::input, name_.string() +
                                        ": is in the way (it is not a file of rattleback); move it, or "
                                        "choose another result with -o");
  }
  if (ftruncate(file_, 0) != 0 || !write_mark(file_, run)) fail("write");
}

ScratchFile::~ScratchFile() {
  if (file_ >= 0) close(file_);
}

void ScratchFile::fail(const char* action) const {
  throw Error(Error::Kind::runtime, std::string("cannot ") + action + " the file of the " + what_ + ", " +
                                        name_.string() + " (" + std::strerror(errno) + ")");
}

void ScratchFile::write(std::uint64_t first, const double* words, std::uint64_t count) {
  const char* from = reinterpret_cast<const char*>(words);
  std::uint64_t offset = mark_size + first * sizeof(double);
  for (std::uint64_t bytes = count * sizeof(double); bytes > 0;) {
    const ssize_t done = pwrite(file_, from, bytes, static_cast<off_t>(offset));
    if (done < 0) fail("write");
    from += done;
    offset += static_cast<std::uint64_t>(done);
    bytes -= static_cast<std::uint64_t>(done);
  }
  ledger_.add(first, words, count);
}

void ScratchFile::read(std::uint64_t first, double* words, std::uint64_t count) const {
  char* to = reinterpret_cast<char*>(words);
  std::uint64_t offset = mark_size + first * sizeof(double);
  for (std::uint64_t bytes = count * sizeof(double); bytes > 0;) {
    errno = ENODATA;
    const ssize_t done = pread(file_, to, bytes, static_cast<off_t>(offset));
    if (done <= 0) fail("read back");
    to += done;
    offset += static_cast<std::uint64_t>(done);
    bytes -= static_cast<std::uint64_t>(done);
  }
}

void ScratchFile::sync() {
  if (fdatasync(file_) != 0) fail("write");
}

void ScratchFile::move_to(const std::filesystem::path& name, const std::string& run) {
  ScratchFile named(name, run, what_);
  std::vector<char> buffer(std::size_t{1} << 20);
  for (off_t at = mark_size;;) {
    const ssize_t got = pread(file_, buffer.data(), buffer.size(), at);
    if (got < 0) fail("read back");
    if (got == 0) break;
    for (ssize_t done = 0; done < got;) {
      const ssize_t put = pwrite(named.file_, buffer.data() + done, static_cast<std::size_t>(got - done), at + done);
      if (put < 0) named.fail("write");
      done += put;
    }
    at += got;
  }
  std::swap(file_, named.file_);
  std::swap(name_, named.name_);
}

bool ScratchFile::agrees(const std::filesystem::path& file, const std::string& run,
                         const std::vector<std::uint64_t>& written) {
  const int descriptor = open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool agrees = run_of(descriptor) == run && Ledger(written).agrees_with(descriptor, mark_size);
  close(descriptor);
  return agrees;
}

void sync_directory_of(const std::filesystem::path& file) {
  std::error_code code;
  const auto path = std::filesystem::absolute(file, code).parent_path();
  const int directory = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return;
  fsync(directory);
  close(directory);
}

}  // namespace rattleback
