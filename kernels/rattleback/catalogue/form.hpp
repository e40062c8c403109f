#pragma once
// The form of a system: what decides about the methods that take it. That of a compiled system follows from the concepts of
// mechanics/concepts.hpp (form_of in mechanics/observables.hpp), that of a system of formulas from the formulas, without compiling them.

namespace rattleback {

/// A scalar function of the state. A conserved function is an invariant of the continuous equations.
struct ObservableInfo {
  const char* name;
  bool conserved;
  const char* text;
};

enum class ConstraintKind {
  none,
  velocity,
  holonomic,
  mixed  ///< some are holonomic, the others are on velocities
};

/// Several kinds: ConstraintKind::holonomic | ConstraintKind::none.
class ConstraintKinds {
 public:
  constexpr ConstraintKinds(ConstraintKind kind) : bits_(1u << static_cast<unsigned>(kind)) {}
  [[nodiscard]] constexpr bool contain(ConstraintKind kind) const {
    return (bits_ >> static_cast<unsigned>(kind) & 1u) != 0;
  }
  friend constexpr ConstraintKinds operator|(ConstraintKinds a, ConstraintKinds b) {
    a.bits_ |= b.bits_;
    return a;
  }

 private:
  unsigned bits_;
};
constexpr ConstraintKinds operator|(ConstraintKind a, ConstraintKind b) {
  return ConstraintKinds(a) | ConstraintKinds(b);
}

/// What a system is, besides its functions.
struct SystemForm {
  ConstraintKind constraint = ConstraintKind::none;
  bool on_group = false;           ///< the configuration space is a Lie group, and not R^n
  bool driven = false;             ///< the time or an applied force acts on the motion
  bool hamiltonian_alone = false;  ///< the system has no Lagrangian
  bool of_momentum = false;        ///< the energy is a function H(q, p)
  bool separable = false;          ///< L = v.Mv/2 - U(q) with a constant M, for all parameters
  bool separable_form = false;     ///< the same, where the parameters of SystemEntry::separable_without are 0
  bool affine = false;             ///< no constraints, or constraints on velocities that are affine in v
  bool offset = false;             ///< those on velocities state a part that does not depend on v
  bool explicit_velocity = false;  ///< v follows from (q, p) without a linear solve; on R^n
  bool lagrange_top = false;       ///< the directors and the parameters of a Lagrange top
  bool conserves_energy = false;

  bool operator==(const SystemForm&) const = default;
  /// The condensed methods apply: L = v.Mv/2 - U(q) on R^n for all parameters, with a constraint affine in v or none.
  [[nodiscard]] constexpr bool condensable() const { return !on_group && separable && affine; }
};

/// What methods ask for besides a kind of constraints (MethodEntry::takes).
namespace needs {
constexpr bool lagrangian(const SystemForm& f) { return !f.hamiltonian_alone; }
constexpr bool lagrangian_on_rn(const SystemForm& f) { return !f.on_group && !f.hamiltonian_alone; }
constexpr bool affine(const SystemForm& f) { return !f.hamiltonian_alone && f.affine; }
constexpr bool affine_on_rn(const SystemForm& f) { return lagrangian_on_rn(f) && f.affine; }
}  // namespace needs

/// The observables that every system of a form has, before its invariants.
struct CommonObservables {
  int count = 0;
  ObservableInfo list[3] = {};

  constexpr explicit CommonObservables(const SystemForm& form) {
    add({"energy", form.conserves_energy, form.of_momentum ? "energy H(q, p)" : "energy v.dL/dv - L"});
    switch (form.constraint) {
      case ConstraintKind::none:
        break;
      case ConstraintKind::velocity:
        add({"constraint", false, "max norm of the constraint Phi(q, v)"});
        break;
      case ConstraintKind::holonomic:
        add({"constraint", false, "max norm of the constraint g(q)"});
        add({"hidden_constraint", false, "max norm of the hidden constraint Dg(q) v"});
        break;
      case ConstraintKind::mixed:
        add({"constraint", false, "max norm of the constraints g(q) and Phi(q, v)"});
        add({"hidden_constraint", false, "max norm of the hidden constraint, the derivative of g(q) along v"});
        break;
    }
  }

 private:
  constexpr void add(const ObservableInfo& info) { list[count++] = info; }
};

}  // namespace rattleback
