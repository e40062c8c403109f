// What is wrong with a system that a study writes as formulas, in one clear message each.

#include <gtest/gtest.h>
#include <toml++/toml.h>

#include "language/systems.hpp"
#include "rattleback/language/print.hpp"
#include "rattleback/language/read.hpp"

using namespace rattleback;

namespace {

struct FaultOfFormulas {
  const char *toml, *message, *excerpt;
};
const FaultOfFormulas faults_of_formulas[] = {
    {"", "f.toml:1: system.name is missing; give the system a name of its own, as name = \"crane\"", ""},
    {"name = 3\ncoordinates=['x']", "f.toml:1: system.name must be a string", ""},
    {"name='a b'\ncoordinates=['x']",
     "f.toml:1: system.name: 'a b' cannot name a system; take at most 64 letters, digits, - and _", ""},
    {"name='a'", "f.toml:1: system.coordinates is missing; name the coordinates", ""},
    {"name='a'\ncoordinates='x'", "f.toml:2: system.coordinates must be an array of names", ""},
    {"name='a'\ncoordinates=['x', 'x']",
     "f.toml:2: system.coordinates: 'x' is already a coordinate; choose another name", ""},
    {"name='a'\ncoordinates=['2x']",
     "f.toml:2: '2x' cannot name a coordinate (a name is letters, digits and _, and does not start with a digit)", ""},
    {"name='a'\ncoordinates=['sin']", "f.toml:2: 'sin' cannot name a coordinate (it is pi or a function)", ""},
    {"name='a'\ncoordinates=['x']\npotentail='x'",
     "f.toml:3: unknown key 'potentail' in [system] (known: name, summary, source, coordinates, velocities, group, "
     "bodies, parameters, dimensions, mass, inertia, vector_potential, potential, lagrangian, hamiltonian, "
     "momenta, force, dissipation, "
     "constraints, velocity_constraints, multipliers, observables, conserved, initial, time_scale, gravity, assemble, "
     "redundant); "
     "did you mean 'potential'?",
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
     "f.toml:3: system.mass[1] = '0' cannot be used: the mass of 'v_y' is 0; remove the coordinate, or give a mass",
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
     "f.toml:3: 'energy' cannot name an observable (every run has one of this name); choose another name", ""},
    {"name='a'\ncoordinates=['x','y']\nobservables={'a-b'='x'}",
     "f.toml:3: 'a-b' cannot name an observable (a name is letters, digits and _, and does not start with a digit)",
     ""},
    {"name='a'\ncoordinates=['x','y']\nobservables={spin='x'}\nconserved=['spni']",
     "f.toml:4: system.conserved[0] = 'spni' is not an observable of this system (known: spin); did you mean 'spin'?",
     ""},
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
     "f.toml:2: system.coordinates: 'y2' is already a coordinate; choose another name", ""},
    {"name='a'\ncoordinates=['y[1..200]']", "f.toml:2: there are more than 64 names of coordinates", ""},
    {"name='a'\ncoordinates=['x']\nparameters={x=1}",
     "f.toml:3: system.parameters: 'x' is already a coordinate; choose another name", ""},
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
     "f.toml:2: system.group = 'SO(3)^-1' is not a configuration space (a power is a whole number or a dimension, "
     "which "
     "'-1' is not); write for example \"SO(3)\", \"SE(3)^2\" or \"SO(3) x R^2\"",
     ""},
    {"name='a'\ngroup='S^1^2'",
     "f.toml:2: system.group = 'S^1^2' is not a configuration space (a power of S^1 is written (S^1)^k); write for "
     "example \"SO(3)\", \"SE(3)^2\" or \"SO(3) x R^2\"",
     ""},
    {"name='a'\ndimensions={links=2}\ngroup='SO(3)^link'",
     "f.toml:3: system.group = 'SO(3)^link' is not a configuration space ('link' is not a dimension of the system; did "
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
     "f.toml:4: system.parameters: 'leg_w2' is already a velocity; choose another name", ""},
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
     "f.toml:3: system.initial.q: the first 9 numbers of the rotation of body 2 are not a rotation matrix (R^T R - 1 "
     "has "
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
     "f.toml:4: system.force[0] = 'for i in 1..3: -v_x[i]' cannot be used (column 5): 'i' already has a meaning; "
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
     "f.toml:4: system.initial.q: the first 9 numbers of the rotation are not a rotation matrix (R^T R - 1 has the "
     "norm "
     "3.0e+00); give 3 numbers, a rotation vector",
     ""},
    {"name='a'\ngroup='SO(3)'\ncoordinates=['w1']",
     "f.toml:3: system.coordinates: it has 1 name, and R^n of the group has 0 coordinates", ""},
    {"name='a'\ncoordinates=['x']\ntime_scale=0", "f.toml:3: system.time_scale: it must be positive", ""},
    {"name='a'\ncoordinates=['x']\npotential='((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((x))))))"
     "))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))'",
     "f.toml:3: system.potential = "
     "'((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((x)))))))))))))))))))))))))))))))))...' (133 "
     "bytes) cannot be used: its parentheses are nested deeper than 64 levels; use fewer",
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
     "f.toml:2: system.coordinates: it names no coordinate; a system needs at least one", ""},
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
    {"name='a'\ncoordinates=['x','y']\nconstraints=['x']\nmultipliers=['a', 'b']",
     "f.toml:4: system.multipliers: it has 2 entries, and 1 is needed, one for each constraint", ""},
    {"name='a'\ncoordinates=['x','y']\nconstraints=['x']\nmultipliers=[{ name = 'y' }]",
     "f.toml:4: system.multipliers: 'y' is already a coordinate; choose another name", ""},
    {"name='a'\ncoordinates=['x']\npotential='1e308 x + 1e308 x'",
     "f.toml:1: force of the system 'a', which follows from its formulas, cannot be computed: a number in it is not "
     "finite",
     ""},
    {"name='a\"); evil(\"'\ncoordinates=['x']",
     "f.toml:1: system.name: 'a\"); evil(\"' cannot name a system; take at most 64 letters, digits, - and _", ""}};

TEST(FaultsOfFormulas, SayWhatIsWrongAndWhere) {
  for (const FaultOfFormulas& fault : faults_of_formulas) {
    try {
      (void)system_header(read_system_formulas(toml::parse(fault.toml, std::string("f.toml"))));
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

}  // namespace
