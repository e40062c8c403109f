#pragma once
// A state with a derivative, as formulas read it.

#include "rattleback/loop/formula.hpp"
#include "rattleback/loop/variations.hpp"

RB_NAMESPACE_BEGIN

/// The state in the rows with one of its derivatives, for formulas over dual numbers.
template <class T, template <class> class SystemOf>
class VariedPoint {
 public:
  using D = Dual<T, 1>;
  using System = SystemOf<D>;
  static constexpr int n = System::n, m = System::m, N = element_size<System>;

  RB_HD explicit VariedPoint(const VariationRows<T, SystemOf>& rows)
      : rows_(rows),
        time_(with_derivative(time_of_state<T>(rows.a, rows.chunk, rows.lane), rows.of_time())),
        system_(make_system_at<System>(time_, [&](int i) { return rows.parameter(i); })),
        q(load<N>(rows.a.layout.q, rows.row)),
        p(load<n>(rows.a.layout.p, rows.row + N)),
        v_(velocity_of_state(system_, q, p, rows.a.in_space)),
        v_in_body_(in_body(system_, q, p, v_, rows.a.in_space)),
        of_system_(evaluate_observables(system_, q, v_in_body_, momentum_in_body<System>(q, p, rows.a.in_space))) {}

 private:
  const VariationRows<T, SystemOf>& rows_;
  D time_;
  System system_;

 public:
  const Vector<D, N> q;
  const Vector<D, n> p;

  RB_HD D parameter(int i) const { return rows_.parameter(i); }
  RB_HD const D& time() const { return time_; }
  RB_HD const Vector<D, n>& velocity() const { return v_; }
  RB_HD const Vector<D, observable_count<System>>& observables() const { return of_system_; }
  RB_HD Vector<D, m> multiplier() const {
    if constexpr (velocity_count<System> > 0)
      if (!rows_.a.carries_multiplier) return of_equations();
    if constexpr (m > 0) return load<m>(rows_.a.layout.lambda, rows_.row + N + n);
    return {};
  }
  RB_HD D work() const {
    const ChunkLayout& at = rows_.a.layout;
    return at.work < 0 ? D(0.0) : with_derivative(rows_.load(at.work), rows_.load(rows_.row + at.work - at.q));
  }
  RB_HD D power() const {
    Vector<D, m> lambda{};
    if constexpr (m > 0) lambda = of_equations();
    return work_at_momentum(system_, D(1.0), q, v_in_body_, lambda, momentum_in_body<System>(q, p, rows_.a.in_space));
  }

 private:
  template <int size>
  RB_HD Vector<D, size> load(int row, int row_of_derivative) const {
    return detail::along(load_rows<T, size>(rows_.chunk, row, rows_.lane),
                         load_rows<T, size>(rows_.chunk, row_of_derivative, rows_.lane));
  }
  RB_HD Vector<D, m> of_equations() const {
    return detail::ContinuousMultiplier<System>(system_, q, v_in_body_).lambda;
  }

  const Vector<D, n> v_, v_in_body_;
  const Vector<D, observable_count<System>> of_system_;
};

RB_NAMESPACE_END
