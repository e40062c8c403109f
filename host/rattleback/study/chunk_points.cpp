#include "rattleback/study/chunk_points.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "rattleback/base/error.hpp"
#include "rattleback/kernels/kernels.hpp"
#include "rattleback/study/grid.hpp"
#include "rattleback/study/observables.hpp"

namespace rattleback {
namespace {

/// A point takes 0.2 us by itself, once or twice in a run, and a kernel 1 to 4 s to compile, once for a system.
constexpr std::uint64_t worth_using = 2048, worth_compiling = 500'000;

}  // namespace

std::vector<Unit> units_of_start(const Problem& problem, Isa isa) {
  std::vector<Unit> units{{UnitKind::start, problem.system, nullptr, {}, isa}};
  StudyCode code;
  code.by_mass = problem.code.by_mass;
  code.vectors = TangentNeeds(problem).count;
  if (code.vectors > 0) units.push_back({UnitKind::start_tangents, problem.system, nullptr, {}, isa, code});
  return units;
}

bool needs_start_kernel(const Problem& problem) {
  return problem.derivatives.empty() && !problem.study.ensemble.listed() &&
         Grid(problem.study).size() >= worth_compiling;
}

std::vector<Unit> wanted_units_of_start(const Problem& problem, Isa isa) {
  if (Kernels::instance().policy() != KernelPolicy::automatic || !needs_start_kernel(problem)) return {};
  return units_of_start(problem, isa);
}

void load_start_kernel(const Problem& problem) {
  try {
    Kernels::instance().load(wanted_units_of_start(problem, best_isa()));
  } catch (const Error& error) {
    if (error.kind() != Error::Kind::input) throw;
  }
}

bool may_prepare_together(const Problem& problem, const Ensemble& ensemble) {
  return problem.derivatives.empty() && !problem.study.ensemble.listed() && !ensemble.formulas().has_periods() &&
         ensemble.range().count() >= worth_using;
}

std::optional<StartKernel> find_start_kernel(const Problem& problem, const Ensemble& ensemble) {
  if (!may_prepare_together(problem, ensemble)) return std::nullopt;
  try {
    const Isa isa = best_isa();
    const std::vector<Unit> units = units_of_start(problem, isa);
    const CompiledUnit* points = Kernels::instance().find(units[0]);
    if (points == nullptr || points->start == nullptr) return std::nullopt;
    const CompiledUnit* tangents = units.size() > 1 ? Kernels::instance().find(units[1]) : nullptr;
    return StartKernel{points->start, isa, tangents != nullptr ? tangents->start : nullptr};
  } catch (const Error& error) {
    if (error.kind() != Error::Kind::input) throw;
  }
  return std::nullopt;
}

std::vector<int> ChunkPoints::roots_of(const FormulaNodes& nodes) {
  std::vector<int> roots{nodes.step};
  for (const auto* part : {&nodes.parameters, &nodes.q, &nodes.v, &nodes.p, &nodes.lambda})
    roots.insert(roots.end(), part->begin(), part->end());
  if (nodes.condition >= 0) roots.push_back(nodes.condition);
  return roots;
}

ChunkPoints::ChunkPoints(const Problem& problem, const Ensemble& ensemble, const StartKernel& kernel, bool in_space)
    : system_(*problem.system),
      grid_(ensemble.grid()),
      kernel_(kernel),
      functions_(functions_of(kernel.isa)),
      nodes_(ensemble.formulas().nodes(graph_)),
      program_(graph_, roots_of(nodes_), functions_) {
  const std::size_t axes = ensemble.axis_names().size();
  unread_.resize(axes * row_size);
  for (std::size_t i = 0; i < axes; ++i) {
    double* read = program_.variable(static_cast<int>(i));
    axes_.push_back(read != nullptr ? read : unread_.data() + i * row_size);
  }
  StartLayout& at = arguments_.layout;
  const auto take = [&at](std::size_t rows) { return std::exchange(at.rows, at.rows + static_cast<int>(rows)); };
  at.q = take(static_cast<std::size_t>(system_.elements));
  at.v = take(static_cast<std::size_t>(system_.n));
  at.p = take(static_cast<std::size_t>(system_.n));
  at.lambda = take(static_cast<std::size_t>(system_.m));
  at.parameters = take(nodes_.parameters.size());
  at.step = take(1);
  at.doubtful = take(1);
  const Study::Time& time = problem.study.time;
  step_varies_ = ensemble.step_varies();
  counter_ = {*time.end - time.start, static_cast<double>(time.samples.value_or(1)), time.by_density()};
  units_ = units_of_start(problem, Isa::scalar);
  tangent_rows_ = units_.back().code.vectors * (system_.elements + system_.n + system_.m);
  rows_.resize(static_cast<std::size_t>(at.rows + tangent_rows_) * row_size);
  arguments_.options = {ensemble.from_momentum(), ensemble.multiplier_given(), problem.study.ensemble.project,
                        ensemble.in_space(), in_space};
  arguments_.time = problem.study.time.start;
  arguments_.expand = nodes_.q.size() != static_cast<std::size_t>(system_.elements);
  const auto copy = [&](const std::vector<int>& roots, int row, bool overwritten) {
    for (const int root : roots) {
      if (overwritten || program_.varies(root)) {
        copies_.push_back({root, row});
      } else {
        std::copy_n(program_.row(root), chunk_size, rows_.data() + row * row_size);
      }
      ++row;
    }
  };
  copy(nodes_.q, at.q, true);
  copy(nodes_.v, at.v, true);
  copy(nodes_.p, at.p, true);
  copy(nodes_.lambda, at.lambda, true);
  copy(nodes_.parameters, at.parameters, false);
  copy({nodes_.step}, at.step, false);
}

StartProgram ChunkPoints::program() const {
  StartProgram program;
  program.units = units_;
  program.nodes = program_.nodes();
  program.rows = static_cast<int>(program.nodes.size());
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    program.axes.push_back(grid_.numbers(i));
    const int read = program_.position_of_variable(static_cast<int>(i));
    program.axis_rows.push_back(read >= 0 ? read : program.rows++);
  }
  program.point = program.rows;
  program.rows += arguments_.layout.rows + tangent_rows_;
  program.arguments = arguments_;
  program.step_varies = step_varies_;
  program.counter = counter_;
  const StartLayout& at = arguments_.layout;
  for (const auto& [roots, row] : {std::pair(&nodes_.q, at.q), std::pair(&nodes_.v, at.v), std::pair(&nodes_.p, at.p),
                                   std::pair(&nodes_.lambda, at.lambda), std::pair(&nodes_.parameters, at.parameters)})
    for (std::size_t i = 0; i < roots->size(); ++i)
      program.given.push_back({program_.position((*roots)[i]), program.point + row + static_cast<int>(i)});
  program.given.push_back({program_.position(nodes_.step), program.point + at.step});
  if (nodes_.condition >= 0) program.condition = program_.position(nodes_.condition);
  for (const int parameter : nodes_.before_the_condition) program.finite.push_back(program_.position(parameter));
  return program;
}

