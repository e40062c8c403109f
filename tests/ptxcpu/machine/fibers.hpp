#pragma once
// Fibers: functions that leave off and go on, each on a stack of its own.

#include <cstddef>

namespace ptxcpu {

/// Saves the registers that a call preserves, stores the stack pointer at `from`, goes on with the stack pointer `to`.
extern "C" void ptxcpu_switch(void** from, void* to);

/// The i-th stack, of options().stack bytes, with a page below that cannot be touched. Stacks serve all launches.
char* stack(std::size_t i);

/// Stack pointer of a fiber that begins with main(argument), which must not return.
void* new_fiber(char* stack, std::size_t number, void (*main)(void*), void* argument);

}  // namespace ptxcpu
