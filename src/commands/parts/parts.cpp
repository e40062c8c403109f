#include "commands/parts/parts.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <thread>

#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands/parts/gather.hpp"
#include "commands/parts/ranks.hpp"
#include "output/output.hpp"
#include "rattleback/base/message.hpp"
#include "rattleback/parts/merge.hpp"
#include "rattleback/parts/worker.hpp"
#include "rattleback/results/run_files.hpp"

namespace rattleback::program {
namespace {

/// Parts for each rank when the user gives no number: a rank that is slow or lost then costs little.
constexpr std::uint64_t parts_per_rank = 8;

struct Numbers {
  std::uint64_t part, of;
};

Numbers read_part(const std::string& text) {
  Numbers numbers{0, 0};
  const char *first = text.data(), *last = first + text.size();
  const auto [slash, error] = std::from_chars(first, last, numbers.part);
  if (error == std::errc() && slash != last && *slash == '/') {
    const auto [end, fault] = std::from_chars(slash + 1, last, numbers.of);
    if (fault == std::errc() && end == last && numbers.part >= 1 && numbers.part <= numbers.of) return numbers;
  }
  input_error("--part",
              fmt::format("{} is not a part (a part is K/N with whole numbers and 1 <= K <= N); give, for example, "
                          "3/64",
                          quote(text)));
}

/// Returns whether the result of the study comes from this start of ranks: a rank that starts late finds the work done.
bool is_done_by(const std::string& job, const Problem& problem, const std::filesystem::path& result) {
  std::error_code code;
  if (job.empty() || !std::filesystem::exists(result, code)) return false;
  try {
    const auto attributes = ResultFile(result).attributes("/");
    const auto says = [&](const char* name, const std::string& text) {
      const auto found = attributes.find(name);
      return found != attributes.end() && found->second == Attribute(text);
    };
    return says("job", job) && says("study", problem.study.to_toml());
  } catch (const Error&) {
    return false;
  }
}

/// Removes a folder of parts. Other processes find it either whole or gone.
void remove_folder(const std::filesystem::path& folder) {
  const std::filesystem::path gone = folder.string() + fmt::format(".{}.{}", host_name(), getpid());
  std::error_code code;
  std::filesystem::rename(folder, gone, code);
  if (!code) std::filesystem::remove_all(gone, code);
}

int report_worker(const WorkerReport& done, const PartsFolder& folder, const RunArguments& run) {
  if (run.json) {
    print_stdout_json({{"result", folder.result().string()},
                       {"parts", done.parts},
                       {"of", folder.cut().parts()},
                       {"trajectories", done.trajectories},
                       {"trajectory_steps", done.trajectory_steps},
                       {"failed", done.failed},
                       {"failures", done.failures}});
  } else if (!run.quiet) {
    print_stdout("{} of {} parts computed here, {} trajectories, {} failed{}\nparts: {}\n", done.parts,
                 folder.cut().parts(), done.trajectories, done.failed, in_brackets(done.failures),
                 folder.path().string());
  }
  if (!run.json) say_remedies(done.failures);
  return done.failed == 0 ? exit_done : exit_failed_trajectories;
}

}  // namespace

void add_stale_option(CLI::App& command, double& seconds) {
  seconds = WorkerOptions{}.stale_seconds;
  command.add_option("--stale", seconds, "seconds without a sign of life after which a worker counts as lost")
      ->capture_default_str()
      ->check(not_negative());
}

void PartArguments::add_to(CLI::App& command) {
  command.add_option("--part", part, "compute one part, K/N: part K of N, from 1")->check(not_empty());
  command
      .add_option("--parts", parts, "number of parts that workers share out; then merge them, unless --worker is given")
      ->check(from_one());
  command.add_flag("--gather", gather, "for ranks of MPI without a common file system: send the parts to rank 0");
  command.add_flag("--worker", worker, "take parts until none is left; any number of workers may run");
  add_stale_option(command, stale);
}

bool PartArguments::wanted() const {
  if (!part.empty() && (parts != 0 || worker || gather))
    input_error("--part", "excludes --parts, --worker and --gather (these choose parts themselves); give K/N alone");
  if (worker && parts == 0) input_error("--worker", "needs the number of parts; give --parts N");
  if (worker && gather) input_error("--gather", "excludes --worker (all ranks work); leave one out");
  return !part.empty() || parts != 0 || gather || find_ranks();
}

namespace {

/// A run of parts: what all its forms share.
class PartsRun {
 public:
  PartsRun(const PartArguments& given, const RunArguments& run, const Interrupt& interrupt, const Problem& problem,
           const std::filesystem::path& output)
      : given_(given), run_(run), interrupt_(interrupt), problem_(problem), output_(output) {}

  /// One part, or a worker.
  int alone() {
    std::optional<std::uint64_t> parts = given_.parts;
    std::vector<std::uint64_t> only;
    if (!given_.part.empty()) {
      const Numbers numbers = read_part(given_.part);
      parts = numbers.of;
      only = {numbers.part};
    }
    const PartsFolder folder = folder_of(output_, parts, 1);
    return report_worker(compute(folder, only), folder, run_);
  }

