#pragma once
// A study tells the system, the method, the initial states and the output. A study is read from TOML and validated
// against the catalogue.

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "rattleback/base/error.hpp"
#include "rattleback/language/value.hpp"

namespace rattleback {

struct SystemFormulas;

/// The value of an option of a method: a whole number, a number, true or false, a choice, a list of numbers, the rows
/// of a matrix.
struct MethodOption {
  std::variant<std::int64_t, double, bool, std::string, std::vector<double>, std::vector<std::vector<double>>> content;

  MethodOption() = default;
  template <std::integral I>
    requires(!std::same_as<I, bool>)
  MethodOption(I whole) : content(static_cast<std::int64_t>(whole)) {}
  MethodOption(double number) : content(number) {}
  MethodOption(bool flag) : content(flag) {}
  MethodOption(std::string choice) : content(std::move(choice)) {}
  MethodOption(const char* choice) : content(std::string(choice)) {}
  MethodOption(std::vector<double> numbers) : content(std::move(numbers)) {}
  MethodOption(std::vector<std::vector<double>> rows) : content(std::move(rows)) {}
  friend bool operator==(const MethodOption&, const MethodOption&) = default;
};

/// As it stands in a study file: 3, 0.5, true, "exp", [-0.5, 0.5].
[[nodiscard]] std::string to_toml(const MethodOption& value);

struct Axis {
  enum class Kind { range, values, uniform, normal };
  /// Where the draws of a uniform or normal axis come from: the random number generator, Sobol's sequence, a lattice.
  enum class Points { random, sobol, lattice };
  std::string name;
  Kind kind = Kind::range;
  Points points = Points::random;
  Value from, to;                      ///< range (both ends included) and uniform
  std::uint64_t count = 0;             ///< range
  std::vector<double> values;          ///< values
  Value mean = 0.0, std = 1.0;         ///< normal
  std::uint64_t seed = 0;              ///< uniform, normal
  std::optional<std::uint64_t> draws;  ///< draws of this axis alone; absent: drawn jointly with Study::Ensemble::draws
  /// A vector u stands for the axes u[0], u[1], .. of this number, which are like this one.
  std::optional<std::uint64_t> dimension;
  bool joined = false;  ///< a component that has draws of its own together with the component before it
  std::string where;
};

/// Returns the axes with numbers as values: the components in place of a vector.
[[nodiscard]] std::vector<Axis> components_of(const std::vector<Axis>& axes);

/// As it stands in a study file: "sobol".
[[nodiscard]] std::string_view name_of(Axis::Points points);

/// Bins of equal width between two values.
struct Histogram {
  double from = 0.0, to = 1.0;
  std::uint64_t bins = 0;
};

/// The reference for the errors of an observable: a number, or the initial value of each trajectory. `standard` means
/// the initial value for an invariant of the system, 0 for other observables. Validation replaces `standard`.
struct ErrorReference {
  enum class Kind { standard, initial, number } kind = Kind::standard;
  double number = 0.0;

  ErrorReference() = default;
  ErrorReference(double value) : kind(Kind::number), number(value) {}
  static ErrorReference initial() {
    ErrorReference reference;
    reference.kind = Kind::initial;
    return reference;
  }
  friend bool operator==(const ErrorReference&, const ErrorReference&) = default;
};

struct Observable {
  std::string name;
  /// An expression in the state, the parameters and the observables of the system, and the time t. Empty for an observable
  /// that the system or the method offers.
  std::string formula = {};
  std::vector<std::string> statistics;   ///< mean, std, mse, rms, min, max, maxabs
  std::vector<double> quantiles;         ///< levels in [0, 1]
  std::optional<Histogram> histogram;    ///< counts over the ensemble
  std::vector<std::string> correlation;  ///< observables whose correlation with this one is wanted
  ErrorReference reference;              ///< reference of mse, rms and maxabs
  bool values = false;                   ///< the result keeps the value of each trajectory at each sample
  std::string where;
};

/// A least-squares fit to a statistic of the ensemble over the samples in [from, to].
struct Fit {
  /// line: y = intercept + slope t; power: y = amplitude t^exponent; exponential: y = amplitude exp(rate t). The last two
  /// are lines in the logarithm of y.
  enum class Model { line, power, exponential };
  std::string name, observable;
  std::string statistic = "mse";  ///< mse or mean
  Model model = Model::line;
  std::optional<double> from, to;  ///< absent: the first and the last sample; after validation: set
  std::string where;
};
inline constexpr const char* fit_models[] = {"line", "power", "exponential"};  ///< names, in the order of Fit::Model

/// Initial states in memory of the caller, one row per trajectory, row-major. Nothing is copied: `owner` keeps the memory.
struct StateTable {
  struct Block {
    std::uint64_t width = 0;  ///< 0: the part of the state is not given
    const double* values = nullptr;
  };
  std::uint64_t rows = 0;
  Block q, v, p, lambda;
  /// Further numbers of each trajectory, which expressions use like axes.
  std::vector<std::pair<std::string, const double*>> columns;
  std::shared_ptr<const void> owner;

