#include "rattleback/study/study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "rattleback/base/message.hpp"
#include "rattleback/base/text_file.hpp"
#include "rattleback/catalogue/method_options.hpp"
#include "rattleback/catalogue/observables.hpp"
#include "rattleback/expression/formulas.hpp"
#include "rattleback/expression/surface.hpp"
#include "rattleback/problem/grid.hpp"
#include "rattleback/problem/point_file.hpp"
#include "rattleback/statistics/statistics.hpp"
#include "rattleback/study/checks.hpp"
#include "rattleback/study/reader.hpp"

namespace rattleback {
namespace {

// System and method

std::vector<std::string> variants(std::span<const SystemEntry* const> instances) {
  std::vector<std::string> result;
  for (const SystemEntry* entry : instances) {
    if (*entry->variant != '\0' && std::ranges::find(result, entry->variant) == result.end()) {
      result.emplace_back(entry->variant);
    }
  }
  return result;
}

const SystemEntry& choose_system(const Study& study) {
  const Study::System& asked = study.system;
  const Catalogue& catalogue = Catalogue::instance();
  std::vector<const SystemEntry*> instances = catalogue.instances(asked.name);
  if (instances.empty()) {
    input_error(study.place("system.name"), fmt::format("unknown system {}{}", quote(asked.name),
                                                        did_you_mean(asked.name, catalogue.system_names(),
                                                                     "; 'rattleback list systems' shows all")));
  }
  if (!asked.variant.empty()) {
    const std::vector<std::string> known = variants(instances);
    std::erase_if(instances, [&](const SystemEntry* entry) { return entry->variant != asked.variant; });
    if (instances.empty()) {
      input_error(
          study.place("system.variant"),
          fmt::format("unknown variant {} of '{}' ({}){}", quote(asked.variant), asked.name,
                      known.empty() ? "it has none" : "known: " + join(known), did_you_mean(asked.variant, known)));
    }
  }
  for (std::size_t i = 0; i < instances.front()->structure.size(); ++i) {
    const std::string name = instances.front()->structure[i].name;
    const auto given = asked.parameters.find(name);
    if (given == asked.parameters.end()) continue;
    std::set<double> compiled;
    for (const SystemEntry* entry : instances) compiled.insert(entry->structure[i].value);
    const std::string list = fmt::format("{}", fmt::join(compiled, ", "));
    const auto* number = std::get_if<double>(&given->second.content);
    if (number == nullptr) {
      input_error(given->second.where,
                  fmt::format("{} must be a plain number (it fixes the dimension); choose one of {}", name, list));
    }
    if (!compiled.contains(*number)) {
      input_error(given->second.where,
                  fmt::format("'{}' is not compiled for {} = {}; choose one of {}", asked.name, name, *number, list));
    }
    std::erase_if(instances, [&](const SystemEntry* entry) { return entry->structure[i].value != *number; });
  }
  // the first that has all the parameters; where none has, the first will be asked for them in vain
  const auto has_all = [&](const SystemEntry* entry) {
    return std::ranges::all_of(asked.parameters, [&](const auto& given) {
      const auto same = [&](const auto& info) { return info.name == given.first; };
      return std::ranges::any_of(entry->parameters, same) || std::ranges::any_of(entry->structure, same);
    });
  };
  const auto fitting = std::ranges::find_if(instances, has_all);
  return **(fitting == instances.end() ? instances.begin() : fitting);
}

/// Names the instance in full and gives every parameter a value.
void complete_system(Study& study, const SystemEntry& entry) {
  study.system.name = entry.name;
  study.system.variant = entry.variant;
  std::vector<std::string> known;
  for (const StructureInfo& info : entry.structure) {
    known.emplace_back(info.name);
    study.system.parameters.try_emplace(info.name, info.value);
  }
  for (const ParameterInfo& info : entry.parameters) {
    known.emplace_back(info.name);
    study.system.parameters.try_emplace(info.name, info.value);
  }
  for (const auto& [name, value] : study.system.parameters) {
    if (std::ranges::find(known, name) != known.end()) continue;
    if (study.system.variant.empty()) {  // those of the variants would have been known, too
      for (const SystemEntry* other : Catalogue::instance().instances(entry.name))
        for (const ParameterInfo& info : other->parameters)
          if (std::ranges::find(known, info.name) == known.end()) known.emplace_back(info.name);
    }
    input_error(study.place("system.parameters." + name),
                fmt::format("unknown parameter {} of '{}' ({}){}", quote(name), entry.name,
                            known.empty() ? "it has none" : "known: " + join(known), did_you_mean(name, known)));
  }
}

const MethodEntry& find_method(const Study& study) {
  const MethodEntry* entry = Catalogue::instance().method(study.method.name);
  if (entry != nullptr) return *entry;
  std::vector<std::string> known;
  for (const MethodEntry* method : Catalogue::instance().methods()) known.emplace_back(method->name);
  input_error(study.place("method.name"),
              fmt::format("unknown method {}{}", quote(study.method.name),
                          did_you_mean(study.method.name, known, "; 'rattleback list methods' shows all")));
}

std::string_view words(ConstraintKind kind) {
  switch (kind) {
    case ConstraintKind::none:
      return "no constraints";
    case ConstraintKind::velocity:
      return "velocity constraints";
    case ConstraintKind::holonomic:
      return "holonomic constraints";
  }
  return "";
}

/// The method must be one that is compiled for the system.
void check_pair(const Study& study, const SystemEntry& system, const MethodEntry& method) {
  const Catalogue& catalogue = Catalogue::instance();
  if (catalogue.takes(method, system)) return;
  std::vector<std::string> fitting;
  for (const MethodEntry* other : catalogue.methods())
    if (catalogue.takes(*other, system)) fitting.emplace_back(other->name);
  const bool other_kind = !method.constraints.contain(system.constraint);
  const char* verb = other_kind || catalogue.refuses(method, system) ? "cannot treat" : "is not compiled for";
  input_error(study.place("method.name"),
              fmt::format("method '{}' {} system '{}' (it takes {}{}); {}", method.name, verb, system.name,
                          systems_in_words(method),
                          other_kind ? fmt::format(", this one has {}", words(system.constraint)) : "",
                          fitting.empty() ? "no method of the catalogue can" : "use " + join(fitting)));
}

/// Where a system has the separable form for some parameters only, a method that takes that form must be there.
void check_separable(const Study& study, const SystemEntry& system, const MethodEntry& method) {
  if (!method.separable_form) return;
  for (const char* name : system.separable_without) {
    const Value& value = study.system.parameters.at(name);
    const auto* number = std::get_if<double>(&value.content);
    if (number != nullptr && *number == 0.0) continue;
    input_error(study.place(fmt::format("system.parameters.{}", name)),
                fmt::format("{} = {} (method '{}' takes {}, which '{}' has without it only); set it to 0, or choose "
                            "another method",
                            name, number != nullptr ? fmt::format("{}", *number) : std::get<std::string>(value.content),
                            method.name, systems_in_words(method), system.name));
  }
}

void check_method(Study& study, const SystemEntry& system) {
  const MethodEntry& entry = find_method(study);
  const Study::Method& method = study.method;
  check_pair(study, system, entry);
  check_separable(study, system, entry);
  complete_options(study, system, entry);
  (void)method_numbers(study);
  const auto key = study.method_key();
  if (Catalogue::instance().pair(system, entry, key, Isa::scalar) == nullptr) {
    input_error(study.place("method"),
                fmt::format("method '{}' with {} is not compiled for system '{}'; '{}' lists what there is", entry.name,
                            options_in_words(study), system.name, "rattleback describe"));
  }
  if (!(method.tolerance > 0 && method.tolerance <= 1e-6)) {
    input_error(study.place("method.solver.tolerance"),
                fmt::format("method.solver.tolerance = {} is out of range; it must be above 0 and at most 1e-6",
                            method.tolerance));
  }
  if (method.max_iterations < 1 || method.max_iterations > 10000) {
    input_error(study.place("method.solver.max_iterations"),
                fmt::format("method.solver.max_iterations = {} is out of range; it must be in 1 to 10000",
                            method.max_iterations));
  }
  if (method.guess != "advanced" && method.guess != "simple") {
    input_error(study.place("method.solver.guess"),
                fmt::format("method.solver.guess = {} is unknown; it is \"advanced\", q + h v, or \"simple\", q",
                            quote(method.guess)));
  }
  if (method.guess == "simple" && !entry.predicts) {
    input_error(study.place("method.solver.guess"),
                fmt::format("method '{}' has no choice of a guess: its unknowns have no predicted position; leave out "
                            "'solver.guess'",
                            entry.name));
  }
}

// Ensemble

void check_file(const Study& study) {
  const Study::Ensemble& ensemble = study.ensemble;
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
  const std::vector<std::string> known{"space", "body"};
  if (std::ranges::find(known, frame) == known.end())
    input_error(where, fmt::format("unknown ensemble.frame {} (known: {}){}", quote(frame), join(known),
                                   did_you_mean(frame, known)));
  if (system.turn == nullptr)
    input_error(where, fmt::format("ensemble.frame is for systems on Lie groups (the configuration space of '{}' is "
                                   "R^{}); leave it out",
                                   system.name, system.n));
}

void check_initial(Study& study, const SystemEntry& system) {
  Study::Ensemble& ensemble = study.ensemble;
  check_frame(study, system);
  const auto check_size = [&](std::string_view name, const std::vector<Value>& values, std::string_view dimension,
                              int size) {
    if (values.empty() || values.size() == static_cast<std::size_t>(size)) return;
    input_error(study.place(fmt::format("ensemble.initial.{}", name)),
                fmt::format("initial {} needs {} = {} values for '{}' (got {})", name, dimension, size, system.name,
                            values.size()));
  };
  if (system.elements == system.n) {
    check_size("q", ensemble.q, "n", system.n);
  } else if (ensemble.q.size() != static_cast<std::size_t>(system.n) &&
             ensemble.q.size() != static_cast<std::size_t>(system.elements) && !ensemble.q.empty()) {
    input_error(study.place("ensemble.initial.q"),
                fmt::format("initial q of '{}' has {} values (it needs {})", system.name, ensemble.q.size(),
                            sizes_in_words(system.n, system.elements)));
  }
  check_size("v", ensemble.v, "n", system.n);
  check_size("p", ensemble.p, "n", system.n);
  check_size("lambda", ensemble.lambda, "m", system.m);
  // What a file gives of the state is known when it is read.
  if (ensemble.file.empty()) {
    complete_initial(study, !ensemble.q.empty(), !ensemble.v.empty(), !ensemble.p.empty());
  }
}

/// The names that expressions may use beyond parameters. Those of a file's columns are not known yet: any name will do.
std::vector<std::string> axis_names(const Study& study, const SystemEntry& system) {
  std::vector<std::string> names;
  for (const Axis& axis : study.ensemble.axes) names.push_back(axis.name);
  if (study.ensemble.file.empty()) return names;
  const auto is_parameter = [&](const std::string& name) {
    const auto same = [&](const auto& info) { return info.name == name; };
    return std::ranges::any_of(system.parameters, same) || std::ranges::any_of(system.structure, same);
  };
  const auto collect = [&](const Value& value) {
    for (std::string& name : variables_of(value)) {
      if (!is_parameter(name) && std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
    }
  };
  collect(study.time.step);
  for (const auto& [name, value] : study.system.parameters) collect(value);
  for (const auto* values : {&study.ensemble.q, &study.ensemble.v, &study.ensemble.p, &study.ensemble.lambda}) {
    std::ranges::for_each(*values, collect);
  }
  return names;
}

// Observables

template <class T>
void reject_repeats(const std::vector<T>& values, const std::string& where, std::string_view what) {
  std::set<T> seen;
  for (const T& value : values) {
    if (!seen.insert(value).second)
      input_error(where, fmt::format("{} '{}' appears twice; leave one out", what, value));
  }
}

/// An error is asked for of an invariant, the size of everything else.
ErrorReference standard_reference(const SystemEntry& system, const ObservableCode& code) {
  const bool conserved =
      code.kind == ObservableCode::system && system.observables[static_cast<std::size_t>(code.index)].conserved;
  return conserved ? ErrorReference::initial() : ErrorReference(0.0);
}

void check_observables(Study& study) {
  const std::vector<std::string> known = statistic_names();
  std::set<std::string> names;
  for (Observable& observable : study.observables) {
    if (!names.insert(observable.name).second) {
      input_error(observable.where, fmt::format("observable '{}' appears twice; merge the two", observable.name));
    }
    const ObservableCode code = study.observable_code(observable.name, observable.where);
    if (observable.statistics.empty() && observable.quantiles.empty() && !observable.histogram &&
        observable.correlation.empty())
      observable.statistics = {"mean"};
    if (const auto& h = observable.histogram) {
      if (!(h->from < h->to && std::isfinite(h->to - h->from)))
        input_error(observable.where,
                    fmt::format("histogram of '{}' needs from < to (got {} and {})", observable.name, h->from, h->to));
      if (h->bins < 1 || h->bins > 100000)
        input_error(observable.where,
                    fmt::format("histogram of '{}' has {} bins; it takes 1 to 100000", observable.name, h->bins));
    }
    for (const std::string& other : observable.correlation) (void)study.observable_code(other, observable.where);
    reject_repeats(observable.correlation, observable.where, "correlation with");
    for (const std::string& statistic : observable.statistics) {
      if (std::ranges::find(known, statistic) != known.end()) continue;
      input_error(observable.where, fmt::format("unknown statistic {} of '{}' (known: {}){}", quote(statistic),
                                                observable.name, join(known), did_you_mean(statistic, known)));
    }
    for (const double level : observable.quantiles) {
      if (level >= 0 && level <= 1) continue;
      input_error(observable.where, fmt::format("quantile level {} of '{}' is out of range; levels are in 0 to 1",
                                                level, observable.name));
    }
    if (!std::isfinite(observable.reference.number))
      input_error(observable.where, fmt::format("reference of '{}' must be finite", observable.name));
    if (observable.reference.kind == ErrorReference::Kind::standard)
      observable.reference = standard_reference(study.system_entry(), code);
    reject_repeats(observable.statistics, observable.where, "statistic");
    reject_repeats(observable.quantiles, observable.where, "quantile level");
  }
}

// Sections and output

void check_name(std::string_view what, const std::string& name, const std::string& where) {
  if (const std::string fault = fault_of_name(name); !fault.empty())
    input_error(where,
                fmt::format("{} cannot be called {} ({}); use letters, digits, '-' and '_'", what, quote(name), fault));
}

void check_sections(const Study& study) {
  std::set<std::string> names;
  for (const Study::Section& section : study.sections) {
    check_name("a section", section.name, section.where);
    if (!names.insert(section.name).second)
      input_error(section.where, fmt::format("section '{}' appears twice; rename one", section.name));
  }
  (void)compile_surfaces(study);
}

void check_covariance(const Study& study) {
  const std::vector<std::string> known{"q", "v", "p", "lambda"};
  const std::string where = study.place("output.covariance");
  for (const std::string& part : study.output.covariance) {
    if (std::ranges::find(known, part) == known.end())
      input_error(where, fmt::format("unknown part of the state {} in output.covariance (known: {})", quote(part),
                                     join(known)));
    if (part == "lambda" && (!study.method_entry().carries_multiplier || study.system_entry().m == 0))
      input_error(where, fmt::format("output.covariance names lambda, which '{}' does not carry here; leave it out",
                                     study.method.name));
  }
  reject_repeats(study.output.covariance, where, "part of the state");
}

}  // namespace

bool given_in_space(const Study& study) {
  return study.ensemble.frame.empty() ? study.method_entry().in_space : study.ensemble.frame == "space";
}

void complete_initial(Study& study, bool has_q, bool has_v, bool has_p) {
  const std::string where = study.place("ensemble.initial");
  if (has_v && has_p) input_error(where, "initial v and p are both given (one follows from the other); leave one out");
  if (has_q && !has_v && !has_p) input_error(where, "initial q is given without velocities; give v or p");
  if (!has_q && (has_v || has_p))
    input_error(where, fmt::format("initial {} is given without q; give q", has_v ? "v" : "p"));
  if (has_q) return;
  const SystemEntry& system = study.system_entry();
  study.ensemble.q.assign(system.default_q.begin(), system.default_q.end());
  std::vector<double> v(system.default_v.begin(), system.default_v.end());
  if (system.turn != nullptr && given_in_space(study)) system.turn(system.default_q.data(), v.data(), nullptr, true);
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

Study Study::parse(std::string_view toml, std::string_view origin, std::span<const std::string> overrides) {
  Study study = read_study(toml, origin, overrides);
  study.validate();
  return study;
}

Study Study::load(const std::filesystem::path& file, std::span<const std::string> overrides) {
  constexpr std::size_t most = std::size_t{64} << 20;
  Study study = parse(read_text(file, most), file.string(), overrides);
  study.file = file;
  study.directory = file.parent_path();
  return study;
}

void Study::validate() {
  check_name("a study", name, place("study.name"));
  const SystemEntry& entry = choose_system(*this);
  complete_system(*this, entry);
  check_method(*this, entry);
  check_file(*this);
  check_initial(*this, entry);
  const Grid grid(*this);
  if (ensemble.file.empty()) check_trajectories(*this, grid.size());
  complete_time(*this, Formulas(*this, axis_names(*this, entry)));
  check_observables(*this);
  check_sections(*this);
  check_covariance(*this);
  reject_repeats(output.trajectories, place("output.trajectories"), "trajectory");
}

const SystemEntry& Study::system_entry() const { return choose_system(*this); }

const MethodEntry& Study::method_entry() const { return find_method(*this); }

ObservableCode Study::observable_code(const std::string& observable_name, const std::string& where) const {
  const std::vector<NamedCode> all = observables_of(system_entry(), method_entry());
  const auto found = std::ranges::find(all, observable_name, &NamedCode::name);
  if (found != all.end()) return found->code;
  std::vector<std::string> known;
  std::ranges::transform(all, std::back_inserter(known), &NamedCode::name);
  input_error(where, fmt::format("unknown observable {} of '{}' (known: {}){}", quote(observable_name), system.name,
                                 join(known), did_you_mean(observable_name, known)));
}

std::string Study::place(std::string_view key) const {
  for (;;) {
    if (const auto found = places.find(key); found != places.end()) return found->second;
    const auto cut = key.find_last_of(".[");
    if (cut == std::string_view::npos) return "";
    key = key.substr(0, cut);
  }
}

}  // namespace rattleback
