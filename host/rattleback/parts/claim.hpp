#pragma once
// A claim on a part: a folder that one process holds, with the files of its run.

#include <memory>
#include <optional>

#include "rattleback/parts/folder.hpp"

namespace rattleback {

/// How far the holder of a claim is.
struct Work {
  double seconds = 0.0;                                ///< since the claim
  std::uint64_t steps = 0, all_steps = 0, before = 0;  ///< as in ClaimState
};

/// A claim that this process holds. The folder of the claim is made by one atomic call, so that one process alone gets it. Its
/// name has an epoch: to go on with the part of somebody who is gone, a process renames the folder to the next epoch, which
/// also succeeds for one alone, and which the former holder notices.
class Claim {
 public:
  /// Claims a part that nobody works on. Returns nothing when somebody else is faster. Throws Error(runtime) when the folder
  /// takes no claim: to try again would be to wait for ever.
  [[nodiscard]] static std::optional<Claim> take(const PartsFolder& folder, std::uint64_t part, ClaimKind kind);
  /// Goes on with a part after another holder. Returns and throws like `take`.
  [[nodiscard]] static std::optional<Claim> take_over(const PartsFolder& folder, const ClaimState& stale);

  [[nodiscard]] std::uint64_t part() const { return part_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Returns the file into which the part is computed.
  [[nodiscard]] std::filesystem::path file() const { return path_ / "part.h5"; }

  /// Gives a sign of life. Returns false when another process has taken the claim over.
  [[nodiscard]] bool beat(const Work& work) const;
  /// Gives the claim up; its files stay for whoever goes on.
  void release() const;
  /// Removes the claim and its files.
  void remove() const;

 private:
  Claim(std::uint64_t part, std::filesystem::path path) : part_(part), path_(std::move(path)) {}
  [[nodiscard]] bool write_heartbeat(bool released, const Work& work) const;
  /// Throws Error(runtime) with the reason from errno.
  [[noreturn]] void fail(const char* action) const;

  std::uint64_t part_;
  std::filesystem::path path_;
};

}  // namespace rattleback
