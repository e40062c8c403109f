#pragma once
// Configuration spaces of formulas: products of R^n, S^1, SO(3), SE(2) and SE(3), and the names of their numbers.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rattleback {

struct FormulaText;

inline constexpr int most_coordinates = 64;

/// A factor of a configuration space. Every factor but R^n is a body.
struct GroupFactor {
  enum class Kind { rn, s1, so3, se2, se3 } kind = Kind::rn;
  int size = 0;  ///< dimension

  [[nodiscard]] bool is_body() const { return kind != Kind::rn; }
  [[nodiscard]] bool has_matrix() const { return kind == Kind::so3 || kind == Kind::se3; }
  /// S^1 and R^n, whose numbers are coordinates that add up.
  [[nodiscard]] bool commutes() const { return kind == Kind::rn || kind == Kind::s1; }
  [[nodiscard]] int elements() const { return has_matrix() ? size + 6 : size; }
  /// The velocities of the rotation: the first one, and their count.
  [[nodiscard]] int first_turn() const { return kind == Kind::se2 ? 2 : 0; }
  [[nodiscard]] int turns() const { return has_matrix() ? 3 : is_body() ? 1 : 0; }
  [[nodiscard]] int first_move() const { return has_matrix() ? 3 : 0; }
  [[nodiscard]] int moves() const { return size - turns(); }
  /// "SO(3)", "R^2"
  [[nodiscard]] std::string name() const;
  /// The names of the numbers of a body, and of its velocities.
  [[nodiscard]] std::span<const std::string_view> coordinates() const;
  [[nodiscard]] std::span<const std::string_view> velocities() const;
  bool operator==(const GroupFactor&) const = default;
};

/// The beginning of what messages call a body without a name.
inline constexpr std::string_view unnamed_body = "body ";

/// The names that several bodies give to a number: "arm_R11", with the names of the bodies, or "R11_2", with their numbers.
class BodyNames {
 public:
  /// Takes a name for every body, or none.
  BodyNames(const std::vector<GroupFactor>& group, std::vector<std::string> given);

  [[nodiscard]] std::string operator()(std::size_t body, std::string_view name) const;
  [[nodiscard]] bool given() const { return !given_.empty(); }
  /// Whether names end with the number of the body.
  [[nodiscard]] bool numbered() const { return given_.empty() && count_ > 1; }
  /// "arm", or "body 2" in messages
  [[nodiscard]] std::string of(std::size_t body) const;
  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  std::vector<std::string> given_;
  std::size_t count_ = 0;
};

/// A whole number that has a name, as the exponent in "SO(3)^k".
struct NamedCount {
  std::string name;
  int value = 0;
};

/// Returns the factors of "SO(3)^2 x R^2". Throws Error(input) for other texts.
[[nodiscard]] std::vector<GroupFactor> parse_group(const FormulaText& group, std::span<const NamedCount> counts = {});

/// Returns "SO(3)^2 x R^2".
[[nodiscard]] std::string text_of(const std::vector<GroupFactor>& group);

/// Returns the C++ type of a group: "SO3", "Product<SO3, Rn<2>>".
[[nodiscard]] std::string type_of(const std::vector<GroupFactor>& group);

/// Returns the header in rattleback/lie with the type of a group: "so3".
[[nodiscard]] std::string_view header_of(const std::vector<GroupFactor>& group);

}  // namespace rattleback
