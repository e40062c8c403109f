// The constraints of joints, and the forces along them.

#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "rattleback/base/message.hpp"
#include "rattleback/study/machine_fields.hpp"
#include "rattleback/study/machine_parts.hpp"
#include "rattleback/study/place_of_joint.hpp"

namespace rattleback {
namespace {

/// Returns a formula with a term in place of a name.
std::string with(const std::string& formula, std::string_view name, const Term& term) {
  const auto in_name = [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; };
  std::string text;
  for (std::size_t i = 0; i < formula.size();) {
    std::size_t end = i;
    while (end < formula.size() && in_name(formula[end])) ++end;
    const std::string word = formula.substr(i, std::max(end, i + 1) - i);
    text += word == name ? fmt::format("({})", term.formula()) : word;
    i += word.size();
  }
  return text;
}

class JointMaker : PlaceOfJoint {
 public:
  using PlaceOfJoint::PlaceOfJoint;

  void operator()() {
    static_assert(std::size(joint_types) == 14);
    const auto type = static_cast<unsigned>(std::ranges::find(joint_types, joint_.type) - std::begin(joint_types));
    const auto kind = static_cast<JointKinds>(1u << type);
    constexpr unsigned plane =
        weld_joint | revolute_joint | prismatic_joint | rod_joint | gear_joint | rolling_joint | spring_joint;
    if (machine_.planar && (kind & plane) == 0)
      fail(
          fmt::format("a {} joint is one in space, and the bodies move in the plane; take weld, revolute, prismatic, "
                      "rod, gear, rolling or spring",
                      joint_.type));
    read_points(kind);
    read_axes(kind);
    switch (kind) {
      case weld_joint:
        together();
        turning_none();
        break;
      case revolute_joint:
        together();
        parallel();
        angle();
        break;
      case prismatic_joint:
        on_axis();
        parallel();
        across(a_axes_[0], b_axes_[1]);
        shift();
        break;
      case cylindrical_joint:
        on_axis();
        parallel();
        break;
      case spherical_joint:
        together();
        break;
      case universal_joint:
        together();
        two_axes();
        break;
      case planar_joint:
        parallel();
        on_plane();
        break;
      case rectangular_joint:
        turning_none();
        on_plane();
        break;
      case cartesian_joint:
        turning_none();
        break;
      case screw_joint:
        on_axis();
        parallel();
        screw();
        break;
      case rod_joint:
        rod();
        break;
      case gear_joint:
        gear();
        break;
      case rolling_joint:
        roll();
        break;
      case spring_joint:
        spring();
        break;
    }
  }

 private:
  // A constraint, with the unit of its multiplier and what the multiplier does.

  void keep(const Term& row, const char* unit, std::string text) {
    if (row.plain() && std::abs(row.number) < 1e-9) return;
    if (row.plain())
      fail(fmt::format("its bodies are apart by {:.3g} across the directions in which they move; put them in one place",
                       row.number));
    machine_.positions.push_back({row.formula(), &joint_, unit, std::move(text)});
  }
  void keep_rate(const Term& row, const char* unit, std::string text) {
    if (!row.plain()) machine_.velocities.push_back({row.formula(), &joint_, unit, std::move(text)});
  }
  /// A direction in the frame of a part, in words: in space, at the start where it turns with the part.
  [[nodiscard]] std::string words(const Part& part, const Num3& local) const {
    const Num3 direction = turned(part, local);
    std::string text;
    for (std::size_t i = 0; i < 3; ++i)
      if (std::abs(std::abs(direction[i]) - 1.0) < 1e-12) text = std::string(direction[i] < 0.0 ? "-" : "") + "xyz"[i];
    const bool turns = part.body != nullptr && !(machine_.planar && local[2] != 0.0);
    const auto number = [](double x) { return std::abs(x) < 1e-12 ? 0.0 : x; };
    if (text.empty())
      text = fmt::format("({:.4g}, {:.4g}, {:.4g})", number(direction[0]), number(direction[1]), number(direction[2]));
    return turns ? fmt::format("{} at the start, turning with {}", text, part.name) : text;
  }
  [[nodiscard]] std::string force_on(const Part& pushed, const Part& part, const Num3& local) const {
    return fmt::format("force on {} along {}", pushed.name, words(part, local));
  }
  [[nodiscard]] std::string force_on(const Part& pushed, std::size_t axis) const {
    return fmt::format("force on {} along {}", pushed.name, "xyz"[axis]);
  }
  [[nodiscard]] std::string torque_on(const Part& turned, const Part& part, const Num3& local) const {
    return fmt::format("torque on {} about {}", turned.name, words(part, local));
  }
  [[nodiscard]] std::string apart() const {
    return fmt::format("half the force that pushes {} and {} apart, over the distance of their points", a_.name,
                       b_.name);
  }

