#include "rattleback/parts/claim.hpp"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rattleback/base/error.hpp"
#include "rattleback/base/json.hpp"

namespace rattleback {

namespace fs = std::filesystem;

std::optional<Claim> Claim::take(const PartsFolder& folder, std::uint64_t part, ClaimKind kind) {
  Claim claim(part, folder.claim_path(part, kind, 0));
  if (mkdir(claim.path_.c_str(), 0777) != 0) {
    const int reason = errno;
    if (reason == EEXIST || !folder.exists()) return std::nullopt;
    errno = reason;
    claim.fail("made");
  }
  if (!claim.beat({})) return std::nullopt;
  return claim;
}

std::optional<Claim> Claim::take_over(const PartsFolder& folder, const ClaimState& stale) {
  // The sign of life comes first: nobody finds the folder stale under its new name.
  std::error_code code;
  if (const Claim present(stale.part, stale.path); !present.write_heartbeat(false, {})) {
    const int reason = errno;
    if (!fs::exists(stale.path, code)) return std::nullopt;  // somebody else has taken it over
    errno = reason;
    present.fail("taken over");
  }
  Claim claim(stale.part, folder.claim_path(stale.part, stale.kind, stale.epoch + 1));
  if (std::rename(stale.path.c_str(), claim.path_.c_str()) != 0) {
    const int reason = errno;
    if (!fs::exists(stale.path, code)) return std::nullopt;
    errno = reason;
    Claim(stale.part, stale.path).fail("taken over");
  }
  if (!claim.beat({})) return std::nullopt;
  return claim;
}

void Claim::fail(const char* action) const {
  throw Error(Error::Kind::runtime, fmt::format("{}: cannot be {} ({})", path_.string(), action, std::strerror(errno)));
}

bool Claim::write_heartbeat(bool released, const Work& work) const {
  const Json json{{"host", host_name()},         {"pid", getpid()},         {"machine", machine_identity()},
                  {"released", released},        {"seconds", work.seconds}, {"steps", work.steps},
                  {"all_steps", work.all_steps}, {"before", work.before}};
  return write_renamed(path_ / heartbeat_name, json_text(json) + "\n");
}

bool Claim::beat(const Work& work) const {
  if (write_heartbeat(false, work)) return true;
  std::error_code code;
  return fs::exists(path_, code);  // a full disk takes no heartbeat, and takes no claim away
}

void Claim::release() const { (void)write_heartbeat(true, {}); }

void Claim::remove() const {
  std::error_code code;
  fs::remove_all(path_, code);
}

}  // namespace rattleback
