#pragma once
// The instruction sets of the step loops, and the functions that are compiled for each of them ahead.

#include <span>

#include "rattleback/catalogue/entry.hpp"

namespace rattleback {

/// Instruction sets for which step loops are compiled.
enum class Isa { scalar, neon, avx2, avx512 };
/// The instruction sets of all processors.
inline constexpr Isa known_isas[] = {Isa::scalar, Isa::neon, Isa::avx2, Isa::avx512};
/// Returns the instruction sets of this kind of processor, the narrowest first.
[[nodiscard]] std::span<const Isa> all_isas();
/// Returns the name of a specification: "avx512".
[[nodiscard]] const char* to_string(Isa isa);
/// Returns the name in words: "AVX-512".
[[nodiscard]] const char* title_of(Isa isa);
/// Returns the widest instruction set that this machine can run.
[[nodiscard]] Isa best_isa();
/// Returns whether this machine can run `isa`.
[[nodiscard]] bool has_isa(Isa isa);

enum class Op;  // language/operations.hpp
/// Applies an operation of the language of expressions to rows of chunk_size numbers, one for each operand; `exponent` is that of a
/// whole power. Constants and variables are rows themselves.
using LaneOperation = void (*)(Op op, int exponent, const double* const* rows, double* results);
/// Makes chunk_size normal numbers, as Draw::normal does, from pairs of uniform ones: the first in (0, 1], the second in [0, 1).
using NormalNumbers = void (*)(const double* first, const double* second, double* numbers);

/// Functions without a system or a method.
struct IsaFunctions {
  ReduceFunction reduce;
  CoReduceFunction co_reduce;
  AddToFitFunction add_to_fit;
  FmaFunction fma_chains;
  LaneOperation apply;
  NormalNumbers normal;
};
[[nodiscard]] const IsaFunctions& functions_of(Isa isa);

}  // namespace rattleback
