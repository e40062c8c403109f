#pragma once
// Which columns of a table of initial states are the state: by their names.

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rattleback {

/// What a study and its system call the numbers of a state.
struct StateNames {
  int elements = 0, n = 0, m = 0;         ///< of q; of v and p; of lambda
  std::vector<std::string> coordinates;   ///< of the system; empty without names
  std::vector<std::string> velocities;    ///< names of their own; otherwise those of a coordinate x are v_x and vx
  std::set<std::string> used;             ///< names in expressions of the study: these are columns, not the state
  std::set<std::string> ignored;          ///< names of columns that are left out
  bool on_group = false;                  ///< velocities are in the body, and have no names by coordinates
  std::vector<std::string> momenta = {};  ///< names of their own; otherwise p_x and px

  /// The names in the condition of the ensemble. With a condition, rows that it leaves out need not be finite.
  std::set<std::string> in_condition = {};

  /// Returns the names in words: "q[0] .. q[1] or x, y; v[0] .. v[1] or v_x, v_y; ..".
  [[nodiscard]] std::string in_words() const;
  /// Returns all names of the state.
  [[nodiscard]] std::vector<std::string> all() const;
};

/// A part of the state.
enum class StatePart { q, v, p, lambda };
inline constexpr StatePart state_parts[] = {StatePart::q, StatePart::v, StatePart::p, StatePart::lambda};
[[nodiscard]] std::string_view name_of(StatePart part);

/// Returns the part with this name, in either case; empty for another name.
[[nodiscard]] std::optional<StatePart> state_part(std::string_view name);

/// A number of the state.
struct StateColumn {
  StatePart part;
  std::uint64_t index;
  friend bool operator==(const StateColumn&, const StateColumn&) = default;
};

/// Returns which columns are numbers of the state. They are named by their index (q[2], q2, q_2, q(2), in either case; q where there
/// is one), or by the coordinate (x, and v_x or vx, p_x or px for its velocity and momentum). Calls `fail` with a message when
/// columns of a part are missing, given twice or can be read in two ways.
[[nodiscard]] std::vector<std::optional<StateColumn>> state_columns(std::span<const std::string> columns,
                                                                    const StateNames& names,
                                                                    const std::function<void(std::string)>& fail);

}  // namespace rattleback
