#pragma once
// The rows of all tables of a study file, in the order of the documentation and of the effective study. docs/study-file.md has
// their texts. The options of [method] are in the catalogue, the keys of a system as formulas in language/read.hpp.

#include "rattleback/study/fate_fields.hpp"
#include "rattleback/study/grammars.hpp"
#include "rattleback/study/machine_fields.hpp"
#include "rattleback/study/request_fields.hpp"
#include "rattleback/study/time_fields.hpp"

namespace rattleback {

/// The kinds of systems and of axes, which differ in their keys.
enum SystemKinds : unsigned { catalogue_system = 1, header_system = 2, formulas_file = 4 };
enum AxisKinds : unsigned { range_axis = 1, values_axis = 2, uniform_axis = 4, normal_axis = 8 };

inline constexpr const char* parts_of_state[] = {"q", "v", "p", "lambda"};
inline constexpr const char* distributions[] = {"uniform", "normal", "sobol", "lattice"};
inline constexpr const char* guesses[] = {"advanced", "simple"};
inline constexpr const char* frames[] = {"space", "body"};

inline constexpr Field<Study> study_fields[] = {
    field<&Study::name>({.key = "name", .standard = "`\"study\"`", .text = "for titles and legends"}),
};

inline constexpr Field<Study::System> system_fields[] = {
    field<&Study::System::name>(
        {.key = "name", .standard = "required without `file`", .text = "`rattleback list systems`"}),
    field<&Study::System::variant>({.key = "variant",
                                    .standard = "the first that has the `parameters`",
                                    .text = "`rattleback describe NAME`",
                                    .kinds = catalogue_system | header_system}),
    field<&Study::System::file>(
        {.key = "file",
         .standard = "none",
         .text = "the C++ header of a system of your own ([adding.md](development/adding.md)); the path is relative to "
                 "the folder of the study, and for a study that is not a file to the working directory"}),
    field<&Study::System::type>({.key = "type",
                                 .standard = "required with `file`",
                                 .text = "the type of the system over T: `\"example::DoubleWell<T>\"`",
                                 .kinds = catalogue_system | header_system}),
    field<&Study::System::digest>({.key = "digest",
                                   .standard = "that of the header",
                                   .text = "the SHA-256 of all that makes the system: the header, the headers of yours "
                                           "that it includes (beside it, and in the "
                                           "folders of `RATTLEBACK_CXXFLAGS`, `CPATH` and `CPLUS_INCLUDE_PATH`), and "
                                           "the macros of `RATTLEBACK_CXXFLAGS`. A study "
                                           "with another digest is refused: when a run goes on, in its parts, in "
                                           "`merge`, and where a result is the beginning of "
                                           "another",
                                   .kinds = catalogue_system | header_system}),
    field<&Study::System::parameters>({.key = "parameters",
                                       .standard = "the system's",
                                       .text = "a table; values are expressions in the axes, so a parameter can be "
                                               "swept. Parameters that fix a dimension, such as "
                                               "`m` of `chaotic`, must be plain numbers"}),
};

inline constexpr Field<Study::Method> solver_fields[] = {
    field<&Study::Method::tolerance>(
        {.key = "tolerance",
         .standard = "`1e-16`",
         .text = "above 0, at most 1e-6: size of the last update, relative to what it updates, that ends the iteration "
                 "of a step. An "
                 "update that has stopped shrinking at round-off level ends it too ([methods.md](methods.md))",
         .minimum = 0,
         .maximum = 1e-6,
         .above = true}),
    field<&Study::Method::max_iterations>({.key = "max_iterations",
                                           .standard = "`50`",
                                           .text = "1 to 10000; a step that needs more fails",
                                           .minimum = 1,
                                           .maximum = 10000}),
    field<&Study::Method::guess>({.key = "guess",
                                  .standard = "`\"advanced\"`",
                                  .text = "the position from which Newton's method starts: `\"advanced\"`, q + h v, or "
                                          "`\"simple\"`, q, which only costs "
                                          "iterations. `ggl-vi-a`, `ggl-vi-b`, `ggl-vi-bs`, `ggl-theta`, "
                                          "`energy-momentum`, `energy-momentum-index3` and "
                                          "`classical-ggl` have it",
                                  .choices = guesses,
                                  .shown = Shown::changed}),
};

inline constexpr Field<Study::Method> method_fields[] = {
    field<&Study::Method::name>({.key = "name", .standard = "required", .text = "`rattleback list methods`"}),
    field_of<Study::Method, TableOf<Study::Method, solver_fields>>(
        {.key = "solver", .standard = "below", .text = "how the equations of a step are solved"}),
};

inline constexpr Field<Axis> axis_fields[] = {
    field<&Axis::name>({.key = "name", .standard = "required", .text = "the name by which expressions use the axis"}),
    field_of<Axis, Distribution>({.key = "distribution",
                                  .standard = "required",
                                  .text = "where the draws of a random axis come from",
                                  .choices = distributions,
                                  .kinds = uniform_axis | normal_axis}),
    field<&Axis::from>({.key = "from",
                        .standard = "required",
                        .text = "the first value of a range, the lower end of uniform draws",
                        .kinds = range_axis | uniform_axis}),
    field<&Axis::to>({.key = "to",
                      .standard = "required",
                      .text = "the last value of a range, the upper end of uniform draws",
                      .kinds = range_axis | uniform_axis}),
    field<&Axis::count>({.key = "count",
                         .standard = "required",
                         .text = "the number of values of a range, both ends included",
                         .kinds = range_axis}),
    field<&Axis::values>({.key = "values",
                          .standard = "required",
                          .text = "the values themselves",
                          .wanted = "an array of numbers",
                          .shown = Shown::always,
                          .kinds = values_axis}),
    field<&Axis::mean>({.key = "mean", .standard = "`0`", .text = "the mean of normal draws", .kinds = normal_axis}),
    field<&Axis::std>(
        {.key = "std", .standard = "`1`", .text = "the standard deviation of normal draws", .kinds = normal_axis}),
    field<&Axis::seed>(
        {.key = "seed", .standard = "required", .text = "the seed of the draws", .kinds = uniform_axis | normal_axis}),
    field<&Axis::draws>({.key = "draws",
                         .standard = "`ensemble.draws`",
                         .text = "draws of this axis alone, which is then a factor of the product",
                         .kinds = uniform_axis | normal_axis}),
    field<&Axis::dimension>({.key = "dimension",
                             .standard = "none",
                             .text =
                                 "a vector: `{ name = \"u\", dimension = 3, .. }` stands for three such axes, which "
                                 "expressions call `u[0]`, `u[1]` and `u[2]`",
                             .minimum = 1,
                             .maximum = 1000}),
};

inline constexpr Field<Study::Ensemble> initial_fields[] = {
    field<&Study::Ensemble::q, Components>(
        {.key = "q",
         .standard = "the system's default state",
         .text = "array of n expressions in the axes and parameters, with `v` or `p`; `\"for i: F\"` stands for "
                 "several, below. Where q holds rotation matrices "
                 "(row by row), each may "
                 "be given by its rotation vector instead, axis times angle: n numbers in all"}),
    field<&Study::Ensemble::v, Components>(
        {.key = "v", .standard = "the system's default state", .text = "array of n expressions"}),
    field<&Study::Ensemble::p, Components>(
        {.key = "p", .standard = "that of `v`", .text = "array of n expressions, in place of `v`"}),
    field<&Study::Ensemble::lambda, Components>({.key = "lambda",
                                                 .standard = "from the continuous equations",
                                                 .text = "array of m expressions; the multipliers at the start"}),
};

inline constexpr Field<Study::Ensemble> ensemble_fields[] = {
    field<&Study::Ensemble::axes, Axes>(
        {.key = "axes",
         .standard = "none",
         .text = "array of axes; the trajectories are their Cartesian product, the last axis varies fastest",
         .wanted = "an array of tables"}),
    field<&Study::Ensemble::draws>(
        {.key = "draws",
         .standard = "none",
         .text = "number of joint draws of the random axes that have no `draws` of their own"}),
    field<&Study::Ensemble::randomisations>({.key = "randomisations",
                                             .standard = "`1`",
                                             .text = "number of independent randomisations of the quasi-random axes "
                                                     "(`sobol`, `lattice`) that have no `draws` of their own; a "
                                                     "key for such axes only"}),
    field<&Study::Ensemble::condition>(
        {.key = "where",
         .standard = "all points",
         .text =
             "a condition on the axes (or columns of the file) and parameters, `\"2 E - y^2 > 0\"`: the points that do "
             "not satisfy it are left out, as said below",
         .wanted = "a condition"}),
    field<&Study::Ensemble::file>(
        {.key = "file", .standard = "none", .text = "text or HDF5 instead of axes, below; relative to the study file"}),
    field<&Study::Ensemble::group>(
        {.key = "group", .standard = "see below", .text = "group of the datasets in an HDF5 file"}),
    field<&Study::Ensemble::project>({.key = "project",
                                      .standard = "`false`",
                                      .text = "move each initial velocity (and, where the constraint is holonomic, "
                                              "each position) to the nearest one that satisfies the "
                                              "constraint, as said below, and each rotation matrix to the nearest "
                                              "rotation. Otherwise an initial state off the "
                                              "constraint by more than round-off (3e-13 of the sum of the sizes of the "
                                              "constraint's terms), or a matrix that differs "
                                              "from a rotation by more than 1e-8, is an error"}),
    field<&Study::Ensemble::frame>(
        {.key = "frame",
         .standard = "see below",
         .text =
             "on Lie groups, the frame in which v and p of initial states are given: `\"body\"` (left trivialised) or "
             "`\"space\"` (right trivialised)",
         .choices = frames}),
    field<&Study::Ensemble::group_by>(
        {.key = "group_by",
         .standard = "none",
         .text = "names of axes with given values (range, values): the result then has statistics and fits of the "
                 "trajectories with each "
                 "combination of values of these axes, below `/groups` ([results.md](results.md))",
         .wanted = "an array of names of axes"}),
    field<&Study::Ensemble::unused>({.key = "unused",
                                     .standard = "none",
                                     .text = "names of axes that only repeat trajectories, and of columns of the file "
                                             "that are left out. Any other axis or column that "
                                             "no expression and no `group_by` names is an error. An override adds the "
                                             "axes that only the value it replaces used: "
                                             "`--set time.step=0.1`",
                                     .wanted = "an array of names of axes and columns"}),
    field_of<Study::Ensemble, TableOf<Study::Ensemble, initial_fields>>({.key = "initial",
                                                                         .standard = "the system's default state",
                                                                         .text = "the states at the start, below",
                                                                         .shown = Shown::apart}),
};

inline constexpr const char* metrics[] = {"euclidean", "mass"};

inline constexpr Field<Study::Lyapunov> lyapunov_fields[] = {
    field<&Study::Lyapunov::exponents>(
        {.key = "exponents",
         .standard = "as many as observables need",
         .text = "number of exponents in `/final/lyapunov_spectrum`; with 1 there is `/final/lyapunov` alone",
         .minimum = 1}),
    field<&Study::Lyapunov::transient>(
        {.key = "transient",
         .standard = "none",
         .text = "constant: a time at the start that does not count. A sample must be at its end"}),
    field<&Study::Lyapunov::metric>(
        {.key = "metric",
         .standard = "`\"euclidean\"`",
         .text =
             "`\"euclidean\"`: dq . dq + dp . dp; `\"mass\"`: dq . M dq + dp . M^-1 dp with the mass matrix M of the "
             "state",
         .choices = metrics,
         .shown = Shown::changed}),
};

inline constexpr Field<Study::Derivatives> derivative_fields[] = {
    field<&Study::Derivatives::by>(
        {.key = "by",
         .standard = "required",
         .text = "up to 8 names of axes, of parameters of the system, and of components of the initial state: `q0[i]`, "
                 "`v0[i]` or `p0[i]`. An axis and a parameter never share a name",
         .wanted = "an array of names"}),
};

inline constexpr Field<Study::Output> output_fields[] = {
    field_of<Study::Output, Trajectories>(
        {.key = "trajectories",
         .standard = "`[]`",
         .text = "indices of trajectories whose states are kept at all sample times, or `\"all\"`"}),
    field<&Study::Output::initial_state>(
        {.key = "initial_state", .standard = "`true`", .text = "keep the initial states"}),
    field<&Study::Output::final_state>(
        {.key = "final_state",
         .standard = "`true`",
         .text = "keep the final states (status, steps, iterations and residual are always kept)"}),
    field<&Study::Output::covariance>({.key = "covariance",
                                       .standard = "none",
                                       .text = "parts of the state, `[\"q\", \"p\"]` for example, of `q`, `v`, `p`, "
                                               "`lambda`: mean and covariance of all their components "
                                               "over the ensemble",
                                       .wanted = "an array of parts of the state",
                                       .choices = parts_of_state}),
    field<&Study::Output::checkpoint>({.key = "checkpoint",
                                       .standard = "`\"10min\"`",
                                       .text = "how often the run saves what it needs to go on: a time (`ms`, `s`, "
                                               "`min`, `h`, `d`), a number of steps, or `\"off\"`: only "
                                               "when it is interrupted; they take at most a fiftieth of the time"}),
    field<&Study::Output::compression>({.key = "compression",
                                        .standard = "none",
                                        .text =
                                            "1 to 9: states of trajectories and values of observables are stored as "
                                            "chunks, shuffled and compressed by deflate with this level",
                                        .minimum = 1,
                                        .maximum = 9}),
};

inline constexpr Field<Study> root_fields[] = {
    field_of<Study, TableOf<Study, study_fields>>({.key = "study", .standard = "none", .text = "the study as a whole"}),
    field<&Study::system, Separate<Study::System, system_fields>>(
        {.key = "system",
         .standard = "required",
         .text = "the mechanical system: of the catalogue, as formulas ([formulas.md](formulas.md)), or a C++ header"}),
    field_of<Study, Assembled<body_fields>>({.key = "body",
                                             .standard = "none",
                                             .text = "the rigid bodies of a machine",
                                             .wanted = "an array of tables ([[body]])"}),
    field_of<Study, Assembled<joint_fields>>({.key = "joint",
                                              .standard = "none",
                                              .text = "what joins the bodies of a machine",
                                              .wanted = "an array of tables ([[joint]])"}),
    field<&Study::method, Separate<Study::Method, method_fields>>(
        {.key = "method", .standard = "required", .text = "the integrator and its options"}),
    field<&Study::time, TimeTable>({.key = "time", .standard = "required", .text = "the step and the sample times"}),
    field<&Study::ensemble, TableOf<Study::Ensemble, ensemble_fields>>(
        {.key = "ensemble",
         .standard = "one trajectory",
         .text = "the initial states and parameters of the trajectories"}),
    field<&Study::observables>({.key = "observable",
                                .standard = "none",
                                .text = "what is computed of the trajectories",
                                .wanted = "an array of tables ([[observable]])"}),
    field<&Study::sections>({.key = "section",
                             .standard = "none",
                             .text = "the surfaces of section",
                             .wanted = "an array of tables ([[section]])"}),
    field<&Study::stops>({.key = "stop",
                          .standard = "none",
                          .text = "what ends trajectories",
                          .wanted = "an array of tables ([[stop]])"}),
    field<&Study::fates>({.key = "fate",
                          .standard = "none",
                          .text = "what becomes of trajectories",
                          .wanted = "an array of tables ([[fate]])"}),
    field<&Study::maps>({.key = "map",
                         .standard = "none",
                         .text = "labels over two axes, and the numbers of their boundary",
                         .wanted = "an array of tables ([[map]])"}),
    field<&Study::averages>({.key = "average",
                             .standard = "none",
                             .text = "averages over the time of each trajectory, and frequencies",
                             .wanted = "an array of tables ([[average]])"}),
    field<&Study::fits>({.key = "fit",
                         .standard = "none",
                         .text = "the curves through statistics",
                         .wanted = "an array of tables ([[fit]])"}),
    field<&Study::lyapunov, TableOf<Study::Lyapunov, lyapunov_fields>>(
        {.key = "lyapunov", .standard = "none", .text = "how Lyapunov exponents are measured, and how many"}),
    field<&Study::derivatives, TableOf<Study::Derivatives, derivative_fields>>(
        {.key = "derivatives", .standard = "none", .text = "by what the result has derivatives"}),
    field<&Study::output, TableOf<Study::Output, output_fields>>(
        {.key = "output", .standard = "none", .text = "what the result keeps"}),
};

}  // namespace rattleback
