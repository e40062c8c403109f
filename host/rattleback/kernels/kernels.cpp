#include "rattleback/kernels/kernels.hpp"

#include <cerrno>
#include <cstring>

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "rattleback/base/message.hpp"
#include "rattleback/base/mutex.hpp"
#include "rattleback/base/parallel.hpp"
#include "rattleback/kernels/compiler.hpp"
#include "rattleback/kernels/job.hpp"
#include "rattleback/kernels/kernel_flags.hpp"
#include "rattleback/kernels/nvrtc.hpp"
#include "rattleback/kernels/store.hpp"
#include "rattleback/kernels/trust.hpp"

namespace rattleback {
namespace {

/// The entry of a system of the user, and the texts that the entry points to.
struct OwnSystem {
  std::string header, type, text;
  OwnHeader own;  ///< of the header; no file where there is a text
  SystemEntry entry;
};

struct Loaded {
  const CompiledUnit* unit;  ///< null for an image
  std::string image;         ///< empty for the CPU
  std::string name;          ///< Job::name
  KernelRecord record;
  std::filesystem::path folder;
};

/// Returns a time that is known to a factor of 2, without digits that say nothing.
std::string about(double seconds) {
  const double digit = seconds < 10.0 ? 1.0 : seconds < 100.0 ? 5.0 : 50.0;
  return fmt::format("about {:.0f} s", std::max(1.0, digit * std::round(seconds / digit)));
}

/// Tells a function how long a compilation has lasted, and at the end that it is over.
class Waiting {
 public:
  explicit Waiting(std::function<void(double)> show) : show_(std::move(show)) {}
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  ~Waiting() {
    if (show_) show_(0.0);
  }
  void tick() const {
    using std::chrono::steady_clock;
    if (show_) show_(std::chrono::duration<double>(steady_clock::now() - start_).count());
  }

 private:
  std::function<void(double)> show_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Writes a file. Throws Error(runtime) when the disk is full, for example.
void write_file(const std::filesystem::path& file, const std::string& bytes) {
  errno = 0;
  std::ofstream stream(file, std::ios::binary);
  stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  stream.close();
  if (!stream)
    throw Error(Error::Kind::runtime,
                fmt::format("{}: cannot be written ({})", file.string(), std::strerror(errno != 0 ? errno : EIO)));
}

/// Returns what has happened to the folder of a compilation that failed; empty when its files are not to blame.
std::string fault_of_folder(const std::filesystem::path& folder, const std::string& message) {
  for (const int error : {ENOSPC, EDQUOT, EROFS, EIO, ESTALE, EFBIG})
    if (message.find(std::strerror(error)) != std::string::npos) return std::strerror(error);
  std::error_code code;
  if (!std::filesystem::is_directory(folder, code)) return "it was removed during a compilation";
  // A compiler may die without a word where it cannot write.
  constexpr std::uintmax_t little = std::uintmax_t{1} << 20;
  const std::filesystem::space_info space = std::filesystem::space(folder, code);
  return !code && space.available < little ? std::strerror(ENOSPC) : "";
}

}  // namespace

struct Kernels::Impl {
  Mutex mutex;  ///< of everything below
  KernelPolicy policy = KernelPolicy::automatic;
  std::function<void(const std::string&)> report, warn;
  std::function<void(double)> waiting;
  std::function<bool()> stop;
  TestFlags test_flags;
  std::map<std::string, Loaded> loaded;                       ///< by Job::id
  std::map<std::string, std::unique_ptr<OwnSystem>> systems;  ///< by Job::id of the entry
  std::shared_ptr<Store> packs, cache;
  std::set<std::string> warned;

  /// Returns a member as it is now. What is called through a copy is called without the lock.
  template <class T>
  T now(T Impl::* member) {
    const std::lock_guard lock(mutex);
    return this->*member;
  }

  void warn_of(const std::string& message) {
    std::function<void(const std::string&)> to;
    {
      const std::lock_guard lock(mutex);
      if (warned.insert(message).second) to = warn;
    }
    if (to) to(message);
  }

