#pragma once
// The folder RESULT.h5.parts: the parts of a result, and the claims of those who compute them.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "rattleback/parts/cut.hpp"

namespace rattleback {

/// The work on a part. The first claim is for the computation, the second is for a duplicate of a slow one.
enum class ClaimKind { first, second };

/// What the folder says of a claim.
struct ClaimState {
  std::filesystem::path path;
  ClaimKind kind = ClaimKind::first;
  std::uint64_t part = 0, epoch = 0;  ///< the epoch counts who held the claim before
  double age = 0.0;                   ///< seconds since the last sign of life, on the clock of the file system
  bool released = false;              ///< the holder has given the claim up
  bool gone = false;                  ///< the holder was a process of this machine, which has ended
  std::string host;
  std::int64_t pid = 0;
  double seconds = 0.0;                    ///< of this holder's work, until the last sign of life
  std::uint64_t steps = 0, all_steps = 0;  ///< trajectory-steps done, and of the whole part
  std::uint64_t before = 0;                ///< steps that earlier holders have done

  /// Returns the trajectory-steps per second of this holder up to now; 0 when it has not told any.
  [[nodiscard]] double rate() const {
    return steps > before && seconds > 0.0 ? static_cast<double>(steps - before) / (seconds + age) : 0.0;
  }
  /// Returns the share of the part that is done.
  [[nodiscard]] double share() const {
    return all_steps == 0 ? 0.0 : static_cast<double>(steps) / static_cast<double>(all_steps);
  }
  /// Returns whether somebody else may go on with the part.
  [[nodiscard]] bool stale(double limit) const { return released || gone || age > limit; }
};

/// A part in the folder.
struct PartStatus {
  std::uint64_t number = 0;
  bool finished = false;
  std::optional<ClaimState> claims[2];  ///< by kind
};

/// A folder of parts of one study. The study, the version of the program, the number of trajectories and that of parts stand in
/// `about.json`.
class PartsFolder {
 public:
  /// Opens the folder of a result. Throws Error(input) when there is none.
  explicit PartsFolder(const std::filesystem::path& result);
  /// Opens or makes the folder for `parts` parts of a study. Without `parts`, a folder that is there decides, and a new one
  /// gets `otherwise` parts, or fewer for a small ensemble. Throws Error(input) when the folder has parts of another study, of
  /// another version of the program, or another number of them.
  PartsFolder(const std::filesystem::path& result, const Problem& problem, std::optional<std::uint64_t> parts,
              std::uint64_t otherwise);

  [[nodiscard]] static std::filesystem::path place_of(const std::filesystem::path& result);
  [[nodiscard]] const std::filesystem::path& result() const { return result_; }
  [[nodiscard]] const std::filesystem::path& path() const { return folder_; }
  [[nodiscard]] const Cut& cut() const { return *cut_; }
  [[nodiscard]] const std::string& study() const { return study_; }
  [[nodiscard]] const std::string& version() const { return version_; }  ///< with the commit
  /// Throws Error(input) unless this program has the version of the parts.
  void require_this_version() const;

  /// Notes that a merge of the parts goes on.
  void note_merge() const;
  /// Returns the seconds since a merge was noted last; infinity when none was.
  [[nodiscard]] double seconds_since_merge() const;
  /// Returns whether the folder is still there.
  [[nodiscard]] bool exists() const;
  [[nodiscard]] std::filesystem::path part_file(std::uint64_t number) const;
  [[nodiscard]] bool finished(std::uint64_t number) const;
  [[nodiscard]] std::filesystem::path claim_path(std::uint64_t part, ClaimKind kind, std::uint64_t epoch) const;
  /// Returns the state of all parts, in order. Of the claims it has the names only, and none for finished parts. Throws
  /// Error(input) when something else is in the place of a claim.
  [[nodiscard]] std::vector<PartStatus> parts() const;
  /// Reads the signs of life of all claims. A claim that has ended meanwhile goes.
  void read_claims(std::vector<PartStatus>& parts) const;

 private:
  void read_about();
  /// Returns the claim of a file name; nothing for other names.
  [[nodiscard]] std::optional<ClaimState> claim_of(const std::filesystem::path& path, std::uint64_t part) const;
  /// Returns the present time of the file system, whose clock may differ from that of this machine.
  [[nodiscard]] double now() const;

  std::filesystem::path result_, folder_;
  std::optional<Cut> cut_;
  std::string study_, version_;
};

/// The file in the folder of a claim that is written again and again as a sign of life.
inline constexpr const char* heartbeat_name = "heartbeat";

/// Returns what tells machines apart: name of the host, boot and process namespace.
[[nodiscard]] std::string machine_identity();
[[nodiscard]] std::string host_name();
/// Returns the name of this program in messages about versions: "0.1.0 (78f6dcd)".
[[nodiscard]] std::string this_version();

/// Writes a file under a temporary name that is this process's own, and renames it. Returns false on failure; errno has the reason.
[[nodiscard]] bool write_renamed(const std::filesystem::path& file, const std::string& text);

}  // namespace rattleback
