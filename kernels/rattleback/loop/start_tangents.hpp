#pragma once
// Computes the initial tangent vectors at the points of a chunk, which are prepared, a pack at a time. Their rows, (dq, dp, dlambda) of one
// vector after the other, are behind those of the points (StartLayout::rows).

#include "rattleback/loop/start.hpp"
#include "rattleback/start/initial_tangents.hpp"

RB_NAMESPACE_BEGIN

template <class T, template <class> class SystemOf, int count, bool by_mass>
RB_NOINLINE void start_tangents(const StartArguments& a, double* rows, int lane) {
  using System = SystemOf<Dual<T, 1>>;
  constexpr int n = System::n;
  using Tangents = InitialTangents<System, by_mass>;
  const StartLayout& at = a.layout;
  const Tangents of(system_of_rows<System, T>(a, rows, lane), load_rows<T, element_size<System>>(rows, at.q, lane),
                    load_rows<T, n>(rows, at.v, lane), load_rows<T, n>(rows, at.p, lane), a.options.in_space);
  of(
      count, [&](int j) { return load_rows<T, Tangents::width>(rows, at.rows + j * Tangents::width, lane); },
      [&](int j, const auto& tangent) { store_rows(rows, at.rows + j * Tangents::width, lane, tangent); });
}

/// See StartFunction: the points are prepared.
template <template <class> class System, int count, bool by_mass>
void start_tangents_chunk(const StartArguments& arguments, double* rows, int begin, int end) {
  for (int lane = begin; lane < end; lane += Lanes<Real>::width)
    start_tangents<Real, System, count, by_mass>(arguments, rows, lane);
}

RB_NAMESPACE_END
