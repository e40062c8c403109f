#pragma once
// The translation units of kernels: what the compiler gets to see.

#include <string>

#include "rattleback/catalogue/entry.hpp"
#include "rattleback/kernels/isa.hpp"
#include "rattleback/language/study_code.hpp"

namespace rattleback {

/// What a unit compiles.
enum class UnitKind {
  advance,         ///< the time loop of a system with a method
  tangent,         ///< the time loop with a tangent vector
  frame,           ///< the time loop with several, which are kept orthogonal
  varied,          ///< the time loop with derivatives of the trajectory
  samples,         ///< the observables of a system
  start,           ///< the preparation of initial points of a system
  start_tangents,  ///< the initial tangent vectors at prepared points
  counted,         ///< the time loop over a scalar that counts operations; scalar only
};

/// A unit: a system with a method and the values of its compiled options, for an instruction set. The method and the key
/// do not matter for `samples`, `start` and `start_tangents`, and the instruction set not for CUDA.
struct Unit {
  UnitKind kind;
  const SystemEntry* system;
  const MethodEntry* method;
  PairKey key;
  Isa isa;
  StudyCode code =
      {};  ///< `samples` has the observables, the loops have the surfaces, and `start_tangents` the number of vectors

  /// Returns the C++ text. The text depends on the catalogue's entries and on the formulas alone.
  [[nodiscard]] std::string text() const;
  /// Returns the text for CUDA, of any kind but `counted`.
  [[nodiscard]] std::string device_text() const;
  /// Returns words for a message: "chaotic (contact), m = 3, nonholonomic-lobatto, 3 stages, AVX-512". `target` stands in
  /// place of the instruction set, if not empty.
  [[nodiscard]] std::string title(const std::string& target = "") const;
  /// Returns how long GCC compiles the unit on an idle processor, to a factor of 2. The rule is for messages and for the order of
  /// compilations: the time grows with unknowns times stages and, where the mass matrix varies, with its entries.
  [[nodiscard]] double expected_seconds() const;
};

/// Returns the unit with the entry of a system of a user, and its functions at points.
[[nodiscard]] std::string entry_text(const SystemSource& source);

}  // namespace rattleback
