#pragma once
// Prepares the initial points of the trajectories of a chunk, a pack at a time.

#include "rattleback/loop/instantiate.hpp"
#include "rattleback/start/prepare.hpp"

RB_NAMESPACE_BEGIN

/// The systems of a pack of points, over T or a scalar made of it.
template <class System, class T>
RB_HD System system_of_rows(const StartArguments& a, const double* rows, int lane) {
  using Scalar = typename System::scalar;
  return make_system_at<System>(Scalar(a.time), [&](int i) {
    return Scalar(Lanes<T>::load(rows + (a.layout.parameters + i) * row_size + lane));
  });
}

template <class T, template <class> class SystemOf>
RB_NOINLINE void start_lanes(const StartArguments& a, double* rows, int lane) {
  using System = SystemOf<T>;
  constexpr int n = System::n, N = element_size<System>;
  const StartLayout& at = a.layout;
  const System system = system_of_rows<System, T>(a, rows, lane);
  StartPoint<System> point{load_rows<T, N>(rows, at.q, lane), load_rows<T, n>(rows, at.v, lane),
                           load_rows<T, n>(rows, at.p, lane), load_rows<T, System::m>(rows, at.lambda, lane)};
  if constexpr (on_group<System>)
    if (a.expand) point.q = group_of<System>::expand(load_rows<T, n>(rows, at.q, lane));
  const T step = Lanes<T>::load(rows + at.step * row_size + lane);
  detail::LaneReport<T> report;
  report.doubt(!is_finite(step));
  for (int i = 0; i < int(parameters_of<System>().size()); ++i)
    report.doubt(!is_finite(Lanes<T>::load(rows + (at.parameters + i) * row_size + lane)));
  prepare_point(system, point, a.options, step, report);
  store_rows(rows, at.q, lane, point.q);
  store_rows(rows, at.v, lane, point.v);
  store_rows(rows, at.p, lane, point.p);
  store_rows(rows, at.lambda, lane, point.lambda);
  Lanes<T>::store(rows + at.doubtful * row_size + lane, select(report.doubtful, T(1.0), T(0.0)));
}

/// See StartFunction.
template <template <class> class System>
void start_chunk(const StartArguments& arguments, double* rows, int begin, int end) {
  for (int lane = begin; lane < end; lane += Lanes<Real>::width) start_lanes<Real, System>(arguments, rows, lane);
}

RB_NAMESPACE_END