  // What joints are made of.

  void together() {
    const Vec gap = b_point() - a_point();
    for (std::size_t i = 0; i < 3; ++i) keep(gap[i], "force", force_on(b_, i));
  }
  void across(const Num3& a, const Num3& b) {
    const Num3 about = unit(cross(b, b_.local_direction(turned(a_, a))));  // in the frame of the second body
    keep(dot(direction(a_, a), direction(b_, b)), "torque", torque_on(b_, b_, about));
  }
  /// The angle between the axes of a universal joint, that of the start.
  void two_axes() {
    const Num3 first = b_.local_direction(turned(a_, a_axes_[2])), about = cross(b_axes_[2], first);
    if (dot(about, about) < 1e-12) fail("its axes have one direction; take a revolute joint, or give another axis2");
    const Term row = dot(direction(a_, a_axes_[2]), direction(b_, b_axes_[2]));
    const double cosine = dot(first, b_axes_[2]), sine = std::sqrt(dot(about, about));
    keep(std::abs(cosine) < 1e-12 ? row : (row - Term(cosine)) / Term(sine), "torque", torque_on(b_, b_, unit(about)));
  }
  void parallel() {
    across(a_axes_[2], b_axes_[0]);
    across(a_axes_[2], b_axes_[1]);
  }
  void on_axis() {
    const Vec gap = b_point() - a_point();
    for (std::size_t i = 0; i < 2; ++i)
      keep(dot(direction(a_, a_axes_[i]), gap), "force", force_on(b_, a_, a_axes_[i]));
  }
  void on_plane() {
    keep(dot(direction(a_, a_axes_[2]), b_point() - a_point()), "force", force_on(b_, a_, a_axes_[2]));
  }
  /// Orthogonal axes that stay so: a rotation by a half turn keeps them, too, and is far away.
  void turning_none() {
    across(a_axes_[0], b_axes_[1]);
    across(a_axes_[1], b_axes_[2]);
    across(a_axes_[2], b_axes_[0]);
  }
  [[nodiscard]] Term cosine() const { return dot(direction(a_, a_axes_[0]), direction(b_, b_axes_[0])); }
  [[nodiscard]] Term sine() const { return dot(direction(a_, a_axes_[1]), direction(b_, b_axes_[0])); }
  [[nodiscard]] Term way() const { return dot(direction(a_, a_axes_[2]), b_point() - a_point()); }
  [[nodiscard]] double way_at_start() const {
    const Num3 axis = turned(a_, a_axes_[2]);
    return dot(axis, Num3{starts_[1][0] - starts_[0][0], starts_[1][1] - starts_[0][1], starts_[1][2] - starts_[0][2]});
  }
  /// The angle in the plane, which counts turns.
  [[nodiscard]] Term plane_angle(const Part& part) const {
    return part.body == nullptr ? Term(0.0) : Term(part.name + "_theta");
  }
  [[nodiscard]] double plane_start(const Part& part) const {
    return part.body == nullptr || part.body->rotation.empty()
               ? 0.0
               : machine_.numbers(part.body->rotation[0], "body.rotation");
  }
  [[nodiscard]] Term turn_in_plane() const {
    return plane_angle(b_) - plane_angle(a_) - Term(plane_start(b_) - plane_start(a_));
  }

