#include "rattleback/parts/worker.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <random>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "rattleback/base/fnv.hpp"
#include "rattleback/base/mark.hpp"
#include "rattleback/base/message.hpp"
#include "rattleback/base/mutex.hpp"
#include "rattleback/base/scratch.hpp"
#include "rattleback/parts/claim.hpp"
#include "rattleback/parts/seal.hpp"
#include "rattleback/results/run_files.hpp"
#include "rattleback/study/points.hpp"

namespace rattleback {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr std::chrono::milliseconds beat_interval = 2s, poll_interval = 250ms;
/// A worker without work looks at the folder again after a pause, which grows while nothing happens.
constexpr std::chrono::milliseconds least_pause = 100ms, most_pause = 5s;
/// A process that lost its claim notices that within this time, unless it is suspended.
constexpr auto notice_time = 10s;
/// The longest wait for a process of this machine that compiles the same kernels.
constexpr auto compile_patience = 10min;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// While one process of this machine compiles the kernels, the others wait and then find them in the cache. The lock ends with
/// the process.
void prepare_kernels(Session& session, const Problem& problem, const fs::path& folder, const std::stop_token& stop) {
  Fnv1a machine;
  machine.add(machine_identity());
  const fs::path name = folder / fmt::format("kernels-{:016x}.lock", machine.value);
  const int lock = open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  for (const auto start = Clock::now(); lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK &&
                                        Clock::now() - start < compile_patience && !stop.stop_requested();)
    std::this_thread::sleep_for(100ms);
  const struct Unlock {
    int file;
    ~Unlock() {
      if (file >= 0) close(file);
    }
  } unlock{lock};
  session.prepare(problem);
}

/// Gives signs of life while a part is computed, and stops the computation when it has become useless.
class Pulse {
 public:
  Pulse(const Claim& claim, const PartsFolder& folder, std::stop_source& stop)
      : claim_(claim), folder_(folder), stop_(stop), thread_([this](const std::stop_token& end) { run(end); }) {}

  void note(const Progress& progress) {
    if (all_steps_ == 0) before_ = progress.trajectory_steps;
    steps_ = progress.trajectory_steps;
    all_steps_ = progress.total;
  }
  void end() {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
  }
  [[nodiscard]] bool lost() const { return lost_; }

 private:
  void run(const std::stop_token& end) {
    Mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any wake;
    while (!wake.wait_for(lock, end, beat_interval, [] { return false; }) && !end.stop_requested()) {
      if (!claim_.beat({seconds_since(start_), steps_, all_steps_, before_})) lost_ = true;
      if (lost_ || folder_.finished(claim_.part())) stop_.request_stop();
    }
  }

  const Claim& claim_;
  const PartsFolder& folder_;
  std::stop_source& stop_;
  Clock::time_point start_ = Clock::now();
  std::atomic<std::uint64_t> steps_{0}, all_steps_{0}, before_{0};
  std::atomic<bool> lost_{false};
  std::jthread thread_;  // the last member: the thread uses the others
};

class Worker {
 public:
  Worker(Session& session, const Problem& problem, const PartsFolder& folder, const WorkerOptions& options)
      : session_(session), problem_(problem), folder_(folder), options_(options) {}

  WorkerReport operator()() {
    prepare_kernels(session_, problem_, folder_.path(), options_.stop);
    auto pause = least_pause;
    while (!options_.stop.stop_requested()) {
      std::vector<PartStatus> parts = folder_.parts();
      if (!folder_.exists()) return report_;  // another process has merged the parts and removed them
      if (!options_.only.empty())
        std::erase_if(parts,
                      [this](const PartStatus& part) { return !std::ranges::count(options_.only, part.number); });
      std::optional<Claim> claim = take(parts);
      if (!claim) {
        folder_.read_claims(parts);
        clear(parts);
        if (std::ranges::all_of(parts, &PartStatus::finished)) return report_;
        claim = take_over(parts);
      }
      if (!claim && !options_.only.empty()) tell_of_holders(parts);
      if (!claim) claim = duplicate(parts);
      if (claim) {
        compute(*claim);
        pause = least_pause;
      } else {
        std::this_thread::sleep_for(pause);
        pause = std::min(2 * pause, most_pause);
      }
    }
    throw Error(Error::Kind::runtime, "interrupted; start a worker again to continue");
  }

 private:
  /// Says, once, who computes the parts that this worker waits for.
  void tell_of_holders(const std::vector<PartStatus>& parts) {
    if (std::exchange(told_of_holders_, true)) return;
    for (const PartStatus& part : parts)
      if (const auto& holder = part.claims[0]; holder && !part.finished)
        tell(fmt::format(
            "part {} is computed by process {} on {}; waiting for it, or for {:.0f} s without a sign of life",
            part.number, holder->pid, holder->host.empty() ? "an unknown host" : holder->host, options_.stale_seconds));
  }

  /// Removes claims on finished parts whose holders are gone.
  void clear(const std::vector<PartStatus>& parts) const {
    for (const PartStatus& part : parts)
      for (const auto& claim : part.claims) {
        std::error_code code;
        if (part.finished && claim && claim->stale(options_.stale_seconds)) fs::remove_all(claim->path, code);
      }
  }

  /// Claims a part that nobody has. Workers begin at different parts, so that few want the same one.
  std::optional<Claim> take(const std::vector<PartStatus>& parts) {
    const std::uint64_t shift = random_() % parts.size();
    for (std::uint64_t i = 0; i < parts.size(); ++i) {
      const PartStatus& part = parts[(i + shift) % parts.size()];
      if (part.finished || part.claims[0]) continue;
      if (auto claim = Claim::take(folder_, part.number, ClaimKind::first)) return claim;
    }
    return std::nullopt;
  }

