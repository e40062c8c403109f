#pragma once
// Derivatives of observables at a sample time.

#include "rattleback/loop/formula.hpp"
#include "rattleback/loop/variations.hpp"

RB_NAMESPACE_BEGIN

/// Whether the formulas of a kernel of observables come with derivatives.
template <class Formulas>
inline constexpr bool has_derivatives = requires { requires Formulas::derivatives; };

/// A state with its derivative, for formulas over dual numbers.
template <class T, template <class> class SystemOf>
struct VariedPoint {
  using D = Dual<T, 1>;
  using System = SystemOf<D>;
  const VariationRows<T, SystemOf>& rows;
  const System& system;
  const D& now;
  const Vector<D, element_size<System>>& q;
  const Vector<D, System::n>& p;
  const Vector<D, System::m>& carried;  ///< the multiplier of the method
  const Vector<D, System::n>& v;
  const Vector<D, System::n>& v_in_body;
  const Vector<D, observable_count<System>>& of_system;

  RB_HD D parameter(int i) const { return rows.parameter(i); }
  RB_HD const D& time() const { return now; }
  RB_HD const Vector<D, System::n>& velocity() const { return v; }
  RB_HD const Vector<D, observable_count<System>>& observables() const { return of_system; }
  RB_HD Vector<D, System::m> multiplier() const {
    if constexpr (velocity_count<System> > 0)
      if (!rows.a.carries_multiplier) return detail::ContinuousMultiplier<System>(system, q, v_in_body).lambda;
    return carried;
  }
  RB_HD D work() const {
    const ChunkLayout& at = rows.a.layout;
    return at.work < 0 ? D(0.0) : with_derivative(rows.load(at.work), rows.load(rows.row + at.work - at.q));
  }
  RB_HD D power() const {
    Vector<D, System::m> lambda{};
    if constexpr (System::m > 0) lambda = detail::ContinuousMultiplier<System>(system, q, v_in_body).lambda;
    if constexpr (HamiltonianAlone<System>)
      return work_at(system, D(1.0), q, v_in_body, lambda, momentum_in_body<System>(q, p, rows.a.in_space));
    else
      return work_at(system, D(1.0), q, v_in_body, lambda);
  }
};

/// Writes the values of the codes that are derivatives, like observe_lanes.
template <class T, template <class> class SystemOf, template <class> class Formulas>
RB_NOINLINE void observe_variations(const KernelArguments& a, const double* chunk, int lane,
                                    const ObservableCode* codes, int count, double* values) {
  using D = Dual<T, 1>;
  using System = SystemOf<D>;
  constexpr int n = System::n, m = System::m, N = element_size<System>;
  const ChunkLayout& at = a.layout;
  const mask_t<T> good = Lanes<T>::load(chunk + at.status * row_size + lane) == T(0.0);
  for (int j = 0; j < at.variations; ++j) {
    const VariationRows<T, SystemOf> rows(a, chunk, lane, j);
    const D now = with_derivative(time_of_state<T>(a, chunk, lane), rows.load(at.steps) * rows.of_step());
    const System system = make_system_at<System>(now, [&](int i) { return rows.parameter(i); });
    const auto q = with_derivative(load_rows<T, N>(chunk, at.q, lane), load_rows<T, N>(chunk, rows.row, lane));
    const auto p = with_derivative(load_rows<T, n>(chunk, at.p, lane), load_rows<T, n>(chunk, rows.row + N, lane));
    Vector<D, m> carried{};
    if constexpr (m > 0)
      carried =
          with_derivative(load_rows<T, m>(chunk, at.lambda, lane), load_rows<T, m>(chunk, rows.row + N + n, lane));
    const Vector<D, n> v = velocity_of_state(system, q, p, a.in_space),
                       v_in_body = in_body(system, q, p, v, a.in_space);
    const Vector<D, observable_count<System>> of_system =
        evaluate_observables(system, q, v_in_body, momentum_in_body<System>(q, p, a.in_space));
    const VariedPoint<T, SystemOf> point{rows, system, now, q, p, carried, v, v_in_body, of_system};
    Vector<D, Formulas<D>::count> of_study{};
    if constexpr (Formulas<D>::count > 0) of_study = Formulas<D>::evaluate(point);
    for (int i = 0; i < count; ++i) {
      if (codes[i].kind != ObservableCode::derivative || codes[i].index % max_derivatives != j) continue;
      const ObservableCode of = codes[codes[i].index / max_derivatives];
      D x(0.0);
      if (of.kind == ObservableCode::system) x = component(of_system, of.index);
      if (of.kind == ObservableCode::q) x = component(q, of.index);
      if (of.kind == ObservableCode::v) x = component(v, of.index);
      if (of.kind == ObservableCode::p) x = component(p, of.index);
      if constexpr (m > 0)
        if (of.kind == ObservableCode::lambda) x = component(point.multiplier(), of.index);
      if constexpr (Formulas<D>::count > 0)
        if (of.kind == ObservableCode::formula) x = component(of_study, of.index);
      if constexpr (timed<System>) {
        if (of.kind == ObservableCode::power) x = point.power();
        if (of.kind == ObservableCode::work) x = point.work();
        if (of.kind == ObservableCode::energy_balance) x = of_system[0] - point.work();
      }
      const T d = select(is_finite(x.partial[0]), x.partial[0], T(__builtin_huge_val()));
      Lanes<T>::store(values + i * chunk_size + lane, select(good, d, T(__builtin_nan(""))));
    }
  }
}

RB_NAMESPACE_END
