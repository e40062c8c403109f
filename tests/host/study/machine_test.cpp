// Bodies and joints: the constraints of a joint hold along the motions that it leaves, and only there; forces have the power of
// the joint; a machine starts where all joints fit; and each fault has its message.

#include <cmath>

#include <fmt/format.h>

#include "rattleback/language/system_graph.hpp"
#include "rattleback/lie/so3.hpp"
#include "rattleback/study/reader.hpp"
#include "studies.hpp"

namespace rattleback {
namespace machine_test {

using namespace tests;
using V3 = Vector<double, 3>;
using R9 = Vector<double, 9>;

constexpr const char* rest = "[method]\nname = 'holonomic-lobatto'\n[time]\nstep = 0.1\nend = 1\n";

SystemFormulas formulas_of(const std::string& machine) {
  return *read_study(machine + rest, "s.toml", {}, {}, false, {}).system.formulas;
}

V3 turned(const R9& rotation, const V3& x) { return SO3::Ad(rotation, x); }
V3 add(const V3& a, const V3& b, double times = 1.0) {
  return {a[0] + times * b[0], a[1] + times * b[1], a[2] + times * b[2]};
}

/// A place of a body, or a motion of space.
struct Pose {
  R9 rotation = SO3::identity<double>();
  V3 place{0.0, 0.0, 0.0};
  [[nodiscard]] Pose after(const Pose& first) const {
    return {SO3::product(rotation, first.rotation), add(place, turned(rotation, first.place))};
  }
};
/// A rotation about an axis through a point, with a way along the axis.
Pose about(const V3& point, const V3& axis, double angle, double way = 0.0) {
  const R9 rotation = SO3::expand(V3{angle * axis[0], angle * axis[1], angle * axis[2]});
  return {rotation, add(add(point, turned(rotation, point), -1.0), axis, way)};
}

const Pose start_a{SO3::expand(V3{0.3, -0.5, 0.7}), {0.4, -0.2, 0.9}};
const Pose start_b{SO3::expand(V3{-0.2, 0.8, 0.1}), {1.3, 0.6, 0.2}};
const V3 joint_at{0.8, 0.1, 0.5};
const V3 n{2.0 / 3, -1.0 / 3, 2.0 / 3}, across{1.0 / std::sqrt(5.0), 2.0 / std::sqrt(5.0), 0.0};

std::string pair_of_bodies(const std::string& joint) {
  return "[system]\nname = 'pair'\n"
         "[[body]]\nname = 'a'\nmass = 2\ninertia = [1, 2, 2.5]\ncenter = [0.1, 0.2, -0.3]\n"
         "position = [0.4, -0.2, 0.9]\nrotation = [0.3, -0.5, 0.7]\n"
         "[[body]]\nname = 'b'\nmass = 3\ninertia = [[1, 0.1, 0], [0.1, 2, 0], [0, 0, 2.5]]\n"
         "position = [1.3, 0.6, 0.2]\nrotation = [-0.2, 0.8, 0.1]\n"
         "[[joint]]\nname = 'j'\nbetween = ['a', 'b']\n" +
         joint + "\n";
}
constexpr const char *axis = "axis = [2, -1, 2]\n", *at = "at = [0.8, 0.1, 0.5]\n";

/// The largest constraint where b has moved against a, and both together.
double gap(SystemFormulas system, const Pose& motion) {
  const Pose all = about({0.3, 0.1, -0.7}, {0.0, 0.6, 0.8}, 1.1, 0.4);
  const Pose a = all.after(start_a), b = all.after(motion).after(start_b);
  const V3 center = add(a.place, turned(a.rotation, {0.1, 0.2, -0.3}));
  std::copy_n(a.rotation.entry, 9, system.q.begin());
  std::copy_n(b.rotation.entry, 9, system.q.begin() + 9);
  for (int i = 0; i < 3; ++i) system.q[18 + i] = center[i], system.q[21 + i] = b.place[i];
  const SystemGraph graph(system);
  double most = 0.0;
  for (int k = 0; k < graph.positions(); ++k)
    most = std::max(most, std::abs(graph.default_value(graph.constraints[k])));
  return most;
}

struct Case {
  std::string joint;
  std::size_t rows;
  std::vector<Pose> allowed, refused;
};

TEST(Machine, JointsLeaveTheirMotions) {
  const Pose turn = about(joint_at, n, 0.9), shift = about(joint_at, n, 0.0, 0.3), both = about(joint_at, n, 7.0, 0.3);
  const Pose tilt = about(joint_at, across, 0.4),
             aside{SO3::identity<double>(), {0.1 * across[0], 0.1 * across[1], 0.0}};
  const double sqrt6 = std::sqrt(6.0);
  const Pose skewed = about(joint_at, {1.0 / sqrt6, 2.0 / sqrt6, 1.0 / sqrt6}, 0.4);
  const Pose screw = about(joint_at, n, 7.0, 0.25 * 7.0 / (2.0 * M_PI)), none;
  const Pose rod = about(start_a.place, n, 0.8).after(about(start_b.place, across, 1.0));
  for (const Case& one :
       {Case{fmt::format("type = 'weld'\n{}", at), 6, {none}, {turn, shift, tilt, aside}},
        {fmt::format("type = 'revolute'\n{}{}", at, axis), 5, {none, turn}, {shift, tilt, aside, both}},
        {fmt::format("type = 'prismatic'\n{}{}", at, axis), 5, {none, shift}, {turn, tilt, aside}},
        {fmt::format("type = 'cylindrical'\n{}{}", at, axis), 4, {turn, shift, both}, {tilt, aside}},
        {fmt::format("type = 'spherical'\n{}", at), 3, {turn, tilt}, {shift, aside}},
        {fmt::format("type = 'universal'\n{}{}axis2 = [1, 2, 0]\n", at, axis),
         4,
         {turn, tilt, turn.after(tilt)},
         {shift, tilt.after(turn)}},
        {fmt::format("type = 'universal'\n{}{}axis2 = [1, 2, 1]\n", at, axis),
         4,
         {turn, skewed, turn.after(skewed)},
         {shift, tilt, skewed.after(turn)}},
        {fmt::format("type = 'planar'\n{}{}", at, axis), 3, {turn, aside, turn.after(aside)}, {shift, tilt}},
        {fmt::format("type = 'rectangular'\n{}{}", at, axis), 4, {none, aside}, {turn, shift, tilt}},
        {fmt::format("type = 'cartesian'\n{}", at), 3, {none, aside, shift.after(aside)}, {turn, tilt}},
        {fmt::format("type = 'screw'\npitch = 0.25\n{}{}", at, axis), 5, {none, screw}, {turn, shift, tilt}},
        {"type = 'rod'", 1, {none, rod}, {turn, shift}}}) {
    const SystemFormulas system = formulas_of(pair_of_bodies(one.joint));
    EXPECT_EQ(system.constraints.size(), one.rows) << one.joint;
    for (const Pose& motion : one.allowed) EXPECT_LT(gap(system, motion), 1e-14) << one.joint;
    for (const Pose& motion : one.refused) EXPECT_GT(gap(system, motion), 1e-3) << one.joint;
  }
}

/// The values of nodes, with velocities.
std::vector<double> values(const SystemGraph& graph, const std::vector<int>& nodes) {
  std::vector<double> result;
  for (const int node : nodes) result.push_back(graph.default_value(node));
  return result;
}

/// The direction of "torque on b about -y at the start, ..".
V3 direction_in(const std::string& text) {
  const std::size_t begin = std::min(text.find(" along "), text.find(" about ")) + 7;
  V3 d{0.0, 0.0, 0.0};
  if (std::sscanf(text.c_str() + begin, "(%lf, %lf, %lf)", &d[0], &d[1], &d[2]) == 3) return d;
  const bool negative = text.at(begin) == '-';
  d[text.at(begin + (negative ? 1 : 0)) - 'x'] = negative ? -1.0 : 1.0;
  return d;
}

TEST(Machine, MultipliersAreTheForcesThatTheirTextsName) {
  for (const std::string& joint :
       {fmt::format("type = 'weld'\n{}", at), fmt::format("type = 'revolute'\n{}{}motion = '0'\n", at, axis),
        fmt::format("type = 'prismatic'\n{}{}motion = '0'\n", at, axis),
        fmt::format("type = 'cylindrical'\n{}{}", at, axis), fmt::format("type = 'spherical'\n{}", at),
        fmt::format("type = 'universal'\n{}{}axis2 = [1, 2, 0]\n", at, axis),
        fmt::format("type = 'universal'\n{}{}axis2 = [1, 2, 1]\n", at, axis),
        fmt::format("type = 'rectangular'\n{}{}", at, axis), fmt::format("type = 'cartesian'\n{}", at),
        fmt::format("type = 'planar'\n{}{}", at, axis), fmt::format("type = 'gear'\nratio = 2\n{}", axis)}) {
    SystemFormulas system = formulas_of(pair_of_bodies(joint));
    ASSERT_EQ(static_cast<int>(system.multipliers.size()), system.m()) << joint;
    const SystemGraph graph(system);
    for (int k = 0; k < system.m(); ++k) {
      const auto& multiplier = system.multipliers[static_cast<std::size_t>(k)];
      EXPECT_EQ(multiplier.name, fmt::format("lambda_j_{}", k));
      EXPECT_EQ(multiplier.joint, "j");
      const auto on_b = [&](int first) {  // the force for a multiplier of 1
        V3 part{};
        for (int i = 0; i < 3; ++i)
          part[i] = graph.default_value(graph.forms[static_cast<std::size_t>(k * system.n() + first + i)]);
        return part;
      };
      const V3 force = on_b(9), torque = turned(start_b.rotation, on_b(3));
      const bool pushes = multiplier.unit == "force";
      const V3 wanted = direction_in(multiplier.text);
      for (int i = 0; i < 3; ++i) {
        EXPECT_NEAR((pushes ? force : torque)[i], wanted[i], 1e-4) << joint << multiplier.text;
        if (!pushes) EXPECT_NEAR(force[i], 0.0, 1e-15) << joint << multiplier.text;
      }
    }
  }
  // constraints of the study itself stand behind those of joints, and their multipliers have no name
  const SystemFormulas both = formulas_of(
      "[system]\nname = 'ball'\nconstraints = ['for i in 1..1: i b_x']\n"
      "[[body]]\nname = 'b'\nmass = 1\ninertia = [1, 1, 1]\nposition = [0, 0, 0.5]\n"
      "[[joint]]\nname = 'r'\ntype = 'rolling'\nbetween = ['b', 'ground']\nradius = 0.5\n");
  std::string names;
  for (const auto& multiplier : both.multipliers) names += multiplier.name + ",";
  EXPECT_EQ(names, "lambda_r_0,,lambda_r_1,lambda_r_2,");
}

constexpr const char* ball =
    "[system]\nname = 'ball'\n[[body]]\nname = 'b'\nmass = 1\ninertia = [1, 1, 1]\n"
    "position = [0, 0, 0.5]\nspin = [0.2, 0.3, 0.4]\n"
    "[[joint]]\nname = 'r'\ntype = 'rolling'\nbetween = ['b', 'ground']\nradius = 0.5\n";

TEST(Machine, MultipliersOfRodsScrewsAndRollingBodies) {
  const auto part = [](const SystemGraph& graph, int n, int row, int first) {
    V3 result{};
    for (int i = 0; i < 3; ++i)
      result[i] = graph.default_value(graph.forms[static_cast<std::size_t>(row * n + first + i)]);
    return result;
  };
  const SystemFormulas rod = formulas_of(pair_of_bodies("type = 'rod'"));
  EXPECT_EQ(rod.multipliers[0].unit, "force/length");
  EXPECT_EQ(rod.multipliers[0].text, "half the force that pushes a and b apart, over the distance of their points");
  const V3 apart = part(SystemGraph(rod), 12, 0, 9), gap = add(start_b.place, start_a.place, -1.0);
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(apart[i], 2.0 * gap[i], 1e-15);
  // the torque of the screw is against its turn, and the force along the axis is 2 pi/pitch of it
  const SystemFormulas screw = formulas_of(pair_of_bodies(fmt::format("type = 'screw'\npitch = 0.25\n{}{}", at, axis)));
  const SystemGraph graph(screw);
  const V3 force = part(graph, 12, 4, 9), torque = turned(start_b.rotation, part(graph, 12, 4, 3));
  const V3 lever = cross(add(start_b.place, joint_at, -1.0), force);  // of the force at the point of the joint
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(force[i], 8.0 * M_PI * n[i], 1e-12);
    EXPECT_NEAR(torque[i] + lever[i], -n[i], 1e-12);
  }
  const char* disc =
      "[system]\nname = 'disc'\n[[body]]\nname = 'b'\nmass = 1\ninertia = [1, 1, 2]\nrotation = [0, 1.0, 0]\n"
      "position = [0, 0, '0.5 sin(1)']\n"
      "[[joint]]\nname = 'r'\ntype = 'rolling'\nbetween = ['b', 'ground']\nradius = 0.5\naxis = ['sin(1)', 0, "
      "'cos(1)']\n";
  for (const char* rolling : {ball, disc}) {
    const SystemFormulas system = formulas_of(rolling);
    const SystemGraph rolls(system);
    ASSERT_EQ(system.multipliers.size(), 3u);
    for (int k = 0; k < 3; ++k) {
      const auto& multiplier = system.multipliers[static_cast<std::size_t>(k)];
      EXPECT_EQ(multiplier.unit, "force");
      EXPECT_NE(multiplier.text.find(k == 0 ? ", the load" : ", the friction"), std::string::npos);
      const V3 wanted = direction_in(multiplier.text), found = part(rolls, 6, k, 3);
      for (int i = 0; i < 3; ++i) EXPECT_NEAR(found[i], wanted[i], 1e-15) << multiplier.text;
    }
  }
}

TEST(Machine, ForcesHaveThePowerOfTheJoint) {
  // a and b turn about the axis and shift along it, as a whole they move in any way
  for (const std::string kind : {"type = 'revolute'", "type = 'prismatic'", "type = 'spring'"}) {
    SystemFormulas system = formulas_of(pair_of_bodies(
        fmt::format("{}\n{}effort = '2.5'\n", kind, kind.find("spring") == std::string::npos ? axis : "")));
    const double rate = 0.7;
    const V3 all_w{0.2, 0.5, -0.4}, all_v{0.3, 0.1, 0.2};
    const R9 ra = start_a.rotation, rb = start_b.rotation;
    V3 wa = all_w, wb = all_w, va = add(all_v, cross(all_w, add(start_a.place, turned(ra, {0.1, 0.2, -0.3})))),
       vb = add(all_v, cross(all_w, start_b.place));
    double power = 2.5 * rate;
    if (kind.find("revolute") != std::string::npos) {
      wb = add(wb, n, rate);
      vb = add(vb, cross(n, add(start_b.place, start_a.place, -1.0)), rate);
    } else if (kind.find("prismatic") != std::string::npos) {
      vb = add(vb, n, rate);
    } else {
      const V3 d = add(start_b.place, start_a.place, -1.0);
      const double length = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
      vb = add(vb, d, rate / length);
    }
    const V3 wa_body = SO3::Ad_star(ra, wa), wb_body = SO3::Ad_star(rb, wb);
    for (int i = 0; i < 3; ++i)
      system.v[i] = wa_body[i], system.v[3 + i] = wb_body[i], system.v[6 + i] = va[i], system.v[9 + i] = vb[i];
    const SystemGraph graph(system);
    const std::vector<double> force = values(graph, graph.force);
    double sum = 0.0;
    for (std::size_t i = 0; i < force.size(); ++i) sum += force[i] * system.v[i];
    EXPECT_NEAR(sum, power, 1e-14) << kind;
  }
}

TEST(Machine, RollingFollowsTheSpin) {
  const SystemFormulas system = formulas_of(ball);
  EXPECT_EQ(system.constraints.size(), 1u);
  EXPECT_EQ(system.velocity_constraints.size(), 2u);
  const double wanted[] = {0.2, 0.3, 0.4, 0.15, -0.1, 0.0};  // v = w x r e3
  for (int i = 0; i < 6; ++i) EXPECT_NEAR(system.v[i], wanted[i], 1e-15);
  // a disc that leans: v of the centre = -w x (from the centre to the contact)
  const SystemFormulas disc = formulas_of(
      "[system]\nname = 'disc'\n[[body]]\nname = 'd'\nmass = 1\ninertia = [1, 1, 2]\nrotation = [0, 1.0, 0]\n"
      "position = [0, 0, '0.5 sin(1)']\nspin = [0, 0, 2]\n"
      "[[joint]]\nname = 'r'\ntype = 'rolling'\nbetween = ['d', 'ground']\nradius = 0.5\naxis = ['sin(1)', 0, "
      "'cos(1)']\n");
  EXPECT_NEAR(disc.v[4], -0.5 * 2.0, 1e-15);
  EXPECT_NEAR(disc.v[3], 0.0, 1e-15);
  EXPECT_NEAR(disc.v[5], 0.0, 1e-15);
}

std::string four_bar(const std::string& system,
                     const std::string& d = "type = 'revolute'\nat = [2, 0, 0]\naxis = [0, 1, 0]\n") {
  std::string text = "[system]\nname = 'four-bar'\n" + system;
  for (const auto& [name, place] :
       {std::pair{"crank", "[0, 0, 0.5]"}, {"coupler", "[1, 0, 1.5]"}, {"rocker", "[2, 0, 1]"}})
    text += fmt::format("[[body]]\nname = '{}'\nmass = 1\ninertia = [1, 1, 1]\nposition = {}\n{}", name, place,
                        *name == 'c' && name[1] == 'r' ? "spin = [0, 3, 0]\n" : "");
  for (const auto& [name, between, place] : {std::tuple{"A", "'ground', 'crank'", "[0, 0, 0]"},
                                             {"B", "'crank', 'coupler'", "[0, 0, 1]"},
                                             {"C", "'coupler', 'rocker'", "[2, 0, 2]"}})
    text += fmt::format("[[joint]]\nname = '{}'\ntype = 'revolute'\nbetween = [{}]\nat = {}\naxis = [0, 1, 0]\n", name,
                        between, place);
  return text + "[[joint]]\nname = 'D'\nbetween = ['rocker', 'ground']\n" + d;
}

TEST(Machine, RedundantConstraintsAreFound) {
  expect_message(
      message_of(four_bar("") + rest),
      "s.toml:37: the constraints are redundant: joint 'D' has 3 too many, which those before imply; take a joint "
      "that holds less, or write redundant = \"drop\" in [system]");
  const SystemFormulas dropped = formulas_of(four_bar("redundant = 'drop'\n"));
  EXPECT_EQ(dropped.constraints.size(), 17u);
  EXPECT_EQ(dropped.summary, "a machine without the constraints that others imply: 3 of joint 'D'");
  // the rocker is as long as 2, and the crank as 1: B moves with 3, C with 3, the rocker turns with 1.5
  EXPECT_NEAR(dropped.v[7], 1.5, 1e-12);
  // a rod in place of the last hinge leaves nothing redundant
  EXPECT_EQ(formulas_of(four_bar("", "type = 'rod'\non = [[0, 0, -1], [2.5, 0.5, 0.2]]\n")).constraints.size(), 16u);
}

TEST(Machine, SingularPlacesAreNoRedundance) {
  std::string text = "[system]\nname = 'in-line'\nredundant = 'drop'\n";
  for (const auto& [name, x] : {std::pair{"a", 1}, {"b", 3}, {"c", 5}})
    text += fmt::format("[[body]]\nname = '{}'\nmass = 1\ninertia = 1\nposition = [{}, 0]\n", name, x);
  for (const auto& [name, between, x] :
       {std::tuple{"A", "'ground', 'a'", 0}, {"B", "'a', 'b'", 2}, {"C", "'b', 'c'", 4}, {"D", "'c', 'ground'", 6}})
    text += fmt::format("[[joint]]\nname = '{}'\ntype = 'revolute'\nbetween = [{}]\nat = [{}, 0]\n", name, between, x);
  expect_message(message_of(text + rest),
                 "s.toml:34: the machine starts in a singular configuration, in which a constraint of joint 'D' "
                 "follows from the others, "
                 "although it does not nearby; start in another configuration");
}

TEST(Machine, IsPutTogether) {
  const std::string ends =
      "[system]\nname = 'arm'\nassemble = true\n[[body]]\nname = 'b'\nmass = 1\ninertia = 1\nposition = [0.7, 0.1]\n"
      "[[joint]]\nname = 'p'\ntype = 'revolute'\nbetween = ['ground', 'b']\non = [[0, 0], [-1, 0]]\n";
  const SystemFormulas arm = formulas_of(ends);
  EXPECT_NEAR(std::hypot(arm.q[0], arm.q[1]), 1.0, 1e-15);
  expect_message(
      message_of(with("assemble = true\n", "", ends) + rest),
      "s.toml:8: joint 'p' does not fit the places of its bodies at the start (a constraint is -0.3 there); correct "
      "position and rotation, or write assemble = true in [system], which moves the bodies by the least change that "
      "makes all joints fit");
}

TEST(Machine, PlaneJointsHaveTheRowsOfThePlane) {
  const auto rows = [](const std::string& joint) {
    return formulas_of(
               "[system]\nname = 'p'\ngravity = [0, -1]\n[[body]]\nname = 'a'\nmass = 1\ninertia = 1\nposition = [0, "
               "1]\n"
               "[[body]]\nname = 'b'\nmass = 1\ninertia = 1\nposition = [3, 1]\n"
               "[[joint]]\nname = 'j'\nbetween = ['a', 'b']\n" +
               joint)
        .constraints.size();
  };
  EXPECT_EQ(rows("type = 'revolute'\nat = [1, 2]\n"), 2u);
  EXPECT_EQ(rows("type = 'prismatic'\naxis = [3, 4]\n"), 2u);
  EXPECT_EQ(rows("type = 'weld'\n"), 3u);
  EXPECT_EQ(rows("type = 'rod'\n"), 1u);
  EXPECT_EQ(rows("type = 'gear'\nratio = -2\n"), 1u);
  EXPECT_EQ(rows("type = 'spring'\nstiffness = 2\n"), 0u);
  EXPECT_EQ(rows("type = 'revolute'\nat = [1, 2]\nmotion = 'sin(t)'\n"), 3u);
  EXPECT_EQ(rows("type = 'rolling'\nradius = 1\non = [[0, 0], [0, -1]]\n"), 2u);
}

TEST(Machine, FaultsHaveTheirMessages) {
  const std::string good = pair_of_bodies("type = 'revolute'\naxis = [2, -1, 2]\n") + rest;
  EXPECT_EQ(message_of(good), "accepted");
  struct Fault {
    const char *from, *to, *message;
  };
  for (const auto& [from, to, message] : {
           Fault{"mass = 2", "mass = 0", "s.toml:5: body 'a': mass = 0 must be above 0"},
           {"mass = 2", "mass = 'mm'",
            "s.toml:5: unknown name 'mm' in body.mass = 'mm' (known: pi; a start is made of numbers and parameters)"},
           {"type = 'revolute'", "type = 'hinge'",
            "s.toml:19: unknown joint[0].type 'hinge' (known: weld, revolute, prismatic, cylindrical, spherical, "
            "universal, "
            "planar, screw, rod, gear, rolling, spring, rectangular, cartesian)"},
           {"type = 'revolute'", "type = 'universal'\naxis2 = [-4, 2, -4]",
            "s.toml:16: joint 'j': its axes have one direction; take a revolute joint, or give another axis2"},
           {"['a', 'b']", "['a', 'c']", "s.toml:16: joint 'j': 'c' is not a body (known: ground, a, b)"},
           {"['a', 'b']", "['a', 'a']", "s.toml:16: joint 'j': it is between 'a' and 'a'; name two bodies"},
           {"['a', 'b']", "['a']", "s.toml:16: joint 'j': between has 1 name, and two are needed"},
           {"axis = [2, -1, 2]", "length = 1", "s.toml:20: unknown key 'length' in [joint[0]] (known: name, type, ..."},
           {"axis = [2, -1, 2]", "",
            "s.toml:16: joint 'j': axis is missing; give the direction of the joint at the start"},
           {"axis = [2, -1, 2]", "axis = [0, 0, 0]", "s.toml:16: joint 'j': axis has the length 0"},
           {"axis = [2, -1, 2]", "axis = [1, 0]",
            "s.toml:16: joint[0].axis has 2 numbers, and 3 are needed (the bodies move in space)"},
           {"name = 'b'", "name = 'a'", "s.toml:10: two bodies are called 'a'; choose another name"},
           {"name = 'b'", "name = 'ground'",
            "s.toml:10: 'ground' cannot name a body (it is the space in which bodies move)"},
           {"inertia = [1, 2, 2.5]", "inertia = 1",
            "s.toml:3: body 'a': position has 3 numbers, and 2 are needed (the bodies move in the plane, as their one "
            "moment of inertia "
            "says)"},
           {"name = 'pair'", "name = 'pair'\nmass = 2",
            "s.toml:3: system.mass is given, and the bodies and joints of the study say it; leave it out"},
           {"name = 'pair'", "name = 'pair'\nredundant = 'no'",
            "s.toml:3: unknown system.redundant 'no' (known: error, drop)"},
           {"axis = [2, -1, 2]", "axis = [2, -1, 2]\neffort = '2 angl'",
            "s.toml:21: unknown name 'angl' in joint[0].effort = '2 angl' (known: ..."},
           {"axis = [2, -1, 2]", "axis = [2, -1, 2]\nlimits = [1, 0]\nlimit_stiffness = 5",
            "s.toml:16: joint 'j': limits are from 1 to 0; the first is the smaller one"},
           {"axis = [2, -1, 2]", "axis = [2, -1, 2]\nlimits = [-0.5, 4]\nlimit_stiffness = 5",
            "s.toml:16: joint 'j': limits has 4, and the angle of a joint in space is in (-pi, pi]; give an angle in "
            "this range"},
           {"axis = [2, -1, 2]", "axis = [2, -1, 2]\nlimit_stiffness = 5",
            "s.toml:16: joint 'j': limit_stiffness is that of limits; give them"},
           {"axis = [2, -1, 2]", "axis = [2, -1, 2]\nlimits = [0, 1]\nlimit_stiffness = 5\nlimit_width = 0",
            "s.toml:23: joint[0].limit_width = 0 must be above 0"},
           {"[0.1, 2, 0]", "[0.1000000000001, 2, 0]", "accepted"},
           {"[0.1, 2, 0]", "[0.2, 2, 0]",
            "s.toml:13: body 'b': inertia is not symmetric: row 2 has 0.2 where row 1 has 0.1"},
           {"[[1, 0.1, 0], [0.1, 2, 0]", "[[1, 1.5, 0], [1.5, 2, 0]",
            "s.toml:13: body 'b': inertia is not positive definite, as that of a body is; correct the products of "
            "inertia, which stand beside the diagonal"},
           {"rotation = [0.3, -0.5, 0.7]", "rotation = [1e200, 0, 0]",
            "s.toml:3: body 'a': rotation is too large for an angle in radians; give one of a few turns"},
           {"axis = [2, -1, 2]",
            "axis = [2, -1, 2]\n[[joint]]\nname = 'k'\ntype = 'weld'\nbetween = ['ground', 'a']\n"
            "[[joint]]\nname = 'l'\ntype = 'spherical'\nbetween = ['ground', 'b']",
            "s.toml:25: the machine cannot move: joint 'l' takes the last motion that the others leave (12 independent "
            "constraints for 12 velocities); take a joint that holds less"},
           {"name = 'pair'", "name = 'pair'\nconstraints = ['b_x - 1.3', '2 b_x - 2.6']",
            "s.toml:3: '2 b_x - 2.6' follows from the joints; leave it out"},
           {"rotation = [0.3, -0.5, 0.7]", "rotation = 3",
            "s.toml:3: body 'a': rotation has 1 numbers, and 3 or 9 are needed"},
       }) {
    SCOPED_TRACE(to);
    expect_message(message_of(with(from, to, good)), message);
  }
  expect_message(message_of("[system]\nname = 'x'\n[[joint]]\nname = 'j'\ntype = 'rod'\nbetween = ['a', 'b']\n" +
                            std::string(rest)),
                 "s.toml:1: the study has joints and no bodies; give [[body]] tables");
  expect_message(
      message_of("[system]\nname = 'x'\ncoordinates = ['x']\ngravity = [0, 1]\n" + std::string(rest)),
      "s.toml:4: system.gravity: it belongs to bodies and joints, and the study has no [[body]]; leave it out");
}

TEST(Machine, AStartThatVariesIsThatOfTheEnsemble) {
  const std::string machine =
      "[system]\nname = 'swing'\nparameters = { s = 'w0' }\n[[body]]\nname = 'a'\nmass = 1\ninertia = 1\n"
      "position = [1, 0]\nspin = 's'\n[[joint]]\nname = 'j'\ntype = 'revolute'\nbetween = ['ground', 'a']\n"
      "at = [0, 0]\n" +
      std::string(rest) + "[ensemble]\naxes = [{ name = 'w0', from = 0, to = 1, count = 3 }]\n";
  expect_message(message_of(machine), "s.toml:9: body 'a': spin depends on 's', which varies over the ensemble, ...");
  EXPECT_EQ(message_of(machine + "[ensemble.initial]\nq = [1, 0, 0]\nv = [0, 'w0', 'w0']\n"), "accepted");
  EXPECT_EQ(message_of(with("spin = 's'", "spin = 1", machine)), "accepted");
  const std::string placed = with("[1, 0]\nspin = 's'", "['1 + s', 0]", machine);
  expect_message(message_of(placed),
                 "s.toml:8: body 'a': position depends on 's', which varies over the ensemble, ...");
  EXPECT_EQ(message_of(with("[ensemble]", "[ensemble]\nproject = true", placed)), "accepted");
}

TEST(Machine, EffectiveStudyIsTheSameStudy) {
  const Study study = Study::parse(pair_of_bodies("type = 'revolute'\naxis = [2, -1, 2]\n") + rest, "s.toml");
  const std::string text = study.to_toml();
  EXPECT_EQ(Study::parse(text, "s.toml").to_toml(), text);
}

}  // namespace machine_test
}  // namespace rattleback
