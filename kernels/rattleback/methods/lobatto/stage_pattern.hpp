#pragma once
// Which entries the forces and the first-order part E of stage_sweeps.hpp have, known when a kernel is compiled.

#include "rattleback/mechanics/hessian.hpp"
#include "rattleback/mechanics/projection.hpp"
#include "rattleback/mechanics/quadratic.hpp"

RB_NAMESPACE_BEGIN

namespace detail {

template <class System>
class StagePattern {
  static constexpr int n = System::n, m = System::m;
  static constexpr bool nonholonomic = m > 0 && !is_holonomic<System>;
  static constexpr bool nonlinear = nonholonomic && !AffineConstraint<System>;
  static constexpr bool turns_forces = has_sparse_hessian<System>();
  using Forms = ConstraintForms<System>;
  using Pattern = QuadraticPattern<System>;
  using MassInverse = Factors<typename System::scalar, n, Definite<Pattern>>;

 public:
  /// Whether f or a force of the constraint has the entry i.
  RB_HD static constexpr bool is_forced(int i) { return looked_up<n, 1, Forced>(i); }
  /// Whether E adds to w the entry i.
  RB_HD static constexpr bool couples(int i) { return looked_up<n, 1, Couples>(i); }
  /// y + a b, where b is what E adds to some w.
  template <class T>
  RB_HD static Vector<T, n> plus_coupled(const T& a, const Vector<T, n>& b, Vector<T, n> y) {
    RB_UNROLL
    for (int i = 0; i < n; ++i)
      if (couples(i)) y[i] = fma(a, b[i], y[i]);
    return y;
  }
  /// The entries of the equations of the multipliers, in which C_i M_k^-1 C_j^T stands for each pair of stages.
  struct Multipliers {
    RB_HD static constexpr bool entry(int i, int j) { return GramPattern<System, MassInverse>::entry(i % m, j % m); }
  };
  /// Whether B has entries.
  RB_HD static constexpr bool has_coupling() {
    for (int i = 0; i < n; ++i)
      for (int k = 0; k < Pattern::active; ++k)
        if (Pattern::coupled(i, k)) return true;
    return false;
  }
  /// Whether E has entries.
  RB_HD static constexpr bool has_first_order() {
    for (int i = 0; i < n; ++i)
      if (couples(i)) return true;
    return nonholonomic;
  }

 private:
  struct Forced {
    constexpr bool operator()(int r) const {
      for (int k = 0; k < m; ++k)
        if (Forms::entry(k, r)) return true;
      return has_applied_force<System>() || Pattern::forces(r);
    }
  };
  struct Couples {
    constexpr bool operator()(int r) const {
      constexpr bool coupled = Pattern::couples();
      for (int j = 0; j < n; ++j) {
        if (turns_forces && HessianPattern<System>::entry(r, j)) return true;
        for (int k = 0; coupled && k < Pattern::active; ++k)
          if (Pattern::coordinate(k) == r && Pattern::coupled(j, k)) return true;
      }
      return nonlinear || has_force_of_velocity<System>();
    }
  };
};

}  // namespace detail

RB_NAMESPACE_END
