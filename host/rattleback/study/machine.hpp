#pragma once
// The tables [[body]] and [[joint]] of a study: a machine of rigid bodies, which becomes a system of formulas before the study is
// read any further.

#include <optional>
#include <string>
#include <vector>

#include <toml++/toml.h>

#include "rattleback/language/value.hpp"

namespace rattleback {

/// A rigid body. In the plane it has one moment of inertia, and vectors have two numbers.
struct Body {
  std::string name;
  Value mass;
  std::vector<Value> inertia;             ///< about the centre of mass, in the axes of the body: 1, 3 or 9 entries
  std::vector<Value> center;              ///< centre of mass in the frame of the body; none for its origin
  std::vector<Value> position, rotation;  ///< of the frame at the start; a rotation is an angle, a vector or a matrix
  std::vector<Value> velocity, spin;  ///< of the origin in space, and angular in the body; none: as the joints want it
  std::string where;
};

/// The kinds of joints, as bits.
enum JointKinds : unsigned {
  weld_joint = 1,
  revolute_joint = 2,
  prismatic_joint = 4,
  cylindrical_joint = 8,
  spherical_joint = 16,
  universal_joint = 32,
  planar_joint = 64,
  screw_joint = 128,
  rod_joint = 256,
  gear_joint = 512,
  rolling_joint = 1024,
  spring_joint = 2048,
  rectangular_joint = 4096,
  cartesian_joint = 8192
};

struct Joint {
  std::string name, type;
  std::vector<std::string> between;          ///< two bodies; "ground" is the space
  std::vector<Value> at, axis, axis2;        ///< in space, at the start
  std::vector<std::vector<Value>> on, axes;  ///< in the frames of the two bodies
  std::vector<Value> normal;
  std::optional<Value> length, pitch, ratio, radius, radius2;
  std::optional<Value> stiffness, damping, rest, effort, motion;
  std::vector<Value> limits;
  std::optional<Value> limit_stiffness;
  Value limit_width = 1e-3;
  std::string where;
};

/// Replaces the tables [[body]] and [[joint]] of a study by the system of formulas that they mean, in [system], with the state in
/// which the machine starts. Throws Error(input) where they make no machine.
void assemble_machine(toml::table& study);

}  // namespace rattleback
