#pragma once
// Reads initial states from text: a line that names the columns, then a row of numbers for each trajectory.

#include "rattleback/study/point_file.hpp"

namespace rattleback {

/// Columns are separated by commas, semicolons, tabs or blanks; the first row of numbers says by which. Lines that begin with
/// '#' are comments, but the last one before the numbers names the columns where no other line does, as NumPy writes it. A column
/// without a name at the start is the index that pandas writes, and is left out. Names and numbers may be in quotes, and
/// exponents may have the D of Fortran. Throws Error(input) with FILE:LINE for a line that can be read in several ways or in none.
[[nodiscard]] PointFile read_text_points(const PointSource& source, const StateNames& names);

}  // namespace rattleback
