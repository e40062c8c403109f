#pragma once
// Compiles one system with one method over the counting scalar, as instantiate.hpp does over other scalars.

#include "rattleback/loop/instantiate.hpp"
#include "rattleback/real/counted.hpp"

RB_NAMESPACE_BEGIN

template <>
struct Lanes<Counted> {
  static constexpr int width = 1;
  static Counted load(const double* row) { return *row; }
  static void store(double* row, Counted x) { *row = x.value; }
};

template <template <class> class System, class Method>
std::uint64_t count_chunk(const KernelArguments& arguments, double* chunk, int begin, int end) {
  counted_operations = 0;
  for (int lane = begin; lane < end; ++lane)
    advance_lanes<Counted, System, Method::template of>(arguments, chunk, lane);
  return counted_operations;
}

RB_NAMESPACE_END