  /// Returns the name of the file that holds the states beside a saved study: "states-", a digest of all numbers, ".h5".
  [[nodiscard]] std::string file_name() const;
};

struct Study {
  std::string name = "study";

  struct System {
    std::string name, variant;  ///< the name may be empty for a system of the user
    /// C++ header of a system of the user, relative to the folder of the study, and the type over T:
    /// "example::DoubleWell<T>". Empty for a system of the catalogue. After validation the path is absolute.
    std::filesystem::path file;
    std::string type;
    /// SHA-256 of the header and the headers it includes. After validation it is set; a given one must agree.
    std::string digest;
    /// A system written as formulas, and its table as TOML without name and parameters; null and empty for others.
    std::shared_ptr<const SystemFormulas> formulas;
    std::string formulas_text;
    std::map<std::string, Value> parameters;  ///< after validation: all parameters of the instance
    std::string where;
  } system;

  struct Method {
    std::string name;
    /// Options by name: options["stages"] = 3. After validation: all options of the method for the system.
    std::map<std::string, MethodOption, std::less<>> options;
    double tolerance = 1e-16;  ///< size of the last update, relative to the unknowns, that ends the iteration
    std::int64_t max_iterations = 50;
    /// Start of Newton's method, for methods with MethodEntry::predicts: "advanced" is q + h v, "simple" is q.
    std::string guess = "advanced";
    std::string where;

    /// Returns the value of an option that is a whole number; empty when no such option is set.
    [[nodiscard]] std::optional<int> integer(std::string_view option) const;
    [[nodiscard]] std::optional<int> stages() const { return integer("stages"); }
  } method;

  struct Time {
    double start = 0.0;
    Value step = 0.1;  ///< number, expression of axes, or axis name
    /// Set either end or steps. Validation sets the other. Steps is 0 when the step size varies over the ensemble.
    std::optional<double> end;
    std::optional<std::uint64_t> steps;
    /// Set either sample_every (steps) or samples (intervals). Validation sets both; sample_every is 0 when the step
    /// size varies. With sample_every the last interval may be shorter.
    std::optional<std::uint64_t> sample_every;
    std::optional<std::uint64_t> samples;
    /// What the size of a step follows: "fixed", or "density": a step is `step` divided by a number that stays near `density`
    /// (kernels/rattleback/loop/clock.hpp). Steps and sample_every are then 0.
    std::string control = "fixed";
    std::string density;                     ///< a formula of the coordinates and parameters; empty with "fixed"
    std::optional<std::uint64_t> max_steps;  ///< most steps of a trajectory; with "density" validation sets it
    std::string where;

    [[nodiscard]] bool by_density() const { return control == "density"; }
  } time;

  struct Ensemble {
    std::vector<Axis> axes;  ///< Cartesian product, last axis fastest
    /// A condition on the axes and parameters. Points that do not satisfy it are left out: they keep their indices, and have
    /// Status::status_left_out and no states.
    std::optional<Value> condition;
    std::optional<std::uint64_t> draws;  ///< joint draws of the random axes without own draws
    /// Independent randomisations of the joint quasi-random points, of equal size. Validation sets 1 where none is given
    /// and there are such points.
    std::optional<std::uint64_t> randomisations;
    std::filesystem::path file;  ///< CSV or HDF5 of initial states instead of axes; relative to the study file
    /// Initial states in memory instead of axes and file. The study as TOML names the file of write_states (study/ensemble.hpp).
    std::shared_ptr<const StateTable> states;
    std::string group;  ///< HDF5 group of the datasets; "" means / or /initial
    bool project = false;
    /// Frame of v and p of the initial states on Lie groups: "space" (right trivialised) or "body". Empty means the
    /// frame of the method's states or, for states from a result, the frame of the result's method.
    std::string frame;
    /// Axes with given values: the result has statistics of each combination of values of these axes as well.
    std::vector<std::string> group_by;
    /// Axes that only repeat trajectories, and columns of the file that are left out. Any other axis or column must have a use.
    std::vector<std::string> unused;
    /// Empty when not given. "for i in 0..3: F" and "for i: F" stand for several components (study/components.hpp).
    std::vector<Value> q, v, p, lambda;
    std::string where;

    /// Returns whether a file or a table lists the trajectories.
    [[nodiscard]] bool listed() const { return !file.empty() || states != nullptr; }
  } ensemble;

  std::vector<Observable> observables;

  /// A surface of section. A run collects the states in which trajectories cross surface = 0.
  struct Section {
    std::string name;
    std::string surface;  ///< an expression like the formula of an observable
    std::optional<Value>
        every;          ///< in place of a surface: a period in the parameters, for the times every, 2 every, ..
    int direction = 1;  ///< 1: from negative to positive, -1: the other way, 0: both
    /// What the result says of the times between crossings.
    struct Returns {
      std::vector<std::string> statistics;
      std::vector<double> quantiles;  ///< levels
      std::optional<Histogram> histogram;
      std::string where;
    };
    std::optional<Returns> returns;
    std::string where;
  };
  std::vector<Section> sections;
  std::vector<Fit> fits;

