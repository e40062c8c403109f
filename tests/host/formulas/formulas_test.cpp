// What is wrong with a system that a study writes as formulas, in one clear message each.

#include <algorithm>
#include <sstream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <toml++/toml.h>

#include "formulas/systems.hpp"
#include "rattleback/formulas/print.hpp"
#include "rattleback/formulas/read.hpp"
#include "rattleback/formulas/system_graph.hpp"
#include "rattleback/study/reader.hpp"

using namespace rattleback;

namespace {

SystemFormulas read(std::string_view text) { return read_system_formulas(toml::parse(text, std::string("f.toml"))); }

struct Fault {
  const char *toml, *message, *excerpt;
};
const Fault faults[] = {
    {"", "f.toml:1: system.name is missing", ""},
    {"name = 3\ncoordinates=['x']", "f.toml:1: system.name must be a string", ""},
    {"name='a b'\ncoordinates=['x']",
     "f.toml:1: system.name: 'a b' cannot name a system; take at most 64 letters, digits, - and _", ""},
    {"name='a'", "f.toml:1: system.coordinates is missing; name the coordinates", ""},
    {"name='a'\ncoordinates='x'", "f.toml:2: system.coordinates must be an array of names", ""},
    {"name='a'\ncoordinates=['x', 'x']",
     "f.toml:2: system.coordinates: 'x' is a coordinate already; choose another name", ""},
    {"name='a'\ncoordinates=['2x']",
     "f.toml:2: '2x' cannot name a coordinate (a name is letters, digits and _, and does not start with a digit)", ""},
    {"name='a'\ncoordinates=['sin']", "f.toml:2: 'sin' cannot name a coordinate (it is pi or a function)", ""},
    {"name='a'\ncoordinates=['x']\npotentail='x'",
     "f.toml:3: unknown key 'potentail' in [system] (known: name, summary, source, coordinates, velocities, group, "
     "bodies, parameters, dimensions, mass, inertia, vector_potential, potential, lagrangian, hamiltonian, "
     "momenta, force, dissipation, "
     "constraints, velocity_constraints, observables, conserved, initial, time_scale); did you mean 'potential'?",
     ""},
    {"name='a'\ncoordinates=['x','y']\nvelocities=['u']",
     "f.toml:3: system.velocities: it has 1 entry, and 2 are needed, one for each velocity (v_x, v_y)", ""},
    {"name='a'\ncoordinates=['x']\nmomenta=['y']",
     "f.toml:3: system.momenta: it names what a hamiltonian depends on, and there is none; leave it out", ""},
    {"name='a'\ncoordinates=['x']\nhamiltonian='p_x^2/2 + v_x'",
     "f.toml:3: system.hamiltonian = 'p_x^2/2 + v_x' cannot be used (column 11): it depends on the velocity 'v_x'; "
     "write "
     "it in the momenta (p_x)",
     "  p_x^2/2 + v_x\n            ^"},
    {"name='a'\ncoordinates=['x','y']\nhamiltonian='p_x^2 + p_y^2'\nconstraints=['x p_x']",
     "f.toml:4: system.constraints[0] = 'x p_x' cannot be used (column 3): it depends on the momentum 'p_x'; "
     "velocity_constraints take it",
     "  x p_x\n    ^"},
    {"name='a'\ncoordinates=['x']\nhamiltonian='x'\ninitial={q=[0], v=[0]}",
     "f.toml:4: system.initial: the Hamiltonian is degenerate, so v does not determine the momenta; give p in place of "
     "v",
     ""},
    {"name='a'\ncoordinates=['x']\nhamiltonian='p_x^2'\nmass=2",
     "f.toml:4: system.mass: hamiltonian is given too, and contains all of the system; leave one of the two out", ""},
    {"name='a'\ncoordinates=['x','y']\nmass=[1,2,3]", "f.toml:3: system.mass has 3 entries, and 2 are needed", ""},
    {"name='a'\ncoordinates=['x','y']\nmass=[[1,2],[1]]", "f.toml:3: system.mass[1] has 1 entry, and 2 are needed", ""},
    {"name='a'\ncoordinates=['x','y']\nmass=[[1,2],[3,1]]",
     "f.toml:3: system.mass[1][0] = '3' cannot be used: M is not symmetric; entry [0][1] is '2'", ""},
    {"name='a'\ncoordinates=['x','y']\nmass=[1, 'v_x']",
     "f.toml:3: system.mass[1] = 'v_x' cannot be used (column 1): it depends on the velocity 'v_x'; write L as "
     "lagrangian",
     "  v_x\n  ^"},
    {"name='a'\ncoordinates=['x','y']\nmass=[1, 0]",
     "f.toml:3: system.mass[1] = '0' cannot be used: the mass of 'v_y' is 0; take the coordinate out, or give a mass",
     ""},
    {"name='a'\ncoordinates=['x','y']\npotential='x + v_y^2'",
     "f.toml:3: system.potential = 'x + v_y^2' cannot be used (column 5): it depends on the velocity 'v_y'; write it "
     "as vector_potential, or L as lagrangian",
     "  x + v_y^2\n      ^"},
    {"name='a'\ncoordinates=['x','height']\nparameters={gravity=1}\npotential='gravity hieght'",
     "f.toml:4: system.potential = 'gravity hieght' cannot be used (column 9): unknown name 'hieght' (known: x, "
     "height, gravity, t, pi); did you mean 'height'?",
     "  gravity hieght\n          ^"},
    {"name='a'\ncoordinates=['x','y']\npotential='x + (y'",
     "f.toml:3: system.potential = 'x + (y' cannot be used (column 7): a ')' is missing", "  x + (y\n        ^"},
    {"name='a'\ncoordinates=['x','y']\npotential='''\nx +\n  y * * 2'''",
     "f.toml:3: system.potential = 'x +\\n  y * * 2' cannot be used (line 2, column 7): a value is expected at '* 2'",
     "    y * * 2\n        ^"},
    {"name='a'\ncoordinates=['x','y']\npotential='max(x, y)'",
     "f.toml:3: system.potential = 'max(x, y)' cannot be used: comparisons, ?, min, max, sign and rint are not smooth; "
     "write a smooth formula",
     ""},
    {"name='a'\ncoordinates=['x','y']\npotential='x / 0'",
     "f.toml:3: system.potential = 'x / 0' cannot be used: it divides by 0", ""},
    {"name='a'\ncoordinates=['x','y']\npotential='1e200^2 x'",
     "f.toml:3: system.potential = '1e200^2 x' cannot be used: a number in it is not finite", ""},
    {"name='a'\ncoordinates=['x','y']\npotential=true",
     "f.toml:3: system.potential must be a formula or a finite number", ""},
    {"name='a'\ncoordinates=['x','y']\npotential=''",
     "f.toml:3: system.potential: it is empty; give it, or leave it out", ""},
    {"name='a'\ncoordinates=['x','y']\npotential='log(x)'",
     "f.toml:1: the Lagrangian is not finite at the default state; give system.initial with another state", ""},
    {"name='a'\ncoordinates=['x','y']\nlagrangian='v_x^2'",
     "f.toml:3: system.lagrangian = 'v_x^2' cannot be used: it is not quadratic or more in 'v_y', so the velocity does "
     "not follow from the momentum",
     ""},
    {"name='a'\ncoordinates=['x','y']\nlagrangian='v_x^2 + v_y'",
     "f.toml:3: system.lagrangian = 'v_x^2 + v_y' cannot be used: it is not quadratic or more in 'v_y', so the "
     "velocity does not follow from the momentum",
     ""},
    {"name='a'\ncoordinates=['x','y']\nlagrangian='v_x^2 + v_y^2'\npotential='x'",
     "f.toml:4: system.potential: lagrangian is given too, and contains all of L; leave one of the two out", ""},
    {"name='a'\ncoordinates=['x','y']\nconstraints=['x','y']",
     "f.toml:3: system.constraints: 2 constraints leave no motion to 2 velocities; give fewer", ""},
    {"name='a'\ncoordinates=['x','y']\nconstraints=['x - 1']",
     "f.toml:3: system.constraints[0] = 'x - 1' is not 0 at the default state (it is -1); give system.initial with a q "
     "and a v that keep the constraints",
     ""},
    {"name='a'\ncoordinates=['x','y']\nconstraints=['x - v_y']",
     "f.toml:3: system.constraints[0] = 'x - v_y' cannot be used (column 5): it depends on the velocity 'v_y'; "
     "velocity_constraints take it",
     "  x - v_y\n      ^"},
    {"name='a'\ncoordinates=['x','y']\nconstraints=['1']",
     "f.toml:3: system.constraints[0] = '1' cannot be used: it does not depend on a coordinate", ""},
    {"name='a'\ncoordinates=['x','y']\nconstraints=['x']\ninitial={q=[0,0],v=[1,0]}",
     "f.toml:3: the time derivative of system.constraints[0] = 'x' is not 0 at the default state (it is 1); give "
     "system.initial with a q and a v that keep the constraints",
     ""},
    {"name='a'\ncoordinates=['x','y']\nconstraints=['x']\nvelocity_constraints=['v_y']",
     "f.toml:3: system.constraints: 2 constraints leave no motion to 2 velocities; give fewer", ""},
    {"name='a'\ncoordinates=['x','t']",
     "f.toml:2: system.coordinates: 't' is the time; choose another name for a coordinate", ""},
    {"name='a'\ncoordinates=['x']\nparameters={t=1}",
     "f.toml:3: system.parameters: 't' is the time; choose another name for a parameter", ""},
    {"name='a'\ncoordinates=['x','y']\nforce=['-v_x']",
     "f.toml:3: system.force: it has 1 entry, and 2 are needed, one for each velocity (v_x, v_y)", ""},
    {"name='a'\ncoordinates=['x']\nforce=['-v_x lambda[0]']",
     "f.toml:3: system.force[0] = '-v_x lambda[0]' cannot be used (column 6): unknown name 'lambda[0]' (known: x, v_x, "
     "t, pi)",
     "  -v_x lambda[0]\n       ^"},
    {"name='a'\ncoordinates=['x']\ndissipation='x^2'",
     "f.toml:3: system.dissipation = 'x^2' cannot be used: it does not depend on a velocity, so it gives no force; the "
     "force is "
     "minus its derivative by the velocities",
     ""},
    {"name='a'\ncoordinates=['x','y']\nvelocity_constraints=['x']",
     "f.toml:3: system.velocity_constraints[0] = 'x' cannot be used: it does not depend on a velocity; constraints "
     "take it",
     ""},
    {"name='a'\ncoordinates=['x','y']\nvector_potential=['x']",
     "f.toml:3: system.vector_potential: it has 1 entry, and 2 are needed, one for each velocity (v_x, v_y)", ""},
    {"name='a'\ncoordinates=['x','y']\nvector_potential=['x', 'v_x']",
     "f.toml:3: system.vector_potential[1] = 'v_x' cannot be used (column 1): it depends on the velocity 'v_x'; write "
     "L as lagrangian",
     "  v_x\n  ^"},
    {"name='a'\ncoordinates=['x','y']\nobservables={energy='x'}",
     "f.toml:3: 'energy' cannot name an observable (every run has it); choose another name", ""},
    {"name='a'\ncoordinates=['x','y']\nobservables={'a-b'='x'}",
     "f.toml:3: 'a-b' cannot name an observable (a name is letters, digits and _, and does not start with a digit)",
     ""},
    {"name='a'\ncoordinates=['x','y']\nobservables={spin='x'}\nconserved=['spni']",
     "f.toml:4: system.conserved[0] = 'spni' is no observable of this system (known: spin); did you mean 'spin'?", ""},
    {"name='a'\ncoordinates=['x','y']\nobservables={spin='x'}\nconserved=['spin','spin']",
     "f.toml:4: system.conserved[1] = 'spin' is given twice", ""},
    {"name='a'\ncoordinates=['x','y']\ninitial={q=[1]}", "f.toml:3: system.initial.q has 1 number, and 2 are needed",
     ""},
    {"name='a'\ncoordinates=['x','y']\ninitial={q=[1,'z']}",
     "f.toml:3: unknown name 'z' in system.initial.q[1] = 'z' (known: pi)", ""},
    {"name='a'\ncoordinates=['x','y']\ninitial={w=[1]}",
     "f.toml:3: unknown key 'w' in [system.initial] (known: q, v, p)", ""},
    {"name='a'\ncoordinates=['x','y']\ninertia=[1,1,1]",
     "f.toml:3: system.inertia: the system has no rotation; mass gives the inertia of coordinates", ""},
    {"name='a'\ncoordinates=['y[1..n]']",
     "f.toml:2: unknown name 'n' in a bound of 'y[1..n]' = 'n' (known: pi; a bound is a whole number or a dimension)",
     ""},
    {"name='a'\ncoordinates=['y[1..3]', 'y2']",
     "f.toml:2: system.coordinates: 'y2' is a coordinate already; choose another name", ""},
    {"name='a'\ncoordinates=['y[1..200]']", "f.toml:2: there are more than 64 names of coordinates", ""},
    {"name='a'\ncoordinates=['x']\nparameters={x=1}",
     "f.toml:3: system.parameters: 'x' is a coordinate already; choose another name", ""},
    {"name='a'\ncoordinates=['x']\nparameters={b={valeu=1}}",
     "f.toml:3: unknown key 'valeu' in [system.parameters.b] (known: value, unit, text); did you mean 'value'?", ""},
    {"name='a'\ncoordinates=['x']\nparameters={b={unit='m'}}", "f.toml:3: system.parameters.b.value is missing", ""},
    {"name='a'\ncoordinates=['x']\ndimensions={m=1.5}",
     "f.toml:3: system.dimensions.m must be a whole number from 0 to 1000", ""},
    {"name='a'\ncoordinates=['x']\ndimensions={m=2}\npotential='y[m]'",
     "f.toml:4: system.potential = 'y[m]' cannot be used (column 1): unknown name 'y[2]' (known: x, m, t, pi)",
     "  y[m]\n  ^"},
    {"name='a'\ngroup='SO(4)'",
     "f.toml:2: system.group = 'SO(4)' is not a configuration space ('SO(4)' is not SO(3), SE(3), SE(2), S^1 or R^n); "
     "write for example \"SO(3)\", \"SE(3)^2\" or \"SO(3) x R^2\"",
     ""},
    {"name='a'\ngroup='so(3) x R^2'",
     "f.toml:2: system.group = 'so(3) x R^2' is not a configuration space ('so(3)' is not SO(3), SE(3), SE(2), S^1 or "
     "R^n; did you mean SO(3)?); write for example \"SO(3)\", \"SE(3)^2\" or \"SO(3) x R^2\"",
     ""},
    {"name='a'\ngroup='SO(3) x SE2xR^2'",
     "f.toml:2: system.group = 'SO(3) x SE2xR^2' is not a configuration space ('SE2' is not SO(3), SE(3), SE(2), S^1 "
     "or R^n; did you mean SE(2)?); write for example \"SO(3)\", \"SE(3)^2\" or \"SO(3) x R^2\"",
     ""},
    {"name='a'\ngroup='SO(2)'",
     "f.toml:2: system.group = 'SO(2)' is not a configuration space ('SO(2)' is not SO(3), SE(3), SE(2), S^1 or R^n; "
     "the circle is S^1); write for example \"SO(3)\", \"SE(3)^2\" or \"SO(3) x R^2\"",
     ""},
    {"name='a'\ngroup='SO(3) x T^2'",
     "f.toml:2: system.group = 'SO(3) x T^2' is not a configuration space ('T^2' is not SO(3), SE(3), SE(2), S^1 or "
     "R^n; a torus is (S^1)^2); write for example \"SO(3)\", \"SE(3)^2\" or \"SO(3) x R^2\"",
     ""},
    {"name='a'\ngroup='S^2'",
     "f.toml:2: system.group = 'S^2' is not a configuration space ('S^2' is not SO(3), SE(3), SE(2), S^1 or R^n; for a "
     "sphere take R^3 without group, and a constraint); write for example \"SO(3)\", \"SE(3)^2\" or \"SO(3) x R^2\"",
     ""},
    {"name='a'\ngroup='SO(3) x'",
     "f.toml:2: system.group = 'SO(3) x' is not a configuration space (a factor is missing); write for example "
     "\"SO(3)\", \"SE(3)^2\" or \"SO(3) x R^2\"",
     ""},
    {"name='a'\ngroup='R^2'",
     "f.toml:2: system.group = 'R^2' is not a configuration space (it has no rotation; leave group out for R^n); write "
     "for example \"SO(3)\", \"SE(3)^2\" or \"SO(3) x R^2\"",
     ""},
    {"name='a'\ngroup='SO(3)^0'",
     "f.toml:2: system.group = 'SO(3)^0' is not a configuration space (a power is from 1 to 64, and 0 is not); write "
     "for example \"SO(3)\", \"SE(3)^2\" or \"SO(3) x R^2\"",
     ""},
    {"name='a'\ngroup='SO(3)^1000000000000'",
     "f.toml:2: system.group = 'SO(3)^1000000000000' is not a configuration space (a power is from 1 to 64, and "
     "1000000000000 is not); write for example \"SO(3)\", \"SE(3)^2\" or \"SO(3) x R^2\"",
     ""},
    {"name='a'\ngroup='SE(3)^11'",
     "f.toml:2: system.group = 'SE(3)^11' is not a configuration space (it has 66 dimensions, and at most 64 are "
     "possible); write for example \"SO(3)\", \"SE(3)^2\" or \"SO(3) x R^2\"",
     ""},
    {"name='a'\ngroup='SO(3)^-1'",
     "f.toml:2: system.group = 'SO(3)^-1' is not a configuration space (a power is a whole number or a dimension, and "
     "'-1' is none); write for example \"SO(3)\", \"SE(3)^2\" or \"SO(3) x R^2\"",
     ""},
    {"name='a'\ngroup='S^1^2'",
     "f.toml:2: system.group = 'S^1^2' is not a configuration space (a power of S^1 is written (S^1)^k); write for "
     "example \"SO(3)\", \"SE(3)^2\" or \"SO(3) x R^2\"",
     ""},
    {"name='a'\ndimensions={links=2}\ngroup='SO(3)^link'",
     "f.toml:3: system.group = 'SO(3)^link' is not a configuration space ('link' is no dimension of the system; did "
     "you mean 'links'?); write for example \"SO(3)\", \"SE(3)^2\" or \"SO(3) x R^2\"",
     ""},
    {"name='a'\ngroup='(SO(3) x R^2'",
     "f.toml:2: system.group = '(SO(3) x R^2' is not a configuration space (a ')' is missing); write for example "
     "\"SO(3)\", \"SE(3)^2\" or \"SO(3) x R^2\"",
     ""},
    {"name='a'\ngroup='SO(3) SO(3)'",
     "f.toml:2: system.group = 'SO(3) SO(3)' is not a configuration space ('SO(3)' is not expected); write for example "
     "\"SO(3)\", \"SE(3)^2\" or \"SO(3) x R^2\"",
     ""},
    {"name='a'\ngroup='SO(3)^2'\nbodies=['arm']",
     "f.toml:3: system.bodies: it has 1 name, and the group has 2 bodies (SO(3), SO(3))", ""},
    {"name='a'\ngroup='SO(3) x R^2 x S^1'\nbodies=['arm', 'arm']\ncoordinates=['x','y']",
     "f.toml:3: system.bodies: 'arm' is given twice", ""},
    {"name='a'\ncoordinates=['x']\nbodies=['arm']",
     "f.toml:3: system.bodies: R^n has no bodies; coordinates names its coordinates", ""},
    {"name='a'\ngroup='SO(3)'\nbodies=['2arm']",
     "f.toml:3: '2arm' cannot name a body (a name is letters, digits and _, and does not start with a digit)", ""},
    {"name='a'\ngroup='SO(3)^2'\nbodies=['arm','leg']\nparameters={leg_w2=1}",
     "f.toml:4: system.parameters: 'leg_w2' is a velocity already; choose another name", ""},
    {"name='a'\ngroup='SE(3)^2 x R^1'\ncoordinates=['x2']",
     "f.toml:3: system.coordinates: 'x2' is a coordinate and 'x_2' is a coordinate, and both would be x[2]; choose "
     "another name",
     ""},
    {"name='a'\ngroup='SO(3)^2'\npotential='R33_1 R33_3'",
     "f.toml:3: system.potential = 'R33_1 R33_3' cannot be used (column 7): unknown name 'R33_3' (known: R11_1, R12_1, "
     "R13_1, R21_1, R22_1, R23_1, R31_1, R32_1, R33_1, R11_2, R12_2, R13_2, R21_2, R22_2, R23_2, R31_2, R32_2, R33_2, "
     "t, "
     "pi); did you mean 'R33_1'?",
     "  R33_1 R33_3\n        ^"},
    {"name='a'\ngroup='SO(3)^2'\ninertia=[[1,2,3]]",
     "f.toml:3: system.inertia has 1 entry, and 2 are needed, one for each body (body 1, body 2)", ""},
    {"name='a'\ngroup='SO(3)^2'\ninertia=[1,2]", "f.toml:3: system.inertia has 2 entries, and 3 are needed", ""},
    {"name='a'\ngroup='SO(3)^2'\ninertia={arm=1}",
     "f.toml:3: system.inertia is a table, and the bodies have no names; write an array, or name the bodies in "
     "system.bodies",
     ""},
    {"name='a'\ngroup='SO(3)^2'\nbodies=['arm','leg']\ninertia={arm=1}",
     "f.toml:4: system.inertia.leg is missing (arm, leg needed)", ""},
    {"name='a'\ngroup='SO(3)^2'\nbodies=['arm','leg']\ninertia={arm=1,lag=2}",
     "f.toml:4: unknown key 'lag' in [system.inertia] (known: arm, leg); did you mean 'leg'?", ""},
    {"name='a'\ngroup='SO(3)^2'\ninertia=1\nmass=2",
     "f.toml:4: system.mass: beside inertia no velocity is left that needs it; leave it out", ""},
    {"name='a'\ngroup='SE(3)^2'\ninertia=1\nmass=[1,2,3]", "f.toml:4: system.mass has 3 entries, and 6 are needed", ""},
    {"name='a'\ngroup='SO(3)^2'\ninitial={q=[1,0,0,0,1,0,0,0,1,1,0,0,0,1,0,0,0,2]}",
     "f.toml:3: system.initial.q: the first 9 numbers of the rotation of body 2 are no rotation matrix (R^T R - 1 has "
     "the norm 3.0e+00); give 3 numbers, a rotation vector",
     ""},
    {"name='a'\ncoordinates=['x[1..3]', 'y']\nconstraints=['for i in 1..3: x[i] - x[i + 1]']",
     "f.toml:3: system.constraints[0] (i = 3) = 'for i in 1..3: x[i] - x[i + 1]' cannot be used (column 23): unknown "
     "name "
     "'x[4]' (known: x1, x2, x3, y, t, pi)",
     "  for i in 1..3: x[i] - x[i + 1]\n                        ^"},
    {"name='a'\ncoordinates=['x[1..3]']\nconstraints=['for i: x[i]']",
     "f.toml:3: system.constraints[0] = 'for i: x[i]' cannot be used (column 6): formulas for several indices are "
     "written "
     "for i in 1..3: FORMULA",
     "  for i: x[i]\n       ^"},
    {"name='a'\ncoordinates=['x[1..3]']\nparameters={i=1}\nforce=['for i in 1..3: -v_x[i]']",
     "f.toml:4: system.force[0] = 'for i in 1..3: -v_x[i]' cannot be used (column 5): 'i' has a meaning already; "
     "choose "
     "another name for the index",
     "  for i in 1..3: -v_x[i]\n      ^"},
    {"name='a'\ncoordinates=['x[1..3]']\nforce=['for i in 1..k: -v_x[i]']",
     "f.toml:3: unknown name 'k' in a bound of 'for i in 1..k: -v_x[i]' = 'k' (known: pi; a bound is a whole number or "
     "a "
     "dimension)",
     ""},
    {"name='a'\ncoordinates=['x[1..3]']\nforce=['for i in 0..1000: for j in 0..1000: v_x1']",
     "f.toml:3: system.force[0] (i = 4) = 'for i in 0..1000: for j in 0..1000: v_x1' cannot be used: it stands for "
     "more than 4096 formulas",
     ""},
    {"name='a'\ncoordinates=['x[1..3]']\npotential='sum(i in 1..4: x[i]^2)'",
     "f.toml:3: system.potential = 'sum(i in 1..4: x[i]^2)' cannot be used (column 16): unknown name 'x[4]' (known: "
     "x1, x2, "
     "x3, t, pi)",
     "  sum(i in 1..4: x[i]^2)\n                 ^"},
    {"name='a'\ncoordinates=['x[1..3]']\npotential='sum(i in 1..x1: x[i]^2)'",
     "f.toml:3: system.potential = 'sum(i in 1..x1: x[i]^2)' cannot be used (column 13): the bounds of a sum are whole "
     "numbers that the study fixes",
     "  sum(i in 1..x1: x[i]^2)\n              ^"},
    {"name='a'\ngroup='SO(3) x R^2'\ncoordinates=['x']",
     "f.toml:3: system.coordinates: it has 1 name, and R^n of the group has 2 coordinates", ""},
    {"name='a'\ngroup='SO(3)'\ninertia=[1,2]", "f.toml:3: system.inertia has 2 entries, and 3 are needed", ""},
    {"name='a'\ngroup='SO(3)'\ninertia=[1,2,3]\ninitial={q=[1,0,0,0,1,0,0,0,2]}",
     "f.toml:4: system.initial.q: the first 9 numbers of the rotation are no rotation matrix (R^T R - 1 has the norm "
     "3.0e+00); give 3 numbers, a rotation vector",
     ""},
    {"name='a'\ngroup='SO(3)'\ncoordinates=['w1']",
     "f.toml:3: system.coordinates: it has 1 name, and R^n of the group has 0 coordinates", ""},
    {"name='a'\ncoordinates=['x']\ntime_scale=0", "f.toml:3: system.time_scale: it must be positive", ""},
    {"name='a'\ncoordinates=['x']\npotential='((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((x))))))"
     "))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))'",
     "f.toml:3: system.potential = "
     "'((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((x)))))))))))))))))))))))))))))))))...' (133 "
     "bytes) cannot be used: its parentheses are nested deeper than 64 levels; take levels out",
     ""},
    {"name='a'\ncoordinates=['x']\npotential='sum(i, 1, 3000, sin(i x) cos(i) / (1 + x^i)) + sum(i, 1, 1000, sum(j, 1, "
     "5, x^i))'",
     "f.toml:3: system.potential = 'sum(i, 1, 3000, sin(i x) cos(i) / (1 + x^i)) + sum(i, 1, 1000, sum(j, 1, 5, x^i))' "
     "cannot be used (column 80): its sums have more than 4096 terms",
     "  sum(i, 1, 3000, sin(i x) cos(i) / (1 + x^i)) + sum(i, 1, 1000, sum(j, 1, 5, x^i))\n                            "
     "                                                     ^"},
    {"name='a'\ncoordinates=['x']\npotential='system(\"rm\")'",
     "f.toml:3: system.potential = 'system(\"rm\")' cannot be used (column 1): unknown name 'system' (known: x, t, pi)",
     "  system(\"rm\")\n  ^"},
    {"name='a'\ncoordinates=['y[1..4]']\npotential='sum(i, 1, 4096, y[sum(k, 1, 4096, 1) - 4095])'",
     "f.toml:3: system.potential = 'sum(i, 1, 4096, y[sum(k, 1, 4096, 1) - 4095])' cannot be used (column 17): its "
     "sums have "
     "more than 4096 terms",
     "  sum(i, 1, 4096, y[sum(k, 1, 4096, 1) - 4095])\n                  ^"},
    {"name='a'\ncoordinates=['x']\npotential='x + sum(i, 1, 0, y[i] + unknown)'",
     "f.toml:3: system.potential = 'x + sum(i, 1, 0, y[i] + unknown)' cannot be used (column 25): unknown name "
     "'unknown' (known: x, "
     "t, pi)",
     "  x + sum(i, 1, 0, y[i] + unknown)\n                          ^"},
    {"name='a'\ncoordinates=['x']\npotential='x + sum(i, 1, 0, x +)'",
     "f.toml:3: system.potential = 'x + sum(i, 1, 0, x +)' cannot be used (column 21): a value is expected at ')'",
     "  x + sum(i, 1, 0, x +)\n                      ^"},
    {"name='a'\ncoordinates=['y[1..0]']",
     "f.toml:2: system.coordinates: it names no coordinate; a system needs one at least", ""},
    {"name='a'\ncoordinates=['x']\nlagrangian='v_x'",
     "f.toml:3: system.lagrangian = 'v_x' cannot be used: it is not quadratic or more in 'v_x', so the velocity does "
     "not follow "
     "from the momentum",
     ""},
    {"name='a'\ncoordinates=['x','y']\nlagrangian='(v_x + v_y)^4 + v_x^2 / 2 + v_x v_y + v_y^2 / 2'",
     "f.toml:3: system.lagrangian = '(v_x + v_y)^4 + v_x^2 / 2 + v_x v_y + v_y^2 / 2' does not give the velocities "
     "from the "
     "momenta at the default state: its matrix of second derivatives by the velocities is singular; give "
     "system.initial with "
     "another state",
     ""},
    {"name='a'\ncoordinates=['x','y']\nmass=[[2,'cos(x - y)'],['cos(y + x)',1]]",
     "f.toml:3: system.mass[1][0] = 'cos(y + x)' cannot be used: M is not symmetric; entry [0][1] is 'cos(x - y)'", ""},
    {"name='a'\ncoordinates=['x']\npotential='1e308 x + 1e308 x'",
     "f.toml:1: force of the system 'a', which follows from its formulas, cannot be computed: a number in it is not "
     "finite",
     ""},
    {"name='a\"); evil(\"'\ncoordinates=['x']",
     "f.toml:1: system.name: 'a\"); evil(\"' cannot name a system; take at most 64 letters, digits, - and _", ""}};

TEST(Formulas, SayWhatIsWrongAndWhere) {
  for (const Fault& fault : faults) {
    try {
      (void)system_header(read(fault.toml));
      ADD_FAILURE() << fault.toml;
    } catch (const FormulaError& error) {
      EXPECT_STREQ(error.what(), fault.message);
      EXPECT_EQ(error.excerpt(), fault.excerpt) << fault.toml;
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), fault.message);
      EXPECT_STREQ("", fault.excerpt) << fault.toml;
    }
  }
}

