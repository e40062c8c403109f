#pragma once
// What the catalogue knows of a system, a method and their compiled step loops. Plain data and function pointers: the
// types here are shared by translation units that are compiled for different instruction sets.

#include <cstdint>
#include <span>

#include "rattleback/catalogue/option.hpp"

namespace rattleback {

/// Trajectories per chunk: the unit of storage and the leaf of the reduction tree (part of the definition of a result).
inline constexpr int chunk_size = 256;

/// A numeric parameter of a system.
struct ParameterInfo {
  const char* name;
  double value;  ///< default
  const char* unit;
  const char* text;
};

/// A parameter that is fixed at compile time (a dimension); each compiled value is a system instance of its own.
struct StructureInfo {
  const char* name;
  double value;
};

/// A scalar function of the state. A conserved one is an invariant of the continuous equations.
struct ObservableInfo {
  const char* name;
  bool conserved;
  const char* text;
};

enum class ConstraintKind { none, velocity, holonomic };

/// Several kinds: ConstraintKind::holonomic | ConstraintKind::none.
class ConstraintKinds {
 public:
  constexpr ConstraintKinds(ConstraintKind kind) : bits_(1u << static_cast<unsigned>(kind)) {}
  [[nodiscard]] constexpr bool contain(ConstraintKind kind) const {
    return (bits_ >> static_cast<unsigned>(kind) & 1u) != 0;
  }
  friend constexpr ConstraintKinds operator|(ConstraintKinds a, ConstraintKinds b) {
    a.bits_ |= b.bits_;
    return a;
  }

