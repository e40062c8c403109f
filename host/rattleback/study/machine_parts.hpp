#pragma once
// A machine while it is made: bodies with the texts of their places and velocities, the constraints of joints, and what acts.

#include <map>
#include <span>
#include <string>
#include <vector>

#include "rattleback/study/machine.hpp"
#include "rattleback/study/term.hpp"

namespace rattleback {

/// A body, or the ground, whose place is the frame of space. Vectors are in space unless they say otherwise.
struct Part {
  std::string name;
  const Body* body = nullptr;  ///< null for the ground
  Vec center;                  ///< centre of mass in the frame of the body
  Vec x, v, omega;             ///< place and velocity of the centre of mass, angular velocity
  Mat R;                       ///< from the body to space
  Vec force, torque;           ///< what acts on it: at the centre of mass; in the body
  Num3 start{};                ///< origin of the frame at the start
  std::array<Num3, 3> turn{};  ///< R at the start, rows
  Num3 start_center{};         ///< centre of mass in the frame, with the parameters at the start

  /// A point in the frame of the body, in space, and its velocity.
  [[nodiscard]] Vec place(const Vec& point) const { return x + R * (point - center); }
  [[nodiscard]] Vec velocity(const Vec& place_in_space) const { return v + cross(omega, place_in_space - x); }
  /// A place or a direction at the start, in the frame of the body.
  [[nodiscard]] Num3 local(const Num3& place) const;
  [[nodiscard]] Num3 local_direction(const Num3& direction) const;
  /// A point in the frame of the body, in space at the start.
  [[nodiscard]] Num3 at_start(const Num3& point) const;
};

/// A constraint of a joint: a formula that stays 0, and what its multiplier is.
struct JointRow {
  std::string formula;
  const Joint* joint;
  std::string unit, text;
};

/// Evaluates values of the tables with the parameters at the start.
class StartValues {
 public:
  void add(const std::string& name, double value);
  [[nodiscard]] double operator()(const Value& value, const std::string& key) const;
  /// Throws Error(input) for a text that is no expression of the parameters and these names.
  void check(const Value& value, const std::string& key, std::span<const std::string> more) const;
  /// A number where no parameter is named, or the text of the formula.
  [[nodiscard]] Term term(const Value& value, const std::string& key) const;

 private:
  std::vector<std::string> names_;
  std::vector<double> values_;
};

struct Machine {
  bool planar = false;
  std::vector<Part> parts;  ///< the ground, then the bodies
  std::vector<JointRow> positions, velocities;
  Term potential, dissipation;
  std::map<std::string, std::string> observables;
  std::vector<std::string> state;  ///< names of the coordinates and velocities, and of the time
  StartValues numbers;

  [[nodiscard]] std::size_t bodies() const { return parts.size() - 1; }
  [[nodiscard]] std::size_t size() const { return planar ? 2 : 3; }
  /// Reads a vector: two numbers in the plane.
  [[nodiscard]] Vec vector(const std::vector<Value>& values, const std::string& key, const std::string& where) const;
  [[nodiscard]] Num3 start_vector(const std::vector<Value>& values, const std::string& key,
                                  const std::string& where) const;
};

/// Adds the constraints and forces of a joint. `key` is "joint[2]".
void add_joint(Machine& machine, const Joint& joint, const std::string& key);

/// The state in which the machine starts: q and v of the system.
struct MachineStart {
  std::vector<double> q, v;
  std::size_t other_positions, other_velocities;  ///< how many constraints the study has besides those of joints
  std::vector<std::string> dropped;               ///< redundant constraints that were taken out: "3 of joint 'D'"
};

/// Puts the machine together: moves the bodies by the least change to where the constraints hold, finds the velocities that no body
/// gives, and takes redundant constraints out of the machine, or reports them. `system` is the table without the constraints of
/// joints.
[[nodiscard]] MachineStart start_of(Machine& machine, const toml::table& system, bool assemble, bool drop);

}  // namespace rattleback