std::string header(std::string_view text) { return system_header(read(text)); }

TEST(Formulas, NameTheNumbersOfBodies) {
  const auto names = [](std::string_view text) { return read(text).configuration(); };
  EXPECT_EQ(names("name='a'\ngroup='SE(2)'"), "SE(2): x, y, theta; velocities u1, u2, w");
  EXPECT_EQ(names("name='a'\ngroup='S^1 x R^1'\ncoordinates=['x']"), "S^1 x R^1: theta, x; velocities w, v_x");
  EXPECT_EQ(names("name='a'\ndimensions={k=2}\ngroup='(S^1)^k x (R^1 x SE(2))'\ncoordinates=['x']"),
            "(S^1)^2 x R^1 x SE(2): theta_1, theta_2, x, x_3, y_3, theta_3; velocities w_1, w_2, v_x, u1_3, u2_3, w_3");
  EXPECT_EQ(names("name='a'\ngroup='S^1 x SE(2)'\nbodies=['dial', 'cart']"),
            "S^1 x SE(2): dial_theta, cart_x, cart_y, cart_theta; velocities dial_w, cart_u1, cart_u2, cart_w");
  EXPECT_EQ(
      names("name='a'\ngroup='SE(3)'\nbodies=['b']"),
      "SE(3): b_R11, b_R12, b_R13, b_R21, b_R22, b_R23, b_R31, b_R32, b_R33, b_x, b_y, b_z; velocities b_w1, b_w2, "
      "b_w3, b_u1, b_u2, b_u3");
  EXPECT_EQ(read("name='a'\ngroup='SO(3)^2 x SE(2)'\ninitial={q=[0,0,0, 0,0,0, 1,2,3]}").q.size(), 21u);
}

