#pragma once
// The flags that kernels are compiled with, and the places of kernels that came with the program.

#include <string>
#include <vector>

#include "rattleback/kernels/isa.hpp"
#include "rattleback/kernels/store.hpp"

namespace rattleback {

/// Returns all flags but those of RATTLEBACK_CXXFLAGS. `quick` asks for code that need not be fast.
[[nodiscard]] std::vector<std::string> flags_of(Isa isa, bool clang, bool quick);

/// Returns the folders of kernels that came with the program, or with the extension for Python: `kernels` beside it, and
/// `lib/rattleback/kernels` of an installed tree. They are found from the file that has this library, so it may be moved, and no
/// folder of the machine that built it is searched. Their kernels may belong to who owns this file.
[[nodiscard]] std::vector<Pack> builtin_packs();

}  // namespace rattleback
