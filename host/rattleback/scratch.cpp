#include "rattleback/scratch.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include "rattleback/error.hpp"

namespace rattleback {

ScratchFile::ScratchFile(const std::filesystem::path& file, const char* what) : name_(file), what_(what) {
  if (!file.empty()) {
    file_ = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  } else {
    std::string name = (std::filesystem::temp_directory_path() / "rattleback-XXXXXX").string();
    file_ = mkstemp(name.data());
    if (file_ >= 0) unlink(name.c_str());
    name_ = name;
  }
  if (file_ < 0) fail("make");
}

ScratchFile::~ScratchFile() {
  if (file_ >= 0) close(file_);
}

void ScratchFile::fail(const char* action) const {
  throw Error(Error::Kind::runtime, std::string("cannot ") + action + " the file of the " + what_ + ", " +
                                        name_.string() + " (" + std::strerror(errno) + ")");
}

void ScratchFile::write(std::uint64_t offset, const void* data, std::uint64_t bytes) {
  const char* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t done = pwrite(file_, from, bytes, static_cast<off_t>(offset));
    if (done < 0) fail("write");
    from += done;
    offset += static_cast<std::uint64_t>(done);
    bytes -= static_cast<std::uint64_t>(done);
  }
}

void ScratchFile::read(std::uint64_t offset, void* data, std::uint64_t bytes) const {
  char* to = static_cast<char*>(data);
  while (bytes > 0) {
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

void sync_directory_of(const std::filesystem::path& file) {
  const int directory = open(std::filesystem::absolute(file).parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return;
  fsync(directory);
  close(directory);
}

}  // namespace rattleback
