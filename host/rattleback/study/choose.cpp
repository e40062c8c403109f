#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "rattleback/base/message.hpp"
#include "rattleback/study/familiar.hpp"
#include "rattleback/study/options.hpp"
#include "rattleback/study/own_system.hpp"
#include "rattleback/study/parts.hpp"

namespace rattleback {
namespace {

std::vector<std::string> variants(std::span<const SystemEntry* const> instances) {
  std::vector<std::string> result;
  for (const SystemEntry* entry : instances) {
    if (*entry->variant != '\0' && std::ranges::find(result, entry->variant) == result.end()) {
      result.emplace_back(entry->variant);
    }
  }
  return result;
}

const SystemEntry& find_system(Study& study) {
  if (study.system.formulas) return system_of_formulas(*study.system.formulas);
  if (!study.system.file.empty()) return system_of_header(study);
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
                  fmt::format("there is no '{}' with {} = {}; choose one of {}", asked.name, name, *number, list));
    }
    std::erase_if(instances, [&](const SystemEntry* entry) { return entry->structure[i].value != *number; });
  }
  // Chooses the first instance that has all given parameters. If no such instance exists, the first instance is
  // chosen, and complete_system reports the unknown parameter.
  const auto has_all = [&](const SystemEntry* entry) {
    return std::ranges::all_of(asked.parameters, [&](const auto& given) {
      const auto same = [&](const auto& info) { return info.name == given.first; };
      return std::ranges::any_of(entry->parameters, same) || std::ranges::any_of(entry->structure, same);
    });
  };
  const auto fitting = std::ranges::find_if(instances, has_all);
  return fitting == instances.end() ? *instances.front() : **fitting;
}

/// Sets the full name of the instance and gives every parameter a value.
void complete_system(Study& study, const SystemEntry& entry) {
  study.system.name = entry.name;
  study.system.variant = entry.variant;
  std::vector<std::string> known;
  for (const StructureInfo& info : entry.structure) {
    known.emplace_back(info.name);
    if (study.system.formulas == nullptr)  // formulas give their dimensions themselves
      study.system.parameters.try_emplace(info.name, info.value);
  }
  for (const ParameterInfo& info : entry.parameters) {
    known.emplace_back(info.name);
    study.system.parameters.try_emplace(info.name, info.value);
  }
  for (const auto& [name, value] : study.system.parameters) {
    if (std::ranges::find(known, name) != known.end()) continue;
    if (study.system.variant.empty()) {  // a study without a variant may mean parameters of another variant
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
  if (const std::string_view ours = familiar_method(study.method.name); !ours.empty())
    input_error(study.place("method.name"), fmt::format("unknown method {}; {}", quote(study.method.name), ours));
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
    case ConstraintKind::mixed:
      return "constraints of both kinds";
  }
  return "";
}

/// Throws Error(input) unless the method takes the system.
void check_pair(const Study& study, const SystemEntry& system, const MethodEntry& method) {
  if (method.take(system)) return;
  std::vector<std::string> fitting;
  for (const MethodEntry* other : Catalogue::instance().methods())
    if (other->take(system)) fitting.emplace_back(other->name);
  const bool other_kind = !method.constraints.contain(system.constraint);
  input_error(study.place("method.name"),
              fmt::format("method '{}' cannot treat system '{}' (it takes {}{}); {}", method.name, system.name,
                          systems_in_words(method),
                          other_kind ? fmt::format(", this one has {}", words(system.constraint))
                          : system.hamiltonian_alone && study.system.formulas
                              ? ", the Hamiltonian of this one is degenerate, so it has no Lagrangian"
                          : system.hamiltonian_alone        ? ", this one is given by its Hamiltonian alone"
                          : system.driven && !method.driven ? ", this one has a force or depends on the time"
                                                            : "",
                          fitting.empty() ? "no method of the catalogue can" : "use " + join(fitting)));
}

/// Refuses formulas that a method with discrete gradients cannot evaluate.
void check_quotients(const Study& study, const SystemEntry& system, const MethodEntry& method) {
  if (!method.difference_quotients || *system.without_quotient == '\0') return;
  input_error(
      study.place("method.name"),
      fmt::format("method '{}' takes difference quotients of the formulas of '{}', and {} has none (those of sqrt, "
                  "sin, cos, exp, log and whole powers are known); choose another method",
                  method.name, system.name, system.without_quotient));
}

/// Checks the parameters of a system that has the separable form for some parameters only, when the method uses that
/// form.
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

void check_guess(const Study& study, const MethodEntry& entry) {
  const Study::Method& method = study.method;
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

}  // namespace

void choose_system(Problem& problem) {
  problem.system = &find_system(problem.study);
  complete_system(problem.study, *problem.system);
}

void choose_method(Problem& problem) {
  Study& study = problem.study;
  const SystemEntry& system = *problem.system;
  const MethodEntry& method = find_method(study);
  problem.method = &method;
  check_pair(study, system, method);
  check_separable(study, system, method);
  check_quotients(study, system, method);
  complete_options(study, system, method);
  settle_options(problem);
  check_guess(study, method);
}

}  // namespace rattleback
