#include "rattleback/base/sha256.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <unistd.h>

#include "rattleback/base/error.hpp"

namespace rattleback {
namespace {

void check(bool done) {
  if (!done) throw Error(Error::Kind::runtime, "OpenSSL cannot compute SHA-256; repair the package libssl3");
}

}  // namespace

struct Sha256::Context {
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context{EVP_MD_CTX_new(), EVP_MD_CTX_free};
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {
  check(context_->context && EVP_DigestInit_ex(context_->context.get(), EVP_sha256(), nullptr) == 1);
}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::add(std::string_view bytes) {
  check(EVP_DigestUpdate(context_->context.get(), bytes.data(), bytes.size()) == 1);
}

std::string Sha256::digits() {
  std::array<unsigned char, 32> value{};
  check(EVP_DigestFinal_ex(context_->context.get(), value.data(), nullptr) == 1);
  return fmt::format("{:02x}", fmt::join(value, ""));
}

std::string sha256(std::string_view bytes) {
  Sha256 digest;
  digest.add(bytes);
  return digest.digits();
}

std::string sha256_of(int file) {
  Sha256 digest;
  std::vector<char> block(1 << 16);
  for (off_t offset = 0;;) {
    const ssize_t got = pread(file, block.data(), block.size(), offset);
    if (got == 0) return digest.digits();
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return "";
    digest.add({block.data(), static_cast<std::size_t>(got)});
    offset += got;
  }
}

std::string sha256_of(const std::filesystem::path& file) {
  const int id = open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  std::string digits = id < 0 ? "" : sha256_of(id);
  const int error = errno;
  if (id >= 0) close(id);
  if (digits.empty())
    throw Error(Error::Kind::runtime, fmt::format("{}: cannot be read ({})", file.string(), std::strerror(error)));
  return digits;
}

}  // namespace rattleback
