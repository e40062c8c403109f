#include "rattleback/study/familiar.hpp"

#include <algorithm>
#include <string>

namespace rattleback {
namespace {

struct Familiar {
  std::string_view names;  ///< with a space between them
  std::string_view ours;
};

constexpr Familiar familiar_methods[] = {
    {"rattle", "RATTLE is \"holonomic-lobatto\" with stages = 2"},
    {"shake m-shake lincs settle", "SHAKE has the positions of RATTLE, which is \"holonomic-lobatto\" with stages = 2"},
    {"verlet velocity-verlet position-verlet", "the velocity Verlet method is \"lobatto\" with stages = 2"},
    {"stormer stoermer störmer stormer-verlet stoermer-verlet störmer-verlet",
     "the Stoermer-Verlet method is \"lobatto\" with stages = 2"},
    {"leapfrog leap-frog kick-drift-kick drift-kick-drift",
     "the leapfrog is \"lobatto\" with stages = 2, and with velocity constraints \"nonholonomic-leapfrog\""},
    {"yoshida yoshida4 yoshida6 yoshida8 forest-ruth pefrl mclachlan suzuki suzuki4 kahan-li blanes-moan",
     "compositions are an option: \"lobatto\" with composition = \"suzuki4\", \"kahan-li6\", \"kahan-li8\" or one of "
     "Blanes and Moan"},
    {"ruth ruth3", "the method of Ruth of order 3 is \"vcg\" with tableau = \"ruth3\""},
    {"wisdom-holman whfast",
     "no method splits off Kepler's motion; for L = v.Mv/2 - U(q) take \"lobatto\" with composition = "
     "\"blanes-moan-rkn6\""},
    {"symplectic-euler semi-implicit-euler euler-cromer",
     "the symplectic Euler method is \"vcg\" with tableau = { weights = [1], theta = [0] }; \"lobatto\" with stages = "
     "2 "
     "has order 2 for the same work"},
    {"euler explicit-euler forward-euler", "the explicit Euler method is \"runge-kutta\" with base = \"euler\""},
    {"implicit-euler backward-euler",
     "no method has the step of the implicit Euler method; fast motions are damped by \"generalized-alpha\" with rho = "
     "0"},
    {"heun rk2 improved-euler", "the method of Heun is \"runge-kutta\" with base = \"heun2\""},
    {"rk4 runge-kutta-4 classical-runge-kutta",
     "the classical Runge-Kutta method is \"runge-kutta\" with base = \"rk4\""},
    {"rk45 ode45 dopri5 dopri dormand-prince",
     "no estimate of the error chooses the step; the method of Dormand and Prince is \"runge-kutta\" with base = "
     "\"dp5\""},
    {"rk23 ode23 bogacki-shampine tsit5 rkf45 cash-karp",
     "no estimate of the error chooses the step; explicit Runge-Kutta methods are \"runge-kutta\" with base = \"rk3\", "
     "\"dp5\" or the tableau that "
     "you give"},
    {"dop853 dopri8 rk78 rkf78 vern7 vern8 vern9 ode78 ode89",
     "no estimate of the error chooses the step; explicit Runge-Kutta methods of high order are \"runge-kutta\" with "
     "base = \"prince8\" or "
     "\"prince9\""},
    {"taylor bulirsch-stoer odex adams ode113 abm ias15 hermite",
     "no estimate of the error chooses the step; for small errors take \"lobatto\" with more stages or \"runge-kutta\" "
     "with base = \"prince9\""},
    {"bdf gear ode15s lsoda lsode cvode ida dassl daspk radau radau5 radau-iia rosenbrock rodas trbdf2 ode23t ode23s",
     "no method here has error control for stiff problems; fast motions are damped by \"generalized-alpha\""},
    {"gauss gauss-legendre gauss-collocation collocation",
     "Gauss collocation without constraints is \"vrkmk\" with stages = s; \"hbvm\" with k = s is Gauss collocation, "
     "too"},
    {"midpoint implicit-midpoint midpoint-rule", "the implicit midpoint rule is \"hbvm\" with s = 1 and k = 1"},
    {"trapezoidal trapezoid crank-nicolson",
     "the trapezoidal rule is conjugate to the implicit midpoint rule, which is \"hbvm\" with s = 1 and k = 1"},
    {"avf average-vector-field discrete-gradient energy-conserving energy-preserving",
     "the energy is kept by \"hbvm\", with holonomic constraints also by \"energy-momentum\", with velocity "
     "constraints by "
     "\"nonholonomic-energy\""},
    {"newmark newmark-beta average-acceleration",
     "Newmark's method with beta = 1/4 and gamma = 1/2 is \"generalized-alpha\" with rho = 1"},
    {"hht hht-alpha hilber-hughes-taylor bossak wbz-alpha wilson-theta",
     "fast motions are damped by \"generalized-alpha\", whose option rho says how much"},
    {"rkmk munthe-kaas lie-euler lgvi",
     "variational methods of this kind on Lie groups are \"vrkmk\" and \"vcg\"; \"lobatto\" takes groups, too"},
    {"crouch-grossman", "the variational method of Crouch and Grossman is \"vcg\""},
    {"spark", "SPARK methods for velocity constraints are \"nonholonomic-spark\""},
    {"dla lagrange-d-alembert nonholonomic-rattle",
     "the discrete Lagrange-d'Alembert integrator is \"nonholonomic-dla\""},
    {"ggl gear-gupta-leimkuhler",
     "the variational methods with GGL stabilisation are \"ggl-vi-a\" and others, the classical one \"classical-ggl\""},
    {"baumgarte",
     "constraints hold to round-off without stabilisation by Baumgarte: \"holonomic-lobatto\", "
     "\"nonholonomic-lobatto\""},
    {"langevin baoab brownian nose-hoover thermostat",
     "no method has noise or a thermostat; friction and drives are forces of a system"},
};

/// Calls two names the same that differ in upper case, spaces and underscores.
std::string plain(std::string_view name) {
  std::string result(name);
  for (char& c : result) {
    if (c == '_' || c == ' ') c = '-';
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

bool has(std::string_view names, std::string_view name) {
  while (!names.empty()) {
    const std::size_t end = std::min(names.find(' '), names.size());
    if (names.substr(0, end) == name) return true;
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return false;
}

}  // namespace

std::string_view familiar_method(std::string_view name) {
  const std::string asked = plain(name);
  const auto found = std::ranges::find_if(familiar_methods, [&](const Familiar& one) { return has(one.names, asked); });
  return found == std::end(familiar_methods) ? std::string_view() : found->ours;
}

}  // namespace rattleback
