#include "rattleback/measure/order.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "rattleback/base/floating_point.hpp"
#include "rattleback/base/message.hpp"
#include "rattleback/base/parallel.hpp"
#include "rattleback/base/version.hpp"
#include "rattleback/kernels/kernels.hpp"
#include "rattleback/language/expression.hpp"
#include "rattleback/measure/reference/extrapolate.hpp"
#include "rattleback/real/elementary.hpp"
#include "rattleback/study/options.hpp"
#include "rattleback/study/points.hpp"

namespace rattleback {
namespace {

// What every resolved study has.
double end_of(const Study& study) { return study.time.end.value_or(nan); }
std::int64_t steps_of(const Study& study) { return study.time.steps.value_or(0); }

constexpr double epsilon = std::numeric_limits<double>::epsilon();

/// Returns the stages of the reference for runs of at most `tested` stages: two more, and at least five, as far as the
/// method has so many. More stages would cost more and add digits below round-off.
int reference_stages(const MethodEntry& method, int tested) {
  for (const OptionInfo& option : method.options)
    if (option.name == std::string_view("stages"))
      return std::min(static_cast<int>(option.maximum), std::max(5, tested + 2));
  return tested;
}

std::string method_in_words(const Problem& problem, std::string_view steps) {
  const std::string options = options_in_words(problem);
  return fmt::format("{}, {}{}{}", problem.method->name, options, options.empty() ? "" : ", ", steps);
}
std::string method_in_words(const Problem& run) { return method_in_words(run, fmt::format("step {}", step_of(run))); }

/// Final states of all trajectories, by variable. `good` marks the trajectories without failure.
struct States {
  std::map<std::string, std::vector<double>> values;
  std::vector<std::uint8_t> good;
};

/// Throws Error(input) unless the reference resolves more than each of the runs. Otherwise the errors of the reference
/// would be as large as the errors of the runs.
void require_finer(const std::string& where, const Problem& reference, double step, std::span<const Problem> runs) {
  for (const Problem& run : runs) {
    const double tested = step_of(run);
    bool finer = step < tested;
    const auto stages = reference.study.method.stages(), tested_stages = run.study.method.stages();
    if (reference.method == run.method && stages)
      finer = step <= tested && stages >= tested_stages && (finer || stages > tested_stages);
    if (!finer)
      input_error(where,
                  fmt::format("the reference ({}) has fewer digits than what is tested ({}); give it a smaller step{}",
                              method_in_words(reference, fmt::format("step {}", step)), method_in_words(run),
                              stages ? " or more stages" : ""));
  }
}

States states_of(const Result& result, const std::vector<std::string>& variables) {
  States states;
  for (const std::uint32_t status : result.status()) states.good.push_back(status == status_good);
  for (const std::string& name : variables) {
    const auto values = result.array("/final/" + name);
    states.values[name].assign(values.begin(), values.end());
  }
  return states;
}

/// Converts v and p of all states between space and the body.
void turn(const SystemEntry& system, bool from_space, bool to_space, States& states) {
  if (from_space == to_space || !system.on_group) return;
  const auto n = static_cast<std::size_t>(system.n), elements = static_cast<std::size_t>(system.elements);
  for (std::size_t k = 0; k < states.good.size(); ++k)
    point_functions(system).turn(states.values.at("q").data() + k * elements, states.values.at("v").data() + k * n,
                                 states.values.at("p").data() + k * n, to_space);
}

/// Returns the exact solution at the end of the study. Returns nothing when a trajectory has no known solution;
/// `without` is then the first such trajectory.
std::optional<States> exact_states(const Problem& problem, unsigned threads, std::uint64_t& without) {
  const Study& study = problem.study;
  const SystemEntry& system = *problem.system;
  const Ensemble ensemble(problem);
  const std::uint64_t size = ensemble.size();
  const auto n = static_cast<std::size_t>(system.n), m = static_cast<std::size_t>(system.m);
  const auto elements = static_cast<std::size_t>(system.elements);
  States states{{}, std::vector<std::uint8_t>(size, 1)};
  std::vector<double>&q = states.values["q"], &v = states.values["v"], &p = states.values["p"],
  &lambda = states.values["lambda"];
  q.resize(size * elements);
  for (auto* part : {&v, &p}) part->resize(size * n);
  lambda.resize(size * m);
  without = 0;
  if (system.exact == nullptr) return std::nullopt;
  std::atomic<std::uint64_t> first = size;
  parallel_for((size + chunk_size - 1) / chunk_size, worker_count(threads), [&](std::uint64_t c) {
    Ensemble::Evaluator evaluate(ensemble);
    for (std::uint64_t k = c * chunk_size; k < std::min(size, (c + 1) * chunk_size) && k < first; ++k) {
      const InitialData& data = evaluate(k);
      if (states.good[k] = data.taken; !data.taken) continue;
      Point point(system, ensemble, study, data, false);
      const PointView view{point.q.data(), point.v.data(), point.p.data(), point.lambda.data()};
      if (!system.exact(data.parameters.data(), end_of(study) - study.time.start, view)) {
        for (std::uint64_t known = first; k < known && !first.compare_exchange_weak(known, k);) continue;
        return;
      }
      const auto put = [k](const std::vector<double>& x, std::vector<double>& all) {
        std::ranges::copy(x, all.begin() + static_cast<std::ptrdiff_t>(k * x.size()));
      };
      put(point.q, q);
      put(point.v, v);
      put(point.p, p);
      put(point.lambda, lambda);
    }
  });
  if ((without = first) < size) return std::nullopt;
  turn(system, false, problem.method->in_space, states);
  return states;
}

/// Returns the frame of v and p of the initial states; "" on R^n.
std::string frame_of(const Problem& problem) {
  return !problem.system->on_group ? "" : Ensemble(problem).in_space() ? "space" : "body";
}

/// Returns a text of the study that contains only the parts that fix the continuous solution.
std::string continuous_part(const Problem& problem) {
  Study part;
  part.system = problem.study.system;
  part.ensemble = problem.study.without_requests().ensemble;
  part.ensemble.frame = frame_of(problem);
  part.ensemble.unused.clear();
  part.directory = problem.study.directory;
  return part.to_toml();
}

/// Returns the final states of a stored result. Throws Error(input) unless the result is a finer run of the same
/// problem.
States stored_states(const ResultFile& file, const Problem& problem, std::span<const Problem> runs,
                     const std::vector<std::string>& variables, std::string& words) {
  const Study& study = problem.study;
  const std::string where = file.path().string();
  const auto attributes = file.attributes("/");
  const Problem stored_problem = Problem::parse(std::get<std::string>(attributes.at("study")), where);
  const Study& stored = stored_problem.study;
  const auto differs = [&](std::string_view what, std::string_view theirs, std::string_view ours) {
    input_error(where, fmt::format("the reference is of another {} ({}, and the study has {}); run the study itself "
                                   "with a smaller step",
                                   what, theirs, ours));
  };
  const auto named = [](const Study& s) {
    return s.system.variant.empty() ? s.system.name : s.system.name + " " + s.system.variant;
  };
  if (named(stored) != named(study)) differs("system", named(stored), named(study));
  for (const auto& [name, value] : study.system.parameters) {
    const auto text = [](const Value& v) {
      return std::visit([](const auto& content) { return fmt::format("{}", content); }, v.content);
    };
    const auto theirs = stored.system.parameters.find(name);
    const std::string their_text = theirs == stored.system.parameters.end() ? "none" : text(theirs->second);
    if (their_text != text(value))
      differs("parameter", fmt::format("{} = {}", name, their_text), fmt::format("{} = {}", name, text(value)));
  }
  const std::string frame = frame_of(problem), stored_frame = frame_of(stored_problem);
  if (stored_frame != frame)
    input_error(where,
                fmt::format("the reference has its initial velocities and momenta in {}, and the study in {}; set "
                            "ensemble.frame in one of them",
                            stored_frame == "space" ? "space" : "the body", frame == "space" ? "space" : "the body"));
  if (continuous_part(stored_problem) != continuous_part(problem))
    input_error(where,
                "the reference has another ensemble or other initial states than the study; run the study itself with "
                "a smaller step");
  // A study states start and end, or computes the end from the number of steps. The two may differ by rounding.
  const auto same_time = [](double a, double b) {
    return std::abs(a - b) <= 4 * epsilon * std::max(std::abs(a), std::abs(b));
  };
  if (!same_time(stored.time.start, study.time.start))
    differs("start time", fmt::format("{}", stored.time.start), fmt::format("{}", study.time.start));
  if (!same_time(end_of(stored), end_of(study)))
    differs("end time", fmt::format("{}", end_of(stored)), fmt::format("{}", end_of(study)));
  if (steps_of(stored) == 0)
    input_error(where,
                "the step of the reference varies over the ensemble (so does its accuracy); run it with "
                "--set time.step=H");
  const double step = std::abs(end_of(stored) - stored.time.start) / static_cast<double>(steps_of(stored));
  require_finer(where, stored_problem, step, runs);
  if (const auto failed = attributes.find("failed");
      failed != attributes.end() && std::get<std::uint64_t>(failed->second) != 0) {
    std::string remedy = "run it with a smaller step";
    const auto failures = failures_of(file);
    for (const StatusInfo& info : status_table)
      if (info.remedy != nullptr && failures.contains(info.name))
        remedy = fmt::format("{}: {}", info.name, info.remedy);
    input_error(where, fmt::format("{} trajectories of the reference failed (their final states are not at the end "
                                   "time); {}",
                                   std::get<std::uint64_t>(failed->second), remedy));
  }
  States states;
  const std::uint64_t size = Ensemble(problem).size();
  for (const std::string& name : variables) {
    const std::string path = "/final/" + name;
    const auto entry = file.datasets().find(path);
    if (entry == file.datasets().end())
      input_error(where, fmt::format("the reference has no {} (it keeps no final states); run it with --set "
                                     "output.final_state=true",
                                     path));
    if (entry->second.shape[0] != size)
      input_error(where, fmt::format("the reference has {} trajectories, and the study has {}; run the study itself "
                                     "with a smaller step",
                                     entry->second.shape[0], size));
    states.values[name] = std::get<std::vector<double>>(file.read(path).values);
  }
  states.good.assign(size, 1);
  turn(*problem.system, stored_problem.method->in_space, problem.method->in_space, states);
  words = fmt::format(
      "{} ({})", where,
      method_in_words(stored_problem,
                      std::visit([](const auto& c) { return fmt::format("step {}", c); }, stored.time.step.content)));
  if (const double share = share_of_own_error(stored_problem, step, runs); share >= negligible_share)
    words += fmt::format("; its own error is about {:.1g} of the smallest one here, and shifts the orders", share);
  return states;
}

}  // namespace

double step_of(const Problem& run) { return std::abs(std::get<double>(run.study.time.step.content)); }

Problem at_step(const Study& study, double step) {
  Study run = study.without_requests();
  const std::string where = fmt::format("step {}", step);
  if (!(step > 0.0 && std::isfinite(step))) input_error(where, "is not a positive number; leave it out");
  for (std::string& axis : variables_of(run.time.step)) run.ensemble.unused.push_back(std::move(axis));
  run.time.step = std::copysign(step, end_of(study) - study.time.start);
  run.time.step.where = where;
  for (const char* key : {"time", "time.step", "time.end"}) run.places[key] = where;
  run.time.steps.reset();
  run.output.final_state = true;
  Problem problem(std::move(run));
  // A step typed as 0.333333333 would end at a slightly different time.
  if (Study::Time& time = problem.study.time; !time.by_density())
    time.step.content = (end_of(problem.study) - time.start) / static_cast<double>(steps_of(problem.study));
  return problem;
}

std::vector<Problem> at_steps(const Study& study, const std::vector<double>& steps, std::size_t least) {
  std::vector<Problem> runs;
  for (const double step : steps) runs.push_back(at_step(study, step));
  std::ranges::sort(runs, std::greater<>(), step_of);
  if (const auto twice = std::ranges::adjacent_find(runs, {}, step_of); twice != runs.end())
    input_error(fmt::format("step {}", step_of(*twice)), "appears twice; leave one out");
  if (runs.size() < least)
    input_error("steps", fmt::format("at least {} are needed (got {}); list more", least, runs.size()));
  return runs;
}

struct FinalErrors::Impl {
  std::vector<std::string> variables{"q", "v", "p"};
  std::string words;
  bool in_space = false;  // v and p are compared in space
  States reference;
  std::uint64_t left_out = 0;  // of the ensemble, known from the first run
  struct Norms {
    double max, square;
  };
  std::vector<std::vector<std::vector<Norms>>> norms;  // [run][variable][member]

