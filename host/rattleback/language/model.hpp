#pragma once
// A mechanical system that a study writes as formulas. Plain data; `system_graph.hpp` gives it a meaning.

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rattleback/base/error.hpp"
#include "rattleback/language/group.hpp"

namespace rattleback {

/// Places of numbers that `--set KEY=VALUE` gives begin so.
inline constexpr std::string_view option_prefix = "--set ";
/// A text that follows from another place of the study has a path that begins so, and goes on with that place.
inline constexpr std::string_view whole_place = "\x02";

/// Indices of nodes and coordinates are int, because -1 means none.
inline std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// The text of one formula, and its place.
struct FormulaText {
  std::string text;
  std::string key;    ///< "system.potential", "system.mass[1]"
  std::string where;  ///< "FILE:LINE", "--set KEY" or ""
  /// The formula begins at this byte of the text, behind "for i in 1..3:", and these names have values in it.
  std::size_t begin = 0;
  std::map<std::string, int> indices = {};
  bool unused = false;  ///< its range is empty: it is read for its faults alone
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

/// The table [system] of a study. Names are checked: a letter or _, then letters, digits and _.
struct SystemFormulas {
  struct Parameter {
    std::string name;
    double value = 0.0;
    std::string unit = "1", text;
  };
  using Dimension = NamedCount;
  /// What lambda[k] is called and means; all texts may be empty.
  struct Multiplier {
    std::string name, joint, unit, text;
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
  /// Names of the numbers of a configuration, of the n velocities, and of the n momenta where a Hamiltonian is given.
  std::vector<std::string> coordinates, velocities, momenta;
  std::vector<Parameter> parameters;
  std::vector<Dimension> dimensions;  ///< whole numbers that the text fixes

  /// Kinetic energy v.M v/2: n entries, a diagonal, or n n entries, rows of a symmetric matrix; empty for M = 1.
  std::vector<FormulaText> mass;
  std::vector<FormulaText> vector_potential;  ///< n entries, or none
  FormulaText potential;                      ///< an empty text for none
  FormulaText lagrangian;                     ///< in place of mass, vector_potential and potential
  FormulaText hamiltonian;                    ///< H(t, q, p), in place of a Lagrangian
  std::optional<bool> degenerate;  ///< whether velocities do not determine the momenta of H; unset before it is known
  std::vector<FormulaText> force;  ///< a generalized force f(t, q, v), n entries, or none
  FormulaText dissipation;         ///< Rayleigh's function D(t, q, v), whose force is -dD/dv; an empty text for none
  std::vector<FormulaText> constraints, velocity_constraints;
  std::vector<FormulaText> unused;      ///< those of empty ranges, "for i in 1..0: .."
  std::vector<Multiplier> multipliers;  ///< one for each constraint, or none
  std::vector<Observable> observables;
  std::vector<double> q, v;  ///< default state: elements, n
  std::vector<double> p;     ///< its momentum, n numbers, where a Hamiltonian is given without v; otherwise empty
  double time_scale = 1.0;

  /// Whether methods see a group. The numbers of S^1 and R^n add up, so that products of these are R^n to a method.
  [[nodiscard]] bool on_group() const { return !std::ranges::all_of(group, &GroupFactor::commutes); }
  /// The configuration space and its coordinates, with bodies also the velocities: "R^2: x, y", "S^1: theta; velocities w".
  [[nodiscard]] std::string configuration() const;
  [[nodiscard]] int n() const { return static_cast<int>(velocities.size()); }
  [[nodiscard]] int elements() const { return static_cast<int>(coordinates.size()); }
  [[nodiscard]] int m() const { return static_cast<int>(constraints.size() + velocity_constraints.size()); }
  /// Returns the index of the multiplier with this name; lambda_pin[1] is also lambda_pin1 or lambda_pin_1.
  [[nodiscard]] std::optional<int> multiplier(const std::string& name) const;
  /// Whether both kinds of constraints are there.
  [[nodiscard]] bool mixed() const { return !constraints.empty() && !velocity_constraints.empty(); }
};

inline constexpr int most_observables = 32;

/// Returns what a name with indices may mean: y2 and y_2 for y[2], link2_x and link_2_x for link[2]_x, and R13_2 among those of
/// R[1][3][2]. Other names mean themselves.
[[nodiscard]] std::vector<std::string> meanings_of(const std::string& name);

/// Returns why a text cannot name a coordinate, velocity, parameter or dimension; empty for a good name.
[[nodiscard]] std::string fault_of_symbol(std::string_view name);

}  // namespace rattleback
