// The functions of isa.hpp for one instruction set. The build compiles this file once for each instruction set, with
// RATTLEBACK_ISA and, for packs, RATTLEBACK_PACK.

#include "rattleback/kernels/isa.hpp"
#include "rattleback/kernels/lane_operations.hpp"
#include "rattleback/loop/lanes.hpp"
#include "rattleback/loop/reduction.hpp"

RB_NAMESPACE_BEGIN

namespace {

#ifdef RATTLEBACK_PACK
using Real = Pack<RATTLEBACK_PACK>;
#else
using Real = double;
#endif

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

}  // namespace

extern const IsaFunctions isa_functions;
const IsaFunctions isa_functions = {reduce_chunk<Real>, co_reduce_chunk<Real>, add_chunk_to_fit<Real>,
                                    fma_chains<Real>,   apply_to_chunk<Real>,  normal_numbers<Real>};

RB_NAMESPACE_END
