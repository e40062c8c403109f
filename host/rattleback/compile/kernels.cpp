#include "rattleback/compile/kernels.hpp"

#include <cerrno>

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "rattleback/base/message.hpp"
#include "rattleback/base/parallel.hpp"
#include "rattleback/base/sha256.hpp"
#include "rattleback/compile/kernel_flags.hpp"
#include "rattleback/compile/sources.hpp"
#include "rattleback/cuda/nvrtc.hpp"
#include "rattleback/store/store.hpp"
#include "rattleback/toolchain/compiler.hpp"

namespace rattleback {
namespace {

/// A text to compile.
struct Job {
  std::string text;  ///< of the unit, without headers
  std::string title;
  Isa isa = Isa::scalar;
  bool quick = false;                   ///< code that need not be fast
  std::string architecture = {};        ///< of a GPU; empty for the CPU
  std::vector<std::string> extra = {};  ///< options of the user

  /// The text with all headers.
  std::string whole = {};
  /// A hash of the text without paths, the options of the user and the instruction set. The bits of a kernel depend on nothing else:
  /// a kernel is found by this name in packs, and in the cache where nothing is compiled, with any compiler or none. The object
  /// exports this name.
  std::string name = {};
  /// A hash of the name, the compiler and all flags: the name of the kernel in the cache.
  std::string key = {};
  std::string compiler = {};
  std::vector<std::string> flags = {};

  /// Returns the key of the job among the units of this process.
  [[nodiscard]] std::string id() const { return fmt::format("{} {} {}", target(), fmt::join(extra, " "), text); }
  /// Returns the instruction set, or the architecture of the GPU.
  [[nodiscard]] std::string target() const { return architecture.empty() ? to_string(isa) : architecture; }
  [[nodiscard]] const char* object() const { return architecture.empty() ? "kernel.so" : "kernel.image"; }
  [[nodiscard]] const char* source() const { return architecture.empty() ? "unit.cpp" : "unit.cu"; }
};

/// Returns the options of the user for headers of their own.
const std::vector<std::string>& options() {
  static const std::vector<std::string> options = extra_flags();
  return options;
}

/// Returns the job of the entry of a system of the user, from its text (entry_text).
Job entry_job_of(const std::string& text, const std::string& type) {
  return {.text = text, .title = type, .quick = true, .extra = options()};
}

Job job_of(const Unit& unit, const TestFlags& test) {
  const bool quick = unit.kind == UnitKind::counted || (test.quick_scalar && unit.isa == Isa::scalar);
  std::string text = unit.text();
  if (quick && unit.kind != UnitKind::counted) text = "#define RATTLEBACK_SMALL_CODE\n" + text;
  Job job{.text = std::move(text), .title = unit.title(), .isa = unit.isa, .quick = quick, .extra = options()};
  job.extra.insert(job.extra.end(), test.further.begin(), test.further.end());
  return job;
}

/// Returns the text without the #line directives of the user's files. A kernel is the same wherever its headers lie.
std::string without_paths(const std::string& text) {
  std::string rest;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with("#line ") || line.find("\"/") == std::string::npos) rest += line + "\n";
  return rest;
}

/// Returns the compiler; asked once.
const Compiler& the_compiler() {
  static const Compiler compiler = find_compiler();
  return compiler;
}
std::string in_words(const Compiler& compiler) {
  return fmt::format("{} ({}, {})", compiler.path, compiler.version, compiler.target);
}

/// Returns the flags of a job for the CPU, with those of the user.
std::vector<std::string> all_flags(const Job& job, bool clang) {
  std::vector<std::string> flags = flags_of(job.isa, clang, job.quick);
  flags.insert(flags.end(), job.extra.begin(), job.extra.end());
  return flags;
}

/// Returns the flags of a job for a GPU, whose image is for `target`, with those of the user.
std::vector<std::string> all_device_flags(const Job& job, const std::string& target) {
  std::vector<std::string> flags = Nvrtc::target_options(target);
  flags.insert(flags.end(), job.extra.begin(), job.extra.end());
  return flags;
}

Job device_job_of(const Unit& unit, const std::string& architecture) {
  std::vector<std::string> extra = Nvrtc::launch_options();
  std::ranges::copy_if(options(), std::back_inserter(extra), [](const std::string& option) {
    return option.starts_with("-D") || option.starts_with("-U");  // the header of a system may read these macros
  });
  return {.text = unit.device_text(),
          .title = unit.title(architecture),
          .architecture = architecture,
          .extra = std::move(extra)};
}

/// The entry of a system of the user, and the texts that the entry points to.
struct OwnSystem {
  std::string header, type, text;
  SystemEntry entry;
};

struct Loaded {
  const CompiledUnit* unit;  ///< null for an image
  std::string image;         ///< empty for the CPU
  std::string name;          ///< Job::name
  KernelRecord record;
  std::filesystem::path folder;
};

}  // namespace

