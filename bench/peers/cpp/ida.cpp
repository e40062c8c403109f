// SUNDIALS IDA on the constrained equations of the chaotic system, one trajectory after the other: unknowns q, v and the
// multiplier. Method "index-2" has the constraint mu v = 0 itself, with the multiplier left out of the error test;
// "index-1" has its derivative in time, from which the constraint drifts away.

#include <ida/ida.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

#include "sundials.hpp"

constexpr int n = 7, size = 2 * n + 1;

/// The last equation is the constraint or, for index 1, its derivative.
template <bool index_1>
int residual(double, N_Vector state, N_Vector rate, N_Vector out, void*) {
  const double *y = N_VGetArrayPointer_Serial(state), *dy = N_VGetArrayPointer_Serial(rate);
  double* r = N_VGetArrayPointer_Serial(out);
  double a[n];
  Chaotic::force(y, a);
  a[0] += y[14];
  for (int i = 4; i < n; ++i) a[i] += y[i] * y[14];
  for (int i = 0; i < n; ++i) {
    r[i] = dy[i] - y[n + i];
    r[n + i] = dy[n + i] - a[i];
  }
  r[14] = index_1 ? a[0] : y[n];
  for (int i = 4; i < n; ++i) r[14] += index_1 ? y[i] * a[i] + y[n + i] * y[n + i] : y[i] * y[n + i];
  return 0;
}

int main(int argc, char** argv) {
  const Task task = parse(argc, argv);
  const bool index_1 = task.method == "index-1";
  if (task.system != "chaotic" || task.tolerance == 0 || (!index_1 && task.method != "index-2")) unknown(task);

  SUNContext context;
  check(SUNContext_Create(nullptr, &context), "SUNContext_Create");
  N_Vector state = N_VNew_Serial(size, context), rate = N_VNew_Serial(size, context),
           kind = N_VNew_Serial(size, context);
  double *y = N_VGetArrayPointer_Serial(state), *dy = N_VGetArrayPointer_Serial(rate);
  N_VConst(1.0, kind);
  N_VGetArrayPointer_Serial(kind)[14] = 0.0;  // algebraic
  SUNMatrix matrix = SUNDenseMatrix(size, size, context);
  SUNLinearSolver linear = SUNLinSol_Dense(state, matrix, context);

  std::vector<double> ensemble_state = ensemble<Chaotic>(task.count);
  long steps = 0;
  const auto start = std::chrono::steady_clock::now();
  for (int k = 0; k < task.count; ++k) {
    double* q = &ensemble_state[k * 14];
    std::memcpy(y, q, 14 * sizeof(double));
    Chaotic::ode(y, dy);  // consistent: the acceleration of x is f_x + lambda
    y[14] = dy[n] + y[0];
    dy[14] = 0.0;
    void* solver = IDACreate(context);
    check(IDAInit(solver, index_1 ? residual<true> : residual<false>, 0.0, state, rate), "IDAInit");
    check(IDASStolerances(solver, task.tolerance, task.tolerance), "IDASStolerances");
    check(IDASetLinearSolver(solver, linear, matrix), "IDASetLinearSolver");
    check(IDASetId(solver, kind), "IDASetId");
    check(IDASetSuppressAlg(solver, !index_1), "IDASetSuppressAlg");
    check(IDASetMaxNumSteps(solver, 2'000'000'000), "IDASetMaxNumSteps");
    check(IDASetStopTime(solver, task.end), "IDASetStopTime");
    double t = 0;
    check(IDASolve(solver, task.end, &t, state, rate, IDA_NORMAL), "IDASolve");
    long taken = 0;
    IDAGetNumSteps(solver, &taken);
    steps += taken;
    IDAFree(&solver);
    std::memcpy(q, y, 14 * sizeof(double));
  }
  const double seconds = seconds_since(start);
  SUNLinSolFree(linear);
  SUNMatDestroy(matrix);
  for (N_Vector v : {state, rate, kind}) N_VDestroy(v);
  SUNContext_Free(&context);
  answer<Chaotic>(task, "SUNDIALS IDA", sundials_version(), ensemble_state, seconds, steps);
}
