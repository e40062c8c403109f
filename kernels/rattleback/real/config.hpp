#pragma once
// Macros that let one source serve host, SIMD packs and CUDA.
//
// RB_HD always inlines, as RB_INLINED does for a lambda, RB_NOINLINE never inlines, and RB_HD_LARGE leaves the choice to the compiler,
// as RB_HD_APART does on a CPU; on a GPU it never inlines, because that compiler copies long code to each of its calls. RB_HD_RARE
// inlines only on a GPU, where calls are expensive; on a CPU rare code then takes no registers from common code.
// RB_CONSTEXPR marks functions of constants, without forced inlining. RB_DEVICE_PASS is 1 where nvcc compiles for the
// device, else 0. RB_NVCC_VERSION is the major version of nvcc, else 0. No other header tests for the compiler.
//
// Every translation unit that instantiates kernels for an instruction set defines RATTLEBACK_ISA. The inline namespace
// prevents the linker from mixing code of different instruction sets.

#ifdef __CUDACC__
#define RB_HD __host__ __device__ __forceinline__
#define RB_HD_LARGE __host__ __device__ inline
#define RB_NOINLINE __host__ __device__ __noinline__
#define RB_INLINED
#define RB_UNROLL _Pragma("unroll")
#define RB_ROLLED _Pragma("unroll 1")
#define RB_PRAGMA(text) _Pragma(#text)
#define RB_UNROLL_FEW(passes) RB_PRAGMA(unroll((passes) <= 4 ? 4 : 1))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(RATTLEBACK_SMALL_CODE)
// Instrumented code and code that need not be fast stay small; otherwise compilation takes minutes.
#define RB_HD inline
#define RB_HD_LARGE inline
#define RB_NOINLINE [[gnu::noinline]]
#define RB_INLINED
#define RB_UNROLL
#define RB_UNROLL_FEW(passes)
#else
#define RB_HD [[gnu::always_inline]] inline
#define RB_HD_LARGE inline
#define RB_NOINLINE [[gnu::noinline]]
#define RB_INLINED __attribute__((always_inline))
#define RB_UNROLL _Pragma("GCC unroll 64")
#endif

// RB_TABLE is the type of a table that a function takes from a constant: by reference, or on a GPU, where code has no constants of the
// host, as a constant of its own. RB_CONSTANT_EVALUATED is false in code of a GPU that runs, which may look tables up in another way than
// constant expressions do (linalg/pattern.hpp).
#ifdef __CUDACC__
#define RB_TABLE constexpr auto
#define RB_CONSTANT_EVALUATED __builtin_is_constant_evaluated()
#else
#define RB_TABLE constexpr const auto&
#define RB_CONSTANT_EVALUATED true
#endif

// RB_MAYBE_EMPTY marks a member whose type may be empty; it then takes no room. nvcc 13.0 gives no such member: where one is the last of its
// class, code copies sizeof bytes of an object that it laid out larger, and the end of the copy has no value.
#ifdef __CUDACC__
#define RB_MAYBE_EMPTY
#else
#define RB_MAYBE_EMPTY [[no_unique_address]]
#endif

// Long vectors are in memory anyway.
#ifdef RATTLEBACK_LARGE_SYSTEM
#undef RB_UNROLL
#define RB_UNROLL
#endif

// RB_WRITES_ENTRIES is 0 where code is to be small, so that code written entry by entry (linalg/elimination.hpp) stays out; RB_UNROLLS is
// 0 where loops stay loops, as they do besides for large systems.
#if !defined(__CUDACC__) && \
    (defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(RATTLEBACK_SMALL_CODE))
#define RB_WRITES_ENTRIES 0
#else
#define RB_WRITES_ENTRIES 1
#endif
#ifdef RATTLEBACK_LARGE_SYSTEM
#define RB_UNROLLS 0
#else
#define RB_UNROLLS RB_WRITES_ENTRIES
#endif

// RB_UNROLL_FEW unrolls loops of a constant number of passes up to four. The code of longer ones stays small: nested, they would take
// minutes to compile.
#ifndef RB_UNROLL_FEW
#define RB_UNROLL_FEW(passes) _Pragma("GCC unroll 4")
#endif

// RB_ROLLED marks long loops that a GPU compiler would unroll for minutes without benefit.
#ifndef RB_ROLLED
#define RB_ROLLED
#endif

#ifdef __CUDACC__
#define RB_HD_RARE RB_HD
#define RB_HD_APART RB_NOINLINE
#define RB_CONSTEXPR __host__ __device__ constexpr
#define RB_NVCC_VERSION __CUDACC_VER_MAJOR__
#else
#define RB_HD_RARE RB_NOINLINE
#define RB_HD_APART RB_HD_LARGE
#define RB_CONSTEXPR constexpr
#define RB_NVCC_VERSION 0
#endif

#ifdef __CUDA_ARCH__
#define RB_DEVICE_PASS 1
#else
#define RB_DEVICE_PASS 0
#endif

#ifndef RATTLEBACK_ISA
#define RATTLEBACK_ISA host
#endif

// What clang would suggest does not fit: && and || for masks, because a mask of a double is a bool; and braces for the base of
// a system, whose parameters are one list.
#ifdef __clang__
#define RB_QUIET_BEGIN                                                                                  \
  _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wbitwise-instead-of-logical\"") \
      _Pragma("clang diagnostic ignored \"-Wmissing-braces\"")
#define RB_QUIET_END _Pragma("clang diagnostic pop")
#else
#define RB_QUIET_BEGIN
#define RB_QUIET_END
#endif

#define RB_NAMESPACE_BEGIN \
  RB_QUIET_BEGIN           \
  namespace rattleback {   \
  inline namespace RATTLEBACK_ISA {
#define RB_NAMESPACE_END \
  }                      \
  }                      \
  RB_QUIET_END
