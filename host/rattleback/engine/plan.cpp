#include "rattleback/engine/plan.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "rattleback/loop/averages.hpp"
#include "rattleback/loop/observe.hpp"
#include "rattleback/study/fit.hpp"
#include "rattleback/study/groups.hpp"
#include "rattleback/study/observables.hpp"
#include "rattleback/study/options.hpp"

namespace rattleback {
namespace {

/// Returns the position of an observable in the plan. Adds the observable when the plan has none such.
int find_or_add(Plan& plan, ObservableCode code) {
  const auto same = [&](const ObservableCode& other) { return other.kind == code.kind && other.index == code.index; };
  const auto found = std::ranges::find_if(plan.codes, same);
  if (found != plan.codes.end()) return static_cast<int>(found - plan.codes.begin());
  plan.codes.push_back(code);
  plan.references.push_back(0.0);
  return static_cast<int>(plan.codes.size()) - 1;
}

ObservableCode::Kind kind_of(const std::string& part) {
  if (part == "q") return ObservableCode::q;
  if (part == "v") return ObservableCode::v;
  if (part == "p") return ObservableCode::p;
  return ObservableCode::lambda;
}

/// Adds the derivatives of observables, those of squared errors, and the joint moments that those of standard deviations need. Beside
/// stops there are only those of values that the result keeps: which trajectories count in a statistic depends on the parameters there.
void add_derivatives(Plan& plan, const Problem& problem) {
  const bool of_statistics = problem.study.stops.empty();
  for (std::size_t o = 0; o < problem.study.observables.size(); ++o) {
    if (!has_derivative(problem.codes[o].kind)) continue;
    const Observable& observable = problem.study.observables[o];
    if (!of_statistics && !observable.values) continue;
    const auto asks = [&](std::string_view name) {
      return of_statistics && std::ranges::find(observable.statistics, name) != observable.statistics.end();
    };
    const double reference = plan.references[o];
    for (std::size_t j = 0; j < problem.derivatives.size(); ++j) {
      Plan::Derivative& derivative = plan.derivatives.emplace_back(o, j, static_cast<int>(plan.codes.size()));
      const int index = derivative_index(static_cast<int>(o), static_cast<int>(j));
      plan.codes.push_back({ObservableCode::derivative, index});
      plan.references.push_back(reference == reference ? 0.0 : reference);  // of what the error is measured from
      if (asks("mse") || asks("rms")) {
        derivative.error_code = static_cast<int>(plan.codes.size());
        plan.codes.push_back({ObservableCode::error_derivative, index});
        plan.references.push_back(0.0);
      }
      derivative.of_statistics = of_statistics;
      plan.keep_values = true;  // for the share that few trajectories carry
      if (!asks("std")) continue;
      derivative.pair = static_cast<int>(plan.pairs.size());
      plan.pairs.emplace_back(static_cast<int>(o), derivative.code);
    }
  }
}

void add_observables(Plan& plan, const Problem& problem) {
  const Study& study = problem.study;
  plan.codes = problem.codes;
  for (const Observable& observable : study.observables) {
    plan.references.push_back(observable.reference == ErrorReference::initial()
                                  ? std::numeric_limits<double>::quiet_NaN()
                                  : observable.reference.number);
    plan.keep_values = plan.keep_values || observable.values || !observable.quantiles.empty() || observable.histogram;
  }
  for (std::size_t o = 0; o < study.observables.size(); ++o)
    for (const std::string& other : study.observables[o].correlation)
      plan.pairs.emplace_back(static_cast<int>(o), find_or_add(plan, problem.observable_code(other)));
  add_derivatives(plan, problem);
  for (const std::string& part : study.output.covariance)
    for (int i = 0; i < (part == "lambda" ? plan.system->m : part == "q" ? plan.system->elements : plan.system->n); ++i)
      plan.components.push_back(find_or_add(plan, {kind_of(part), i}));
  plan.first_covariance = plan.pairs.size();
  for (std::size_t i = 0; i < plan.components.size(); ++i)
    for (std::size_t j = 0; j <= i; ++j) plan.pairs.emplace_back(plan.components[i], plan.components[j]);
}

/// A fit of a line to the ensemble's mean is the mean of the fits to single trajectories.
void add_line_fits(Plan& plan, const Problem& problem, double step) {
  const bool any = !problem.study.fits.empty();
  const std::vector<double> times = any ? problem.sample_times(step) : std::vector<double>();
  for (const Fit& fit : problem.study.fits) {
    if (fit.model != Fit::Model::line) continue;
    const auto observable = std::ranges::find(problem.study.observables, fit.observable, &Observable::name);
    LineFit& line = plan.line_fits.emplace_back(static_cast<int>(observable - problem.study.observables.begin()),
                                                fit.statistic == "mse", FitTimes(fit, times).weight, -1);
    line.row = 2 * static_cast<int>(plan.line_fits.size()) - 2;
  }
}

/// Returns whether the study asks for compensated summation of the state.
bool compensated(const Problem& problem) {
  const char* option = problem.method->compensation;
  return option != nullptr && problem.study.method.options.at(option) == MethodOption(true);
}

/// Returns whether the carried multiplier is compared with that of the continuous equations at samples: with the option `multiplier`,
/// which nonholonomic-lobatto has. The multiplier that generalized-alpha carries does not grow; where a step does not resolve the
/// motion, it differs as it should.
bool guards_multiplier(const Problem& problem) {
  const auto& options = problem.study.method.options;
  const auto chosen = options.find("multiplier");
  return problem.system->m > problem.system->positions && chosen != options.end() &&
         chosen->second == MethodOption(std::string("carried"));
}

/// Returns whether the states of the method may leave the constraints of its system.
bool leaves_constraint(const Problem& problem) {
  return problem.system->m > 0 && !(problem.method->exact_constraint && keeps_hidden_constraint(problem));
}

/// Returns whether an observable, a surface or an average reads the work, which the steps then measure.
bool measures_work(const Plan& plan) {
  const auto of_work = [](const ObservableCode& code) {
    return code.kind == ObservableCode::work || code.kind == ObservableCode::energy_balance;
  };
  return std::ranges::any_of(plan.codes, of_work) ||
         std::ranges::any_of(std::array{&plan.code.observables, &plan.code.surfaces, &plan.code.averages},
                             [](const std::string* text) { return text->find("x.work()") != std::string::npos; });
}

/// Returns a kernel of a problem or a plan.
template <class Source>
Unit unit_of(UnitKind kind, const Source& source, Isa isa) {
  return {kind, source.system, source.method, source.key, isa, source.code};
}
template <class Source>
std::vector<Unit> units(const Source& source, int tangents, bool frame, Isa isa) {
  const UnitKind loop = source.code.derivatives ? UnitKind::varied
                        : frame                 ? UnitKind::frame
                        : tangents > 0          ? UnitKind::tangent
                                                : UnitKind::advance;
  Unit samples = unit_of(UnitKind::samples, source, isa);
  samples.code.tangents = tangents > 0;
  return {unit_of(loop, source, isa), samples};
}

}  // namespace

std::vector<Unit> units_of(const Problem& problem, Isa isa) {
  const TangentNeeds needs(problem);
  return units(problem, needs.count, needs.frame(), isa);
}
std::vector<Unit> units_of(const Plan& plan, Isa isa) {
  return units(plan, plan.arguments.layout.tangents, plan.frame, isa);
}
namespace {
/// The steps that locate a crossing have given sizes, and count in no average.
template <class Source>
std::vector<Unit> units_of_single_steps(const Source& source, Isa isa) {
  std::vector<Unit> units{unit_of(UnitKind::advance, source, isa)};
  if (source.code.derivatives) units.push_back(unit_of(UnitKind::varied, source, isa));
  for (Unit& unit : units) {
    unit.code.density.clear();
    unit.code.averages.clear();
  }
  return units;
}
}  // namespace
std::vector<Unit> units_of_sections(const Problem& problem, Isa isa) { return units_of_single_steps(problem, isa); }
std::vector<Unit> units_of_sections(const Plan& plan, Isa isa) { return units_of_single_steps(plan, isa); }

std::vector<RowRange> rows_to_fetch(const Plan& plan) {
  const ChunkLayout& rows = plan.arguments.layout;
  return {{0, rows.fixed}, {rows.fixed + rows.fixed_rows, rows.rows}};
}

std::vector<RowRange> rows_of_counts(const Plan& plan) {
  const ChunkLayout& rows = plan.arguments.layout;
  std::vector<RowRange> ranges{{rows.status, rows.residual + 1}};
  if (plan.keep_values)  // output that is not written yet may be reduced with them, after a checkpoint
    ranges.push_back({rows.references, rows.references + static_cast<int>(plan.codes.size())});
  if (rows.averages >= 0) ranges.push_back({rows.averages, rows.averages + average_rows(plan.averages)});
  if (rows.fits >= 0) ranges.push_back({rows.fits, rows.fits + 2 * static_cast<int>(plan.line_fits.size())});
  return ranges;
}

Plan make_plan(const Problem& problem, const Ensemble& ensemble) {
  const Study& study = problem.study;
  Ensemble::Evaluator evaluate(ensemble);
  const InitialData& data = evaluate(0);
  Plan plan;
  plan.system = problem.system;
  plan.method = problem.method;
  plan.key = problem.key;
  plan.code = problem.code;
  add_observables(plan, problem);
  add_line_fits(plan, problem, data.step);
  plan.keep_values = plan.keep_values || ensemble.groups().sets() > 1;

  KernelArguments& a = plan.arguments;
  a.tolerance = study.method.tolerance;
  a.max_iterations = static_cast<int>(study.method.max_iterations);  // at most 10000
  a.guess = study.method.guess == "simple" ? 0.0 : 1.0;
  std::ranges::copy(problem.numbers, a.method);
  a.in_space = plan.method->in_space;
  a.carries_multiplier = !multiplier_from_equations(*plan.system, *plan.method);
  if (guards_multiplier(problem)) a.parasitic_limit = parasitic_limit(order_of(problem));
  a.start = study.time.start;
  a.step = data.step;
  a.surfaces = problem.surfaces;
  if (*study.time.end < study.time.start)  // + is growth with the time, also where the steps lead back
    for (int& direction : a.surfaces.direction) direction = -direction;
  ChunkLayout& rows = a.layout;
  int next = 0;
  const auto take = [&next](int count) { return std::exchange(next, next + count); };
  rows.q = take(plan.system->elements);
  rows.p = take(plan.system->n);
  rows.lambda = take(plan.system->m);
  plan.state_rows = next;
  if (const int carried = carried_numbers(*plan.system, *plan.method); carried > 0) rows.carried = take(carried);
  if (measures_work(plan)) rows.work = next - 1;
  plan.step_rows = next;
  const bool by_density = !study.time.density.empty();
  if (by_density) rows.orbit = take(plan.step_rows);
  rows.status = take(1);
  rows.steps = take(1);
  rows.iterations = take(1);
  rows.residual = take(1);
  rows.fixed = next;
  rows.step = rows.steps_per_sample = -1;
  if (ensemble.step_varies()) {
    rows.step = take(1);
    if (!by_density) rows.steps_per_sample = take(1);
  }
  std::ranges::fill(a.parameter_row, -1);
  const int parameters = static_cast<int>(data.parameters.size());
  for (int i = 0; i < std::min(parameters, max_uniform_parameters); ++i) {
    a.parameters[i] = data.parameters[static_cast<std::size_t>(i)];
    if (ensemble.parameter_varies(i)) a.parameter_row[i] = take(1);
  }
  if (parameters > max_uniform_parameters) rows.parameters = take(parameters - max_uniform_parameters);
  rows.fixed_rows = next - rows.fixed;
  if (by_density) {
    rows.clock = take(ClockRow::rows);
    a.max_steps = static_cast<double>(*study.time.max_steps);
  }
  if (const TangentNeeds needs(problem); needs.count > 0) {
    plan.frame = needs.frame();
    rows.tangents = needs.count;
    rows.tangent_rows = plan.step_rows + (needs.by_mass ? 2 : 1);
    rows.tangent = take(needs.count * rows.tangent_rows);
    rows.tangent_exponent = rows.tangent + plan.step_rows;
    if (needs.by_mass) rows.tangent_square = rows.tangent_exponent + 1;
    if (needs.transient > 0) {
      rows.counted_from = take(1);
      a.transient = static_cast<std::int64_t>(needs.transient);
    }
    if (needs.columns) rows.columns = take(needs.count * (needs.count + 3) / 2);
    if (needs.growth) rows.growth = take(3);
    if (needs.window) rows.window = take(needs.count + 1);
    a.off_constraint = leaves_constraint(problem);
  }
  if (const auto count = static_cast<int>(problem.derivatives.size()); count > 0) {
    const bool seeded = std::ranges::any_of(problem.derivatives,
                                            [](const DerivativeBy& by) { return by.kind <= DerivativeBy::parameter; });
    rows.variations = count;
    rows.variation_rows = plan.step_rows;
    if (by_density) {
      rows.variation_orbit = plan.step_rows;
      rows.variation_clock = 2 * plan.step_rows;
      rows.variation_rows += plan.step_rows + 2;
    }
    if (seeded) rows.seeds = std::exchange(rows.variation_rows, rows.variation_rows + parameters + 1);
    rows.variation = take(count * rows.variation_rows);
  }
  if (std::ranges::any_of(plan.codes, [](const ObservableCode& c) { return c.kind >= ObservableCode::gamma; }))
    rows.last_step = take(plan.system->m + 3 * plan.system->n);
  a.last_step_at_start = plan.method->step_velocity_at_start;
  if (compensated(problem))
    rows.rounding = take(plan.system->elements + plan.system->n + (plan.system->driven ? 1 : 0));
  if (a.parasitic_limit > 0.0) rows.guard = take(by_density ? 3 : 2);
  rows.references = take(static_cast<int>(plan.codes.size()));
  if (!plan.line_fits.empty()) rows.fits = take(2 * static_cast<int>(plan.line_fits.size()));
  for (LineFit& fit : plan.line_fits) fit.row += rows.fits;
  if (plan.averages = static_cast<int>(study.averages.size()); plan.averages > 0) {
    rows.averages = take(average_rows(plan.averages));
    a.averaged = by_density ? *study.time.end - study.time.start
                            : static_cast<double>(rows.steps_per_sample >= 0 ? *study.time.samples : *study.time.steps);
  }
  const bool sections = a.surfaces.count > 0;
  rows.surfaces = take(a.surfaces.count);
  plan.stops = static_cast<int>(study.stops.size());
  if (plan.stops > 0) {
    take(plan.stops);  // crossings that are left until each stop (loop/surface.hpp)
    plan.beyond = take(1);
  }
  rows.crossings = take(sections ? 1 : 0);
  rows.persistent = next;
  rows.slots = take(sections ? crossing_slots * (plan.crossing_size() - 1) : 0);
  rows.rows = next;
  return plan;
}

}  // namespace rattleback
