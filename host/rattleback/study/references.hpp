#pragma once

namespace rattleback {

/// Returns the text of references.toml, which the build puts into the program.
[[nodiscard]] const char* bibliography_text();

}  // namespace rattleback