struct Kernels::Impl {
  std::mutex mutex;  ///< of everything below but `store`
  KernelPolicy policy = KernelPolicy::automatic;
  std::function<void(const std::string&)> report, warn;
  std::function<bool()> stop;
  TestFlags test_flags;
  std::map<std::string, Loaded> loaded;  ///< by the text of the unit and the instruction set
  std::map<std::string, std::unique_ptr<OwnSystem>> systems;  ///< by the text of the entry
  std::unique_ptr<Store> packs, cache;

  void warn_of(const std::string& message) {
    std::function<void(const std::string&)> to;
    {
      const std::lock_guard lock(mutex);
      to = warn;
    }
    if (to) to(message);
  }

  Store& opened(std::unique_ptr<Store>& store) {
    const std::lock_guard lock(mutex);
    if (!store) {
      const bool is_cache = &store == &cache;
      store = std::make_unique<Store>(is_cache ? Store::default_folder() : std::filesystem::path{},
                                      is_cache ? std::vector<std::filesystem::path>{} : builtin_packs(),
                                      [this](const std::string& message) { warn_of(message); });
    }
    return *store;
  }

  /// Finds a kernel in the cache that any compiler has compiled with the flags of this program.
  std::optional<Entry> find_of_any_compiler(const Job& job) {
    return opened(cache).find_named(job.name, [&](const Origin& origin) {
      if (job.architecture.empty())
        return origin.flags == all_flags(job, false) || origin.flags == all_flags(job, true);
      constexpr std::string_view first = "--gpu-architecture=";
      if (origin.flags.empty() || !origin.flags[0].starts_with(first)) return false;
      const std::string target = origin.flags[0].substr(first.size());
      return Nvrtc::serves(target, job.architecture) && origin.flags == all_device_flags(job, target);
    });
  }

  /// Sets the compiler, the flags and the key of a job. Throws Error where there is no compiler.
  static void choose_compiler(Job& job) {
    if (job.architecture.empty()) {
      const Compiler& compiler = the_compiler();
      job.compiler = in_words(compiler);
      job.flags = all_flags(job, compiler.clang);
    } else {
      const Nvrtc& nvrtc = Nvrtc::instance();
      job.compiler = "NVRTC " + nvrtc.version();
      job.flags = all_device_flags(job, nvrtc.target(job.architecture));
    }
    std::string all = fmt::format("name {}\ncompiler {}\n", job.name, job.compiler);
    for (const std::string& flag : job.flags) all += flag + "\n";
    job.key = sha256(all);
  }

  /// Finds a kernel. Sets everything of the job that the compiler needs where there is none. Throws Error where the kernel
  /// must be compiled and there is no compiler.
  std::optional<Entry> find(Job& job) {
    job.whole = whole_unit(job.text).text;
    std::string all = fmt::format("interface {}\n{}{}\n", binary_interface, job.target(), job.quick ? " quick" : "");
    for (const std::string& option : job.extra) all += option + "\n";
    job.name = sha256(all + without_paths(job.whole));
    if (auto entry = opened(packs).find(job.name)) return entry;
    if (policy == KernelPolicy::builtin) return std::nullopt;
    if (policy == KernelPolicy::cached) return find_of_any_compiler(job);
    try {
      choose_compiler(job);
    } catch (const Error&) {
      if (auto entry = find_of_any_compiler(job)) return entry;
      throw;
    }
    return opened(cache).find(job.key);
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
    const std::filesystem::path folder = opened(cache).folder().parent_path() / "logs";
    std::error_code code;
    if (opened(cache).folder().empty() || (std::filesystem::create_directories(folder, code), code)) return {};
    return folder / fmt::format("{}.log", job.key.substr(0, 16));
  }