 private:
  unsigned bits_;
};
constexpr ConstraintKinds operator|(ConstraintKind a, ConstraintKind b) {
  return ConstraintKinds(a) | ConstraintKinds(b);
}

/// Status bits of a trajectory; 0 is good. A trajectory with any bit set is frozen at its last good state.
enum Status : std::uint32_t {
  status_good = 0,
  status_not_converged = 1,   ///< the iteration stopped at max_iterations
  status_singular = 2,        ///< a pivot vanished: constraints dependent or the Lagrangian degenerate
  status_not_finite = 4,      ///< the step left the floating-point numbers
  status_fold = 8,            ///< not converged, with a rotation per step beyond what the retraction can represent
  status_padding = 1u << 31,  ///< a lane of the last chunk that holds no trajectory; never in a result
};

struct StatusInfo {
  std::uint32_t bit;
  const char* name;
  const char* text;
};
inline constexpr StatusInfo status_table[] = {
    {status_not_converged, "not-converged", "the iteration of a step did not converge within max_iterations"},
    {status_singular, "singular", "a pivot vanished: dependent constraints or a degenerate Lagrangian"},
    {status_not_finite, "not-finite", "a step produced an infinity or a NaN"},
    {status_fold, "fold",
     "the rotation h |omega| of a step lies beyond the fold of the Cayley map; use a smaller step or retraction = "
     "\"exp\""},
};

/// One point of the ensemble on its way in: in q and v (or p), out all of them. Arrays of `elements`, n, n and m numbers.
struct PointView {
  double* q;
  double* v;
  double* p;
  double* lambda;
};

/// What `prepare` found.
struct PrepareReport {
  double residual;    ///< max norm of the constraint at the given point, before any projection
  double tolerance;   ///< what counts as round-off there
  bool projected_ok;  ///< the projection converged (true when none was asked for)
  bool
      multiplier_ok;  ///< the continuous equations determine the multiplier, the constraints are independent to round-off
  double defect;      ///< by how much q, after any projection, misses the group: max norm of R^T R - 1 of its rotations
};
/// A rotation matrix of an initial state may miss orthogonality by `group_tolerance`, and is made orthogonal. A matrix that misses
/// by less than `group_drift` is kept as it is: it may be the state of an earlier run, which then goes on with the same bits.
inline constexpr double group_tolerance = 1e-8, group_drift = 1e-12;

/// What the caller supplies of a point, and whether to project it.
struct PrepareOptions {
  bool from_momentum;    ///< p is given, v is to be derived
  bool keep_multiplier;  ///< lambda is given
  bool project;          ///< move q (where holonomic) and v to the nearest, mass-weighted, that satisfy the constraint
  bool given_in_space = false;  ///< v and p, on a group, are right trivialised
  bool in_space = false;        ///< they are to be
};

/// A compiled system instance. Strings and arrays have static storage duration.
struct SystemEntry {
  const char* name;
  const char* variant;  ///< "" when the system has a single reading
  const char* summary;
  const char* configuration;
  const char* source;
  int n;         ///< dimension of the configuration space
  int elements;  ///< numbers that hold a configuration: n on R^n, 9 on SO(3)
  int m;         ///< number of constraints
  ConstraintKind constraint;
  std::span<const ParameterInfo> parameters;
  std::span<const StructureInfo> structure;
  std::span<const ObservableInfo> observables;
  std::span<const char* const> coordinates;  ///< names of the components of q; empty when they have none
  std::span<const double> default_q, default_v;
  std::span<const char* const> separable_without;  ///< parameters that must be 0 for the separable form to hold
  double
      time_scale;  ///< time in which the motion from there changes appreciably: tests and benchmarks choose steps by it
  /// Completes a point (Legendre transform, multiplier of the continuous equations) and checks the constraint.
  PrepareReport (*prepare)(const double* parameters, PointView point, PrepareOptions options);
  /// v from (q, p).
  void (*velocity)(const double* parameters, const double* q, const double* p, double* v);
  /// The forms along which multipliers act at (q, v), Phi_v or Dg: m rows of n numbers.
  void (*forms)(const double* parameters, const double* q, const double* v, double* rows);
  /// q from n numbers: rotations of space from their rotation vectors, the rest as it is. Null on R^n.
  void (*expand)(const double* x, double* q);
  /// The exact solution a time `time` after the state (q, v), in place; p and lambda follow. Null where none is known; false
  /// where none is known for these parameters and this state.
  bool (*exact)(const double* parameters, double time, PointView point);
  /// v and p, either of which may be null, from the body to space (right trivialised) or back. Null on R^n.
  void (*turn)(const double* q, double* v, double* p, bool to_space);
  /// The tangent vector (dq, dp, dlambda) at (q, v) that Lyapunov exponents start from; v and p in space or in the body.
  void (*tangent)(const double* parameters, const double* q, const double* v, bool in_space, double* tangent);
};

struct MethodEntry {
  const char* name;
  const char* summary;
  const char* source;
  const char* order;            ///< in words, as a function of the options
  ConstraintKinds constraints;  ///< the systems it takes
  std::span<const OptionInfo> options;
  bool carries_multiplier;  ///< lambda is part of the state
  /// From the values of all options, in their order, to the numbers that the step is constructed with (max_method_numbers,
  /// zeros before). What is doubtful or refused is said in `message`: what, why, and what to do instead. Null: the numbers are
  /// the values of the options that are not compiled, in their order.
  Settled (*settle)(std::span<const OptionValue> values, const SystemEntry& system, double* numbers, char* message,
                    int message_size) = nullptr;
  /// The order of q for the values of all options, in their order; 0 where it is not known. Null: 2 stages - 2.
  int (*order_of)(std::span<const OptionValue> values, const SystemEntry& system) = nullptr;
  /// The number of stages that the other options imply, where a study does not give `stages`. Null: its default.
  int (*stages_of)(std::span<const OptionValue> values) = nullptr;
  /// What it needs of a system besides its kind of constraints, "a Lagrangian v.Mv/2 - U(q) on R^n"; null: nothing.
  const char* needs = nullptr;
  bool separable_form = false;  ///< takes the separable form where a system has two (SystemEntry::separable_without)
  /// Whether the constraints on positions, on velocities, hold to round-off; otherwise their error is of the order of the step.
  bool exact_constraint = true, exact_hidden_constraint = true;
  /// The option, a flag, that asks for compensated summation of the state; null: there is none.
  const char* compensation = nullptr;
  bool in_space = false;  ///< on groups, v and p of its states are right trivialised
  /// Numbers that a step carries to the next besides the state, for its rounding errors; they start from 0.
  int carried = 0;
  /// A step has a velocity of its own; a multiplier gamma of its own for the hidden constraint. Both can be observed.
  bool step_velocity = false, step_multiplier = false;
  /// Newton's method starts from a predicted position; `solver.guess` can leave the prediction out.
  bool predicts = false;
};

/// An observable of a run: a system observable, a component, or a counter. `p_projected`, of holonomic systems, is the
/// p nearest in kinetic energy whose velocity satisfies the hidden constraint; the trajectory goes on from p. From `gamma`
/// on they are of the last step (last_step.hpp).
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
    gamma,
    step_v,
    step_hidden_constraint,
    step_energy,
    step_kinetic,
    step_potential,
    kinds  ///< their number
  } kind;
  int index;
};