TEST(Formulas, TakeTheInertiaOfBodiesInAnyForm) {
  const std::string two = "name='a'\ngroup='SE(2) x R^1 x SE(3)'\nbodies=['cart', 'link[1..1]']\ncoordinates=['s']\n";
  const std::string rows =
      header(two +
             "mass=[2,2,5, 7, 1,2,3, 4,4,4]\npotential='link1_R33 cart_theta + s link1_x'\nforce=['-cart_u1',0,0,0,"
             "0,0,0,0,0,0]");
  for (const char* inertia : {"inertia={cart=5, link1=[1,2,3]}\nmass={cart=2, link1=[4,4,4], s=7}",
                              "inertia=[5, [1,2,3]]\nmass=[2,7,4]", "inertia=[5, [1,2,3]]\nmass=[2,2,7,4,4,4]"})
    EXPECT_EQ(header(two + inertia +
                     "\npotential='sum(i in 1..1: link[i]_R33) cart_theta + s link[1]_x'\nforce=['-cart_u1', 'for i in "
                     "2..10: 0']"),
              rows)
        << inertia;
  const std::string tops = "name='a'\ngroup='SO(3)^2'\n";
  EXPECT_EQ(header(tops + "inertia=[1,2,3]"), header(tops + "mass=[1,2,3,1,2,3]"));
  EXPECT_EQ(header(tops + "inertia=4"), header(tops + "inertia=[[4,4,4], 4]"));
  EXPECT_EQ(
      header(tops + "inertia=[[[1,0,0.5],[0,2,0],[0.5,0,3]], [4,5,6]]"),
      header(tops + "mass=[[1,0,0.5,0,0,0],[0,2,0,0,0,0],[0.5,0,3,0,0,0],[0,0,0,4,0,0],[0,0,0,0,5,0],[0,0,0,0,0,6]]"));
  EXPECT_EQ(header("name='a'\ngroup='SE(2)'\ninertia=[5]\nmass=[2]"), header("name='a'\ngroup='SE(2)'\nmass=[2,2,5]"));
}

