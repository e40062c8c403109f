#pragma once
// A study: what to integrate, how, from where, and what to keep. Read from TOML, validated against the catalogue.

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "rattleback/base/error.hpp"
#include "rattleback/expression/surface.hpp"
#include "rattleback/expression/value.hpp"

namespace rattleback {

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
  std::string name;
  Kind kind = Kind::range;
  Value from, to;                      ///< range (both ends included) and uniform
  std::uint64_t count = 0;             ///< range
  std::vector<double> values;          ///< values
  Value mean = 0.0, std = 1.0;         ///< normal
  std::uint64_t seed = 0;              ///< uniform, normal
  std::optional<std::uint64_t> draws;  ///< an axis of its own; absent: drawn jointly with Study::Ensemble::draws
  std::string where;
};

/// Equal bins between two values.
struct Histogram {
  double from = 0.0, to = 1.0;
  std::uint64_t bins = 0;
};

/// What the errors of an observable are taken against: a number, the initial value of each trajectory, or, as `standard`, that
/// of its kind: the initial value of an invariant of the system, 0 otherwise. Validation replaces `standard`.
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
  std::vector<std::string> statistics;   ///< mean, std, mse, rms, min, max, maxabs
  std::vector<double> quantiles;         ///< levels in [0, 1]
  std::optional<Histogram> histogram;    ///< counts over the ensemble
  std::vector<std::string> correlation;  ///< observables whose correlation with this one is wanted
  ErrorReference reference;              ///< of mse, rms and maxabs
  std::string where;
};

struct Study {
  std::string name = "study";

  struct System {
    std::string name, variant;
    std::map<std::string, Value> parameters;  ///< after validation: every parameter of the instance
    std::string where;
  } system;

  struct Method {
    std::string name;
    /// By name, options["stages"] = 3; after validation: all that the method has for the system.
    std::map<std::string, MethodOption, std::less<>> options;
    double tolerance =
        1e-16;  ///< size of the last update, relative to the size of the unknowns, that ends the iteration
    std::int64_t max_iterations = 50;
    /// Where Newton's method starts, of methods with MethodEntry::predicts: "advanced", from q + h v, or "simple", from q.
    std::string guess = "advanced";
    std::string where;

    /// An option that is a whole number; nothing where there is none of that name.
    [[nodiscard]] std::optional<int> integer(std::string_view option) const;
    [[nodiscard]] std::optional<int> stages() const { return integer("stages"); }
  } method;

  struct Time {
    double start = 0.0;
    Value step = 0.1;  ///< number, expression of axes, or axis name
    /// Set one of end and steps; validation sets the other (steps is 0 when the step size varies over the ensemble).
    std::optional<double> end;
    std::optional<std::uint64_t> steps;
    /// Set one of sample_every (steps) and samples (intervals); validation sets both (sample_every is 0 when the step
    /// size varies). With sample_every the last interval may be the shorter one.
    std::optional<std::uint64_t> sample_every;
    std::optional<std::uint64_t> samples;
    std::string where;
  } time;

  struct Ensemble {
    std::vector<Axis> axes;              ///< Cartesian product, last axis fastest
    std::optional<std::uint64_t> draws;  ///< joint draws of the random axes without draws of their own
    std::filesystem::path file;          ///< CSV or HDF5 of initial states instead of axes; relative to the study file
    std::string group;                   ///< HDF5 group of the datasets; "" finds /, /initial
    bool project = false;
    /// What v and p of the initial states are given in, on Lie groups: "space" (right trivialised) or "body". Empty: as the
    /// states of the method are or, from a result, as those of its method were.
    std::string frame;
    std::vector<Value> q, v, p, lambda;  ///< empty: not given
    std::string where;
  } ensemble;

  std::vector<Observable> observables;

  /// A surface of section: the states in which trajectories cross surface = 0 are collected.
  using Section = SurfaceText;
  std::vector<Section> sections;

  /// When a run saves what it needs to go on: after `seconds`, or after `steps` steps of its trajectories if not 0.
  /// Neither: only when it is interrupted.
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
    std::string where;
  } output;

  std::filesystem::path file;             ///< the study file; empty where the study comes from elsewhere
  std::filesystem::path directory = ".";  ///< where relative paths start
  /// Where each key ("time.end", "ensemble.axes[0]") was written, for messages.
  std::map<std::string, std::string, std::less<>> places;

  /// Reads a study file. `overrides` are KEY=VALUE with dotted keys (time.step=0.05, ensemble.axes[0].count=31).
  /// The result is validated. Throws Error(input) with FILE:LINE.
  static Study load(const std::filesystem::path& file, std::span<const std::string> overrides = {});
  /// The same from text; `origin` stands for the file name in messages.
  static Study parse(std::string_view toml, std::string_view origin = "study",
                     std::span<const std::string> overrides = {});

  /// Fills in every default and checks all that can be checked without evaluating the ensemble: this becomes the study of its
  /// Problem (problem/problem.hpp). Idempotent.
  void validate();
  /// The effective study; parse(to_toml()) gives the same study.
  [[nodiscard]] std::string to_toml() const;

  /// Where a key was written, or else the table around it; "" for what no file or option gave.
  [[nodiscard]] std::string place(std::string_view key) const;
};

}  // namespace rattleback
