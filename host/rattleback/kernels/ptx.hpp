#pragma once
// Checks that PTX computes what the source of a kernel says.

#include <string>
#include <string_view>

namespace rattleback {

/// Returns the first opcode of a PTX text that could give other bits than the source says, and why; empty where there
/// is none. Every sum, product, quotient, root and fused product of floating-point numbers has to round to nearest
/// (.rn): what has no rounding mode may be contracted by the assembler. Nothing may be approximate or flush to zero.
/// cmake/check_ptx checks the same for nvcc.
[[nodiscard]] std::string fault_of_ptx(std::string_view ptx);

}  // namespace rattleback