TEST(Formulas, StandForSeveralByAnIndex) {
  const std::string chain =
      "name='a'\ndimensions={n=3}\ncoordinates=['x[1..n]','y[1..n]']\n"
      "initial={q=[1,2,3,0,0,0]}\n";
  EXPECT_EQ(header(chain + "constraints=['for i in 1..n-1: (x[i+1] - x[i])^2 + (y[i+1] - y[i])^2 - i^2/i^2']\n"
                           "potential='sum(i in 1..n: y[i]) + sum(i in 1..n-1: sum(j in i+1..n: x[i] x[j]))'"),
            header(chain + "constraints=['(x2 - x1)^2 + (y2 - y1)^2 - 1', '(x3 - x2)^2 + (y3 - y2)^2 - 1']\n"
                           "potential='y1 + y2 + y3 + x1 x2 + x1 x3 + x2 x3'"));
  EXPECT_EQ(header(chain + "velocity_constraints=['for i in 1..n-1: for j in i+1..n: v_x[i] - v_y[j]']"),
            header(chain + "velocity_constraints=['v_x1 - v_y2', 'v_x1 - v_y3', 'v_x2 - v_y3']"));
  EXPECT_EQ(header(chain + "velocity_constraints=['for i in 1..0: v_x[i]']"), header(chain));
  const std::string tops = "name='a'\ngroup='SO(3)^2'\n";
  EXPECT_EQ(
      header(tops +
             "potential='sum(k in 1..3: R[k][3][1] R[k][3][2])'\nforce=['for i in 1..2: for k in 1..3: -w[k][i]']"),
      header(tops + "potential='R13_1 R13_2 + R23_1 R23_2 + R33_1 R33_2'\n"
                    "force=['-w1_1','-w2_1','-w3_1','-w1_2','-w2_2','-w3_2']"));
}

