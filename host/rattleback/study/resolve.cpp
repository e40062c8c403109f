#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>

#include "rattleback/base/floating_point.hpp"
#include "rattleback/base/message.hpp"
#include "rattleback/kernels/kernels.hpp"
#include "rattleback/study/components.hpp"
#include "rattleback/study/grid.hpp"
#include "rattleback/study/observables.hpp"
#include "rattleback/study/parts.hpp"
#include "rattleback/study/point_file.hpp"
#include "rattleback/study/reader.hpp"
#include "rattleback/study/tables.hpp"

namespace rattleback {
namespace {

void check_file(const Study& study) {
  const Study::Ensemble& ensemble = study.ensemble;
  if (ensemble.states && (!ensemble.file.empty() || !ensemble.axes.empty()))
    input_error(study.place("ensemble.axes"),
                fmt::format("an array of initial states and ensemble.{} are both given (each "
                            "defines the trajectories); leave one out",
                            ensemble.file.empty() ? "axes" : "file"));
  if (!ensemble.file.empty() && !ensemble.axes.empty()) {
    input_error(study.place("ensemble.file"),
                "ensemble.file and ensemble.axes are both given (each defines the trajectories); leave one out");
  }
  if (!ensemble.group.empty() && !is_hdf5_name(ensemble.file)) {
    input_error(study.place("ensemble.group"),
                "ensemble.group has no effect (it is the group in an HDF5 ensemble.file)");
  }
}

void check_frame(const Study& study, const SystemEntry& system) {
  const std::string &frame = study.ensemble.frame, where = study.place("ensemble.frame");
  if (frame.empty()) return;
  if (!system.on_group)
    input_error(where, fmt::format("ensemble.frame is for systems on Lie groups (the configuration space of '{}' is "
                                   "R^{}); leave it out",
                                   system.name, system.n));
}

void check_initial(Problem& problem) {
  const Study& study = problem.study;
  const SystemEntry& system = *problem.system;
  const Study::Ensemble& ensemble = study.ensemble;
  check_frame(study, system);
  const auto check_size = [&](std::string_view name, const std::vector<Value>& values, std::string_view dimension,
                              int size) {
    const std::size_t count = components(values, system, name).size();
    if (count == 0 || count == static_cast<std::size_t>(size)) return;
    input_error(
        study.place(fmt::format("ensemble.initial.{}", name)),
        fmt::format("initial {} needs {} = {} values for '{}' (got {})", name, dimension, size, system.name, count));
  };
  if (system.elements == system.n) {
    check_size("q", ensemble.q, "n", system.n);
  } else if (const auto count = components(ensemble.q, system, "q").size();
             count != static_cast<std::size_t>(system.n) && count != static_cast<std::size_t>(system.elements) &&
             count != 0) {
    input_error(study.place("ensemble.initial.q"),
                fmt::format("initial q of '{}' has {} values (it needs {})", system.name, count,
                            sizes_in_words(system.n, system.elements)));
  }
  check_size("v", ensemble.v, "n", system.n);
  check_size("p", ensemble.p, "n", system.n);
  check_size("lambda", ensemble.lambda, "m", system.m);
  // The parts of the state in a file are known only after the file is read.
  if (!ensemble.listed()) {
    complete_initial(problem, !ensemble.q.empty(), !ensemble.v.empty(), !ensemble.p.empty());
  }
}

bool is_parameter(const SystemEntry& system, const std::string& name) {
  const auto same = [&](const auto& info) { return info.name == name; };
  return std::ranges::any_of(system.parameters, same) || std::ranges::any_of(system.structure, same);
}

/// Returns the names that expressions may use besides parameters. The columns of a file are still unknown, so with a
/// file every name is allowed.
std::vector<std::string> axis_names(const Study& study, const SystemEntry& system) {
  std::vector<std::string> names;
  for (const Axis& axis : components_of(study.ensemble.axes)) names.push_back(axis.name);
  if (!study.ensemble.listed()) return names;
  std::set<std::string> used = names_in_expressions(study, system);
  for (std::string& name : names_in_condition(study))
    if (!is_parameter(system, name)) used.insert(std::move(name));
  names.assign(used.begin(), used.end());
  return names;
}

}  // namespace

Problem::Problem(Study given) : study(std::move(given)) {
  const FloatingPointScope environment;
  std::string name = study.name;
  std::ranges::replace(name, '/', '-');  // as in the name of a file
  check_name("a study", name, study.place("study.name"));
  choose_system(*this);
  choose_method(*this);
  check_fields(study);
  check_file(study);
  check_initial(*this);
  const Grid grid(study);
  if (grid.quasi_random()) study.ensemble.randomisations = grid.randomisations();
  if (!study.ensemble.listed()) check_trajectories(study, grid.size());
  const Formulas formulas(study, *system, axis_names(study, *system));
  complete_time(study, formulas);
  check_requests(*this, formulas.data.step);
}

std::set<std::string> names_in_expressions(const Study& study, const SystemEntry& system) {
  std::set<std::string> names;
  const auto collect = [&](const Value& value) {
    for (std::string& name : variables_of(value))
      if (!is_parameter(system, name)) names.insert(std::move(name));
  };
  collect(study.time.step);
  for (const auto& [name, value] : study.system.parameters) collect(value);
  const Study::Ensemble& ensemble = study.ensemble;
  for (const auto& [name, values] :
       {std::pair{"q", &ensemble.q}, {"v", &ensemble.v}, {"p", &ensemble.p}, {"lambda", &ensemble.lambda}})
    std::ranges::for_each(components(*values, system, name), collect);
  return names;
}

std::vector<std::string> names_in_condition(const Study& study) {
  return study.ensemble.condition ? variables_of(*study.ensemble.condition) : std::vector<std::string>{};
}

bool Problem::given_in_space() const {
  return study.ensemble.frame.empty() ? method->in_space : study.ensemble.frame == "space";
}

ObservableCode Problem::observable_code(const std::string& name, const std::string& where) const {
  const std::vector<NamedCode> all = observables_of(*system, *method);
  const auto found = std::ranges::find(all, name, &NamedCode::name);
  if (found != all.end()) return found->code;
  if (study.system.formulas)
    if (const auto multiplier = study.system.formulas->multiplier(name))
      return observable_code(fmt::format("lambda[{}]", *multiplier), where);
  std::vector<std::string> known;
  std::ranges::transform(all, std::back_inserter(known), &NamedCode::name);
  int formulas = 0;
  for (const Observable& observable : study.observables) {
    if (observable.formula.empty()) continue;
    if (observable.name == name) return {ObservableCode::formula, formulas};
    ++formulas;
    known.push_back(observable.name);
  }
  for (const RunObservable& observable : run_observables())
    if (observable.of_drive && observable.name == name)
      input_error(where,
                  fmt::format("observable '{}' is that of forces and of explicit time, and neither acts on '{}'; "
                              "leave it out, or give the system a force",
                              name, system->name));
  for (const RunObservable& observable : run_observables()) {
    const bool of_tangents = observable.kind >= ObservableCode::exponent && observable.kind <= ObservableCode::sali;
    const bool alone = observable.scalar && name == observable.name;
    if (!of_tangents || (!alone && !name.starts_with(std::string(observable.name) + "["))) continue;
    const int vectors = tangent_dimension(*system);
    if (vectors < 2 && observable.kind != ObservableCode::exponent && observable.kind != ObservableCode::window)
      input_error(where, fmt::format("observable {} needs two tangent vectors, and '{}' has {}; leave it out",
                                     quote(name), system->name, vectors));
    if (observable.scalar)
      input_error(where, fmt::format("observable {} does not exist: '{}' is one number for a trajectory; take '{}'",
                                     quote(name), observable.name, observable.name));
    input_error(where, fmt::format("observable {} does not exist: the states of '{}' have {} tangent vectors that keep "
                                   "the constraints; take {}[{}] to {}[{}]",
                                   quote(name), system->name, vectors, observable.name, observable.first,
                                   observable.name, observable.components(*system, *method) - 1));
  }
  input_error(where, fmt::format("unknown observable {} of '{}' (known: {}){}", quote(name), system->name, join(known),
                                 did_you_mean(name, known, "; a formula defines another one")));
}

void complete_initial(Problem& problem, bool has_q, bool has_v, bool has_p) {
  Study& study = problem.study;
  const std::string where = study.place("ensemble.initial");
  if (has_v && study.system.formulas && problem.system->hamiltonian_alone)
    input_error(where, fmt::format("initial v is given, and does not determine the momenta (the Hamiltonian of '{}' is "
                                   "degenerate); give p in place of v",
                                   problem.system->name));
  if (has_v && has_p) input_error(where, "initial v and p are both given (one follows from the other); leave one out");
  if (has_q && !has_v && !has_p) input_error(where, "initial q is given without velocities; give v or p");
  if (!has_q && (has_v || has_p))
    input_error(where, fmt::format("initial {} is given without q; give q", has_v ? "v" : "p"));
  if (has_q) return;
  const SystemEntry& system = *problem.system;
  study.ensemble.q.assign(system.default_q.begin(), system.default_q.end());
  std::vector<double> v(system.default_v.begin(), system.default_v.end()),
      p(system.default_p.begin(), system.default_p.end());
  if (system.on_group && problem.given_in_space())
    point_functions(system).turn(system.default_q.data(), v.data(), p.empty() ? nullptr : p.data(), true);
  if (!p.empty()) {
    study.ensemble.p.assign(p.begin(), p.end());
    return;
  }
  study.ensemble.v.assign(v.begin(), v.end());
}

std::string sizes_in_words(int dimension, int elements) {
  if (dimension == elements) return fmt::format("{}", dimension);
  return fmt::format("{}, or {} with rotation vectors in place of rotation matrices", elements, dimension);
}

void check_trajectories(const Study& study, std::uint64_t size) {
  for (const std::uint64_t index : study.output.trajectories) {
    if (index < size) continue;
    input_error(study.place("output.trajectories"),
                fmt::format("trajectory {} is out of range (the ensemble has {}); indices are in 0 to {}", index, size,
                            size - 1));
  }
}

namespace {
/// Notes in a problem how long it takes to make it.
template <class Make>
Problem read_in_time(const Make& make) {
  const auto start = std::chrono::steady_clock::now();
  Problem problem = make();
  problem.read_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return problem;
}
}  // namespace

Problem Problem::parse(std::string_view toml, std::string_view origin, std::span<const std::string> overrides) {
  return read_in_time([&] { return Problem(read_study(toml, origin, overrides)); });
}

Problem Problem::load(const std::filesystem::path& file, std::span<const std::string> overrides,
                      std::span<const std::string> changes) {
  return read_in_time([&] { return Problem(read_study_file(file, overrides, changes)); });
}

Study Study::parse(std::string_view toml, std::string_view origin, std::span<const std::string> overrides) {
  return Problem::parse(toml, origin, overrides).study;
}

Study Study::load(const std::filesystem::path& file, std::span<const std::string> overrides) {
  return Problem::load(file, overrides).study;
}

void Study::validate() { *this = Problem(*this).study; }

}  // namespace rattleback
