// SUNDIALS ARKODE, explicit Runge-Kutta methods (ERKStep). A state is a block of 16 trajectories that share their step, which
// spreads what a step costs beside the right-hand side; the methods are explicit, so nothing couples the trajectories.

#include <algorithm>

#include <arkode/arkode_erkstep.h>

#include "sundials.hpp"

constexpr int lanes = 16;

template <class Problem>
void solve(const Task& task, ARKODE_ERKTableID table) {
  constexpr int rows = Problem::dimension;
  const auto ode = [](double, N_Vector y, N_Vector derivative, void*) {
    stacked_ode<Problem, lanes>(N_VGetArrayPointer_Serial(y), N_VGetArrayPointer_Serial(derivative));
    return 0;
  };
  SUNContext context;
  check(SUNContext_Create(nullptr, &context), "SUNContext_Create");
  N_Vector block = N_VNew_Serial(rows * lanes, context);
  double* values = N_VGetArrayPointer_Serial(block);

  std::vector<double> y = ensemble<Problem>(task.count);
  long steps = 0;
  const auto start = std::chrono::steady_clock::now();
  for (int first = 0; first < task.count; first += lanes) {
    const int filled = std::min(lanes, task.count - first);
    for (int k = 0; k < lanes; ++k)  // what is left over repeats the last trajectory
      for (int i = 0; i < rows; ++i) values[i * lanes + k] = y[(first + std::min(k, filled - 1)) * rows + i];
    void* solver = ERKStepCreate(ode, 0.0, block, context);
    check(ERKStepSetTableNum(solver, table), "ERKStepSetTableNum");
    check(ERKStepSetMaxNumSteps(solver, 2'000'000'000), "ERKStepSetMaxNumSteps");
    check(ERKStepSetStopTime(solver, task.end), "ERKStepSetStopTime");
    if (task.step > 0) {
      check(ERKStepSetFixedStep(solver, task.step), "ERKStepSetFixedStep");
    } else {
      check(ERKStepSStolerances(solver, task.tolerance, task.tolerance), "ERKStepSStolerances");
    }
    double t = 0;
    check(ERKStepEvolve(solver, task.end, block, &t, ARK_NORMAL), "ERKStepEvolve");
    long taken = 0;
    ERKStepGetNumSteps(solver, &taken);
    steps += taken * filled;
    ERKStepFree(&solver);
    for (int k = 0; k < filled; ++k)
      for (int i = 0; i < rows; ++i) y[(first + k) * rows + i] = values[i * lanes + k];
  }
  const double seconds = seconds_since(start);
  N_VDestroy(block);
  SUNContext_Free(&context);
  answer<Problem>(task, "SUNDIALS ARKODE", sundials_version(), y, seconds, steps);
}

int main(int argc, char** argv) {
  const Task task = parse(argc, argv);
  const struct {
    const char* name;
    ARKODE_ERKTableID table;
  } tables[] = {{"zonneveld4", ARKODE_ZONNEVELD_5_3_4},
                {"dormand-prince5", ARKODE_DORMAND_PRINCE_7_4_5},
                {"verner6", ARKODE_VERNER_8_5_6},
                {"fehlberg8", ARKODE_FEHLBERG_13_7_8}};
  for (const auto& [name, table] : tables) {
    if (task.method != name) continue;
    if (with_problem(task.system, [&]<class Problem>(Problem) { solve<Problem>(task, table); })) return 0;
  }
  unknown(task);
}
