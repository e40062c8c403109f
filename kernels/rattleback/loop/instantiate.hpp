#pragma once
// Compiles one system with one method for the instruction set of this translation unit. The build generates such units
// from catalogue.def (cmake/RattlebackCatalogue.cmake). Each unit defines RATTLEBACK_ISA and, for packs,
// RATTLEBACK_PACK.

#include "rattleback/loop/advance.hpp"
#include "rattleback/loop/observe.hpp"
#include "rattleback/loop/reduction.hpp"
#include "rattleback/loop/tangent.hpp"

// A method with fixed options is a type with a member template `of<T, System>`, the step. The constraints of a step
// exclude the systems that the step does not take.

RB_NAMESPACE_BEGIN

#ifdef RATTLEBACK_PACK
using Real = Pack<RATTLEBACK_PACK>;
#else
using Real = double;
#endif

template <template <class> class System, class Method>
void advance_chunk(const KernelArguments& arguments, double* chunk, int begin, int end) {
  for (int lane = begin; lane < end; lane += Lanes<Real>::width)
    advance_lanes<Real, System, Method::template of>(arguments, chunk, lane);
}

template <template <class> class System, class Method>
void advance_chunk_with_tangent(const KernelArguments& arguments, double* chunk, int begin, int end) {
  for (int lane = begin; lane < end; lane += Lanes<Real>::width)
    advance_lanes<Real, System, Method::template of, Tangent<Real, System, Method::template of>>(arguments, chunk,
                                                                                                 lane);
}

template <template <class> class System>
void surfaces_chunk(const KernelArguments& arguments, double* chunk, int begin, int end) {
  for (int lane = begin; lane < end; lane += Lanes<Real>::width)
    evaluate_surfaces<Real, System>(arguments, chunk, lane);
}

template <template <class> class System>
void observe_chunk(const KernelArguments& arguments, const double* chunk, int begin, int end,
                   const ObservableCode* codes, int count, double* values) {
  for (int lane = begin; lane < end; lane += Lanes<Real>::width)
    observe_lanes<Real, System>(arguments, chunk, lane, codes, count, values);
}

/// The number of chains hides the latency of two arithmetic units and leaves registers for the factors.
template <class T>
double fma_chains(std::int64_t rounds) {
  constexpr int chains = 12;
  T x[chains];
  RB_UNROLL
  for (int i = 0; i < chains; ++i) x[i] = T(double(i));
  const T factor(0.5), summand(1.0);
  for (std::int64_t round = 0; round < rounds; ++round) {
    RB_UNROLL
    for (int i = 0; i < chains; ++i) x[i] = fma(x[i], factor, summand);
  }
  asm volatile("" : : "m"(x));  // the result is used
  return 2.0 * chains * Lanes<T>::width * double(rounds);
}

/// The entry of one pair in the table of compiled pairs.
template <template <class> class System, class Method>
constexpr CompiledPair compiled_pair(PairKey key) {
  if constexpr (Takes<Method, System<double>>) {
    return {key,
            advance_chunk<System, Method>,
            advance_chunk_with_tangent<System, Method>,
            observe_chunk<System>,
            reduce_chunk<Real>,
            co_reduce_chunk<Real>,
            surfaces_chunk<System>,
            fma_chains<Real>};
  } else {
    return {key};
  }
}

RB_NAMESPACE_END
