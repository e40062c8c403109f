#include "rattleback/kernels/isa.hpp"

namespace rattleback {

#define RB_DECLARE(isa)                    \
  namespace isa {                          \
  extern const IsaFunctions isa_functions; \
  }
RB_DECLARE(scalar)
#if defined(__x86_64__)
RB_DECLARE(avx2)
RB_DECLARE(avx512)
#elif defined(__aarch64__)
RB_DECLARE(neon)
#endif
#undef RB_DECLARE

std::span<const Isa> all_isas() {
#if defined(__x86_64__)
  static constexpr Isa isas[] = {Isa::scalar, Isa::avx2, Isa::avx512};
#elif defined(__aarch64__)
  static constexpr Isa isas[] = {Isa::scalar, Isa::neon};
#else
  static constexpr Isa isas[] = {Isa::scalar};
#endif
  return isas;
}

const char* to_string(Isa isa) {
  switch (isa) {
    case Isa::scalar:
      return "scalar";
    case Isa::neon:
      return "neon";
    case Isa::avx2:
      return "avx2";
    case Isa::avx512:
      return "avx512";
  }
  return "";
}

const char* title_of(Isa isa) {
  switch (isa) {
    case Isa::scalar:
      return "scalar";
    case Isa::neon:
      return "NEON";
    case Isa::avx2:
      return "AVX2";
    case Isa::avx512:
      return "AVX-512";
  }
  return "";
}

bool has_isa(Isa isa) {
#if defined(__x86_64__)
  switch (isa) {
    case Isa::scalar:
      return __builtin_cpu_supports("fma");
    case Isa::avx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case Isa::avx512:
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512vl");
    default:
      return false;
  }
#elif defined(__aarch64__)
  return isa == Isa::scalar || isa == Isa::neon;  // every aarch64 processor has NEON
#else
  return isa == Isa::scalar;
#endif
}

Isa best_isa() {
  Isa best = Isa::scalar;
  for (const Isa isa : all_isas())
    if (has_isa(isa)) best = isa;
  return best;
}

const IsaFunctions& functions_of(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::avx2) return avx2::isa_functions;
  if (isa == Isa::avx512) return avx512::isa_functions;
#elif defined(__aarch64__)
  if (isa == Isa::neon) return neon::isa_functions;
#endif
  return scalar::isa_functions;
}

}  // namespace rattleback
