#pragma once
// Long straight code as loops over tables.

#include <string>
#include <vector>

namespace rattleback {

/// Writes statements that are alike as loops over tables of their numbers. Statements may change places where none of them needs
/// another one, but each computes what it did before, so that the values keep their bits.
///
/// Each statement stores S (`const S t0 = ..;`), T (`const T k1 = ..;`), a sine and a cosine (`S s2, c2;`, then `sincos(.., s2, c2);`), or
/// an entry of the result (`r[0][1] = ..;`). A text that no other statement needs, such as `return t0;`, comes last.
[[nodiscard]] std::vector<std::string> rolled(const std::vector<std::string>& statements);

}  // namespace rattleback
