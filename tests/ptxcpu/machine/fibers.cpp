#include "fibers.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "options.hpp"

#if !defined(__x86_64__)
#error "ptxcpu: switching stacks is written for x86-64"
#endif

asm(R"(
.text
.type ptxcpu_switch, @function
.globl ptxcpu_switch
ptxcpu_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size ptxcpu_switch, .-ptxcpu_switch

.type ptxcpu_fiber_start, @function
.globl ptxcpu_fiber_start
ptxcpu_fiber_start:
  movq %r12, %rdi
  xorl %ebp, %ebp
  callq *%r13
  ud2
.size ptxcpu_fiber_start, .-ptxcpu_fiber_start
)");
extern "C" void ptxcpu_fiber_start();  // calls r13(r12)

namespace ptxcpu {

char* stack(std::size_t i) {
  static std::vector<char*> stacks;
  constexpr std::size_t page = 4096;
  while (stacks.size() <= i) {
    void* area = mmap(nullptr, options().stack + page, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (area == MAP_FAILED) std::abort();
    mprotect(area, page, PROT_NONE);
    stacks.push_back(static_cast<char*>(area) + page);
  }
  return stacks[i];
}

void* new_fiber(char* stack, std::size_t number, void (*main)(void*), void* argument) {
  // the tops are spread over a page, or all threads compete for the same lines of the cache
  auto* top = reinterpret_cast<std::uint64_t*>(stack + options().stack - number * 9 % 64 * 64);
  // ptxcpu_fiber_start begins with the stack pointer at a multiple of 16, as its call needs
  *--top = 0;
  *--top = 0;
  *--top = reinterpret_cast<std::uint64_t>(&ptxcpu_fiber_start);
  *--top = 0;                                          // rbp
  *--top = 0;                                          // rbx
  *--top = reinterpret_cast<std::uint64_t>(argument);  // r12
  *--top = reinterpret_cast<std::uint64_t>(main);      // r13
  *--top = 0;                                          // r14
  *--top = 0;                                          // r15
  return top;
}

}  // namespace ptxcpu
