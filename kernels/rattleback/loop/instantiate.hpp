#pragma once
// Compiles one system, with one method or without, for the instruction set of this translation unit. The program writes
// such units when a study needs them (host/rattleback/kernels/unit.hpp). Each unit defines RATTLEBACK_ISA and, for packs,
// RATTLEBACK_PACK.

#include "rattleback/loop/advance.hpp"
#include "rattleback/loop/crossing.hpp"
#include "rattleback/loop/frame.hpp"
#include "rattleback/loop/observe.hpp"
#include "rattleback/loop/tangent.hpp"
#include "rattleback/loop/variations.hpp"

RB_NAMESPACE_BEGIN

#ifdef RATTLEBACK_PACK
using Real = Pack<RATTLEBACK_PACK>;
#else
using Real = double;
#endif

/// The packs that a loop takes: of two registers for a step that says so (Step::two_packs), because two of the step's packs fit
/// into the registers of the processor.
template <template <class> class System, class Method>
struct PackOf {
  using type = Real;
};
#ifdef RATTLEBACK_PACK
template <template <class> class System, class Method>
  requires(Method::template of<Real, System<Real>>::two_packs)
struct PackOf<System, Method> {
  using type = Pack<2 * RATTLEBACK_PACK>;
};
#endif

/// Advances lanes [begin, end) of a chunk. Where steps have one size, the weights of averages are the same for all lanes.
template <class T, template <class> class System, class Method, class Companion, template <class> class Surfaces>
void advance_all(const KernelArguments& arguments, double* chunk, int begin, int end) {
  const auto advance = [&](const WeightsOfSteps* weights) {
    for (int lane = begin; lane < end; lane += Lanes<T>::width)
      advance_lanes<T, System, Method::template of, Companion, Surfaces>(arguments, chunk, lane, weights);
  };
  if constexpr (has_averages<Surfaces<T>> && !has_density<Surfaces<T>>) {
    WeightsOfSteps weights;
    if (arguments.layout.steps_per_sample < 0) {
      weights.fill<T>(arguments, chunk, begin, end);
      return advance(&weights);
    }
  }
  advance(nullptr);
}

template <template <class> class System, class Method, template <class> class Surfaces = NoFormulas>
void advance_chunk(const KernelArguments& arguments, double* chunk, int begin, int end) {
  advance_all<typename PackOf<System, Method>::type, System, Method, NoCompanion, Surfaces>(arguments, chunk, begin,
                                                                                            end);
}

/// The same with a companion: CarryTangent, CarryFrame, CarryMassFrame or CarryVariations.
template <template <class> class System, class Method, template <class, template <class> class, class> class Companion,
          template <class> class Surfaces = NoFormulas>
void advance_chunk_with(const KernelArguments& arguments, double* chunk, int begin, int end) {
  advance_all<Real, System, Method, Companion<Real, System, Method>, Surfaces>(arguments, chunk, begin, end);
}

template <template <class> class System, template <class> class Surfaces>
void surfaces_chunk(const KernelArguments& arguments, double* chunk, int begin, int end) {
  for (int lane = begin; lane < end; lane += Lanes<Real>::width)
    evaluate_surfaces<Real, System, Surfaces>(arguments, chunk, lane);
}

template <template <class> class System, template <class> class Surfaces>
void vary_surfaces_chunk(const KernelArguments& arguments, double* chunk, int begin, int end) {
  for (int lane = begin; lane < end; lane += Lanes<Real>::width)
    vary_surfaces<Real, System, Surfaces>(arguments, chunk, lane);
}

template <template <class> class System>
void guard_chunk(const KernelArguments& arguments, double* chunk, int begin, int end) {
  for (int lane = begin; lane < end; lane += Lanes<Real>::width) guard_multiplier<Real, System>(arguments, chunk, lane);
}

template <template <class> class System, template <class> class Formulas = NoFormulas>
void observe_chunk(const KernelArguments& arguments, const double* chunk, int begin, int end,
                   const ObservableCode* codes, int count, double* values) {
  for (int lane = begin; lane < end; lane += Lanes<Real>::width)
    observe_lanes<Real, System, Formulas>(arguments, chunk, lane, codes, count, values);
}

RB_NAMESPACE_END

/// Exports what a unit offers: RB_EXPORT(.advance = ..).
#define RB_EXPORT(...)                                                                        \
  extern "C" [[gnu::visibility("default")]] const rattleback::CompiledUnit RB_UNIT_SYMBOL;    \
  extern "C" [[gnu::visibility("default")]] const rattleback::CompiledUnit RB_UNIT_SYMBOL = { \
      .interface = rattleback::binary_interface, .key = RATTLEBACK_KEY, __VA_ARGS__};
