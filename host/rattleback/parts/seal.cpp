#include "rattleback/parts/seal.hpp"

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <optional>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "rattleback/base/error.hpp"
#include "rattleback/base/fnv.hpp"
#include "rattleback/base/mark.hpp"

namespace rattleback {
namespace {

/// The place of the seal in the user block, behind the mark of the run.
constexpr std::size_t seal_place = 64;

/// An open file.
class File {
 public:
  File(const std::filesystem::path& name, int flags) : file_(open(name.c_str(), flags | O_CLOEXEC | O_NOFOLLOW)) {}
  ~File() {
    if (file_ >= 0) close(file_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  [[nodiscard]] int get() const { return file_; }

 private:
  int file_;
};

/// What a seal says.
struct Seal {
  std::uint64_t size = 0, failed = 0, digest = 0;
  [[nodiscard]] std::string text() const {
    return fmt::format("sealed {:016x} {:016x} {:016x}\n", size, failed, digest);
  }
};

/// Computes the seal of an open file. Returns nothing when the file cannot be read.
std::optional<Seal> computed_seal(int file, std::uint64_t failed) {
  const off_t end = lseek(file, 0, SEEK_END);
  Seal seal{static_cast<std::uint64_t>(end), failed, 0};
  Fnv1a digest;
  digest.add_word(seal.size);
  digest.add_word(failed);
  std::vector<char> buffer(std::size_t{1} << 20);
  const auto add = [&](std::uint64_t at, std::uint64_t last) {
    while (at < last) {
      const std::size_t size = std::min<std::uint64_t>(buffer.size(), last - at);
      for (std::size_t done = 0; done < size;) {
        const ssize_t got = pread(file, buffer.data() + done, size - done, static_cast<off_t>(at + done));
        if (got <= 0) return false;
        done += static_cast<std::size_t>(got);
      }
      for (std::size_t i = 0; i < size; i += sizeof(std::uint64_t)) {
        std::uint64_t word = 0;
        std::memcpy(&word, buffer.data() + i, std::min(sizeof word, size - i));
        digest.add_word(word);
      }
      at += size;
    }
    return true;
  };
  if (end < static_cast<off_t>(mark_size) || !add(0, seal_place) || !add(mark_size, seal.size)) return std::nullopt;
  seal.digest = digest.value;
  return seal;
}

/// Reads the seal of an open file. Returns nothing when there is none.
std::optional<Seal> stored_seal(int file) {
  std::string text(Seal{}.text().size(), '\0');
  Seal seal;
  if (pread(file, text.data(), text.size(), seal_place) != static_cast<ssize_t>(text.size()) ||
      std::sscanf(text.c_str(), "sealed %16" SCNx64 " %16" SCNx64 " %16" SCNx64, &seal.size, &seal.failed,
                  &seal.digest) != 3 ||
      seal.text() != text)
    return std::nullopt;
  return seal;
}

}  // namespace

void seal(const std::filesystem::path& file, std::uint64_t failed) {
  const File opened(file, O_RDWR);
  const auto computed = opened.get() < 0 ? std::nullopt : computed_seal(opened.get(), failed);
  const std::string text = computed ? computed->text() : "";
  if (!computed || pwrite(opened.get(), text.data(), text.size(), seal_place) != static_cast<ssize_t>(text.size()) ||
      fdatasync(opened.get()) != 0)
    throw Error(Error::Kind::runtime, fmt::format("{}: cannot be sealed ({})", file.string(), std::strerror(errno)));
}

std::string fault_of_seal(const std::filesystem::path& file, bool size_only) {
  const File opened(file, O_RDONLY | O_NONBLOCK);
  if (opened.get() < 0) return fmt::format("cannot be read ({})", std::strerror(errno));
  const auto stored = stored_seal(opened.get());
  if (!stored || run_of(opened.get()).empty())
    return "is not a finished part of rattleback, or the beginning of the file is damaged";
  if (const off_t size = lseek(opened.get(), 0, SEEK_END); size != static_cast<off_t>(stored->size))
    return fmt::format("is cut off, or longer than it was (it has {} bytes, not {})", size, stored->size);
  if (size_only) return "";
  const auto computed = computed_seal(opened.get(), stored->failed);
  return computed && computed->digest == stored->digest ? "" : "is damaged (its contents do not match its checksum)";
}

std::uint64_t failed_of_seal(const std::filesystem::path& file) {
  const File opened(file, O_RDONLY | O_NONBLOCK);
  const auto stored = opened.get() < 0 ? std::nullopt : stored_seal(opened.get());
  return stored ? stored->failed : 0;
}

}  // namespace rattleback