  /// Compiles a unit for the CPU. Returns the time in seconds.
  double compile_object(const Job& job, const std::filesystem::path& folder) {
    const std::filesystem::path unit = folder / job.source(), log = folder / "log";
    std::ofstream(unit, std::ios::binary) << job.whole;
    std::vector<std::string> flags = job.flags;
    flags.push_back(fmt::format("-DRATTLEBACK_KEY=\"{}\"", job.name));
    const double seconds =
        rattleback::compile(the_compiler(), flags, {unit, folder / job.object(), log, kept_log(job)}, stop).seconds;
    std::filesystem::remove(log);
    return seconds;
  }

  /// Compiles a unit for a GPU. Returns the time in seconds.
  double compile_image(const Job& job, const std::filesystem::path& folder) {
    std::ofstream(folder / job.source(), std::ios::binary) << job.whole;
    const auto start = std::chrono::steady_clock::now();
    const DeviceImage image =
        Nvrtc::instance().compile(job.whole, job.source(), job.architecture, {}, job.extra, kept_log(job));
    std::ofstream(folder / job.object(), std::ios::binary) << image.bytes;
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  Entry compile_job(const Job& job) {
    WorkFolder work = opened(cache).work_folder();
    const double seconds =
        job.architecture.empty() ? compile_object(job, work.path()) : compile_image(job, work.path());
    Entry entry =
        opened(cache).publish(job.key, std::move(work), {job.title, job.name, job.compiler, job.flags, seconds});
    if (report) report(fmt::format("compiling {}: {:.1f} s, once", job.title, seconds));
    return entry;
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
    if (policy != KernelPolicy::automatic)
      input_error("--kernels",
                  fmt::format("{} is not compiled{}, and '{}' does not compile; 'rattleback compile STUDY' "
                              "on a machine with a compiler makes it, --kernels auto does so now",
                              missing[0].title,
                              missing.size() == 1 ? "" : fmt::format(" (nor are {} more)", missing.size() - 1),
                              policy == KernelPolicy::cached ? "cached" : "builtin"));
    const std::size_t first = provided.size();
    for (Job& job : missing) provided.push_back({std::move(job), {}, true});
    parallel_for(missing.size(), worker_count(at_a_time),
                 [&](std::uint64_t i) { provided[first + i].entry = compile_job(provided[first + i].job); });
    return provided;
  }

  void load(std::vector<Job> jobs, unsigned at_a_time) {
    {
      const std::lock_guard lock(mutex);
      std::erase_if(jobs, [&](const Job& job) { return loaded.contains(job.id()); });
    }
    for (const Provided& kernel : provide(std::move(jobs), at_a_time)) remember(kernel.job, kernel.entry);
  }

  /// Copies a kernel into a pack. Returns false when the kernel is there.
  static bool copy(const Provided& kernel, const std::filesystem::path& pack) {
    std::string fault;
    if (read_entry(pack / kernel.job.name, kernel.job.name, Compare::files, fault)) return false;
    try {
      WorkFolder work(pack);
      for (const StoredFile& file : kernel.entry.files)
        std::filesystem::copy_file(kernel.entry.folder / file.name, work.path() / file.name);
      const Entry entry = write_manifest(work.path(), kernel.job.name, kernel.entry.origin);
      using std::filesystem::perms;
      const perms readable = perms::owner_read | perms::group_read | perms::others_read;
      for (const auto& file : std::filesystem::directory_iterator(work.path()))
        std::filesystem::permissions(file.path(), readable | perms::owner_write);
      std::filesystem::permissions(work.path(), readable | perms::owner_write | perms::owner_exec | perms::group_exec |
                                                    perms::others_exec);  // a pack may serve many users
      const std::filesystem::path place = publish_entry(std::move(work), entry, pack).folder;
      if (place != pack / kernel.job.name) throw std::system_error(EIO, std::generic_category());
    } catch (const std::system_error& why) {
      throw Error(Error::Kind::runtime, fmt::format("{}: {} cannot be copied there ({})", pack.string(),
                                                    kernel.job.title, why.code().message()));
    }
    return true;
  }

  const Loaded& at(const Unit& unit) { return at(job_of(unit, test_flags)); }
  const Loaded& at(const Job& job) {
    {
      const std::lock_guard lock(mutex);
      if (const auto found = loaded.find(job.id()); found != loaded.end()) return found->second;
    }
    load({job}, 1);
    const std::lock_guard lock(mutex);
    return loaded.at(job.id());
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
}
KernelPolicy Kernels::policy() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->policy;
}
void Kernels::set_report(std::function<void(const std::string&)> report, std::function<void(const std::string&)> warn) {
  const std::lock_guard lock(impl_->mutex);
  impl_->report = std::move(report);
  impl_->warn = std::move(warn);
}
void Kernels::set_stop(std::function<bool()> stop) {
  const std::lock_guard lock(impl_->mutex);
  impl_->stop = std::move(stop);
}
void Kernels::set_test_flags(TestFlags flags) { impl_->test_flags = std::move(flags); }

void Kernels::load(std::span<const Unit> units, unsigned jobs) {
  std::vector<Job> list;
  for (const Unit& unit : units) list.push_back(job_of(unit, impl_->test_flags));
  impl_->load(std::move(list), jobs);
}

const CompiledUnit& Kernels::get(const Unit& unit) { return *impl_->at(unit).unit; }

const SystemEntry& Kernels::system(const SystemSource& source) {
  const Job job = entry_job_of(entry_text(source), source.type);
  impl_->load({job}, 1);
  const std::lock_guard lock(impl_->mutex);
  std::unique_ptr<OwnSystem>& own = impl_->systems[job.text];
  if (own == nullptr) {
    own.reset(new OwnSystem{source.header, source.type, source.text != nullptr ? source.text : "",
                            impl_->loaded.at(job.id()).unit->describe()});
    own->entry.source_text = {own->header.c_str(), own->type.c_str(), source.text != nullptr ? own->text.c_str() : nullptr};
  }
  return own->entry;
}

std::vector<std::string> Kernels::images(std::span<const Unit> units, const std::string& architecture, unsigned jobs) {
  std::vector<Job> list;
  for (const Unit& unit : units) list.push_back(device_job_of(unit, architecture));
  impl_->load(list, jobs);
  std::vector<std::string> images;
  for (const Job& job : list) images.push_back(impl_->at(job).image);
  return images;
}

std::vector<KernelRecord> Kernels::records(std::span<const Unit> units, const std::string& architecture) {
  std::vector<KernelRecord> records;
  for (const Unit& unit : units) records.push_back(impl_->at(device_job_of(unit, architecture)).record);
  return records;
}

std::vector<KernelRecord> Kernels::records(std::span<const Unit> units) {
  std::vector<KernelRecord> records;
  for (const Unit& unit : units) records.push_back(impl_->at(unit).record);
  return records;
}

Kernels::Made Kernels::compile(std::span<const Unit> units, const std::filesystem::path& pack, unsigned jobs,
                               std::span<const Unit> device_units, std::span<const std::string> architectures) {
  std::vector<Job> list;
  for (const Unit& unit : units) list.push_back(job_of(unit, impl_->test_flags));
  for (const std::string& architecture : architectures)
    for (const Unit& unit : device_units) list.push_back(device_job_of(unit, architecture));
  {
    const std::lock_guard lock(impl_->mutex);
    for (const auto& [text, own] : impl_->systems)
      if (std::ranges::any_of(
              units, [&](const Unit& unit) { return unit.system->source_text.type == own->entry.source_text.type; }))
        list.push_back(entry_job_of(text, own->entry.source_text.type));
  }
  if (!pack.empty()) {
    std::error_code code;
    std::filesystem::create_directories(pack, code);
    if (!code) code = std::error_code(access(pack.c_str(), W_OK | X_OK) == 0 ? 0 : errno, std::generic_category());
    if (code) input_error(pack.string(), fmt::format("cannot be written ({}); choose another folder", code.message()));
  }
  Made made;
  for (const Impl::Provided& kernel : impl_->provide(std::move(list), jobs)) {
    ++(kernel.compiled ? made.compiled : made.found);
    if (!pack.empty() && Impl::copy(kernel, pack)) ++made.copied;
  }
  return made;
}

}  // namespace rattleback