  /// An average over the time of each trajectory, of a formula or of the rate of an angle (kernels/rattleback/loop/averages.hpp).
  struct Average {
    enum class Kind { mean, frequency };
    std::string name;
    std::string formula;  ///< an expression like the surface of a section
    Kind kind = Kind::mean;
    std::vector<std::string> statistics = {"mean"};  ///< over the ensemble
    std::vector<double> quantiles;                   ///< levels
    std::optional<Histogram> histogram;
    std::string where;
  };
  std::vector<Average> averages;

  /// A condition that ends a trajectory: where a formula changes its sign, or after so many crossings of a section.
  struct Stop {
    std::string name;
    std::string when;                       ///< an expression like the surface of a section; empty with `section`
    int direction = 1;                      ///< of `when`, as in Section
    std::string section;                    ///< the name of a section; empty with `when`
    std::optional<std::uint64_t> count;     ///< crossings of the section that end the trajectory; set with `section`
    std::vector<double> quantiles = {0.5};  ///< levels, of the times of the stops
    std::string where;
  };
  std::vector<Stop> stops;

  /// A condition on how a trajectory has ended. The first one that holds is the fate of the trajectory.
  struct Fate {
    std::string name;
    std::optional<Value> condition;  ///< on the final state; empty with `stop`
    std::string stop;                ///< the stop that ended the trajectory; empty with `condition`
    std::string where;
  };
  std::vector<Fate> fates;

  /// The labels of the trajectories over two axes.
  struct Map {
    std::string name;
    std::string of = "fate";        ///< the labels: "fate" or "stop"
    std::vector<std::string> axes;  ///< of the rows and of the columns
    std::string where;
  };
  std::vector<Map> maps;

  /// What is asked of tangent vectors besides the observables (study/lyapunov.cpp).
  struct Lyapunov {
    std::optional<std::uint64_t> exponents;  ///< their number; empty: as many as observables need
    std::optional<double> transient;         ///< time at the start that does not count
    std::string metric = "euclidean";        ///< or "mass"
  } lyapunov;

  /// The parameters of the ensemble by which the result has derivatives: names of axes, of parameters of the system, and components of
  /// the initial state (study/derivatives.hpp).
  struct Derivatives {
    std::vector<std::string> by;
    std::string where;
  } derivatives;

  /// A run saves a checkpoint after `seconds` seconds, or after `steps` steps of the trajectories if `steps` is not 0.
  /// If both are 0, only an interrupted run saves a checkpoint.
  struct Checkpoint {
    double seconds = 600.0;
    std::uint64_t steps = 0;
  };

  struct Output {
    bool all_trajectories = false;
    std::vector<std::uint64_t> trajectories;
    bool initial_state = true;
    bool final_state = true;
    std::vector<std::string> covariance;  ///< parts of the state (q, v, p, lambda) whose joint covariance is wanted
    Checkpoint checkpoint;
    std::optional<std::uint64_t> compression;  ///< level of deflate for series of single trajectories
    std::string where;
  } output;

  std::filesystem::path file;             ///< the study file; empty when the study comes from another source
  std::filesystem::path directory = ".";  ///< relative paths start here
  /// The place of each key ("time.end", "ensemble.axes[0]"), for messages.
  std::map<std::string, std::string, std::less<>> places;

  /// Problem::load(file, overrides).study: a complete study, to be changed before a run. What runs it unchanged starts from the
  /// Problem, which is resolved already.
  static Study load(const std::filesystem::path& file, std::span<const std::string> overrides = {});
  /// Problem::parse(toml, origin, overrides).study.
  static Study parse(std::string_view toml, std::string_view origin = "study",
                     std::span<const std::string> overrides = {});

  /// Sets every default and checks all values that need no evaluation of the ensemble. The result is the study of the
  /// Problem (study/problem.hpp). A second call changes nothing.
  void validate();
  /// Returns the complete study as TOML; parse(to_toml()) gives the same study.
  [[nodiscard]] std::string to_toml() const;

  /// Returns the study of the same trajectories without all that it says about output: observables, sections, stops, fits, groups,
  /// recorded trajectories, states, samples between start and end. Commands that derive a study from the user's start from
  /// this one, so that nothing left over refers to something dropped.
  [[nodiscard]] Study without_requests() const;

  /// Returns the files that a run of the study reads, and must not replace.
  [[nodiscard]] std::vector<std::filesystem::path> inputs() const;

  /// Returns the place of a key, or of the table around the key; "" when no file or option gave the key.
  [[nodiscard]] std::string place(std::string_view key) const;
};

}  // namespace rattleback
