#pragma once
// What the catalogue knows of a system, a method and their compiled step loops. These types are plain data and function
// pointers, because translation units for different instruction sets share them.

#include <cstdint>
#include <span>

#include "rattleback/catalogue/form.hpp"
#include "rattleback/catalogue/moments.hpp"
#include "rattleback/catalogue/option.hpp"
#include "rattleback/catalogue/status.hpp"

namespace rattleback {

/// Trajectories per chunk. A chunk is the unit of storage and the leaf of the reduction tree; the value is part of the
/// definition of a result.
inline constexpr int chunk_size = 256;
/// Distance of the rows of a chunk in memory: chunk_size numbers and a cache line. At a distance of 2048 bytes all rows would share
/// two sets of the first-level cache, which has place for 16 of them.
inline constexpr int row_size = chunk_size + 8;

/// A numeric parameter of a system.
struct ParameterInfo {
  const char* name;
  double value;  ///< default
  const char* unit;
  const char* text;
};

/// A parameter fixed at compile time (a dimension). Each compiled value is a separate system instance.
struct StructureInfo {
  const char* name;
  double value;
};

/// One point of the ensemble. On input q and v (or p) are set, on output all four; the arrays hold `elements`, n, n and
/// m numbers.
struct PointView {
  double* q;
  double* v;
  double* p;
  double* lambda;
};

/// The result of `prepare`.
struct PrepareReport {
  /// The constraint, on positions or velocities, that the given point violates most, before any projection; each is measured by its
  /// own terms. A residual up to `tolerance` counts as round-off.
  double residual, tolerance;
  bool projected_ok;  ///< the projection converged (true without projection)
  /// The continuous equations determine the multiplier, and the constraints are independent to round-off.
  bool multiplier_ok;
  double defect;  ///< distance of q, after any projection, from the group: max norm of R^T R - 1
  /// The component of (L_v, L_q) that the parts of L give another value than `lagrangian`; -1 if there is none.
  int other_part = -1;
  /// The component of L_v that is not linear in v where L is taken to be quadratic; -1 if there is none.
  int bent_momentum = -1;
  /// The component of a velocity that differs from what `velocity` gives for its momentum; -1 if there is none.
  int other_velocity = -1;
  double by_lagrangian = 0.0, by_parts = 0.0;  ///< the two values
};
/// An initial rotation matrix may have a defect of up to `group_tolerance`; the program then makes this matrix
/// orthogonal. A matrix with a defect of up to `group_drift` stays unchanged, so that the state of an earlier run
/// continues with the same bits.
inline constexpr double group_tolerance = 1e-8, group_drift = 1e-12;

/// A system with the values of its parameters, at a time; the time is of no account where the system is not driven.
struct SystemAt {
  const double* parameters;
  double time;
};

/// Which values of a point are given, and whether to project the point.
struct PrepareOptions {
  bool from_momentum;    ///< p is given, and v is computed from p
  bool keep_multiplier;  ///< lambda is given
  bool project;  ///< move v, and q where holonomic, to the nearest point on the constraint (metric: mass matrix)
  bool given_in_space = false;  ///< the given v and p, on a group, are right trivialised
  bool in_space = false;        ///< the resulting v and p are right trivialised
  double step = 1.0;            ///< of the method: it turns round-off of positions into that of velocities
};

/// The rows of a block of chunk_size initial points, row_size numbers apart: what is given of them, and after the preparation all of them.
struct StartLayout {
  int q, v, p, lambda, parameters, step;
  int doubtful;  ///< 1 for a point that may not be good, or that has to be prepared by itself (PointFunctions::prepare), else 0
  int rows;
};
struct StartArguments {
  StartLayout layout;
  PrepareOptions options;  ///< but for the step, which has a row
  double time;
  bool expand;  ///< q is given as n numbers in place of an element of the group
};
/// Prepares the points of lanes [begin, end) like PointFunctions::prepare, with the same bits.
using StartFunction = void (*)(const StartArguments& arguments, double* rows, int begin, int end);

struct KernelArguments;
struct ObservableCode;
/// Writes values[i][lane] of `count` observables for lanes [begin, end) of one chunk. A value that is not finite
/// becomes an infinity for a good trajectory and a NaN for a failed trajectory.
using ObserveFunction = void (*)(const KernelArguments& arguments, const double* chunk, int begin, int end,
                                 const ObservableCode* codes, int count, double* values);
/// Works on the present states of lanes [begin, end): computes the values of all surfaces of section into the rows `surfaces`, or
/// guards the carried multipliers (loop/observe.hpp).
using SampleFunction = void (*)(const KernelArguments& arguments, double* chunk, int begin, int end);

/// The C++ text of a system, from which kernels are compiled.
struct SystemSource {
  const char* header;          ///< the name of an embedded header, or the path of a file
  const char* type;            ///< the type over T: "Chaotic<T, 3, ChaoticVariant::printed>"
  const char* text = nullptr;  ///< the header itself, where there is no file
};

/// The initial data of a trajectory, as given, with their derivatives by one parameter of the ensemble. What is null is not given, and
/// derivatives that are null are 0. Where p is given, dv is a change of the velocity that follows from it, and the other way round.
struct StartVariation {
  const double *q, *v, *p, *lambda;
  const double *dq, *dv, *dp, *dlambda;
  bool expand;                ///< q is given as n numbers in place of an element of the group
  const double* shift;        ///< a displacement of q, in the algebra; null without
  const double* dparameters;  ///< of the parameters of the system
};
/// A state (q, p) with its derivatives.
struct StateVariation {
  const double *q, *p, *dq, *dp, *dparameters;
  double dtime;
};

/// The functions of a system at single points.
struct PointFunctions {
  /// Completes a point (Legendre transform, multiplier of the continuous equations) and checks the constraint.
  PrepareReport (*prepare)(SystemAt at, PointView point, PrepareOptions options);
  /// Computes v from (q, p).
  void (*velocity)(SystemAt at, const double* q, const double* p, double* v);
  /// Computes the forms along which multipliers act at (q, v), Phi_v or Dg: m rows of n numbers.
  void (*forms)(SystemAt at, const double* q, const double* v, double* rows);
  /// Computes q from n numbers: rotation vectors, in space, become rotations; other numbers stay. Null on R^n.
  void (*expand)(const double* x, double* q);
  /// Turns v and p from the body to space (right trivialised) or back; v or p may be null. Null on R^n.
  void (*turn)(const double* q, double* v, double* p, bool to_space);
  /// Computes the initial tangent vectors (dq, dp, dlambda) of Lyapunov exponents at (q, v) with the momentum p, `count` of them one
  /// after the other, orthogonal in the metric of the mass matrix `by_mass`; `in_space` says whether v and p are in space or in the body.
  void (*tangents)(SystemAt at, const double* q, const double* v, const double* p, bool in_space, bool by_mass,
                   int count, double* tangents);
  /// Computes the multiplier of the continuous equations at (q, v), with v in the body; false where they do not determine it.
  bool (*multiplier)(SystemAt at, const double* q, const double* v, double* lambda);
  /// Computes the derivative (dq, dp, dlambda) of the point that `prepare` made of the data: q and v are those of that point.
  void (*start_derivative)(SystemAt at, const StartVariation& given, PrepareOptions options, const double* q,
                           const double* v, double* tangent);
  /// Computes the derivatives of v and, where `dlambda` is not null, of the multiplier of the continuous equations at a state.
  void (*state_derivative)(SystemAt at, const StateVariation& state, bool in_space, double* dv, double* dlambda);
};

/// A system instance. Strings and arrays have static storage duration.
struct SystemEntry : SystemForm {
  const char* name;
  const char* alias;    ///< another name of the literature; "" for none
  const char* variant;  ///< "" when the system has only one variant
  const char* summary;
  const char* configuration;
  const char* source;
  int n;          ///< dimension of the configuration space
  int elements;   ///< count of numbers in a configuration: n on R^n, 9 on SO(3)
  int m;          ///< number of constraints
  int positions;  ///< number of those on positions, which come first
  std::span<const ParameterInfo> parameters;
  std::span<const StructureInfo> structure;
  std::span<const ObservableInfo> observables;
  std::span<const char* const> coordinates;  ///< names of the components of q; empty without names
  std::span<const double> default_q, default_v;
  std::span<const char* const> separable_without;  ///< parameters that must be 0 for the separable form to hold
  /// The time in which the motion from the default state changes much; tests and benchmarks choose steps by this time.
  double time_scale;
  SystemSource source_text;
  /// Moves the state (q, v) by `time` along the exact solution, in place, and sets p and lambda. Null for a system
  /// without known solution; false where the parameters or the state have no known solution.
  bool (*exact)(const double* parameters, double time, PointView point);
  /// Where the functions at points are. The pointer is null for a system of formulas until they are compiled: point_functions of
  /// host/rattleback/kernels/kernels.hpp does so when they are first asked for.
  const PointFunctions** functions;
  bool force_of_velocity;  ///< the applied force depends on the velocity
  /// The momentum of the default state, where it is not that of default_v; empty otherwise.
  std::span<const double> default_p;
  /// A function in its formulas that has no difference quotient, such as "tan"; "" for none, and where the system is no formula.
  const char* without_quotient = "";
};

struct Settlement;

struct MethodEntry {
  const char* name;
  const char* summary;
  const char* source;
  const char* order;            ///< in words, as a function of the options
  ConstraintKinds constraints;  ///< kinds of constraints that the method takes
  /// What the step asks for besides the kind of constraints, as a rule for the form of a system; `needs` says it in words. The
  /// constraints of the step's template ask for the same, and a test compares the two. Null: nothing.
  bool (*takes)(const SystemForm& form) = nullptr;
  std::span<const OptionInfo> options;
  bool carries_multiplier;  ///< lambda is part of the state
  /// Turns the values of all options, in the entry's order, into the numbers for the constructor of the step
  /// (catalogue/settings.hpp). Null: the numbers are the values of the options that are not compiled, in the entry's
  /// order.
  Settlement (*settle)(std::span<const OptionValue> values, const SystemEntry& system) = nullptr;
  /// Whether the values of the compiled options go together on a system; settle refuses other values. Null: all do.
  bool (*has)(const PairKey& key, const SystemEntry& system) = nullptr;
  std::span<const MissingOption> missing = {};  ///< a study that gives one of these is told the reason
  /// The order of q for the values of all options, in the entry's order; 0 where the order is unknown. Null:
  /// 2 stages - 2.
  int (*order_of)(std::span<const OptionValue> values, const SystemEntry& system) = nullptr;
  /// The number of stages that the other options imply when a study does not give `stages`. Null: the default of
  /// `stages`.
  int (*stages_of)(std::span<const OptionValue> values) = nullptr;
  /// Further needs besides the kind of constraints, as "a Lagrangian v.Mv/2 - U(q) on R^n"; null: nothing.
  const char* needs = nullptr;
  bool driven = false;  ///< takes systems with explicit time and applied forces, and measures their work
  /// Takes difference quotients of the energy and of constraints on positions, which not all functions have (real/secant.hpp).
  bool difference_quotients = false;
  bool separable_form = false;  ///< uses the separable form of a system with two forms (SystemEntry::separable_without)
  /// Whether the constraints on positions and on velocities hold to round-off. Otherwise their error is of the order of
  /// the step.
  bool exact_constraint = true, exact_hidden_constraint = true;
  /// Where options decide about the constraint on velocities: whether it holds to round-off for their values.
  bool (*keeps_hidden_constraint)(std::span<const OptionValue> values, const SystemEntry& system) = nullptr;
  /// The flag option that turns on compensated summation of the state; null without such an option.
  const char* compensation = nullptr;
  bool in_space = false;  ///< on groups, v and p of the states are right trivialised
  /// The count of numbers that the state of the step has besides q, p, lambda and the work of a driven system (PhaseState). All start
  /// at 0. Null: none.
  int (*carried)(const SystemEntry& system) = nullptr;
  /// Whether a step has a separate velocity, and a multiplier gamma of the hidden constraint. Both can be observed.
  bool step_velocity = false, step_multiplier = false;
  bool step_velocity_at_start = false;  ///< the separate velocity belongs to the state before the step
  /// Whether the step is symmetric: one with -h leads back. Null: it is not.
  bool (*symmetric)(std::span<const OptionValue> values, const SystemEntry& system) = nullptr;
  /// Newton's method starts from a predicted position; `solver.guess` can turn the prediction off.
  bool predicts = false;
  /// The C++ text of the step, from which kernels are compiled: the name of an embedded header or the path of a file,
  /// and the type over T and System, where {name} stands for the value of a compiled option.
  const char* header = nullptr;
  const char* step = nullptr;

