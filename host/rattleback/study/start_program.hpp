#pragma once
// The initial points of an ensemble as tables, from which a GPU makes them: axes, formulas, and the preparation. ChunkPoints does the
// same on the CPU.

#include <vector>

#include "rattleback/catalogue/entry.hpp"
#include "rattleback/kernels/unit.hpp"
#include "rattleback/language/graph.hpp"
#include "rattleback/study/axis_numbers.hpp"
#include "rattleback/study/step_counter.hpp"

namespace rattleback {

/// What makes the points of a chunk in `rows` rows of row_size numbers: first one for each node of the formulas, then those of axes that
/// no formula reads, and from `point` on those of the points, in the layout of `arguments`, with their tangent vectors behind them.
struct StartProgram {
  std::vector<Unit> units;        ///< the kernels of the points (units_of_start)
  std::vector<AxisNumbers> axes;  ///< their lists are those of the ensemble's grid
  std::vector<int> axis_rows;
  std::vector<Node> nodes;  ///< operands come first, and are rows
  struct Copy {
    int from, to;
  };
  std::vector<Copy> given;  ///< rows of the points that are copied from rows of formulas
  int condition = -1;       ///< row of the condition of the ensemble; -1 without
  std::vector<int> finite;  ///< rows that are finite in a point that is not to be prepared by itself
  StartArguments arguments{};
  bool step_varies = false;
  StepCounter counter;  ///< of steps that vary
  int point = 0, rows = 0;
};

/// An array of a result that gets rows of the points: [trajectory][width].
struct KeptRows {
  int row, width;
  double* to;
};
/// A row of a tile with one number.
struct ConstantRow {
  int row;
  double number;
};

}  // namespace rattleback