  [[nodiscard]] Term motion() const {
    const std::vector<std::string> time{"t"};
    machine_.numbers.check(*joint_.motion, path("motion"), time);
    return machine_.numbers.term(*joint_.motion, path("motion"));
  }
  void angle() {
    const bool plane = machine_.planar;
    const Term value = plane ? turn_in_plane() : angle_of(sine(), cosine());
    const Vec n = direction(a_, a_axes_[2]);
    const Term rate = dot(n, b_.omega - a_.omega);
    if (joint_.motion) {
      const Term wanted = motion();
      keep(plane ? value - wanted : sine() * call("cos", wanted) - cosine() * call("sin", wanted), "torque",
           torque_on(b_, a_, a_axes_[2]) + ", of the motion");
    }
    observe("angle", value);
    if (!plane) {
      if (joint_.rest) known_angle(*joint_.rest, "rest");
      for (const Value& limit : joint_.limits) known_angle(limit, "limits");
    }
    act(value, 0.0, rate, "angle", [&](const Term& torque) {
      twist(b_, torque * n);
      twist(a_, -torque * n);
    });
  }
  /// In space an angle is known without its turns.
  void known_angle(const Value& given, const char* key) {
    if (const double number = machine_.numbers(given, path(key)); !(std::abs(number) <= std::numbers::pi))
      fail(fmt::format("{} has {:.6g}, and the angle of a joint in space is in (-pi, pi]; give an angle in this range",
                       key, number));
  }
  void shift() {
    const Term value = way() - Term(way_at_start());
    const Vec n = direction(a_, a_axes_[2]);
    const Vec place = b_point();
    const Term rate = dot(n, b_.velocity(place) - a_.velocity(place));
    if (joint_.motion) keep(value - motion(), "force", force_on(b_, a_, a_axes_[2]) + ", of the motion");
    observe("shift", value);
    act(value, 0.0, rate, "shift", [&](const Term& force) {
      push(b_, place, force * n);
      push(a_, place, -force * n);
    });
  }
  void screw() {
    const Term k = Term(2.0 * std::numbers::pi) / required(joint_.pitch, "pitch");
    if (machine_.numbers(*joint_.pitch, path("pitch")) == 0.0) fail("the pitch is 0; take a revolute joint");
    // sin(k z - angle) = 0: a function of the configuration for any number of turns
    const Term along = k * (way() - Term(way_at_start()));
    keep(call("sin", along) * cosine() - call("cos", along) * sine(), "torque",
         fmt::format("torque on {} against the turn, with 2 pi/pitch of it as a force along {}", b_.name,
                     words(a_, a_axes_[2])));
  }
  [[nodiscard]] double distance_at_start() const {
    double square = 0.0;
    for (std::size_t i = 0; i < 3; ++i) square += (starts_[1][i] - starts_[0][i]) * (starts_[1][i] - starts_[0][i]);
    if (!(square > 0.0)) fail("its ends are in one place at the start; give other points in on");
    return std::sqrt(square);
  }
  void rod() {
    const Vec gap = b_point() - a_point();
    Term length = distance_at_start();
    if (joint_.length) {
      (void)positive(joint_.length, "length");
      length = fixed(*joint_.length, "length");
    }
    keep(dot(gap, gap) - length * length, "force/length", apart());
  }
  void spring() {
    const Vec from = a_point(), to = b_point(), gap = to - from;
    const Term length = call("sqrt", dot(gap, gap));
    const Term rate = dot(gap, b_.velocity(to) - a_.velocity(from)) / length;
    if (!joint_.stiffness && !joint_.damping && !joint_.effort)
      fail("it has no stiffness, damping or effort; give one of them");
    act(length, distance_at_start(), rate, "length", [&](const Term& force) {
      const Vec along = (force / length) * gap;
      push(b_, to, along);
      push(a_, from, -1.0 * along);
    });
  }
  void gear() {
    const Term ratio = required(joint_.ratio, "ratio");
    if (machine_.numbers(*joint_.ratio, path("ratio")) == 0.0) fail("the ratio is 0");
    if (machine_.planar) {
      keep(plane_angle(b_) - Term(plane_start(b_)) - ratio * (plane_angle(a_) - Term(plane_start(a_))), "torque",
           torque_on(b_, b_, b_axes_[2]));
      return;
    }
    keep_rate(dot(direction(b_, b_axes_[2]), b_.omega) - ratio * dot(direction(a_, a_axes_[2]), a_.omega), "torque",
              torque_on(b_, b_, b_axes_[2]));
  }
  void roll() {
    const double r = positive(joint_.radius, "radius");
    const Term radius = fixed(*joint_.radius, "radius");
    if (joint_.radius2) {
      if (disc_ || !joint_.normal.empty())
        fail("radius2 is that of a sphere or a wheel, which has no axis and no normal");
      return roll_on_body(radius, r, positive(joint_.radius2, "radius2"));
    }
    Num3 n = machine_.planar ? Num3{0.0, 1.0, 0.0} : Num3{0.0, 0.0, 1.0};
    if (!joint_.normal.empty()) n = axis_of(joint_.normal, "normal");
    const Num3 t = rattleback::across(n), t2 = cross(n, t);
    const Vec normal = direction(b_, n), center = a_point();
    Vec down = -radius * normal;
    Term height = radius;
    if (disc_) {
      const Vec axis = direction(a_, a_axes_[2]);
      const Term tilt = dot(normal, axis), slope = call("sqrt", Term(1.0) - tilt * tilt);
      down = (-radius / slope) * (normal - tilt * axis);
      height = radius * slope;
    }
    keep(dot(normal, center - b_point()) - height, "force", force_on(a_, b_, n) + ", the load");
    if (machine_.planar) {  // then rolling is a constraint on positions: the way is the radius times the angle
      const Num3 along = t[2] == 0.0 ? t : t2;
      const Term turn = cross(Vec{0.0, 0.0, 1.0}, vec({-n[0], -n[1], 0.0}))[0] * Term(along[0]) +
                        cross(Vec{0.0, 0.0, 1.0}, vec({-n[0], -n[1], 0.0}))[1] * Term(along[1]);
      double start = 0.0;
      const Num3 in_space = turned(b_, along);
      for (std::size_t i = 0; i < 3; ++i) start += in_space[i] * (starts_[0][i] - starts_[1][i]);
      keep(dot(direction(b_, along), center - b_point()) - Term(start) - radius * turn * turn_in_plane(), "force",
           force_on(a_, b_, along) + ", the friction");
      return;
    }
    const Vec contact = center + down, slip = a_.velocity(contact) - b_.velocity(contact);
    for (const Num3& one : {t, t2})
      keep_rate(dot(direction(b_, one), slip), "force", force_on(a_, b_, one) + ", the friction");
  }
  void roll_on_body(const Term& radius, double r, double r2) {
    const Term radius2 = fixed(*joint_.radius2, "radius2"), sum = radius + radius2;
    const Vec gap = a_point() - b_point();
    const Term share = radius2 / sum;  // the point of contact is on the line between the centres
    const Vec contact = b_point() + share * gap, slip = a_.velocity(contact) - b_.velocity(contact);
    if (machine_.planar) {
      keep(dot(gap, gap) - sum * sum, "force/length", apart());
      keep_rate(gap[0] * slip[1] - gap[1] * slip[0], "force/length",
                fmt::format("friction on {}, counterclockwise, over the distance of the centres", a_.name));
      return;
    }
    if (const double apart = distance_at_start() - r - r2; std::abs(apart) > 1e-12 * (r + r2))
      fail(fmt::format("the bodies are apart by {:.3g} at the start; they roll on each other where they touch", apart));
    for (std::size_t i = 0; i < 3; ++i)
      keep_rate(slip[i], "force", force_on(a_, i));  // that along the line of the centres keeps their distance
  }

