#pragma once
// Times the paths of a step. All of them solve the same equations, and a rule of the method (choose.hpp of its folder) picks one.

#include <cstdio>
#include <functional>
#include <string>

#include "../micro/steps.hpp"
#include "judgement.hpp"
#include "rattleback/linalg/factors.hpp"
#include "rattleback/mechanics/system.hpp"

RB_NAMESPACE_BEGIN

/// A path of a step, timed on the trajectories of one pack.
struct Path {
  static constexpr int steps = 200;

  std::string name;
  bool chosen;
  std::function<double()> nanoseconds;  ///< per trajectory-step
  std::vector<double> times;            ///< of the turns

  /// The step of this type; without a solution of all its steps a path is of no use, and `nanoseconds` is empty.
  template <class Step, class System>
  static Path of(std::string name, bool chosen, const System& system, const auto&... numbers) {
    using P = typename System::scalar;
    const Step step(system, SolverOptions<P>{P(1e-16), 50}, numbers...);
    double h = 0.1;
    if constexpr (requires { System::time_scale; }) h *= System::time_scale;
    auto state = default_state<System, typename Step::State>(system);
    bool solved = true;
    for (int k = 0; k < steps; ++k) solved = solved && !any(!(step(state, P(h)).status == P(0.0)));
    if (!solved) return {std::move(name), chosen, {}, {}};
    return {std::move(name), chosen, [=] { return rattleback::nanoseconds(system, step, h, steps); }, {}};
  }
};

/// A method with a system, and the paths that compile for it.
struct Paths {
  std::string system, method;
  std::vector<Path> paths;

  /// All paths take turns, after one that does not count.
  void take(int turns) {
    for (int turn = -1; turn < turns; ++turn) {
      for (Path& path : paths) {
        if (!path.nanoseconds) continue;
        const double time = path.nanoseconds();
        if (turn >= 0) path.times.push_back(time);
      }
    }
  }
  /// Prints a row of a Markdown table: the chosen path, and each rival with the time of the chosen one divided by its own. Returns
  /// whether no rival is faster than the chosen path by more than 5 %.
  bool print() const {
    const auto chosen = std::ranges::find_if(paths, [](const Path& path) { return path.chosen; });
    if (chosen == paths.end() || !chosen->nanoseconds) {
      std::printf("| %s | %s | the chosen path has no solution | | |\n", system.c_str(), method.c_str());
      return false;
    }
    std::printf("| %s | %s | %s | %.1f |", system.c_str(), method.c_str(), chosen->name.c_str(),
                rattleback::bench::median(chosen->times));
    bool good = true;
    for (const Path& path : paths) {
      if (path.chosen) continue;
      if (!path.nanoseconds) {
        std::printf(" %s: no solution;", path.name.c_str());
        continue;
      }
      const Ratio ratio(chosen->times, path.times);
      const bool faster = ratio.rival_is_faster(0.05);
      std::printf(" %s %.1f: %.2f ± %.2f%s;", path.name.c_str(), rattleback::bench::median(path.times), ratio.value,
                  ratio.error, faster ? " **faster**" : "");
      good = good && !faster;
    }
    std::printf(" |\n");
    return good;
  }
};

/// The rows of each file of this folder.
void add_lobatto(std::vector<Paths>& rows);
void add_ggl(std::vector<Paths>& rows);
void add_nonholonomic(std::vector<Paths>& rows);

RB_NAMESPACE_END
