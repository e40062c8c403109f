#pragma once
// Derivatives of surfaces of section, for those of crossings. This code runs on the host only.

#include "rattleback/loop/varied_point.hpp"

RB_NAMESPACE_BEGIN

/// Writes the derivatives of all surfaces at the present states into the rows `varied_surfaces`, one derivative after the other. The last
/// derivative of a state is that by the size of the step that led there. Where the row of its step size has 0, the step is too short for
/// that, and the rate of the state along the motion takes its place.
template <class T, template <class> class SystemOf, template <class> class Formulas>
void vary_surfaces(const KernelArguments& a, double* chunk, int lane) {
  using System = SystemOf<T>;
  using State = PhaseState<T, System::n, System::m, element_size<System>, timed<System> ? 1 : 0>;
  constexpr int N = State::elements, n = State::dimension, m = State::multipliers;
  const ChunkLayout& at = a.layout;
  State state;
  state.q = load_rows<T, N>(chunk, at.q, lane);
  state.p = load_rows<T, n>(chunk, at.p, lane);
  if constexpr (m > 0) state.lambda = load_rows<T, m>(chunk, at.lambda, lane);
  const VariationRows<T, SystemOf> last(a, chunk, lane, at.variations - 1);
  const mask_t<T> at_once = last.of_step() == T(0.0);
  if (any(at_once)) {
    const State flow = flow_of<T, SystemOf>(a, chunk, lane, time_of_state<T>(a, chunk, lane), state);
    const auto put = [&]<int size>(int row, const Vector<T, size>& x) {
      store_rows(chunk, row, lane, select(at_once, x, load_rows<T, size>(chunk, row, lane)));
    };
    put(last.row, flow.q);
    put(last.row + N, flow.p);
    put(last.row + N + n, flow.lambda);
    if (at.work >= 0) put(last.row + at.work - at.q, flow.carried);
  }
  constexpr int count = Formulas<T>::count;
  for (int j = 0; j < at.variations; ++j) {
    const VariationRows<T, SystemOf> rows(a, chunk, lane, j);
    const auto g = Formulas<Dual<T, 1>>::evaluate(VariedPoint<T, SystemOf>(rows));
    store_rows(chunk, at.varied_surfaces + j * count, lane, detail::derivative(g));
  }
}

RB_NAMESPACE_END
