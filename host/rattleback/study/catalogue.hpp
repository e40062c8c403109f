#pragma once
// Systems and methods.

#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rattleback/catalogue/entry.hpp"

namespace rattleback {

/// Computes v of a state (q, p). On a group, v and p are in space (right trivialised) if `in_space`, otherwise in the
/// body.
void velocity_of_state(const SystemEntry& system, SystemAt place, const double* q, const double* p, bool in_space,
                       double* v);

/// Computes the multiplier of the continuous equations at a state (q, p), which is in space or in the body as above. Returns
/// false where these equations do not determine it.
bool multiplier_of_state(const SystemEntry& system, SystemAt place, const double* q, const double* p, bool in_space,
                         double* lambda);

/// The registry of the process. Built-in entries are present from the start.
class Catalogue {
 public:
  static Catalogue& instance();

  void add(const SystemEntry& system);
  void add(const MethodEntry& method);  ///< throws Error for an entry without a header or a step

  /// All instances in catalogue order. Several instances share a name when variants or structural parameters differ.
  [[nodiscard]] std::span<const SystemEntry* const> systems() const { return systems_; }
  [[nodiscard]] std::span<const MethodEntry* const> methods() const { return methods_; }
  /// Returns the distinct system names in catalogue order.
  [[nodiscard]] std::vector<std::string> system_names() const;
  /// Returns all instances of one name or alias; empty for an unknown name.
  [[nodiscard]] std::vector<const SystemEntry*> instances(std::string_view name) const;
  [[nodiscard]] const MethodEntry* method(std::string_view name) const;  ///< nullptr for an unknown name
  /// Returns the keys of a pair, one for each step: all combinations of the values of the compiled options. Values of
  /// options without effect are left out. Empty when the method does not take the system.
  [[nodiscard]] std::vector<PairKey> keys(const SystemEntry& system, const MethodEntry& method) const;

 private:
  Catalogue();
  std::vector<const SystemEntry*> systems_;
  std::vector<const MethodEntry*> methods_;
};

}  // namespace rattleback
