#pragma once
// The rows of [[body]] and [[joint]].

#include "rattleback/study/fields.hpp"
#include "rattleback/study/machine.hpp"

namespace rattleback {

/// A number, an array or rows, as a list of all entries.
struct Entries {
  static constexpr const char *wanted = "a number, an array or rows of numbers or formulas",
                              *schema = R"({"type":["number","string","array"]})";
  static void read(const toml::node&, const std::string& key, const FieldInfo&, std::vector<Value>&);
  static std::string write(const FieldInfo& row, const std::vector<Value>& values) {
    return Grammar<std::vector<Value>>::write(row, values);
  }
};

/// Two vectors, one for each body of a joint.
struct PairOfVectors {
  static constexpr const char *wanted = "two arrays of numbers, one for each body",
                              *schema =
                                  R"({"type":"array","items":{"type":"array","items":{"type":["number","string"]}}})";
  static void read(const toml::node&, const std::string& key, const FieldInfo&, std::vector<std::vector<Value>>&);
  static std::string write(const FieldInfo& row, const std::vector<std::vector<Value>>& values) {
    return Grammar<std::vector<std::vector<Value>>>::write(row, values);
  }
};

inline constexpr const char* joint_types[] = {"weld",      "revolute", "prismatic",   "cylindrical", "spherical",
                                              "universal", "planar",   "screw",       "rod",         "gear",
                                              "rolling",   "spring",   "rectangular", "cartesian"};

inline constexpr Field<Body> body_fields[] = {
    field<&Body::name>({.key = "name",
                        .standard = "required",
                        .text = "letters, digits and `_`; the names of its numbers begin with it: `arm_x`"}),
    field<&Body::mass>({.key = "mass", .standard = "required", .text = "above 0"}),
    field<&Body::inertia, Entries>(
        {.key = "inertia",
         .standard = "required",
         .text =
             "about the centre of mass: one number for a body in the plane; three moments or three rows, in the axes "
             "of the body, for one in space. All bodies of a study are of the same kind"}),
    field<&Body::center>(
        {.key = "center", .standard = "the origin", .text = "the centre of mass in the frame of the body"}),
    field<&Body::position>({.key = "position",
                            .standard = "`[0, 0, 0]`, or two numbers in the plane",
                            .text = "the origin of the frame at the start, in space"}),
    field<&Body::rotation, Entries>(
        {.key = "rotation",
         .standard = "none",
         .text =
             "at the start: an angle in the plane; in space a rotation vector, or the rows of a rotation matrix from "
             "the body to space"}),
    field<&Body::velocity>(
        {.key = "velocity", .standard = "follows from the joints", .text = "of the origin at the start, in space"}),
    field<&Body::spin, Entries>({.key = "spin",
                                 .standard = "follows from the joints",
                                 .text = "angular velocity at the start, in the frame of the body"}),
};

inline constexpr unsigned hinged_joints = revolute_joint | prismatic_joint;
inline constexpr Field<Joint> joint_fields[] = {
    field<&Joint::name>({.key = "name",
                         .standard = "required",
                         .text = "for messages, and for the observables `NAME_angle` and `NAME_shift`"}),
    field<&Joint::type>({.key = "type", .standard = "required", .text = "one of those below", .choices = joint_types}),
    field<&Joint::between>({.key = "between",
                            .standard = "required",
                            .text = "names of two bodies; `\"ground\"` is the space",
                            .wanted = "an array of two names"}),
    field<&Joint::at>({.key = "at",
                       .standard = "the origin of the first body that moves",
                       .text = "the place of the joint at the start, in space",
                       .kinds = weld_joint | revolute_joint | prismatic_joint | cylindrical_joint | spherical_joint |
                                universal_joint | planar_joint | screw_joint | rectangular_joint | cartesian_joint}),
    field<&Joint::on, PairOfVectors>(
        {.key = "on",
         .standard = "none",
         .text =
             "in place of `at`: the same point in the frame of each body, also as formulas of the parameters. A rod "
             "and a spring join these points; of a rolling joint they are the centre and a point of the plane, or "
             "both centres",
         .kinds = ~static_cast<unsigned>(gear_joint)}),
    field<&Joint::axis>(
        {.key = "axis",
         .standard = "required, but for a hinge in the plane",
         .text = "the direction of the joint at the start, in space: axis of a hinge, a slide, a screw "
                 "or a gear, normal of a plane or of two slides; first axis of a universal joint; of a rolling disc (a "
                 "rolling body without axis is a sphere)",
         .kinds = revolute_joint | prismatic_joint | cylindrical_joint | universal_joint | planar_joint | screw_joint |
                  gear_joint | rolling_joint | rectangular_joint}),
    field<&Joint::axis2>({.key = "axis2",
                          .standard = "that of `axis`",
                          .text = "the axis on the second body, where it differs",
                          .kinds = universal_joint | gear_joint}),
    field<&Joint::axes, PairOfVectors>({.key = "axes",
                                        .standard = "none",
                                        .text = "in place of `axis`: in the frame of each body",
                                        .kinds = revolute_joint | prismatic_joint | cylindrical_joint |
                                                 universal_joint | planar_joint | screw_joint | gear_joint |
                                                 rectangular_joint}),
    field<&Joint::length>(
        {.key = "length", .standard = "the distance at the start", .text = "of a rod", .kinds = rod_joint}),
    field<&Joint::pitch>({.key = "pitch",
                          .standard = "required",
                          .text = "the distance by which the second body moves along the axis in one turn",
                          .kinds = screw_joint}),
    field<&Joint::ratio>({.key = "ratio",
                          .standard = "required",
                          .text = "turns of the second body for one of the first; negative where they turn against "
                                  "each other",
                          .kinds = gear_joint}),
    field<&Joint::radius>(
        {.key = "radius", .standard = "required", .text = "of the first body, which rolls", .kinds = rolling_joint}),
    field<&Joint::radius2>({.key = "radius2",
                            .standard = "a plane",
                            .text = "of the second body, where it is a sphere or a wheel",
                            .kinds = rolling_joint}),
    field<&Joint::normal>({.key = "normal",
                           .standard = "upwards",
                           .text = "of the plane, in the frame of the second body, towards the first",
                           .kinds = rolling_joint}),
    field<&Joint::stiffness>({.key = "stiffness",
                              .standard = "`0`",
                              .text = "of a spring along the joint: force by length, or torque by angle",
                              .kinds = hinged_joints | spring_joint}),
    field<&Joint::damping>({.key = "damping",
                            .standard = "`0`",
                            .text = "of a damper along the joint: force by velocity, or torque by rate",
                            .kinds = hinged_joints | spring_joint}),
    field<&Joint::rest>({.key = "rest",
                         .standard = "that of the start",
                         .text = "length, angle or shift at which the spring is at rest",
                         .kinds = hinged_joints | spring_joint}),
    field<&Joint::effort>({.key = "effort",
                           .standard = "none",
                           .text =
                               "a motor: the torque or the force on the second body, and its opposite on the first; "
                               "a formula that may name `t`, the coordinates, and `angle`, `shift` or `length`, and "
                               "`rate`",
                           .kinds = hinged_joints | spring_joint}),
    field<&Joint::motion>({.key = "motion",
                           .standard = "none",
                           .text = "a drive: the angle or the shift since the start as a formula of `t`",
                           .kinds = hinged_joints}),
    field<&Joint::limits>({.key = "limits",
                           .standard = "none",
                           .text = "two numbers between which the angle or the shift stays, held by stiff springs",
                           .kinds = hinged_joints}),
    field<&Joint::limit_stiffness>({.key = "limit_stiffness",
                                    .standard = "required with `limits`",
                                    .text = "of the springs beyond the limits",
                                    .kinds = hinged_joints}),
    field<&Joint::limit_width>({.key = "limit_width",
                                .standard = "`0.001`",
                                .text = "the distance over which such a spring sets in, so that the force is smooth",
                                .kinds = hinged_joints}),
};

}  // namespace rattleback
