#pragma once
// A mechanical system that a study writes as formulas. Plain data; `system_graph.hpp` gives it a meaning.

#include <string>
#include <string_view>
#include <vector>

#include "rattleback/base/error.hpp"

namespace rattleback {

/// Places of numbers that `--set KEY=VALUE` gives begin so.
inline constexpr std::string_view option_prefix = "--set ";

/// Indices of nodes and coordinates are int, because -1 means none.
inline std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// The text of one formula, and its place.
struct FormulaText {
  std::string text;
  std::string key;    ///< "system.potential", "system.mass[1]"
  std::string where;  ///< "FILE:LINE", "--set KEY" or ""
};

/// An error in a formula. what() is complete; excerpt() shows the place in the formula.
class FormulaError : public Error {
 public:
  /// `column` counts from 1; 0 means the whole formula.
  FormulaError(const FormulaText& formula, std::size_t column, std::string_view fault);
  /// Two lines: the line of the formula near the column, and a caret below the column. Empty for a fault of the whole
  /// formula, and where a terminal would not show the line as written.
  [[nodiscard]] const std::string& excerpt() const { return excerpt_; }

 private:
  std::string excerpt_;
};

/// A factor of a configuration space.
struct GroupFactor {
  enum class Kind { rn, so3, se3 } kind = Kind::rn;
  int size = 0;  ///< dimension

  [[nodiscard]] int elements() const { return kind == Kind::rn ? size : size + 6; }
  bool operator==(const GroupFactor&) const = default;
};

/// The table [system] of a study. Names are checked: a letter or _, then letters, digits and _.
struct SystemFormulas {
  struct Parameter {
    std::string name;
    double value = 0.0;
    std::string unit = "1", text;
  };
  struct Dimension {
    std::string name;
    int value = 0;
  };
  struct Observable {
    std::string name;
    FormulaText formula;
    bool conserved = false;
    std::string text;
  };

  std::string name, where;  ///< the name of the system, and the place of the table
  std::string summary, source;
  std::vector<GroupFactor> group;  ///< R^n has one factor
  /// Names of the numbers of a configuration, and of the n velocities.
  std::vector<std::string> coordinates, velocities;
  std::vector<Parameter> parameters;
  std::vector<Dimension> dimensions;  ///< whole numbers that the text fixes

  /// Kinetic energy v.M v/2: n entries, a diagonal, or n n entries, rows of a symmetric matrix; empty for M = 1.
  std::vector<FormulaText> mass;
  std::vector<FormulaText> vector_potential;  ///< n entries, or none
  FormulaText potential;                      ///< an empty text for none
  FormulaText lagrangian;                     ///< in place of mass, vector_potential and potential
  std::vector<FormulaText> force;             ///< a generalized force f(t, q, v), n entries, or none
  FormulaText dissipation;  ///< Rayleigh's function D(t, q, v), whose force is -dD/dv; an empty text for none
  std::vector<FormulaText> constraints, velocity_constraints;
  std::vector<Observable> observables;
  std::vector<double> q, v;  ///< default state: elements, n
  double time_scale = 1.0;

  [[nodiscard]] bool on_group() const { return group.size() != 1 || group.front().kind != GroupFactor::Kind::rn; }
  /// The configuration space and its coordinates, as "R^2: x, y".
  [[nodiscard]] std::string configuration() const;
  [[nodiscard]] int n() const { return static_cast<int>(velocities.size()); }
  [[nodiscard]] int elements() const { return static_cast<int>(coordinates.size()); }
  [[nodiscard]] int m() const { return static_cast<int>(constraints.size() + velocity_constraints.size()); }
  /// Whether both kinds of constraints are there.
  [[nodiscard]] bool mixed() const { return !constraints.empty() && !velocity_constraints.empty(); }
};

inline constexpr int most_coordinates = 64, most_observables = 32;

/// Returns the factors of "SO(3) x R^2". Throws Error(input) for other texts.
[[nodiscard]] std::vector<GroupFactor> parse_group(const FormulaText& group);

/// Returns the C++ type of a group: "SO3", "Product<SO3, Rn<2>>".
[[nodiscard]] std::string type_of(const std::vector<GroupFactor>& group);

/// Returns why a text cannot name a coordinate, velocity, parameter or dimension; empty for a good name.
[[nodiscard]] std::string fault_of_symbol(std::string_view name);

}  // namespace rattleback