/// Rows of a chunk, in units of chunk_size doubles; identical in host and device memory.
struct ChunkLayout {
  int q, p, lambda;                         ///< state
  int status, steps, iterations, residual;  ///< bookkeeping (exact integers stored as doubles)
  int step, steps_per_sample;               ///< rows of the step size and count, or -1 where they are uniform
  int references;                           ///< one row per observable: what its errors are taken against
  int surfaces;                             ///< one row per surface of section: its value at the present state
  int crossings;                            ///< number of crossings that wait in the slots
  int slots;                                ///< crossing_slots times (surfaces crossed, steps before, state before)
  int persistent;                           ///< rows before the slots: all that a checkpoint keeps
  int rows;
  int tangent = -1, tangent_exponent = -1;  ///< tangent vector of (q, p, lambda) and its power of two, where wanted
  int rounding = -1;   ///< what rounding has left out of q and p, with compensated summation, or what the step carries
  int last_step = -1;  ///< gamma, v, q, p of the last step (last_step.hpp), where wanted
};
inline constexpr int max_parameters = 24;

/// Crossings a trajectory holds before it waits for them to be collected.
inline constexpr int crossing_slots = 4;

/// A surface of section g(q, v, p) = 0 is a program for a stack machine that runs in the time loop.
enum class Operation : int {
  constant,
  q,
  v,
  p,
  parameter,
  add,
  subtract,
  multiply,
  divide,
  negate,
  power,
  sine,
  cosine,
  exponential,
  root,
  magnitude
};
struct Instruction {
  Operation operation;
  int index;      ///< of the component or parameter; the exponent of a power, 1 to 16
  double number;  ///< of a constant
};
inline constexpr int max_surfaces = 8, max_instructions = 96, surface_stack = 8;
struct Surfaces {
  int count;
  int end[max_surfaces];        ///< of the program of each, in `code`
  int direction[max_surfaces];  ///< 1: from negative to positive, -1: the other way, 0: both
  Instruction code[max_instructions];
};

/// Arguments of the compiled loops. Pointers are host or device pointers, by backend.
struct KernelArguments {
  double* chunks;  ///< [chunks][layout.rows][chunk_size]
  ChunkLayout layout;
  double parameters[max_parameters];  ///< uniform values
  int parameter_row[max_parameters];  ///< row of a swept parameter, or -1
  double step;                        ///< uniform step size
  /// Number of steps after which a trajectory stops: `target` where the step size is uniform, otherwise
  /// sample * steps_per_sample + min(target, steps_per_sample). Trajectories that have got there stay as they are.
  std::int64_t target, sample;
  double tolerance;
  int max_iterations;
  double guess = 1.0;                 ///< where Newton's method starts: this fraction of the predicted velocity
  double method[max_method_numbers];  ///< what the step takes from the options of its method
  bool in_space = false;              ///< p of the states is right trivialised, and v is shown so
  Surfaces surfaces;
};

