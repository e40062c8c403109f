#pragma once
// A chunk of the chaotic study, or of another system's default states, with a compiled loop. A loop that the cache lacks is
// compiled first.

#include <algorithm>

#include <fmt/format.h>

#include "rattleback/catalogue/settings.hpp"
#include "rattleback/engine/backend.hpp"
#include "rattleback/kernels/kernels.hpp"
#include "rattleback/rattleback.hpp"
#include "rattleback/study/options.hpp"

namespace rattleback::bench {

/// Returns the numbers that the step of a compiled loop takes from the method's options. Options that are not compiled
/// have defaults.
inline std::vector<double> standard_numbers(const SystemEntry& system, const MethodEntry& method, PairKey key) {
  if (method.settle == nullptr) return std::vector<double>(max_method_numbers, 0.0);
  std::vector<OptionValue> values;
  const int* compiled = key.value;
  for (const OptionInfo& option : method.options)
    values.push_back({option.compiled ? *compiled++ : option.standard, option.standard_numbers});
  const Settlement settlement = method.settle(values, system);
  return {settlement.numbers.begin(), settlement.numbers.end()};
}

/// Advances the lanes of one chunk repeatedly, without observables.
class Loop {
 public:
  /// `options` are the lines of [method] other than the name.
  Loop(const std::string& system, const std::string& method, const std::string& options, Isa isa, double step)
      : Loop(Study::parse(fmt::format("[system]\n{}\n[method]\nname = \"{}\"\n{}\n[time]\nstep = {}\nend = {}", system,
                                      method, options, step, 100 * step)),
             isa, step) {}
  Loop(const Problem& problem, Isa isa, double step)
      : Loop(*problem.system, *problem.method, problem.key, problem.numbers, isa, step) {}
  Loop(const SystemEntry& system, const MethodEntry& method, PairKey key, const std::vector<double>& numbers, Isa isa,
       double step)
      : advance_(Kernels::instance().get({UnitKind::advance, &system, &method, key, isa}).advance) {
    arguments_.step = step;
    arguments_.tolerance = Study::Method{}.tolerance;
    arguments_.max_iterations = static_cast<int>(Study::Method{}.max_iterations);
    std::ranges::copy(numbers, arguments_.method);
    ChunkLayout& rows = arguments_.layout;
    rows.p = system.elements;
    rows.lambda = system.elements + system.n;
    rows.step = rows.steps_per_sample = -1;
    rows.carried = rows.lambda + system.m;
    rows.status = rows.carried + carried_numbers(system, method);
    rows.steps = rows.status + 1;
    rows.iterations = rows.status + 2;
    rows.residual = rows.status + 3;
    rows.rows = rows.status + 4;
    chunk_.assign(static_cast<std::size_t>(rows.rows) * row_size, 0.0);
    std::vector<double> parameters;
    for (std::size_t i = 0; i < system.parameters.size(); ++i) {
      parameters.push_back(arguments_.parameters[i] = system.parameters[i].value);
      arguments_.parameter_row[i] = -1;
    }
    for (int lane = 0; lane < chunk_size; ++lane) {
      std::vector<double> q(system.default_q.begin(), system.default_q.end()),
          v(system.default_v.begin(), system.default_v.end()), p(v.size()), lambda(static_cast<std::size_t>(system.m));
      q[0] += 1e-3 * system.time_scale * lane;  // each lane has a different trajectory
      v[0] += 1e-3;
      (*system.functions)
          ->prepare({parameters.data(), 0.0}, {q.data(), v.data(), p.data(), lambda.data()},
                    {false, false, true, false, method.in_space});
      for (int i = 0; i < system.elements; ++i) at(i, lane) = q[static_cast<std::size_t>(i)];
      for (int i = 0; i < system.n; ++i) at(rows.p + i, lane) = p[static_cast<std::size_t>(i)];
      for (int i = 0; i < system.m; ++i) at(rows.lambda + i, lane) = lambda[static_cast<std::size_t>(i)];
    }
  }

  /// Takes `steps` steps of the first `lanes` trajectories.
  void advance(std::int64_t steps, int lanes = chunk_size) {
    arguments_.target += steps;
    advance_(arguments_, chunk_.data(), 0, lanes);
  }
  [[nodiscard]] double iterations_per_step() {
    return at(arguments_.layout.iterations, 0) / at(arguments_.layout.steps, 0);
  }
  [[nodiscard]] bool good() {
    for (int lane = 0; lane < chunk_size; ++lane)
      if (at(arguments_.layout.status, lane) != 0.0) return false;
    return true;
  }
  /// Returns an element of the state, which has rows q, p, lambda, and what the method carries besides.
  double& at(int row, int lane) { return chunk_[static_cast<std::size_t>(row * row_size + lane)]; }

 private:
  AdvanceFunction advance_;
  KernelArguments arguments_{};
  std::vector<double> chunk_;
};

}  // namespace rattleback::bench