  std::optional<Claim> take_over(const std::vector<PartStatus>& parts) const {
    for (const PartStatus& part : parts) {
      if (part.finished || !part.claims[0] || !part.claims[0]->stale(options_.stale_seconds)) continue;
      if (auto claim = Claim::take_over(folder_, *part.claims[0])) return claim;
    }
    return std::nullopt;
  }

  /// Claims a second computation of the part that will be ready last, when a new one would be ready before it.
  std::optional<Claim> duplicate(const std::vector<PartStatus>& parts) const {
    const PartStatus* slowest = nullptr;
    double longest = seconds_of_a_part_;
    for (const PartStatus& part : parts) {
      if (part.finished || !part.claims[0] || part.claims[1] || part.claims[0]->rate() == 0.0) continue;
      const ClaimState& claim = *part.claims[0];
      const double left = static_cast<double>(claim.all_steps - claim.steps) / claim.rate();
      if (left <= longest) continue;
      longest = left;
      slowest = &part;
    }
    if (slowest == nullptr || seconds_of_a_part_ == 0.0) return std::nullopt;
    return Claim::take(folder_, slowest->number, ClaimKind::second);
  }

  void compute(const Claim& claim) {
    if (folder_.finished(claim.part())) return claim.remove();
    const auto start = Clock::now();
    std::stop_source stop;
    const std::stop_callback pass_on(options_.stop, [&stop] { stop.request_stop(); });
    Pulse pulse(claim, folder_, stop);
    const auto progress = [&](const Progress& at) {
      pulse.note(at);
      if (options_.progress) options_.progress(at);
    };
    try {
      const Summary summary = run(claim, stop.get_token(), progress);
      pulse.end();
      publish(claim, summary);
      seconds_of_a_part_ = seconds_since(start);
    } catch (const Error& error) {
      pulse.end();
      std::error_code code;
      if (pulse.lost() || !fs::exists(claim.path(), code)) return;  // another worker goes on
      if (folder_.finished(claim.part())) return claim.remove();
      claim.release();
      if (error.kind() == Error::Kind::input && !fs::exists(RunFiles(claim.file()).checkpoint, code)) claim.remove();
      if (!options_.stop.stop_requested()) throw;
      throw Error(
          Error::Kind::runtime,
          fmt::format("interrupted; part {} has a checkpoint, and any worker continues from there", claim.part()));
    }
  }

  Summary run(const Claim& claim, const std::stop_token& stop, const std::function<void(const Progress&)>& progress) {
    const Range range = folder_.cut().range(claim.part());
    const RunFiles files(claim.file());
    std::error_code code;
    if (fs::exists(files.result, code)) {  // its worker ended after the computation
      files.remove_scratch();
      return summary_of(ResultFile(files.result));
    }
    const auto begin_anew = [&](const std::string& why) {
      tell(fmt::format("part {} begins anew ({})", claim.part(), why));
      files.remove_scratch();
      fs::remove(files.part, code);
    };
    if (is_held(files.part, stop)) begin_anew("its former worker still has its files open");
    const bool resumed = files.interrupted();
    try {
      return session_.run_part(problem_, range, files.result, stop, progress);
    } catch (const FaultyEnsemble&) {
      throw;
    } catch (const Error& error) {
      if (!resumed || error.kind() != Error::Kind::input) throw;
      begin_anew(error.what());  // a worker that is gone has left files of no use
      return session_.run_part(problem_, range, files.result, stop, progress);
    }
  }

  /// Returns whether the process that lost the claim still has its files open, after some time to notice the loss.
  static bool is_held(const fs::path& part, const std::stop_token& stop) {
    const int file = open(part.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0) return false;
    const auto start = Clock::now();
    const auto held = [file] { return !lock_file(file) && (errno == EAGAIN || errno == EACCES); };
    bool waiting = held();
    while (waiting && Clock::now() - start < notice_time && !stop.stop_requested()) {
      std::this_thread::sleep_for(poll_interval);
      waiting = held();
    }
    close(file);
    return waiting && !stop.stop_requested();
  }

  void publish(const Claim& claim, const Summary& summary) {
    if (summary.failed > 0)
      for (const auto& [reason, count] : failures_of(ResultFile(claim.file()))) report_.failures[reason] += count;
    seal(claim.file(), summary.failed);
    const fs::path place = folder_.part_file(claim.part());
    std::error_code code;
    if (!folder_.finished(claim.part())) fs::rename(claim.file(), place, code);
    if (code && !folder_.finished(claim.part()))
      throw Error(Error::Kind::runtime, fmt::format("{}: cannot be put in place ({})", place.string(), code.message()));
    sync_directory_of(place);
    claim.remove();
    ++report_.parts;
    report_.trajectories += summary.trajectories;
    report_.failed += summary.failed;
    report_.trajectory_steps += summary.trajectory_steps;
    tell(fmt::format("part {} of {} is finished", claim.part(), folder_.cut().parts()));
  }

  void tell(const std::string& text) const {
    if (options_.tell) options_.tell(text);
  }

  Session& session_;
  const Problem& problem_;
  const PartsFolder& folder_;
  const WorkerOptions& options_;
  std::minstd_rand random_{std::random_device{}()};
  double seconds_of_a_part_ = 0.0;  ///< of the last part of this worker; 0 before the first
  bool told_of_holders_ = false;
  WorkerReport report_;
};

}  // namespace

WorkerReport work(Session& session, const Problem& problem, const PartsFolder& folder, const WorkerOptions& options) {
  return Worker(session, problem, folder, options)();
}

}  // namespace rattleback
