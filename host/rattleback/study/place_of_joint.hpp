#pragma once
// Where a joint is: its two bodies, and its points and axes in their frames.

#include <fmt/format.h>

#include "rattleback/base/message.hpp"
#include "rattleback/study/machine_fields.hpp"
#include "rattleback/study/machine_parts.hpp"

namespace rattleback {

class PlaceOfJoint {
 public:
  PlaceOfJoint(Machine& machine, const Joint& joint, std::string key)
      : machine_(machine), joint_(joint), key_(std::move(key)), a_(part(0)), b_(part(1)) {
    if (&a_ == &b_) fail(fmt::format("it is between {0} and {0}; name two bodies", quote(a_.name)));
  }

 protected:
  [[noreturn]] void fail(const std::string& why) const {
    input_error(joint_.where, fmt::format("joint {}: {}", quote(joint_.name), why));
  }
  Part& part(std::size_t i) {
    if (joint_.between.size() != 2)
      fail(fmt::format("between has {} name{}, and two are needed", joint_.between.size(),
                       joint_.between.size() == 1 ? "" : "s"));
    std::vector<std::string> known;
    for (Part& one : machine_.parts) {
      if (one.name == joint_.between[i]) return one;
      known.push_back(one.name);
    }
    fail(fmt::format("{} is not a body (known: {}){}", quote(joint_.between[i]), join(known),
                     did_you_mean(joint_.between[i], known)));
  }
  [[nodiscard]] std::string path(const char* name) const { return fmt::format("{}.{}", key_, name); }
  /// A number that does not change with the state: one of the parameters.
  [[nodiscard]] Term fixed(const Value& value, const char* name) const {
    (void)machine_.numbers(value, path(name));
    return machine_.numbers.term(value, path(name));
  }
  [[nodiscard]] Term required(const std::optional<Value>& value, const char* name) const {
    if (!value) fail(fmt::format("{} is missing", name));
    return fixed(*value, name);
  }
  [[nodiscard]] double positive(const std::optional<Value>& value, const char* name) const {
    if (!value) fail(fmt::format("{} is missing", name));
    const double number = machine_.numbers(*value, path(name));
    if (!(number > 0.0)) input_error(value->where, fmt::format("{} = {} must be above 0", path(name), number));
    return number;
  }

  // Points and axes in the frames of the bodies.

  [[nodiscard]] std::vector<Value> one_of(const std::vector<std::vector<Value>>& two, std::size_t i,
                                          const char* name) const {
    if (two.size() != 2)
      fail(fmt::format("{} has {} vectors, and two are needed, one for each body", name, two.size()));
    return two[i];
  }
  void read_points(JointKinds kind) {
    if (!joint_.at.empty() && !joint_.on.empty()) fail("at and on are both given; leave one out");
    if (!joint_.on.empty()) {
      Part* const parts[] = {&a_, &b_};
      for (std::size_t i = 0; i < 2; ++i) {
        points_[i] = machine_.vector(one_of(joint_.on, i, "on"), path("on"), joint_.where);
        starts_[i] = parts[i]->at_start(machine_.start_vector(joint_.on[i], path("on"), joint_.where));
      }
      return;
    }
    if ((kind & (rod_joint | spring_joint | rolling_joint)) != 0) {  // the origins
      starts_[0] = a_.at_start({});
      starts_[1] = b_.at_start({});
      return;
    }
    const Num3 place = joint_.at.empty() ? (a_.body != nullptr ? a_ : b_).at_start({})
                                         : machine_.start_vector(joint_.at, path("at"), joint_.where);
    points_[0] = vec(a_.local(place));
    points_[1] = vec(b_.local(place));
    starts_[0] = starts_[1] = place;
  }
  [[nodiscard]] Num3 axis_of(const std::vector<Value>& values, const char* name) const {
    const Num3 axis = unit(machine_.start_vector(values, path(name), joint_.where));
    if (dot(axis, axis) == 0.0) fail(fmt::format("{} has the length 0", name));
    return axis;
  }
  void read_axes(JointKinds kind) {
    if (!joint_.axis.empty() && !joint_.axes.empty()) fail("axis and axes are both given; leave one out");
    constexpr unsigned with_axis = revolute_joint | prismatic_joint | cylindrical_joint | universal_joint |
                                   planar_joint | screw_joint | gear_joint | rectangular_joint;
    if ((kind & (weld_joint | cartesian_joint)) != 0) {
      for (std::size_t i = 0; i < 3; ++i) {
        Num3 along{};
        along[i] = 1.0;
        a_axes_[i] = a_.local_direction(along);
        b_axes_[i] = b_.local_direction(along);
      }
      return;
    }
    disc_ = kind == rolling_joint && !joint_.axis.empty();
    if ((kind & with_axis) == 0 && !disc_) return;
    const bool flat = machine_.planar && (kind & (revolute_joint | gear_joint)) != 0;
    Num3 first{0.0, 0.0, 1.0}, second = first;  // in the frames
    if (flat && (!joint_.axis.empty() || !joint_.axes.empty() || !joint_.axis2.empty()))
      fail("a hinge in the plane has no axis; leave it out");
    if (machine_.planar && disc_) fail("a wheel in the plane has no axis; leave it out");
    if (!joint_.axes.empty()) {
      first = axis_of(one_of(joint_.axes, 0, "axes"), "axes");
      second = axis_of(one_of(joint_.axes, 1, "axes"), "axes");
    } else if (!flat) {
      if (joint_.axis.empty()) fail("axis is missing; give the direction of the joint at the start");
      const Num3 axis = axis_of(joint_.axis, "axis");
      if (kind == universal_joint && joint_.axis2.empty()) fail("axis2 is missing; a universal joint has two axes");
      first = a_.local_direction(axis);
      second = b_.local_direction(joint_.axis2.empty() ? axis : axis_of(joint_.axis2, "axis2"));
    }
    a_axes_[2] = unit(first);
    b_axes_[2] = unit(second);
    a_axes_[0] = rattleback::across(a_axes_[2]);
    a_axes_[1] = cross(a_axes_[2], a_axes_[0]);
    // The axes across are those of the first body at the start, so that the angle begins with 0.
    Num3 along = b_.local_direction(turned(a_, a_axes_[0]));
    const double part = dot(along, b_axes_[2]);
    for (std::size_t i = 0; i < 3; ++i) along[i] -= part * b_axes_[2][i];
    b_axes_[0] = dot(along, along) > 1e-12 ? unit(along) : rattleback::across(b_axes_[2]);
    b_axes_[1] = unit(cross(b_axes_[2], b_axes_[0]));
  }
  /// A direction in the frame of a body, in space at the start.
  static Num3 turned(const Part& part, const Num3& direction) {
    return {dot(part.turn[0], direction), dot(part.turn[1], direction), dot(part.turn[2], direction)};
  }

  [[nodiscard]] Vec a_point() const { return a_.place(points_[0]); }
  [[nodiscard]] Vec b_point() const { return b_.place(points_[1]); }
  static Vec direction(const Part& part, const Num3& local) { return part.R * vec(local); }

  Machine& machine_;
  const Joint& joint_;
  std::string key_;
  Part &a_, &b_;
  std::array<Vec, 2> points_{};   ///< in the frames
  std::array<Num3, 2> starts_{};  ///< in space
  std::array<Num3, 3> a_axes_{}, b_axes_{};
  bool disc_ = false;
};

}  // namespace rattleback