void ChunkPoints::prepare(std::uint64_t first, std::uint64_t count) {
  first_ = first;
  count_ = count;
  for (std::size_t i = 0; i < axes_.size(); ++i) grid_.values(i, first, count, functions_, axes_[i]);
  program_.evaluate();
  for (const Copy& copy : copies_) std::copy_n(program_.row(copy.root), chunk_size, rows_.data() + copy.row * row_size);
  kernel_.prepare(arguments_, rows_.data(), 0, static_cast<int>(count));
  judge();
}

void ChunkPoints::judge() {
  const double* doubtful = row(arguments_.layout.doubtful);
  const double* taken = nodes_.condition >= 0 ? program_.row(nodes_.condition) : nullptr;
  all_good_ = true;
  for (std::uint64_t i = 0; i < count_; ++i) {
    const bool is_taken = taken == nullptr || taken[i] != 0.0;
    Kind kind = !is_taken ? Kind::left_out : doubtful[i] != 0.0 ? Kind::alone : Kind::good;
    for (const int parameter : nodes_.before_the_condition)
      if (!std::isfinite(program_.row(parameter)[i])) kind = Kind::alone;
    kinds_[i] = kind;
    all_good_ = all_good_ && kind == Kind::good;
  }
}

}  // namespace rattleback
