#include "rattleback/kernels/isa.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

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

#if defined(__x86_64__)
namespace {

/// What the processor has and the operating system keeps when threads change. Not every compiler comes with what
/// __builtin_cpu_supports needs in a shared library.
struct Features {
  bool fma = false, avx2 = false, avx512 = false;

  Features() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_OSXSAVE) == 0) return;
    const bool has_fma = (c & bit_FMA) != 0;
    unsigned kept = 0, high = 0;
    __asm__("xgetbv" : "=a"(kept), "=d"(high) : "c"(0));
    constexpr unsigned vectors = 0x6, wide_vectors = 0xe6;  // SSE, AVX; masks, both halves of the wide registers
    fma = has_fma && (kept & vectors) == vectors;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return;
    avx2 = fma && (b & bit_AVX2) != 0;
    constexpr unsigned needed = bit_AVX512F | bit_AVX512DQ | bit_AVX512VL;
    avx512 = avx2 && (kept & wide_vectors) == wide_vectors && (b & needed) == needed;
  }
};

}  // namespace
#endif

bool has_isa(Isa isa) {
#if defined(__x86_64__)
  static const Features features;
  switch (isa) {
    case Isa::scalar:
      return features.fma;
    case Isa::avx2:
      return features.avx2;
    case Isa::avx512:
      return features.avx512;
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
