#pragma once
// Compiled kernels: found among those that came with the program, in packs and in the cache, or compiled now.

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "rattleback/kernels/unit.hpp"

namespace rattleback {

/// Where kernels may come from.
enum class KernelPolicy {
  automatic,  ///< compile what is missing
  cached,     ///< those of the program, packs and the cache
  builtin,    ///< those of the program and packs
};

/// A kernel in use, for the record of a result.
struct KernelRecord {
  std::string title, key, compiler;
};

/// Flags that tests ask for. The bits are the same.
struct TestFlags {
  bool quick_scalar = false;              ///< units without packs are compiled quickly instead of well
  std::vector<std::string> further = {};  ///< flags of a sanitizer
};

/// The kernels of the process. All member functions may be called from several threads.
class Kernels {
 public:
  static Kernels& instance();

  void set_policy(KernelPolicy policy);
  [[nodiscard]] KernelPolicy policy() const;
  /// `report` receives a line before a kernel is compiled, with the time that it may take, and a line afterwards; `warn` receives
  /// faults of the cache and of packs, each once. `waiting` receives the seconds since a compilation began, about ten times a
  /// second, and 0 when it has ended. All are called from any thread, which then holds no lock: they may call the library.
  void set_report(std::function<void(const std::string&)> report, std::function<void(const std::string&)> warn = {},
                  std::function<void(double)> waiting = {});
  /// Compiling ends with Error(runtime) soon after `stop` returns true.
  void set_stop(std::function<bool()> stop);
  /// Units are compiled with these flags from now on.
  void set_test_flags(TestFlags flags);

  /// Loads all units. Missing units are compiled, `jobs` at a time (0: one per core). Throws Error(input) when a unit is
  /// missing and must not or cannot be compiled, or when a header of the user does not compile.
  void load(std::span<const Unit> units, unsigned jobs = 0);
  /// Returns a unit, after loading the unit if need be.
  const CompiledUnit& get(const Unit& unit);
  /// Returns a unit that is loaded, or can be loaded without compiling; null otherwise.
  const CompiledUnit* find(const Unit& unit);
  /// Returns the CUDA images of units for an architecture such as "sm_90" (kernels/module.hpp).
  /// Missing images are compiled by NVRTC, which needs no GPU.
  std::vector<std::string> images(std::span<const Unit> units, const std::string& architecture, unsigned jobs = 0);
  /// Returns the CUDA image of a unit that is loaded, or can be loaded without compiling; empty otherwise.
  std::string find_image(const Unit& unit, const std::string& architecture);
  /// Returns the entry of a system of the user, as its compiled text has it. Compiles the entry if need be. Where there is
  /// no text, `digest` is that of the header (kernels/sources.hpp), or empty for the header as it is now: a header that changes
  /// later is refused.
  const SystemEntry& system(const SystemSource& source, const std::string& digest = "");

  /// Returns what is known of units that are loaded.
  [[nodiscard]] std::vector<KernelRecord> records(std::span<const Unit> units);
  [[nodiscard]] std::vector<KernelRecord> records(std::span<const Unit> units, const std::string& architecture);
  /// What `compile` has done.
  struct Made {
    std::size_t compiled = 0;  ///< by this call
    std::size_t found = 0;     ///< that were there before
    std::size_t copied = 0;    ///< to the pack; the other ones were there before
  };
  /// Compiles units that are missing, `jobs` at a time, but loads none: they may be for another machine. A folder `pack`
  /// that is not empty receives copies, also of the entries of systems of the user. Other units in this folder stay.
  /// Throws Error(input) as `load` does, and when the pack cannot be written.
  /// `device_units` are compiled for each of the CUDA architectures ("sm_90").
  Made compile(std::span<const Unit> units, const std::filesystem::path& pack = {}, unsigned jobs = 0,
               std::span<const Unit> device_units = {}, std::span<const std::string> architectures = {});

 private:
  Kernels();
  ~Kernels();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Returns the functions of a system at single points. Those of a system of formulas are compiled when they are first asked for, and throw
/// as Kernels::system then. May be called from several threads.
[[nodiscard]] const PointFunctions& point_functions(const SystemEntry& system);

}  // namespace rattleback