  /// All parts and their merge, by one process or by ranks with a common file system.
  int together(const std::optional<Ranks>& ranks) {
    if (ranks && is_done_by(ranks->job, problem_, output_)) return exit_done;
    if (ranks && run_.backend.threads == 0) run_.backend.threads = threads_of_a_rank(*ranks);
    if (ranks && ranks->rank != 0) run_.quiet = true;
    const PartsFolder folder = folder_of(output_, parts(), parts_per_rank * (ranks ? ranks->size : 1));
    (void)compute(folder, {});
    if (ranks && ranks->rank != 0 && is_merged_by_another(folder)) return exit_done;
    return finish(folder, ranks ? ranks->job : "");
  }

  /// All parts and their merge, by ranks whose file systems differ.
  int gathered(const std::optional<Ranks>& ranks) {
    Mpi mpi;
    if (ranks && run_.backend.threads == 0) run_.backend.threads = threads_of_a_rank(*ranks);
    std::filesystem::path own = output_;
    if (mpi.rank() != 0) {
      own += fmt::format(".rank-{}", mpi.rank());
      run_.quiet = true;
    }
    const auto size = static_cast<std::uint64_t>(mpi.size());
    const PartsFolder folder = folder_of(own, parts(), parts_per_rank * size);
    std::vector<std::uint64_t> share;
    for (auto k = static_cast<std::uint64_t>(mpi.rank()) + 1; k <= folder.cut().parts(); k += size) share.push_back(k);
    mpi_ = &mpi;
    if (!share.empty()) (void)compute(folder, share);
    if (mpi.rank() != 0) {
      for (const std::uint64_t part : share) mpi.send(part, folder.part_file(part));
      remove_folder(folder.path());
      return exit_done;
    }
    mpi.gather(
        folder, given_.stale, [this] { return interrupt_.token().stop_requested(); },
        [](const std::string& text) { say(text); });
    (void)compute(folder, {});  // parts of ranks that are lost
    return finish(folder, "");
  }

 private:
  [[nodiscard]] std::optional<std::uint64_t> parts() const {
    return given_.parts == 0 ? std::nullopt : std::optional(given_.parts);
  }

  [[nodiscard]] PartsFolder folder_of(const std::filesystem::path& result, std::optional<std::uint64_t> parts,
                                      std::uint64_t otherwise) const {
    const std::filesystem::path place = check_output(result, problem_.study.inputs());
    std::error_code code;
    if (!std::filesystem::exists(PartsFolder::place_of(place), code))
      check_space(problem_, place, {.in_one_file = false});
    return {place, problem_, parts, otherwise};
  }

  /// Waits while rank 0 merges the parts. Returns false when nobody does: rank 0 is lost, or has another result.
  [[nodiscard]] bool is_merged_by_another(const PartsFolder& folder) const {
    const auto start = std::chrono::steady_clock::now();
    while (folder.exists()) {
      const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - start;
      if (std::min(waited.count(), folder.seconds_since_merge()) > given_.stale) return false;
      if (interrupt_.token().stop_requested())
        throw Error(Error::Kind::runtime, "interrupted; the parts are as they were");
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
    return true;
  }

  WorkerReport compute(const PartsFolder& folder, const std::vector<std::uint64_t>& only) {
    ProgressDisplay display;
    WorkerOptions options{.only = only, .stale_seconds = given_.stale, .stop = interrupt_.token()};
    if (!run_.quiet) options.tell = [](const std::string& text) { say(text); };
    options.progress = [&](const Progress& progress) {
      if (mpi_ != nullptr) mpi_->tell_alive();
      if (!run_.quiet) display(progress);
    };
    RunOptions session_options = run_.backend.options();
    session_options.tile = run_.tile;
    session_options.stop = interrupt_.token();
    session_options.warn = [](const std::string& text) { say(text); };
    Session session(session_options);
    return work(session, problem_, folder, options);
  }

  int finish(const PartsFolder& folder, const std::string& job) {
    const Summary summary = merge(folder, {.threads = run_.backend.threads,
                                           .job = job,
                                           .warn = [](const std::string& text) { say(text); },
                                           .stop = interrupt_.token()});
    remove_folder(folder.path());
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    return report(summary, output_, seconds, run_.quiet, run_.json);
  }

  const PartArguments& given_;
  RunArguments run_;
  const Interrupt& interrupt_;
  const Problem& problem_;
  std::filesystem::path output_;
  Mpi* mpi_ = nullptr;  ///< while ranks work whose file systems differ
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

int run_parts(const PartArguments& given, const RunArguments& run, const Interrupt& interrupt, const Problem& problem,
              const std::filesystem::path& output) {
  PartsRun parts(given, run, interrupt, problem, output);
  if (!given.part.empty() || given.worker) return parts.alone();
  const auto ranks = find_ranks();
  return given.gather ? parts.gathered(ranks) : parts.together(ranks);
}

}  // namespace rattleback::program