  /// Sets the reference in the order of preference of `Reference`. All checks come before the first run.
  void resolve(const Problem& problem, std::span<const Problem> runs, const Reference& wanted, Session& session,
               unsigned threads) {
    const bool by_run = wanted.step || wanted.stages;
    if (int{wanted.exact} + int{!wanted.result.empty()} + int{by_run} > 1)
      input_error("reference", "the exact solution, a result, and a step or stages are alternatives; choose one");
    if (!wanted.result.empty()) {
      reference = stored_states(ResultFile(wanted.result), problem, runs, variables, words);
      return;
    }
    if (!by_run) {
      std::uint64_t without = 0;
      if (auto states = exact_states(problem, threads, without)) {
        reference = std::move(*states);
        words = "exact solution";
        return;
      }
      if (wanted.exact && problem.system->exact == nullptr)
        input_error("reference", fmt::format("the exact solution of '{}' is not known; give a step or stages for the "
                                             "reference",
                                             problem.system->name));
      if (wanted.exact)
        input_error("reference", fmt::format("the exact solution of trajectory {} is not known (for its parameters and "
                                             "initial state); give a step or stages for the reference",
                                             without));
    }
    const auto finest = std::ranges::min_element(runs, {}, step_of);
    Study run = at_step(problem.study, wanted.step.value_or(step_of(*finest) / (by_run ? 1.0 : 4.0))).study;
    const auto options = problem.method->options;
    const auto stages =
        std::ranges::find_if(options, [](const OptionInfo& o) { return o.name == std::string_view("stages"); });
    if (wanted.stages && stages == options.end())
      input_error("reference",
                  fmt::format("method '{}' has no stages; give a step for the reference", problem.method->name));
    // Other options, such as a tableau, may imply the number of stages. Such a method takes the default options here.
    if ((wanted.stages || !by_run) && problem.method->stages_of != nullptr) run.method.options.clear();
    int most_tested = 0;
    for (const Problem& tested : runs)
      if (tested.method == problem.method)
        most_tested = std::max(most_tested, tested.study.method.stages().value_or(0));
    if (wanted.stages) run.method.options["stages"] = *wanted.stages;
    // A method with stages has compositions of its step of two stages alone; others keep theirs, for the accuracy of the reference.
    if (stages != options.end() && (wanted.stages || !by_run)) run.method.options.erase("composition");
    if (!by_run && stages != options.end())
      run.method.options["stages"] = reference_stages(*problem.method, most_tested);
    run.places["method.stages"] = "reference";
    const Problem finer(run);
    require_finer("reference", finer, step_of(finer), runs);
    words = method_in_words(finer);
    reference = states_of(session.run(finer), variables);
    if (share_of_own_error(finer, step_of(finer), runs) < negligible_share || step_of(finer) >= step_of(*finest))
      return;
    subtract_own_error(finer, step_of(*finest), session);
  }