  /// Opens a store, which may warn, unless it is open.
  std::shared_ptr<Store> opened(std::shared_ptr<Store> Impl::* store) {
    if (auto open = now(store)) return open;
    const bool is_cache = store == &Impl::cache;
    std::vector<Pack> places = is_cache ? std::vector<Pack>{} : builtin_packs();
    if (!is_cache) std::ranges::move(Store::packs_of_environment(), std::back_inserter(places));
    auto made = std::make_shared<Store>(is_cache ? Store::default_folder() : std::filesystem::path{}, std::move(places),
                                        [this](const std::string& message) { warn_of(message); });
    const std::lock_guard lock(mutex);
    if (!(this->*store)) this->*store = std::move(made);
    return this->*store;
  }

  /// Returns the header of the user from which a system was read; none for other systems.
  OwnHeader own_of(const SystemEntry& system) {
    const std::lock_guard lock(mutex);
    for (const auto& [id, own] : systems)
      if (own->header.c_str() == system.source_text.header) return own->own;
    return {};
  }

  Job job_of(const Unit& unit) { return rattleback::job_of(unit, now(&Impl::test_flags), own_of(*unit.system)); }
  /// The jobs of units, and those of the entries of their systems, where these are no systems of the catalogue.
  std::vector<Job> jobs_of(std::span<const Unit> units) {
    std::vector<Job> jobs;
    for (const Unit& unit : units) {
      jobs.push_back(job_of(unit));
      const SystemSource& source = unit.system->source_text;
      if (OwnHeader own = own_of(*unit.system); source.text != nullptr || !own.file.empty())
        jobs.push_back(entry_job_of(entry_text(source), source.type, std::move(own)));
    }
    return jobs;
  }
  Job device_job_of(const Unit& unit, const std::string& architecture) {
    return rattleback::device_job_of(unit, architecture, own_of(*unit.system));
  }

  /// Finds a kernel in the cache that any compiler has compiled with the flags of this program.
  std::optional<Entry> find_of_any_compiler(const Job& job) {
    return opened(&Impl::cache)->find_named(job.name, [&](const Origin& origin) {
      if (job.architecture.empty())
        return origin.flags == all_flags(job, false) || origin.flags == all_flags(job, true);
      constexpr std::string_view first = "--gpu-architecture=";
      if (origin.flags.empty() || !origin.flags[0].starts_with(first)) return false;
      const std::string target = origin.flags[0].substr(first.size());
      return Nvrtc::serves(target, job.architecture) && origin.flags == all_device_flags(job, target);
    });
  }

  /// Finds a kernel. Sets everything of the job that the compiler needs where there is none. Throws Error where the kernel
  /// must be compiled and there is no compiler.
  std::optional<Entry> find(Job& job) {
    job.gather();
    if (auto entry = opened(&Impl::packs)->find(job.name)) return entry;
    const KernelPolicy allowed = now(&Impl::policy);
    if (allowed == KernelPolicy::builtin) return std::nullopt;
    if (allowed == KernelPolicy::cached) return find_of_any_compiler(job);
    try {
      job.choose_compiler(now(&Impl::stop));
    } catch (const Error& error) {
      if (error.kind() != Error::Kind::input) throw;
      if (auto entry = find_of_any_compiler(job)) return entry;
      throw;
    }
    return opened(&Impl::cache)->find(job.key);
  }

