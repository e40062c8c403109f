#pragma once
// What a compilation needs, and the names under which its kernel is found again.

#include <string>
#include <vector>

#include "rattleback/kernels/compiler.hpp"
#include "rattleback/kernels/isa.hpp"
#include "rattleback/kernels/kernels.hpp"
#include "rattleback/kernels/sources.hpp"

namespace rattleback {

/// A text to compile.
struct Job {
  std::string text;  ///< of the unit, without headers
  std::string title;
  Isa isa = Isa::scalar;
  bool quick = false;                   ///< code that need not be fast
  double expected_seconds = 1.0;        ///< of compiling, to a factor of 2 (Unit::expected_seconds)
  std::string architecture = {};        ///< of a GPU; empty for the CPU
  std::vector<std::string> extra = {};  ///< options of the user
  /// The header of the user with the system, as it was when the system was read; no file where the program has the system.
  OwnHeader own = {};

  /// The text with all headers.
  std::string whole = {};
  /// A hash of the text without paths, the options of the user and the instruction set. The bits of a kernel depend on nothing else:
  /// a kernel is found by this name in packs, and in the cache where nothing is compiled, with any compiler or none. The object
  /// exports this name.
  std::string name = {};
  /// A hash of the name, the compiler and all flags: the name of the kernel in the cache.
  std::string key = {};
  std::string compiler = {};  ///< in words
  Compiler program = {};      ///< for the CPU
  std::vector<std::string> flags = {};

  /// Returns the key of the job among the units of this process.
  [[nodiscard]] std::string id() const;
  /// Returns the instruction set, or the architecture of the GPU.
  [[nodiscard]] std::string target() const { return architecture.empty() ? to_string(isa) : architecture; }
  [[nodiscard]] const char* object() const { return architecture.empty() ? "kernel.so" : "kernel.image"; }
  [[nodiscard]] const char* source() const { return architecture.empty() ? "unit.cpp" : "unit.cu"; }

  /// Sets `whole` and `name`. Throws Error(input) when a header cannot be read, or is another one than `own` says.
  void gather();
  /// Sets the compiler, the flags and the key. `stop` is asked while a compiler is. Throws Error where there is no compiler.
  void choose_compiler(const std::function<bool()>& stop);
};

/// Returns the job of the entry of a system of the user, from its text (entry_text).
[[nodiscard]] Job entry_job_of(const std::string& text, const std::string& type, OwnHeader own);
[[nodiscard]] Job job_of(const Unit& unit, const TestFlags& test, OwnHeader own);
[[nodiscard]] Job device_job_of(const Unit& unit, const std::string& architecture, OwnHeader own);

/// Returns the flags of a job for the CPU, with those of the user.
[[nodiscard]] std::vector<std::string> all_flags(const Job& job, bool clang);
/// Returns the flags of a job for a GPU, whose image is for `target`, with those of the user.
[[nodiscard]] std::vector<std::string> all_device_flags(const Job& job, const std::string& target);

}  // namespace rattleback
