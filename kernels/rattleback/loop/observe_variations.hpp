#pragma once
// Derivatives of observables at a sample time.

#include "rattleback/loop/varied_point.hpp"

RB_NAMESPACE_BEGIN

/// Whether the formulas of a kernel of observables come with derivatives.
template <class Formulas>
inline constexpr bool has_derivatives = requires { requires Formulas::derivatives; };

/// Writes the values of the codes that are derivatives, like observe_lanes.
template <class T, template <class> class SystemOf, template <class> class Formulas>
RB_NOINLINE void observe_variations(const KernelArguments& a, const double* chunk, int lane,
                                    const ObservableCode* codes, int count, double* values) {
  using D = Dual<T, 1>;
  using System = SystemOf<D>;
  const mask_t<T> good = Lanes<T>::load(chunk + a.layout.status * row_size + lane) == T(0.0);
  for (int j = 0; j < a.layout.variations; ++j) {
    const VariationRows<T, SystemOf> rows(a, chunk, lane, j);
    const VariedPoint<T, SystemOf> point(rows);
    const Vector<D, observable_count<System>>& of_system = point.observables();
    Vector<D, Formulas<D>::count> of_study{};
    if constexpr (Formulas<D>::count > 0) of_study = Formulas<D>::evaluate(point);
    for (int i = 0; i < count; ++i) {
      if (codes[i].kind != ObservableCode::derivative || codes[i].index % max_derivatives != j) continue;
      const ObservableCode of = codes[codes[i].index / max_derivatives];
      D x(0.0);
      if (of.kind == ObservableCode::system) x = component(of_system, of.index);
      if (of.kind == ObservableCode::q) x = component(point.q, of.index);
      if (of.kind == ObservableCode::v) x = component(point.velocity(), of.index);
      if (of.kind == ObservableCode::p) x = component(point.p, of.index);
      if constexpr (System::m > 0)
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
