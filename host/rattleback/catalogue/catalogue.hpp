#pragma once
// Systems, methods, and the compiled pairs of a system and a method.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rattleback/catalogue/entry.hpp"

namespace rattleback {

/// Instruction sets for which step loops are compiled.
enum class Isa { scalar, neon, avx2, avx512 };
inline constexpr Isa all_isas[] = {Isa::scalar, Isa::neon, Isa::avx2, Isa::avx512};
[[nodiscard]] const char* to_string(Isa isa);
/// Returns the widest instruction set that this build contains and this machine can run.
[[nodiscard]] Isa best_isa();
/// Returns whether this build contains `isa` and this machine can run `isa`.
[[nodiscard]] bool has_isa(Isa isa);

/// Computes v of a state (q, p). On a group, v and p are in space (right trivialised) if `in_space`, otherwise in the
/// body.
void velocity_of_state(const SystemEntry& system, const double* parameters, const double* q, const double* p,
                       bool in_space, double* v);

/// The registry of the process. Built-in entries are present from the start; `rattleback_add_system` (CMake) adds
/// systems of a user.
class Catalogue {
 public:
  static Catalogue& instance();

  void add(const SystemEntry& system);
  void add(const MethodEntry& method);
  void add(const SystemEntry& system, std::string_view method, Isa isa, std::span<const CompiledPair> pairs);
  void add(const SystemEntry& system, std::string_view method, std::span<const CompiledCudaPair> pairs);
  void add(const SystemEntry& system, std::string_view method, std::span<const CountedPair> pairs);

  /// All instances in catalogue order. Several instances share a name when variants or structural parameters differ.
  [[nodiscard]] std::span<const SystemEntry* const> systems() const { return systems_; }
  [[nodiscard]] std::span<const MethodEntry* const> methods() const { return methods_; }
  /// Returns the distinct system names in catalogue order.
  [[nodiscard]] std::vector<std::string> system_names() const;
  /// Returns all instances of one name or alias; empty for an unknown name.
  [[nodiscard]] std::vector<const SystemEntry*> instances(std::string_view name) const;
  [[nodiscard]] const MethodEntry* method(std::string_view name) const;  ///< nullptr for an unknown name
  /// Returns the compiled pair, or nullptr.
  [[nodiscard]] const CompiledPair* pair(const SystemEntry& system, const MethodEntry& method, PairKey key,
                                         Isa isa) const;
  [[nodiscard]] const CompiledCudaPair* cuda_pair(const SystemEntry& system, const MethodEntry& method,
                                                  PairKey key) const;
  [[nodiscard]] const CountedPair* counted_pair(const SystemEntry& system, const MethodEntry& method,
                                                PairKey key) const;
  /// Returns whether any loop is compiled for the method and the system.
  [[nodiscard]] bool takes(const MethodEntry& method, const SystemEntry& system) const;
  /// Returns whether the method and the system were compiled together, but the method's step does not accept the
  /// system.
  [[nodiscard]] bool refuses(const MethodEntry& method, const SystemEntry& system) const;
  /// Returns the keys of a pair, one for each compiled loop. Values of options without effect are left out.
  [[nodiscard]] std::vector<PairKey> keys(const SystemEntry& system, const MethodEntry& method) const;

 private:
  Catalogue();
  std::vector<const SystemEntry*> systems_;
  std::vector<const MethodEntry*> methods_;
  template <class Compiled>
  struct Pairs {
    const SystemEntry* system;
    const MethodEntry* method;
    Isa isa;
    std::span<const Compiled> compiled;
  };
  std::vector<Pairs<CompiledPair>> pairs_;
  std::vector<Pairs<CompiledCudaPair>> cuda_pairs_;
  std::vector<Pairs<CountedPair>> counted_pairs_;
};

}  // namespace rattleback
