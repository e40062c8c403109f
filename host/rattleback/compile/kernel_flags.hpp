#pragma once
// The flags that kernels are compiled with, and the places of kernels that came with the program.

#include <filesystem>
#include <string>
#include <vector>

#include "rattleback/isa/isa.hpp"

namespace rattleback {

/// Returns all flags but those of RATTLEBACK_CXXFLAGS. `quick` asks for code that need not be fast.
[[nodiscard]] std::vector<std::string> flags_of(Isa isa, bool clang, bool quick);

/// Returns the folders of kernels beside the program: `kernels` of a build tree, `lib/rattleback/kernels` of an
/// installed tree.
[[nodiscard]] std::vector<std::filesystem::path> builtin_packs();

}  // namespace rattleback
