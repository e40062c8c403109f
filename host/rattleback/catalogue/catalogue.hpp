#pragma once
// The systems, the methods, and the compiled pairs of both.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rattleback/catalogue/entry.hpp"

namespace rattleback {

/// Instruction sets a step loop is compiled for.
enum class Isa { scalar, avx2, avx512 };
[[nodiscard]] const char* to_string(Isa isa);
/// The widest instruction set that this build holds and this machine runs.
[[nodiscard]] Isa best_isa();
/// Whether this build holds `isa` and this machine runs it.
[[nodiscard]] bool has_isa(Isa isa);

/// v of a state (q, p); on a group both are in space, right trivialised, or in the body.
void velocity_of_state(const SystemEntry& system, const double* parameters, const double* q, const double* p,
                       bool in_space, double* v);

/// Process-wide registry. Built-in entries are there from the start; `rattleback_add_system` (CMake) adds a user's own.
class Catalogue {
 public:
  static Catalogue& instance();

  void add(const SystemEntry& system);
  void add(const MethodEntry& method);
  void add(const SystemEntry& system, std::string_view method, Isa isa, std::span<const CompiledPair> pairs);
  void add(const SystemEntry& system, std::string_view method, std::span<const CompiledCudaPair> pairs);
  void add(const SystemEntry& system, std::string_view method, std::span<const CountedPair> pairs);

  /// All instances, in catalogue order; several share a name when variants or structural parameters differ.
  [[nodiscard]] std::span<const SystemEntry* const> systems() const { return systems_; }
  [[nodiscard]] std::span<const MethodEntry* const> methods() const { return methods_; }
  /// Distinct system names in catalogue order.
  [[nodiscard]] std::vector<std::string> system_names() const;
  /// All instances of one name (aliases resolved); empty when there is none.
  [[nodiscard]] std::vector<const SystemEntry*> instances(std::string_view name) const;
  [[nodiscard]] const MethodEntry* method(std::string_view name) const;  ///< or nullptr
  /// The compiled pair, or nullptr.
  [[nodiscard]] const CompiledPair* pair(const SystemEntry& system, const MethodEntry& method, PairKey key,
                                         Isa isa) const;
  [[nodiscard]] const CompiledCudaPair* cuda_pair(const SystemEntry& system, const MethodEntry& method,
                                                  PairKey key) const;
  [[nodiscard]] const CountedPair* counted_pair(const SystemEntry& system, const MethodEntry& method,
                                                PairKey key) const;
  /// Whether any loop is compiled for the two.
  [[nodiscard]] bool takes(const MethodEntry& method, const SystemEntry& system) const;
  /// Whether the two were compiled and the method's step does not take the system.
  [[nodiscard]] bool refuses(const MethodEntry& method, const SystemEntry& system) const;
  /// The keys of a pair, one for each loop that was compiled: values of options that make no difference are left out.
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