  /// Extrapolates the reference, a run of `finer`, with runs at half its step and at the smallest tested one. These show the
  /// order of each variable.
  void subtract_own_error(const Problem& finer, double tested, Session& session) {
    const double step = step_of(finer);
    const States half = states_of(session.run(at_step(finer.study, step / 2)), variables),
                 coarse = states_of(session.run(at_step(finer.study, tested)), variables);
    for (std::size_t k = 0; k < reference.good.size(); ++k) reference.good[k] &= half.good[k] & coarse.good[k];
    std::string orders;
    for (const std::string& name : variables) {
      const Runs three{coarse.values.at(name), reference.values.at(name), half.values.at(name), reference.good,
                       tested / step};
      const int order = observed_order(three);
      extrapolate(three, order);
      orders += fmt::format("{}{} {}", orders.empty() ? "" : ", ", name, order);
    }
    words = method_in_words(finer, fmt::format("steps {} and {}, extrapolated with orders {}", step, step / 2, orders));
  }
};

FinalErrors::FinalErrors(const Problem& problem, std::span<const Problem> runs, const Reference& reference,
                         Session& session, unsigned threads)
    : impl_(std::make_unique<Impl>()) {
  const FloatingPointScope environment;
  if (runs.empty()) input_error("steps", "there is none; give at least one");
  if (problem.system->m > 0 && problem.method->carries_multiplier) impl_->variables.emplace_back("lambda");
  impl_->in_space = problem.method->in_space;
  impl_->resolve(problem, runs, reference, session, threads);
}
FinalErrors::~FinalErrors() = default;
FinalErrors::FinalErrors(FinalErrors&&) noexcept = default;

void FinalErrors::add(const Result& result, const Problem& run) {
  const FloatingPointScope environment;
  States states = states_of(result, impl_->variables);
  turn(*run.system, run.method->in_space, impl_->in_space, states);
  const std::size_t size = states.good.size();
  auto& norms = impl_->norms.emplace_back();
  for (const std::string& name : impl_->variables) {
    const auto &x = states.values.at(name), &y = impl_->reference.values.at(name);
    const std::size_t width = x.size() / size;
    auto& members = norms.emplace_back(size);
    for (std::size_t k = 0; k < size; ++k) {
      for (std::size_t i = k * width; i < (k + 1) * width; ++i) {
        members[k].max = std::max(members[k].max, std::abs(x[i] - y[i]));
        members[k].square += (x[i] - y[i]) * (x[i] - y[i]);
      }
    }
  }
  for (std::size_t k = 0; k < size; ++k) impl_->reference.good[k] &= states.good[k];
  impl_->left_out = result.summary.left_out;
}

const std::string& FinalErrors::reference() const { return impl_->words; }
const std::vector<std::string>& FinalErrors::variables() const { return impl_->variables; }
std::uint64_t FinalErrors::trajectories() const { return impl_->reference.good.size() - impl_->left_out; }
std::uint64_t FinalErrors::failed() const {
  return static_cast<std::uint64_t>(std::ranges::count(impl_->reference.good, 0)) - impl_->left_out;
}

EnsembleError FinalErrors::error(std::size_t run, std::size_t variable) const {
  EnsembleError error{0.0, 0.0};
  const auto& members = impl_->norms[run][variable];
  for (std::size_t k = 0; k < members.size(); ++k) {
    if (!impl_->reference.good[k]) continue;
    error.max = std::max(error.max, members[k].max);
    error.rms += members[k].square;
  }
  const std::uint64_t count = trajectories() - failed();
  if (count == 0) return {nan, nan};
  error.rms = std::sqrt(error.rms / static_cast<double>(count));
  return error;
}

double FinalErrors::scale(const std::string& variable) const {
  const auto& values = impl_->reference.values.at(variable);
  const auto& good = impl_->reference.good;
  double scale = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (good[i / (values.size() / good.size())]) scale = std::max(scale, std::abs(values[i]));
  return scale;
}

ErrorSeries error_series(std::span<const double> steps, std::vector<double> errors, std::span<const double> floor) {
  constexpr std::size_t most_points = 3;  // the order shows at small steps
  ErrorSeries series{std::move(errors), {}, 0, 0, nan};
  const auto& e = series.error;
  for (std::size_t i = 0; i < e.size(); ++i)
    series.order.push_back(i > 0 && e[i - 1] > 0 && e[i] > 0 ? log(e[i - 1] / e[i]) / log(steps[i - 1] / steps[i])
                                                             : nan);
  std::size_t& end = series.above_floor;
  while (end < e.size() && e[end] > floor[end] && (end == 0 || e[end] < e[end - 1])) ++end;
  series.points = std::min(end, most_points);
  if (series.points < 2) return series;
  const std::size_t begin = end - series.points;
  double x = 0.0, y = 0.0, xx = 0.0, xy = 0.0;
  for (std::size_t i = begin; i < end; ++i) {
    x += log(steps[i]) / static_cast<double>(series.points);
    y += log(e[i]) / static_cast<double>(series.points);
  }
  for (std::size_t i = begin; i < end; ++i) {
    const double dx = log(steps[i]) - x;
    xx += dx * dx;
    xy += dx * (log(e[i]) - y);
  }
  series.slope = xy / xx;
  return series;
}

void OrderReport::write(ResultSink& sink) const {
  const auto put = [&](const std::string& path, const std::vector<double>& values) {
    sink.create(path, ResultSink::Type::f64, {values.size()});
    sink.write(path, {0}, {values.size()}, values.data());
  };
  put("/step", steps);
  for (const VariableOrder& variable : variables) {
    const std::string group = "/" + variable.name + "/";
    put(group + "floor", variable.floor);
    for (const auto& [measure, series] : {std::pair{"max", &variable.max}, {"rms", &variable.rms}}) {
      put(group + measure, series->error);
      put(group + "order_" + measure, series->order);
      sink.attribute(group + measure, "slope", series->slope);
      sink.attribute(group + measure, "points", std::uint64_t{series->points});
      sink.attribute(group + measure, "above_floor", std::uint64_t{series->above_floor});
    }
  }
  sink.attribute("/", "command", std::string("order"));
  sink.attribute("/", "study", problem.study.to_toml());
  sink.attribute("/", "version", std::string(version()));
  sink.attribute("/", "git", std::string(git_commit()));
  sink.attribute("/", "reference", reference);
  sink.attribute("/", "trajectories", trajectories);
  sink.attribute("/", "failed", failed);
}

OrderReport order(const Problem& problem, std::span<const Problem> runs, const Reference& reference,
                  const RunOptions& options, const std::function<void(double step, const Summary& summary)>& finished) {
  const FloatingPointScope environment;
  OrderReport report{problem};
  Session session(options);
  FinalErrors errors(problem, runs, reference, session, options.threads);
  for (const Problem& run : runs) {
    const Result result = session.run(run);
    report.steps.push_back(step_of(run));
    errors.add(result, run);
    if (finished) finished(step_of(run), result.summary);
  }
  report.reference = errors.reference();
  report.trajectories = errors.trajectories();
  report.failed = errors.failed();
  for (std::size_t i = 0; i < errors.variables().size(); ++i) {
    std::vector<double> max, rms, floor;
    const std::string& name = errors.variables()[i];
    for (std::size_t r = 0; r < runs.size(); ++r) {
      const EnsembleError error = errors.error(r, i);
      max.push_back(error.max);
      rms.push_back(error.rms);
      double scale = errors.scale(name);
      if (name == "lambda") scale = std::max(scale, errors.scale("p") / report.steps[r]);
      floor.push_back(8 * epsilon * std::sqrt(static_cast<double>(steps_of(runs[r].study))) * scale);
    }
    ErrorSeries of_max = error_series(report.steps, std::move(max), floor),
                of_rms = error_series(report.steps, std::move(rms), floor);
    report.variables.push_back({name, std::move(floor), std::move(of_max), std::move(of_rms)});
  }
  return report;
}

}  // namespace rattleback
