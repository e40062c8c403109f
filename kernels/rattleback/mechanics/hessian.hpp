#pragma once
// The second derivatives of holonomic constraints g on R^n.

#include "rattleback/mechanics/dynamics.hpp"

RB_NAMESPACE_BEGIN

namespace detail {

/// Whether a system states D^2g for groups of coordinates: g is at most quadratic (system.hpp).
template <class System, class T>
concept GroupedHessian = requires(const System& s, const Vector<T, System::m>& a) {
  System::block;
  s.constraint_hessian(a);
};

/// Which entries of sum_k a_k D^2 g_k are there.
template <class System>
struct HessianPattern {
  struct Stated {
    constexpr bool operator()(int i, int j) const { return System::constraint_hessian_entry(i, j); }
  };
  RB_HD static constexpr bool entry(int i, int j) {
    if constexpr (GroupedHessian<System, typename System::scalar>) {
      return i % System::block == j % System::block;
    } else if constexpr (requires { System::constraint_hessian_entry(0, 0); }) {
      return looked_up<System::n, System::n, Stated>(i, j);
    } else {
      return true;
    }
  }
};

/// Whether D^2g has so few entries that products with it cost little.
template <class System>
consteval bool has_sparse_hessian() {
  if constexpr (is_holonomic<System>) {
    int entries = 0;
    for (int i = 0; i < System::n; ++i)
      for (int j = 0; j < System::n; ++j)
        if (HessianPattern<System>::entry(i, j)) ++entries;
    return entries <= 2 * System::n;
  } else {
    return false;
  }
}

/// Entries that one of these patterns has.
template <class... Patterns>
struct UnitedPattern {
  RB_HD static constexpr bool entry(int i, int j) { return (Patterns::entry(i, j) || ...); }
};

}  // namespace detail

/// S = sum_k a_k D^2 g_k at q.
template <class System, class T = typename System::scalar>
class ConstraintHessian {
  static constexpr int n = System::n, m = System::m;
  using Pattern = detail::HessianPattern<System>;
  static constexpr bool grouped = detail::GroupedHessian<System, T>;

 public:
  ConstraintHessian() = default;
  RB_HD ConstraintHessian(const System& system, const Vector<T, n>& q, const Vector<T, m>& a) {
    if constexpr (grouped) {
      const auto groups = system.constraint_hessian(a);
      set([&](int i, int j) { return groups[i / System::block][j / System::block]; });
    } else {
      using D = Dual<T, n>;
      const auto jacobian = position_jacobian(system, seeded_configuration<Rn<n>, D>(q));
      set([&](int i, int j) {
        T sum = a[0] * jacobian[0][i].partial[j];
        RB_UNROLL
        for (int k = 1; k < m; ++k) sum = fma(a[k], jacobian[k][i].partial[j], sum);
        return sum;
      });
    }
  }

  /// An entry that the pattern has.
  RB_HD const T& operator()(int i, int j) const { return s_[i][j]; }
  /// S x.
  RB_HD Vector<T, n> operator*(const Vector<T, n>& x) const {
    Vector<T, n> y;
    RB_UNROLL
    for (int i = 0; i < n; ++i) {
      SumOfProducts<T> sum;
      RB_UNROLL
      for (int j = 0; j < n; ++j)
        if (Pattern::entry(i, j)) sum.add(s_[i][j], x[j]);
      y[i] = sum.value;
    }
    return y;
  }
  /// a + t S.
  RB_HD Matrix<T, n, n> added_to(Matrix<T, n, n> a, const T& t) const {
    RB_UNROLL
    for (int i = 0; i < n; ++i) {
      RB_UNROLL
      for (int j = 0; j < n; ++j)
        if (Pattern::entry(i, j)) a[i][j] = fma(t, s_[i][j], a[i][j]);
    }
    return a;
  }

 private:
  template <class Entry>
  RB_HD void set(const Entry& value) {
    RB_UNROLL
    for (int i = 0; i < n; ++i) {
      RB_UNROLL
      for (int j = 0; j < n; ++j)
        if (Pattern::entry(i, j)) s_[i][j] = value(i, j);
    }
  }

  Matrix<T, n, n> s_;
};

/// W = h S M^-1.
template <class System, class T = typename System::scalar>
class HessianTimesInverse {
  static constexpr int n = System::n;
  using Pattern = detail::HessianPattern<System>;
  using MassInverse = Factors<T, n, Definite<detail::QuadraticPattern<System>>>;
  struct Product {
    constexpr bool operator()(int r, int c) const {
      for (int k = 0; k < n; ++k)
        if (Pattern::entry(r, k) && MassInverse::entry(k, c)) return true;
      return false;
    }
  };
  RB_HD static constexpr bool entry(int i, int j) { return detail::looked_up<n, n, Product>(i, j); }

 public:
  RB_HD HessianTimesInverse(const T& h, const ConstraintHessian<System, T>& s, const MassInverse& inverse) {
    RB_UNROLL
    for (int j = 0; j < n; ++j) {
      const Vector<T, n> column = h * inverse.column(j);
      RB_UNROLL
      for (int i = 0; i < n; ++i) {
        SumOfProducts<T> sum;
        RB_UNROLL
        for (int k = 0; k < n; ++k)
          if (Pattern::entry(i, k) && MassInverse::entry(k, j)) sum.add(s(i, k), column[k]);
        w_[i][j] = sum.value;
      }
    }
  }

  /// y + W x.
  RB_HD Vector<T, n> plus_times(const Vector<T, n>& x, Vector<T, n> y) const {
    RB_UNROLL
    for (int i = 0; i < n; ++i) {
      RB_UNROLL
      for (int j = 0; j < n; ++j)
        if (entry(i, j)) y[i] = fma(w_[i][j], x[j], y[i]);
    }
    return y;
  }
  /// y + W^T x.
  RB_HD Vector<T, n> plus_transpose_times(const Vector<T, n>& x, Vector<T, n> y) const {
    RB_UNROLL
    for (int j = 0; j < n; ++j) {
      RB_UNROLL
      for (int i = 0; i < n; ++i)
        if (entry(i, j)) y[j] = fma(w_[i][j], x[i], y[j]);
    }
    return y;
  }

 private:
  Matrix<T, n, n> w_;
};

/// D^2g(x, .): the derivative of Dg in the direction x.
template <class System, class T, int n = System::n, int m = System::m>
RB_HD Matrix<T, m, n> position_hessian(const System& system, const Vector<T, n>& q, const Vector<T, n>& x) {
  Matrix<T, m, n> r;
  if constexpr (m == 1 && detail::GroupedHessian<System, T>) {
    r[0] = ConstraintHessian<System, T>(system, q, {T(1.0)}) * x;
  } else {
    const auto jacobian = position_jacobian(system, detail::along(q, x));
    RB_UNROLL
    for (int k = 0; k < m; ++k) r[k] = detail::derivative(jacobian[k]);
  }
  return r;
}

/// The derivative by q of the hidden constraint at the velocity v: D^2g(v, .), and the derivative of Dg by the time.
template <class System, class T, int n = System::n, int m = System::m>
RB_HD Matrix<T, m, n> hidden_constraint_by_position(const System& system, const Vector<T, n>& q,
                                                    const Vector<T, n>& v) {
  if constexpr (detail::changes_in_time<System>()) {
    const auto jacobian = position_jacobian(running<T>(system), detail::along(q, v));
    Matrix<T, m, n> r;
    RB_UNROLL
    for (int k = 0; k < m; ++k) r[k] = detail::derivative(jacobian[k]);
    return r;
  } else {
    return position_hessian(system, q, v);
  }
}

RB_NAMESPACE_END