  // What acts along a joint.

  static void push(Part& part, const Vec& place, const Vec& force) {
    if (part.body == nullptr) return;
    part.force = part.force + force;
    twist(part, cross(place - part.x, force));
  }
  static void twist(Part& part, const Vec& torque) {
    if (part.body != nullptr) part.torque = part.torque + transposed(part.R) * torque;
  }
  template <class Act>
  void act(const Term& value, double start, const Term& rate, const char* name, Act apply) {
    if (joint_.stiffness) {
      const Term away = value - (joint_.rest ? fixed(*joint_.rest, "rest") : Term(start));
      machine_.potential = machine_.potential + Term(0.5) * fixed(*joint_.stiffness, "stiffness") * away * away;
    } else if (joint_.rest) {
      fail("rest is that of a spring; give its stiffness");
    }
    if (joint_.damping)
      machine_.dissipation = machine_.dissipation + Term(0.5) * fixed(*joint_.damping, "damping") * rate * rate;
    if (!joint_.limits.empty()) {
      if (joint_.limits.size() != 2)
        fail(fmt::format("limits has {} numbers, and two are needed", joint_.limits.size()));
      const double low = machine_.numbers(joint_.limits[0], path("limits")),
                   high = machine_.numbers(joint_.limits[1], path("limits"));
      if (!(low < high)) fail(fmt::format("limits are from {} to {}; the first is the smaller one", low, high));
      (void)positive(joint_.limit_stiffness, "limit_stiffness");
      (void)positive(joint_.limit_width, "limit_width");
      beyond(fixed(joint_.limits[0], "limits") - value);
      beyond(value - fixed(joint_.limits[1], "limits"));
    } else if (joint_.limit_stiffness) {
      fail("limit_stiffness is that of limits; give them");
    }
    if (!joint_.effort) return;
    std::vector<std::string> names = machine_.state;
    names.insert(names.end(), {name, "rate"});
    machine_.numbers.check(*joint_.effort, path("effort"), names);
    std::string formula = machine_.numbers.term(*joint_.effort, path("effort")).formula();
    formula = with(with(formula, name, value), "rate", rate);
    const Term force(formula, true);
    apply(force);
  }
  /// A spring that sets in smoothly: ((s + sqrt(s^2 + w^2))/2)^2.
  void beyond(const Term& s) {
    const Term width = fixed(joint_.limit_width, "limit_width");
    const Term depth = s + call("sqrt", s * s + width * width);
    machine_.potential =
        machine_.potential + Term(0.125) * fixed(*joint_.limit_stiffness, "limit_stiffness") * depth * depth;
  }
  void observe(const char* what, const Term& value) {
    if (!value.plain()) machine_.observables[fmt::format("{}_{}", joint_.name, what)] = value.formula();
  }
};

}  // namespace

void add_joint(Machine& machine, const Joint& joint, const std::string& key) { JointMaker(machine, joint, key)(); }

}  // namespace rattleback
