// SUNDIALS IDA on systems with constraints as differential-algebraic equations of index 2, one trajectory after the other: unknowns
// q, v and the multipliers, which are left out of the error test; the constraint is that on velocities.

#include <ida/ida.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

#include "sundials.hpp"

template <class Problem>
constexpr int n = Problem::dimension / 2;

template <class Problem>
int residual(double, N_Vector state, N_Vector rate, N_Vector out, void*) {
  const double *y = N_VGetArrayPointer_Serial(state), *dy = N_VGetArrayPointer_Serial(rate);
  double* r = N_VGetArrayPointer_Serial(out);
  double a[n<Problem>];
  Problem::accelerate(y, y + Problem::dimension, a);
  for (int i = 0; i < n<Problem>; ++i) {
    r[i] = dy[i] - y[n<Problem> + i];
    r[n<Problem> + i] = dy[n<Problem> + i] - a[i];
  }
  Problem::velocity_constraint(y, r + Problem::dimension);
  return 0;
}

template <class Problem>
void solve(const Task& task) {
  constexpr int rows = Problem::dimension, size = rows + Problem::multipliers;
  SUNContext context;
  check(SUNContext_Create(nullptr, &context), "SUNContext_Create");
  N_Vector state = N_VNew_Serial(size, context), rate = N_VNew_Serial(size, context),
           kind = N_VNew_Serial(size, context);
  double *y = N_VGetArrayPointer_Serial(state), *dy = N_VGetArrayPointer_Serial(rate);
  N_VConst(1.0, kind);
  for (int i = rows; i < size; ++i) N_VGetArrayPointer_Serial(kind)[i] = 0.0;  // algebraic
  SUNMatrix matrix = SUNDenseMatrix(size, size, context);
  SUNLinearSolver linear = SUNLinSol_Dense(state, matrix, context);

  std::vector<double> ensemble_state = ensemble<Problem>(task.count);
  long steps = 0;
  const auto start = std::chrono::steady_clock::now();
  for (int k = 0; k < task.count; ++k) {
    double* q = &ensemble_state[static_cast<std::size_t>(k) * rows];
    std::memcpy(y, q, rows * sizeof(double));
    Problem::ode(y, dy);
    Problem::multiply(y, y + rows);
    for (int i = rows; i < size; ++i) dy[i] = 0.0;
    void* solver = IDACreate(context);
    check(IDAInit(solver, residual<Problem>, 0.0, state, rate), "IDAInit");
    check(IDASStolerances(solver, task.tolerance, task.tolerance), "IDASStolerances");
    check(IDASetLinearSolver(solver, linear, matrix), "IDASetLinearSolver");
    check(IDASetId(solver, kind), "IDASetId");
    check(IDASetSuppressAlg(solver, true), "IDASetSuppressAlg");
    check(IDASetMaxNumSteps(solver, 2'000'000'000), "IDASetMaxNumSteps");
    check(IDASetStopTime(solver, task.end), "IDASetStopTime");
    double t = 0;
    check(IDASolve(solver, task.end, &t, state, rate, IDA_NORMAL), "IDASolve");
    long taken = 0;
    IDAGetNumSteps(solver, &taken);
    steps += taken;
    IDAFree(&solver);
    std::memcpy(q, y, rows * sizeof(double));
  }
  const double seconds = seconds_since(start);
  SUNLinSolFree(linear);
  SUNMatDestroy(matrix);
  for (N_Vector v : {state, rate, kind}) N_VDestroy(v);
  SUNContext_Free(&context);
  answer<Problem>(task, "SUNDIALS IDA", sundials_version(), ensemble_state, seconds, steps);
}

int main(int argc, char** argv) {
  const Task task = parse(argc, argv);
  if (task.tolerance > 0 && task.method == "index-2") {
    if (task.system == "chaotic") return solve<Chaotic>(task), 0;
    if (task.system == "double-spherical-pendulum") return solve<DoubleSphericalPendulum>(task), 0;
  }
  unknown(task);
}
