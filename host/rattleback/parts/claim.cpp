#include "rattleback/parts/claim.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

namespace rattleback {

namespace fs = std::filesystem;

std::optional<Claim> Claim::take(const PartsFolder& folder, std::uint64_t part, ClaimKind kind) {
  Claim claim(part, folder.claim_path(part, kind, 0));
  if (mkdir(claim.path_.c_str(), 0777) != 0 || !claim.beat({})) return std::nullopt;
  return claim;
}

std::optional<Claim> Claim::take_over(const PartsFolder& folder, const ClaimState& stale) {
  // The sign of life comes first: nobody finds the folder stale under its new name.
  if (!Claim(stale.part, stale.path).write_heartbeat(false, {})) return std::nullopt;
  Claim claim(stale.part, folder.claim_path(stale.part, stale.kind, stale.epoch + 1));
  std::error_code code;
  fs::rename(stale.path, claim.path_, code);
  if (code || !claim.beat({})) return std::nullopt;
  return claim;
}

bool Claim::write_heartbeat(bool released, const Work& work) const {
  const nlohmann::json json{{"host", host_name()},         {"pid", getpid()},         {"machine", machine_identity()},
                            {"released", released},        {"seconds", work.seconds}, {"steps", work.steps},
                            {"all_steps", work.all_steps}, {"before", work.before}};
  return write_renamed(path_ / heartbeat_name, json.dump() + "\n");
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