// The numbers of circles add up, so that a method sees R^n, and every method takes the system.
TEST(Formulas, SeeRnInCircles) {
  const auto functions = [](std::string_view text) {
    const std::string all = header(text);
    return all.substr(all.find("\n  template"));
  };
  EXPECT_EQ(functions("name='a'\ngroup='(S^1)^2'\npotential='cos(theta[1] - theta[2])'\ninertia=[2,3]"),
            functions("name='a'\ncoordinates=['a','b']\npotential='cos(a - b)'\nmass=[2,3]"));
  EXPECT_EQ(header("name='a'\ngroup='S^1'").find("Group"), std::string::npos);
}

TEST(Formulas, NeverPasteTextIntoCode) {
  const std::string text = R"toml(
name = "double-well"
summary = "a \"quoted\" text; \\ and \u00e4"
coordinates = ["int", "class"]
parameters = { return = { value = 2, unit = "\"", text = "*/ #define T" } }
potential = "return int^2 + class^4 + 0.1"
observables = { double = "int" }
)toml";
  const SystemFormulas system = read(text);
  const std::string header = system_header(system);
  EXPECT_NE(header.find("summary = \"a \\\"quoted\\\" text; \\\\ and \\303\\244\""), std::string::npos) << header;
  EXPECT_NE(header.find("{\"return\", 2.0, \"\\\"\", \"*/ #define T\"}"), std::string::npos) << header;
  EXPECT_NE(header.find("T parameter_return;"), std::string::npos) << header;
  EXPECT_EQ(system_type(system), "formulas::DoubleWellSystem<T>");
  EXPECT_EQ(system_kind(system), "none");
  EXPECT_TRUE(std::ranges::all_of(header, [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
  EXPECT_EQ(header.find("const S int"), std::string::npos);
}

TEST(Formulas, TextsOfHeadersMayHaveAnyEnd) {
  std::string observables;
  const char* const texts[] = {"\\\\", "\\\"", "a\\\\\\\\", "?\?/", "x )delimiter\\\" y"};
  for (int i = 0; i < 40; ++i)
    observables += fmt::format("p{0} = {{ value = 1, unit = \"{1}\", text = \"{2} {1}\" }}\n", i, texts[i % 5],
                               std::string(static_cast<std::size_t>(40 + i), 'w'));
  const std::string header = system_header(read("name = \"a\"\nsummary = \"" + std::string(96, 's') +
                                                "\\\\\"\ncoordinates = [\"x\"]\n[parameters]\n" + observables));
  std::string line;
  for (std::istringstream lines(header); std::getline(lines, line);) {  // literals begin and end on a line
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (quoted && line[i] == '\\')
        ++i;
      else if (line[i] == '"')
        quoted = !quoted;
    }
    EXPECT_FALSE(quoted) << line;
    EXPECT_EQ(line.find("?\?"), std::string::npos) << line;
  }
}

TEST(Formulas, AMatrixIsSymmetricHoweverItIsWritten) {
  for (const auto& [first, second] :
       std::initializer_list<std::pair<const char*, const char*>>{{"cos(x - y)", "cos(y - x)"},
                                                                  {"a sin(x - y)", "-a sin(y - x)"},
                                                                  {"cos(x) cos(y) + sin(x) sin(y)", "cos(x - y)"},
                                                                  {"(x + y)^2", "x^2 + 2 x y + y^2"},
                                                                  {"sqrt(x^2 + 1)", "(1 + x^2)^0.5"},
                                                                  {"exp(x) exp(y)", "exp(x + y)"},
                                                                  {"log(x^2 + 5)", "log(5 + x^2)"}}) {
    const std::string start = "name='a'\ncoordinates=['x','y']\nparameters={a=0.1}\nmass=[['40', '";
    EXPECT_EQ(system_header(read(start + first + "'], ['" + second + "', '30']]")),
              system_header(read(start + first + "'], ['" + first + "', '30']]")));
    EXPECT_THROW((void)read(start + first + "'], ['" + second + " + 1e-6 x', '30']]"), Error) << first;
  }
}

TEST(Formulas, NumbersOfAnySizeHaveADerivative) {
  EXPECT_NE(system_header(read("name='a'\ncoordinates=['x']\npotential='1e308 x^2 / 2'")).find("1e+308"),
            std::string::npos);
  // The pattern of 64 coordinates has a bit beyond long long.
  const std::string header =
      system_header(read("name='a'\ncoordinates=['q[0..63]']\nlagrangian='sum(i, 0, 63, (1 + q[i]^2) v_q[i]^2) / 2'"));
  EXPECT_NE(header.find("constexpr unsigned long long table[n * n]"), std::string::npos);
  EXPECT_NE(header.find("9223372036854775808ull"), std::string::npos);
}

TEST(Formulas, EmptySumsAreZero) {
  const std::string start = "name='a'\ncoordinates=['x']\ndimensions={m=0}\npotential='x^2";
  EXPECT_EQ(system_header(read(start + " + sum(i, 1, m, y[i] sum(k, i, 3, z[k] x))'")),
            system_header(read(start + "'")));
}

TEST(Formulas, MomentaOfHigherPowersGiveTheVelocity) {  // also where their derivative is 0 at rest
  for (const char* lagrangian : {"v_x^4 / 4", "v_x^2 v_x^2 + v_x^6", "v_x^4 / 4 - x^2"})
    EXPECT_NO_THROW((void)system_header(read(fmt::format("name='a'\ncoordinates=['x']\nlagrangian='{}'", lagrangian))))
        << lagrangian;
}

TEST(Formulas, SinesOfDifferencesFollowFromThoseOfTheCoordinates) {
  const auto header = [](const char* potential, const char* constraints) {
    return system_header(
        read(fmt::format("name='a'\ncoordinates=['x','y']\nmass=[['2','cos(x - y)'],['cos(x - y)','1']]\n"
                         "potential='{}'\n{}",
                         potential, constraints)));
  };
  const char* difference = "q[0] - q[1]";
  EXPECT_EQ(header("cos(x) + sin(y)", "").find(difference), std::string::npos);
  EXPECT_NE(header("cos(x)", "").find(difference), std::string::npos);                            // one more sine
  EXPECT_NE(header("cos(x) + sin(y)", "constraints=['x']").find(difference), std::string::npos);  // discrete gradients
  EXPECT_NE(header("cos(x) + sin(2 y)", "").find(difference), std::string::npos);                 // of 2 y
}

TEST(Formulas, AHeaderDependsOnTheTextAlone) {
  for (const WrittenSystem& written : written_systems) {
    const std::string header = system_header(read(written.toml));
    EXPECT_EQ(system_header(read(written.toml)), header) << written.identifier;
    std::size_t longest = 0, begin = 0;
    for (std::size_t end; (end = header.find('\n', begin)) != std::string::npos; begin = end + 1)
      longest = std::max(longest, end - begin);
    EXPECT_LE(longest, 120u) << written.identifier;
  }
}

/// The header of a system, by a Hamiltonian or by the keys of its Lagrangian.
std::string header_of(std::string_view coordinates, std::string_view rest) {
  return system_header(
      read(fmt::format("name='a'\ncoordinates={}\nparameters={{m=2.0, k=0.5}}\n{}", coordinates, rest)));
}

TEST(Formulas, AHamiltonianThatIsQuadraticIsTheMechanicalSystem) {
  const auto same = [](std::string_view coordinates, std::string_view by_h, std::string_view by_l) {
    const std::string first = header_of(coordinates, by_h), momenta = first.substr(first.find("/// p = "));
    std::string second = header_of(coordinates, by_l);
    second.insert(second.find("template <class T>"), momenta.substr(0, momenta.find('\n') + 1));
    EXPECT_EQ(first, second);
  };
  same("['x']", "hamiltonian='p_x^2/(2 m) + k x^4'", "mass='m'\npotential='k x^4'");
  same("['x','y']", "hamiltonian='((p_x - k y)^2 + (p_y + k x)^2)/(2 m) + x y'",
       "mass='m'\nvector_potential=['k y', '-k x']\npotential='x y'");
  same("['x','y']", "hamiltonian='p_x p_y + x y'", "mass=[[0, 1], [1, 0]]\npotential='x y'");
  same("['x','y']", "hamiltonian='(p_x^2/(1 + x^2) + p_y^2/m)/2 + k y'", "mass=['1 + x^2', 'm']\npotential='k y'");
  same("['x','y','z','s']", "hamiltonian='p_x^2/2 + p_x p_y/2 + p_y^2 + 3 p_z^2/2 + p_s^2/4 + x'",
       "mass=[['8/7', '-2/7', 0, 0], ['-2/7', '4/7', 0, 0], [0, 0, '1/3', 0], [0, 0, 0, 2]]\npotential='x'");
}

TEST(Formulas, AHamiltonianIsRegularOrDegenerate) {
  const auto kind = [](std::string_view h, std::string_view more = "") {
    const SystemFormulas system = read(fmt::format("name='a'\ncoordinates=['x','y']\nhamiltonian='{}'\n{}", h, more));
    const SystemGraph graph(system);
    return graph.degenerate ? "degenerate" : graph.hamiltonian < 0 ? "mechanical" : "regular";
  };
  EXPECT_STREQ(kind("p_x^2/2 + 1e-20 p_y^2"), "mechanical");
  EXPECT_STREQ(kind("p_x^2/2 + x p_y"), "degenerate");
  EXPECT_STREQ(kind("(p_x + p_y)^2/2 + x"), "degenerate");
  EXPECT_STREQ(kind("(p_x cos(x) + p_y sin(x))^2/2 + y"), "degenerate");
  EXPECT_STREQ(kind("sqrt(1 + p_x^2 + p_y^2) + x"), "regular");
  EXPECT_STREQ(kind("sqrt(p_x^2 + p_y^2) + x", "initial={q=[0, 0], p=[1, 0.5]}"), "degenerate");  // v has the length 1
  EXPECT_STREQ(kind("p_x^4/4 + p_y^2/2 + x"), "regular");  // singular at p = 0 alone
  EXPECT_STREQ(kind("exp(x) cosh(p_x) + p_y^2 cosh(p_x)", "initial={q=[0, 0], v=[1, 0.5]}"), "regular");
}

TEST(Formulas, NameFunctionsWithoutDifferenceQuotient) {
  const auto lacking = [](const std::string& formulas) {
    const SystemFormulas system = read("name = 's'\ncoordinates = ['x', 'y']\nparameters = { a = 1 }\n" + formulas);
    return SystemGraph(system).without_difference_quotient();
  };
  EXPECT_EQ(lacking("potential = 'sin(x) exp(y) + sqrt(1 + x^2) + x^3 / log(3 + y^2)'"), "");
  EXPECT_EQ(lacking("potential = 'tan(a) x'"), "");
  EXPECT_EQ(lacking("potential = 'cos(tanh(x))'"), "tanh");
  EXPECT_EQ(lacking("potential = '(2 + x^2)^a'"), "pow");
  EXPECT_EQ(lacking("mass = 'cosh(x)'"), "cosh");
  EXPECT_EQ(lacking("constraints = ['atan2(x, 1 + y^2)']"), "atan2");
  EXPECT_EQ(lacking("velocity_constraints = ['tan(x) v_x']"), "");
}

TEST(Formulas, NamesHaveTheOrderOfTheText) {
  const SystemFormulas system = read(
      "name = 's'\ndimensions = { k = 2 }\ncoordinates = ['z', 'a[1..k]', 'y[k..3]']\nparameters = { zeta = 1, alpha = "
      "'k/4', beta = { value = -1, unit = 'm' } }\nobservables = { u = 'z', b = 'a1' }\nconserved = ['b']");
  EXPECT_EQ(system.coordinates, (std::vector<std::string>{"z", "a1", "a2", "y2", "y3"}));
  EXPECT_EQ(system.velocities, (std::vector<std::string>{"v_z", "v_a1", "v_a2", "v_y2", "v_y3"}));
  ASSERT_EQ(system.parameters.size(), 3u);
  EXPECT_EQ(system.parameters[0].name, "zeta");
  EXPECT_EQ(system.parameters[1].value, 0.5);
  EXPECT_EQ(system.parameters[2].unit, "m");
  EXPECT_EQ(system.observables[0].name, "u");
  EXPECT_TRUE(system.observables[1].conserved && !system.observables[0].conserved);
  EXPECT_EQ(system.q, std::vector<double>(5));
  EXPECT_FALSE(system.on_group());
}

TEST(Formulas, GroupsNameTheirNumbers) {
  const SystemFormulas system = read("name = 's'\ngroup = 'R^1 x SE(3) x R^2'\ncoordinates = ['a', 'b', 'c']");
  EXPECT_TRUE(system.on_group());
  EXPECT_EQ(system.elements(), 15);
  EXPECT_EQ(system.coordinates[1], "R11");
  EXPECT_EQ(system.coordinates[12], "z");
  EXPECT_EQ(system.coordinates[14], "c");
  EXPECT_EQ(system.velocities, (std::vector<std::string>{"v_a", "w1", "w2", "w3", "u1", "u2", "u3", "v_b", "v_c"}));
  EXPECT_EQ(system.q, (std::vector<double>{0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0}));
}

/// A default state matters where trajectories start there.
TEST(Formulas, TheDefaultStateOfAnEnsembleThatStartsElsewhereIsFree) {
  const auto fault = [](const std::string& formulas, const std::string& ensemble) -> std::string {
    try {
      (void)read_study("[system]\nname = 'a'\ncoordinates = ['x', 'y']\n" + formulas +
                           "\n[method]\nname = 'lobatto'\n[time]\nstep = 0.1\nend = 1\n" + ensemble,
                       "s.toml", {});
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  for (const std::string formulas : {"constraints = ['x^2 + y^2 - 1']", "potential = '-1/sqrt(x^2 + y^2)'"}) {
    EXPECT_NE(fault(formulas, "").find("default state"), std::string::npos);
    EXPECT_NE(fault(formulas, "[ensemble]\naxes = [{ name = 'k', values = [1] }]").find("default state"),
              std::string::npos);
    EXPECT_EQ(fault(formulas, "[ensemble.initial]\nq = [1, 0]\nv = [0, 1]"), "");
    EXPECT_EQ(fault(formulas, "[ensemble]\nfile = 'states.csv'"), "");
    EXPECT_EQ(fault(formulas, "[ensemble]\nproject = true"), "");
  }
}

}  // namespace