/// What the statistics mean, std, mse, rms, min, max, maxabs need of a set of values x with references r. Of a good
/// trajectory whose value is not finite the value given is an infinity, of a failed one a NaN.
template <class T>
struct MomentsOf {
  T count;          ///< finite values, of which all others are
  T mean;           ///< of x
  T squares;        ///< sum (x - mean)^2
  T error_squares;  ///< sum (x - r)^2
  T minimum, maximum;
  T error_maximum;  ///< max |x - r|
  T missing;        ///< infinities
};
using Moments = MomentsOf<double>;

/// What the covariance of x and y needs; values where either is not finite count for nothing.
template <class T>
struct CoMomentsOf {
  T count;
  T mean_x, mean_y;
  T xx, xy, yy;  ///< sums of products of deviations from the means
};
using CoMoments = CoMomentsOf<double>;

/// Advances lanes [begin, end) of one chunk.
using AdvanceFunction = void (*)(const KernelArguments& arguments, double* chunk, int begin, int end);
/// Writes values[i][lane] of `count` observables for lanes [begin, end) of one chunk; infinity for a value that is not finite
/// of a good trajectory, NaN for a failed one.
using ObserveFunction = void (*)(const KernelArguments& arguments, const double* chunk, int begin, int end,
                                 const ObservableCode* codes, int count, double* values);
/// Moments of the chunk_size values of one observable in one chunk.
using ReduceFunction = Moments (*)(const double* values, const double* references);
/// Joint moments of two observables in one chunk.
using CoReduceFunction = CoMoments (*)(const double* x, const double* y);
/// Writes the values of all surfaces of section at the present states of lanes [begin, end) into their rows.
using SurfaceFunction = void (*)(const KernelArguments& arguments, double* chunk, int begin, int end);

/// Does `rounds` fused multiply-adds on each of several independent chains and returns the floating-point operations of all.
using FmaFunction = double (*)(std::int64_t rounds);
/// Advances as AdvanceFunction does and returns the floating-point operations of it (real/counted.hpp).
using CountFunction = std::uint64_t (*)(const KernelArguments& arguments, double* chunk, int begin, int end);

/// A method with its options fixed, compiled for a system and an instruction set. Without functions where the step does not
/// take the system.
struct CompiledPair {
  PairKey key;
  AdvanceFunction advance = nullptr;
  AdvanceFunction advance_tangent = nullptr;  ///< with the tangent vector
  ObserveFunction observe = nullptr;
  ReduceFunction reduce = nullptr;
  CoReduceFunction co_reduce = nullptr;
  SurfaceFunction surfaces = nullptr;
  FmaFunction fma_chains = nullptr;
};

/// The same over a scalar that counts its operations.
struct CountedPair {
  PairKey key;
  CountFunction advance = nullptr;
};

/// What a kernel takes of a GPU's multiprocessor.
struct KernelFigures {
  const char* kernel;                     ///< advance, fast, section or tangent
  int lanes;                              ///< threads that take the steps of a trajectory
  int threads;                            ///< per block
  int registers;                          ///< per thread
  std::size_t local_bytes, shared_bytes;  ///< local memory of a thread, shared memory of a block
  int blocks;                             ///< that a multiprocessor holds at a time
};

/// Enqueues the same work for all lanes of `chunks` chunks on a CUDA stream.
struct CompiledCudaPair {
  PairKey key;
  using Advance = void (*)(const KernelArguments& arguments, std::int64_t chunks, void* stream);
  Advance advance = nullptr;  ///< no sections
  Advance advance_sections = nullptr;
  Advance advance_tangent = nullptr;
  /// codes and values ([chunk][observable][lane]) are device pointers.
  void (*observe)(const KernelArguments& arguments, std::int64_t chunks, const ObservableCode* codes, int count,
                  double* values, void* stream) = nullptr;
  /// Fills in the figures of the kernels on the present device; their number. `error` gets what CUDA says.
  int (*figures)(KernelFigures figures[4], int& error) = nullptr;
};

}  // namespace rattleback