  /// Loads the object of an entry. Returns nothing when the object is not the one of the key.
  static const CompiledUnit* open(const Entry& entry, const std::string& name) {
    void* handle = dlopen(entry.file("kernel.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return nullptr;
    const auto* unit = static_cast<const CompiledUnit*>(dlsym(handle, "rattleback_unit"));
    if (unit == nullptr || unit->interface != binary_interface || unit->key != name) {
      dlclose(handle);
      return nullptr;
    }
    return unit;
  }

  void remember(const Job& job, const Entry& entry) {
    const CompiledUnit* unit = nullptr;
    std::string image;
    if (job.architecture.empty()) {
      unit = open(entry, job.name);
    } else {
      std::ifstream file(entry.file(job.object()), std::ios::binary);
      image.assign(std::istreambuf_iterator<char>(file), {});
    }
    if (unit == nullptr && image.empty()) {
      const char* why = dlerror();
      throw Error(Error::Kind::runtime,
                  fmt::format("the kernel {} in {} cannot be loaded ({}); remove this folder", job.title,
                              entry.folder.string(), why != nullptr ? why : "its key is another one"));
    }
    const std::lock_guard lock(mutex);
    loaded.insert(
        {job.id(), {unit, std::move(image), job.name, {job.title, entry.key, entry.origin.compiler}, entry.folder}});
  }

  /// Returns where the log of a failed compilation stays; empty when there is no such place.
  std::filesystem::path kept_log(const Job& job) {
    const std::filesystem::path cache_folder = opened(&Impl::cache)->folder(),
                                folder = cache_folder.parent_path() / "logs";
    std::error_code code;
    if (cache_folder.empty() || (std::filesystem::create_directories(folder, code), code)) return {};
    return folder / fmt::format("{}.log", job.key.substr(0, 16));
  }

  /// Compiles a unit for the CPU. Returns the time in seconds.
  double compile_object(const Job& job, const std::filesystem::path& folder) {
    const std::filesystem::path unit = folder / job.source(), log = folder / "log";
    write_file(unit, job.whole);
    std::vector<std::string> flags = job.flags;
    flags.push_back(fmt::format("-DRATTLEBACK_KEY=\"{}\"", job.name));
    const double seconds =
        rattleback::compile(job.program, flags, {unit, folder / job.object(), log, kept_log(job), job.own.file},
                            now(&Impl::stop))
            .seconds;
    std::filesystem::remove(log);
    return seconds;
  }

  /// Compiles a unit for a GPU. Returns the time in seconds.
  double compile_image(const Job& job, const std::filesystem::path& folder) {
    write_file(folder / job.source(), job.whole);
    const auto start = std::chrono::steady_clock::now();
    const DeviceImage image = Nvrtc::instance().compile_unless(now(&Impl::stop), job.whole, job.source(),
                                                               job.architecture, job.extra, kept_log(job));
    write_file(folder / job.object(), image.bytes);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  void say(const std::string& text) {
    if (const auto to = now(&Impl::report)) to(text);
  }

  Entry compile_job(const Job& job) {
    say(fmt::format("compiling {} ({}) ..", job.title, about(job.expected_seconds)));
    const std::shared_ptr<Store> store = opened(&Impl::cache);
    const auto stopped = now(&Impl::stop);
    while (true) {
      WorkFolder work = store->work_folder();
      const std::filesystem::path folder = work.path();
      std::optional<Entry> entry;
      double seconds = 0.0;
      try {
        seconds = job.architecture.empty() ? compile_object(job, folder) : compile_image(job, folder);
        if (!job.own.file.empty()) Job(job).gather();  // the compiler has read headers that may have changed meanwhile
        entry = store->publish(job.key, std::move(work), {job.title, job.name, job.compiler, job.flags, seconds});
      } catch (const std::exception& error) {
        // The folder for temporary files may be on another disk.
        const std::string fault = stopped && stopped() ? "" : fault_of_folder(folder, error.what());
        if (fault.empty()) throw;
        if (folder.parent_path() != store->folder())
          throw Error(Error::Kind::runtime,
                      fmt::format("{}: {} cannot be compiled there ({}); set XDG_CACHE_HOME or TMPDIR to a folder with "
                                  "space that stays",
                                  folder.parent_path().string(), job.title, fault));
        store->leave_cache(fault);
        continue;
      }
      say(fmt::format("compiling {}: {:.1f} s, once", job.title, seconds));
      return *entry;
    }
  }

  /// A kernel on disk.
  struct Provided {
    Job job;
    Entry entry;
    bool compiled = false;  ///< by this call
  };

  /// Finds or compiles jobs with different ids. The kernels that were found come first.
  std::vector<Provided> provide(std::vector<Job> jobs, unsigned at_a_time) {
    std::set<std::string> names;
    std::erase_if(jobs, [&](const Job& job) { return !names.insert(job.id()).second; });
    std::vector<Provided> provided;
    std::vector<Job> missing;
    for (Job& job : jobs) {
      if (auto entry = find(job)) {
        provided.push_back({std::move(job), std::move(*entry)});
      } else {
        missing.push_back(std::move(job));
      }
    }
    if (missing.empty()) return provided;
    if (const KernelPolicy allowed = now(&Impl::policy); allowed != KernelPolicy::automatic)
      input_error("--kernels",
                  fmt::format("{} is not compiled{}, and '{}' does not compile; 'rattleback compile STUDY' "
                              "on a machine with a compiler makes it, --kernels auto does so now",
                              missing[0].title,
                              missing.size() == 1 ? "" : fmt::format(" (nor are {} more)", missing.size() - 1),
                              allowed == KernelPolicy::cached ? "cached" : "builtin"));
    const std::size_t first = provided.size();
    for (Job& job : missing) provided.push_back({std::move(job), {}, true});
    // The longest ones begin first, so that none of them remains alone at the end.
    std::ranges::stable_sort(provided.begin() + static_cast<std::ptrdiff_t>(first), provided.end(), std::greater<>(),
                             [](const Provided& kernel) { return kernel.job.expected_seconds; });
    const Waiting waiting(now(&Impl::waiting));
    parallel_for(
        missing.size(), worker_count(at_a_time),
        [&](std::uint64_t i) { provided[first + i].entry = compile_job(provided[first + i].job); },
        [&] { waiting.tick(); });
    return provided;
  }

  void load(std::vector<Job> jobs, unsigned at_a_time) {
    {
      const std::lock_guard lock(mutex);
      std::erase_if(jobs, [&](const Job& job) { return loaded.contains(job.id()); });
    }
    for (Provided& kernel : provide(std::move(jobs), at_a_time)) {
      std::error_code code;  // another process may have removed the kernel meanwhile
      if (!std::filesystem::exists(kernel.entry.folder, code)) kernel = std::move(provide({kernel.job}, 1).front());
      remember(kernel.job, kernel.entry);
    }
  }

  const Loaded* loaded_before(const Job& job) {
    const std::lock_guard lock(mutex);
    const auto found = loaded.find(job.id());
    return found != loaded.end() ? &found->second : nullptr;
  }
  /// Returns a kernel that is loaded, or can be loaded without compiling; null otherwise.
  const Loaded* loaded_or_found(Job job) {
    if (const Loaded* before = loaded_before(job)) return before;
    if (const auto entry = find(job)) remember(job, *entry);
    return loaded_before(job);
  }
  const Loaded& at(const Unit& unit) { return at(job_of(unit)); }
  const Loaded& at(const Job& job) {
    if (const Loaded* before = loaded_before(job)) return *before;
    load({job}, 1);
    return *loaded_before(job);
  }
};

Kernels::Kernels() : impl_(std::make_unique<Impl>()) {}
Kernels::~Kernels() = default;

Kernels& Kernels::instance() {
  static auto* kernels = new Kernels;  // never destroyed: threads may outlive main
  return *kernels;
}

void Kernels::set_policy(KernelPolicy policy) {
  const std::lock_guard lock(impl_->mutex);
  impl_->policy = policy;
  impl_->packs.reset();
  impl_->cache.reset();
  impl_->warned.clear();
}
KernelPolicy Kernels::policy() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->policy;
}
void Kernels::set_report(std::function<void(const std::string&)> report, std::function<void(const std::string&)> warn,
                         std::function<void(double)> waiting) {
  const std::lock_guard lock(impl_->mutex);
  impl_->report = std::move(report);
  impl_->warn = std::move(warn);
  impl_->waiting = std::move(waiting);
}
void Kernels::set_stop(std::function<bool()> stop) {
  const std::lock_guard lock(impl_->mutex);
  impl_->stop = std::move(stop);
}
void Kernels::set_test_flags(TestFlags flags) {
  const std::lock_guard lock(impl_->mutex);
  impl_->test_flags = std::move(flags);
}

void Kernels::load(std::span<const Unit> units, unsigned jobs) { impl_->load(impl_->jobs_of(units), jobs); }

const CompiledUnit& Kernels::get(const Unit& unit) { return *impl_->at(unit).unit; }

const CompiledUnit* Kernels::find(const Unit& unit) {
  const auto* found = impl_->loaded_or_found(impl_->job_of(unit));
  return found != nullptr ? found->unit : nullptr;
}

std::string Kernels::find_image(const Unit& unit, const std::string& architecture) {
  const auto* found = impl_->loaded_or_found(impl_->device_job_of(unit, architecture));
  return found != nullptr ? found->image : "";
}

const SystemEntry& Kernels::system(const SystemSource& source, const std::string& digest) {
  OwnHeader header;
  if (source.text == nullptr)
    header = {source.header,
              digest.empty() ? digest_of_header(source.header, source.header, header_options()) : digest};
  const Job job = entry_job_of(entry_text(source), source.type, header);
  impl_->load({job}, 1);
  const std::lock_guard lock(impl_->mutex);
  std::unique_ptr<OwnSystem>& own = impl_->systems[job.id()];
  if (own == nullptr) {
    own.reset(new OwnSystem{source.header, source.type, source.text != nullptr ? source.text : "", std::move(header),
                            impl_->loaded.at(job.id()).unit->describe()});
    own->entry.source_text = {own->header.c_str(), own->type.c_str(),
                              source.text != nullptr ? own->text.c_str() : nullptr};
  }
  return own->entry;
}

std::vector<std::string> Kernels::images(std::span<const Unit> units, const std::string& architecture, unsigned jobs) {
  std::vector<Job> list;
  for (const Unit& unit : units) list.push_back(impl_->device_job_of(unit, architecture));
  impl_->load(list, jobs);
  std::vector<std::string> images;
  for (const Job& job : list) images.push_back(impl_->at(job).image);
  return images;
}

std::vector<KernelRecord> Kernels::records(std::span<const Unit> units, const std::string& architecture) {
  std::vector<KernelRecord> records;
  for (const Unit& unit : units) records.push_back(impl_->at(impl_->device_job_of(unit, architecture)).record);
  return records;
}

std::vector<KernelRecord> Kernels::records(std::span<const Unit> units) {
  std::vector<KernelRecord> records;
  for (const Unit& unit : units) records.push_back(impl_->at(unit).record);
  return records;
}

Kernels::Made Kernels::compile(std::span<const Unit> units, const std::filesystem::path& pack, unsigned jobs,
                               std::span<const Unit> device_units, std::span<const std::string> architectures) {
  std::vector<Job> list = impl_->jobs_of(units);
  for (const std::string& architecture : architectures)
    for (const Unit& unit : device_units) list.push_back(impl_->device_job_of(unit, architecture));
  if (!pack.empty()) {
    std::error_code code;
    const bool made_now = std::filesystem::create_directories(pack, code);
    using std::filesystem::perms;
    if (made_now)
      std::filesystem::permissions(pack, perms::group_write | perms::others_write,
                                   std::filesystem::perm_options::remove, code);
    struct stat status{};
    if (!code && stat(pack.c_str(), &status) == 0)
      if (const std::string fault = fault_of_owner(pack, status.st_uid); !fault.empty())
        input_error(pack.string(),
                    fmt::format("{}, so its kernels would not be loaded; chmod go-w this folder", fault));
    if (!code) code = std::error_code(access(pack.c_str(), W_OK | X_OK) == 0 ? 0 : errno, std::generic_category());
    if (code) input_error(pack.string(), fmt::format("cannot be written ({}); choose another folder", code.message()));
  }
  Made made;
  for (const Impl::Provided& kernel : impl_->provide(std::move(list), jobs)) {
    ++(kernel.compiled ? made.compiled : made.found);
    if (!pack.empty() && copy_to_pack(kernel.entry, kernel.job.name, kernel.job.title, pack)) ++made.copied;
  }
  return made;
}

}  // namespace rattleback