  /// Whether the method takes systems of this form.
  [[nodiscard]] constexpr bool take(const SystemForm& form) const {
    return constraints.contain(form.constraint) && (driven || !form.driven) && (takes == nullptr || takes(form));
  }
};

/// The count of numbers that a state has besides q, p and lambda: those of the method, then the work of a driven system.
[[nodiscard]] constexpr int carried_numbers(const SystemEntry& system, const MethodEntry& method) {
  return (method.carried == nullptr ? 0 : method.carried(system)) + (system.driven ? 1 : 0);
}

/// Whether a state has no multiplier of its own, and that of the continuous equations is shown.
[[nodiscard]] constexpr bool multiplier_from_equations(const SystemEntry& system, const MethodEntry& method) {
  return system.m > system.positions && !method.carries_multiplier;
}
/// Whether a state has a multiplier, or shows one.
[[nodiscard]] constexpr bool shows_multiplier(const SystemEntry& system, const MethodEntry& method) {
  return system.m > 0 && (method.carries_multiplier || multiplier_from_equations(system, method));
}

/// Whether the values of an option make a difference on a system.
[[nodiscard]] constexpr bool has_effect(const OptionInfo& option, const SystemEntry& system) {
  switch (option.scope) {
    case OptionScope::all:
      return true;
    case OptionScope::groups_matter:
    case OptionScope::groups_only:
      return system.on_group;
    case OptionScope::rn_only:
      return !system.on_group;
    case OptionScope::holonomic_only:
      return system.constraint == ConstraintKind::holonomic;
  }
  return true;
}
/// Whether a study may give the option.
[[nodiscard]] constexpr bool is_allowed(const OptionInfo& option, const SystemEntry& system) {
  return option.scope == OptionScope::groups_matter || has_effect(option, system);
}

/// An observable of a run: a system observable, a component, a counter, or a formula of the study. `p_projected`, of holonomic systems, is the
/// momentum nearest to p in kinetic energy whose velocity satisfies the hidden constraint; the trajectory continues
/// from p. The kinds from `gamma` on belong to the last step (last_step.hpp).
struct ObservableCode {
  enum Kind : int {
    system,
    q,
    v,
    p,
    p_projected,
    lambda,
    constraint,
    hidden_constraint,
    iterations,
    residual,
    lyapunov,
    exponent,  ///< of one of several tangent vectors, as are the next ones (loop/exponents.hpp)
    window,
    ln_gali,
    gali,
    sali,
    megno,
    megno_mean,
    fli,
    power,             ///< of what drives the system (mechanics/power.hpp), as are the next two
    work,              ///< since the start of the motion
    energy_balance,    ///< energy less work
    formula,           ///< a formula of the study (loop/formula.hpp)
    step_size,         ///< of the next step
    density_error,     ///< of steps that follow a density (loop/clock.hpp)
    derivative,        ///< of an observable of the run, at derivative_index (loop/variations.hpp)
    error_derivative,  ///< of the squared error of an observable; the code before it is the derivative of that observable
    gamma,
    step_v,
    step_hidden_constraint,
    step_energy,
    step_kinetic,
    step_potential,
    kinds  ///< number of kinds
  } kind;
  int index;
};

/// The parameters of an ensemble by which a study has derivatives, at most.
inline constexpr int max_derivatives = 8;
/// The index of the derivative of the observable `code` of a run by parameter `by`.
[[nodiscard]] constexpr int derivative_index(int code, int by) { return code * max_derivatives + by; }

/// Rows of a chunk, in units of chunk_size doubles; the layout is the same in host and device memory.
struct ChunkLayout {
  int q, p, lambda;                         ///< state
  int status, steps, iterations, residual;  ///< bookkeeping (exact integers stored as doubles)
  int step, steps_per_sample;               ///< rows of the step size and count, or -1 where they are uniform
  int fixed, fixed_rows;                    ///< first and number of the rows that no step changes (step, parameters)
  int references;                           ///< one row per observable: reference values for errors
  int surfaces;                             ///< one row per surface of section: value at the present state
  int crossings;                            ///< number of crossings in the slots
  int slots;       ///< crossing_slots times (surfaces crossed, place (loop/clock.hpp), state before, its derivatives)
  int persistent;  ///< number of rows before the slots; a checkpoint keeps these rows
  int rows;
  /// Tangent vectors of (q, p, lambda) and what the method carries besides, each with its power of two; -1 without. The next vector
  /// comes `tangent_rows` rows later.
  int tangent = -1, tangent_exponent = -1, tangent_rows = 0;
  int tangents = 0;         ///< their number
  int tangent_square = -1;  ///< square of the norm of a vector as stored, behind its power of two; -1 if Euclidean
  int counted_from = -1;    ///< steps before the time from which the growth of vectors counts; -1 from the start on
  int columns = -1;  ///< columns that stand for the vectors before orthogonalisation, and powers of two; -1 without
  int growth = -1;   ///< three running sums (GrowthSums of loop/exponents.hpp); -1 without
  int window = -1;   ///< growth of each vector up to the last sample, and the steps until then; -1 without
  /// Derivatives of the state (loop/variations.hpp), in the form of a tangent vector; -1 without. The next one comes `variation_rows` later.
  int variation = -1, variation_rows = 0;
  int variations = 0;  ///< their number
  int seeds = -1;      ///< place of the derivatives of the parameters and of the step behind each of them; -1 without
  /// Place of the derivative of the time from which steps are counted behind each of them; -1 where that time is fixed. Of steps that
  /// follow a density it is that of the orbit's time, and the derivative of rho comes after it.
  int variation_clock = -1;
  int variation_orbit = -1;  ///< place of the derivatives of the orbit of such steps behind each of them; -1 elsewhere
  int varied_surfaces = -1;  ///< derivatives of all surfaces by each of what the state has derivatives by; -1 without
  int carried = -1;    ///< numbers of the method's own in the state (MethodEntry::carried), after lambda; -1 without
  int rounding = -1;   ///< rounding remainders of q, p and the work (compensated summation); -1 without
  int last_step = -1;  ///< gamma, v, q, p of the last step (last_step.hpp); -1 without
  int fits = -1;       ///< two running sums for each fit of a line; -1 without
  /// Squares of the largest momentum and forces at samples so far (loop/observe.hpp), and with steps that follow a density the number
  /// of steps at which the guard looks next; -1 without.
  int guard = -1;
  int parameters = -1;  ///< one row per parameter beyond max_uniform_parameters; -1 without
  int start = -1;       ///< time of the state with steps = 0; -1 where it is uniform
  int clock = -1;       ///< rows ClockRow of steps that follow a density (loop/clock.hpp); -1 elsewhere
  int orbit = -1;       ///< q, p, lambda and `carried` of the orbit of such steps; those of the state are shown
  int averages = -1;    ///< sums of the averages of the study (loop/averages.hpp); -1 without
  int work = -1;        ///< work of a driven system, last row of `carried`, where it is measured; -1 elsewhere
};
/// A system may have any number of parameters. The values of the first are among the arguments of a kernel, unless they vary over the
/// ensemble; the further parameters have a row each.
inline constexpr int max_uniform_parameters = 24;

/// Number of crossings that a trajectory holds before it waits for their collection.
inline constexpr int crossing_slots = 4;

/// The surfaces of section that a loop looks at. The kernel has their functions (loop/surface.hpp).
inline constexpr int max_surfaces = 8;
struct Surfaces {
  int count;                    ///< 0: the loop passes over the surfaces of its kernel
  int direction[max_surfaces];  ///< 1: from negative to positive, -1: from positive to negative, 0: both
};

/// Arguments of the compiled loops. The backend decides whether pointers are host or device pointers.
struct KernelArguments {
  double* chunks;  ///< [chunks][layout.rows][chunk_size]
  ChunkLayout layout;
  double parameters[max_uniform_parameters];  ///< uniform values
  int parameter_row[max_uniform_parameters];  ///< row of a swept parameter, or -1
  double start;                               ///< time of the initial states
  double step;                                ///< uniform step size
  /// Number of steps after which a trajectory stops: `target` where the step size is uniform, otherwise
  /// sample * steps_per_sample + min(target, steps_per_sample). A trajectory with this number of steps stays unchanged.
  /// Where steps follow a density, a launch takes at most `target` steps of a trajectory towards the time `sample_time`.
  std::int64_t target, sample;
  std::int64_t interval_start = 0;  ///< steps before the interval to the next sample, where the step size is uniform
  double sample_time = 0.0;
  std::int64_t transient = 0;  ///< the interval with which the growth of tangent vectors begins to count
  double averaged = 0.0;       ///< of averages: the steps, intervals between samples, or time (loop/averages.hpp)
  double max_steps = 0.0;      ///< most steps of a trajectory, where they follow a density
  double tolerance;
  int max_iterations;
  double guess = 1.0;                 ///< Newton's method starts with this fraction of the predicted velocity
  double method[max_method_numbers];  ///< numbers of the step from the options of the method
  bool in_space = false;              ///< p of the states is right trivialised, and v is shown right trivialised
  bool carries_multiplier = true;     ///< the multiplier of a state is in its rows
  double parasitic_limit = 0.0;       ///< of the guard (loop/observe.hpp); 0 without guard
  bool off_constraint = false;        ///< the states of the method may leave the constraint
  bool last_step_at_start = false;    ///< the rows of the last step are of the time before it
  Surfaces surfaces;
};
/// Returns the row of parameter `i`, or -1 where its value is among the arguments.
[[nodiscard]] constexpr int row_of_parameter(const KernelArguments& a, std::size_t i) {
  return i < std::size_t(max_uniform_parameters) ? a.parameter_row[i]
                                                 : a.layout.parameters + int(i) - max_uniform_parameters;
}

/// Advances lanes [begin, end) of one chunk.
using AdvanceFunction = void (*)(const KernelArguments& arguments, double* chunk, int begin, int end);
/// Computes the moments of the chunk_size values of one observable in one chunk.
using ReduceFunction = Moments (*)(const double* values, const double* references);
/// Computes the joint moments of two observables in one chunk.
using CoReduceFunction = CoMoments (*)(const double* x, const double* y);
/// Adds the chunk_size values of a sample to the running sums of a fit (loop/reduction.hpp).
using AddToFitFunction = void (*)(const double* values, const double* references, bool squared, double weight,
                                  double* sums);
/// Does `rounds` fused multiply-adds on each of several independent chains and returns the number of
/// floating-point operations.
using FmaFunction = double (*)(std::int64_t rounds);
/// Advances like AdvanceFunction and returns the number of floating-point operations (real/counted.hpp).
using CountFunction = std::uint64_t (*)(const KernelArguments& arguments, double* chunk, int begin, int end);

/// Changes whenever a type that compiled kernels and the program share changes: kernels with another number are refused.
inline constexpr int binary_interface = 17;

/// What one compiled translation unit offers; the other functions are null.
struct CompiledUnit {
  int interface;    ///< binary_interface
  const char* key;  ///< the unit's key, 64 hexadecimal digits
  AdvanceFunction advance = nullptr;
  AdvanceFunction advance_tangent = nullptr;  ///< with a tangent vector, or with several
  ObserveFunction observe = nullptr;
  SampleFunction guard = nullptr;     ///< beside `observe`, where a constraint is on velocities
  SampleFunction surfaces = nullptr;  ///< beside `advance`, where the study has surfaces
  SampleFunction vary_surfaces =
      nullptr;                    ///< the same beside an `advance_tangent` with derivatives (loop/crossing.hpp)
  StartFunction start = nullptr;  ///< the preparation of initial points
  CountFunction count = nullptr;  ///< over a scalar that counts operations
  const SystemEntry& (*describe)() = nullptr;  ///< the entry of a system of a user
};
/// Every compiled unit exports a constant CompiledUnit with this name.
#define RB_UNIT_SYMBOL rattleback_unit

/// Resources of a GPU's multiprocessor that a kernel uses.
struct KernelFigures {
  const char* kernel;                     ///< advance, fast or tangent
  int lanes;                              ///< threads per trajectory
  int threads;                            ///< per block
  int registers;                          ///< per thread
  std::size_t local_bytes, shared_bytes;  ///< local memory of a thread, shared memory of a block
  int blocks;                             ///< blocks that fit on a multiprocessor at a time
};

}  // namespace rattleback
