#include "rattleback/study/own_system.hpp"

#include <algorithm>
#include <deque>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "rattleback/base/json.hpp"
#include "rattleback/base/message.hpp"
#include "rattleback/base/mutex.hpp"
#include "rattleback/kernels/compiler.hpp"
#include "rattleback/kernels/kernels.hpp"
#include "rattleback/kernels/sources.hpp"
#include "rattleback/language/print.hpp"

namespace rattleback {
namespace {

/// A system of formulas with its values, and its entry, which points to them. It lives as long as the process, like the entries of the
/// catalogue.
struct Described {
  SystemFormulas formulas;
  PrintedSystem printed;  ///< without values
  std::string type, configuration;
  std::vector<ParameterInfo> parameters = {};
  std::vector<StructureInfo> structure = {};
  std::vector<ObservableInfo> observables = {};
  std::vector<const char*> coordinates = {}, separable_without = {};
  const PointFunctions* functions = nullptr;
  SystemEntry entry{};

  /// Sets the entry from the rest.
  void describe() {
    static_cast<SystemForm&>(entry) = printed.form;
    for (const auto& parameter : formulas.parameters)
      parameters.push_back({parameter.name.c_str(), parameter.value, parameter.unit.c_str(), parameter.text.c_str()});
    for (const auto& dimension : formulas.dimensions)
      structure.push_back({dimension.name.c_str(), static_cast<double>(dimension.value)});
    const CommonObservables common(entry);
    observables.assign(common.list, common.list + common.count);
    for (const auto& observable : formulas.observables)
      observables.push_back({observable.name.c_str(), observable.conserved, observable.text.c_str()});
    for (const std::string& name : formulas.coordinates) coordinates.push_back(name.c_str());
    for (const std::string& name : printed.separable_without) separable_without.push_back(name.c_str());
    entry.name = formulas.name.c_str();
    entry.alias = entry.variant = "";
    entry.summary = formulas.summary.c_str();
    entry.configuration = configuration.c_str();
    entry.source = formulas.source.c_str();
    entry.n = formulas.n();
    entry.elements = formulas.elements();
    entry.m = formulas.m();
    entry.positions = static_cast<int>(formulas.constraints.size());
    entry.parameters = parameters;
    entry.structure = structure;
    entry.observables = observables;
    entry.coordinates = coordinates;
    entry.default_q = formulas.q;
    entry.default_v = formulas.v;
    entry.default_p = formulas.p;
    entry.separable_without = separable_without;
    entry.time_scale = formulas.time_scale;
    entry.source_text = {"", type.c_str(), printed.header.c_str()};
    entry.functions = &functions;
    entry.force_of_velocity = printed.force_of_velocity;
    entry.without_quotient = printed.without_quotient.c_str();
  }
};

/// Returns the system without values, from which the kernels are compiled.
SystemFormulas without_values(SystemFormulas system) {
  system.summary = system.source = "";
  system.time_scale = 1.0;
  for (auto& parameter : system.parameters) {
    parameter.value = 1.0;
    parameter.unit = parameter.text = "";
  }
  for (auto& observable : system.observables) observable.text = "";
  std::ranges::fill(system.q, 0.0);
  std::ranges::fill(system.v, 0.0);
  std::ranges::fill(system.p, 0.0);
  return system;
}

}  // namespace

const SystemEntry& system_of_formulas(const SystemFormulas& formulas) {
  static Mutex mutex;
  static std::deque<Described> all;
  static std::map<std::string, const SystemEntry*> known;  // by the header and all values
  const SystemFormulas plain = without_values(formulas);
  Described own{.formulas = formulas,
                .printed = print_system(plain),
                .type = system_type(plain),
                .configuration = plain.configuration()};
  std::vector<std::string> values{own.printed.header, formulas.summary, formulas.source};
  for (const auto& parameter : formulas.parameters)
    values.insert(values.end(), {fmt::format("{}", parameter.value), parameter.unit, parameter.text});
  for (const auto& observable : formulas.observables) values.push_back(observable.text);
  values.push_back(fmt::format("{} {} {} {}", formulas.q, formulas.v, formulas.p, formulas.time_scale));
  const std::lock_guard lock(mutex);
  const SystemEntry*& found = known[json_text(Json(values))];
  if (found == nullptr) {
    Described& kept = all.emplace_back(std::move(own));
    kept.describe();
    found = &kept.entry;
  }
  return *found;
}

const SystemEntry& system_of_header(Study& study) {
  Study::System& asked = study.system;
  const std::string where = study.place("system.file");
  std::error_code code;
  const std::filesystem::path file = std::filesystem::weakly_canonical(study.directory / asked.file, code);
  const HeaderOptions options = header_options();
  const std::string digest = digest_of_header(file, where, options);
  if (!asked.digest.empty() && asked.digest != digest)
    input_error(
        study.place("system.digest"),
        fmt::format(
            "{} is not the header of this study any more (its digest is {}.., with {}); restore the header, what "
            "it includes and the macros of RATTLEBACK_CXXFLAGS, or leave out system.digest for a new run",
            quote(file.string(), most_of_a_path), digest.substr(0, 12),
            options.macros.empty() ? "no macros" : fmt::format("{}", fmt::join(options.macros, " "))));
  check_type(asked.type, study.place("system.type"));
  asked.file = file;
  asked.digest = digest;
  const SystemEntry& entry = Kernels::instance().system({file.c_str(), asked.type.c_str()}, digest);
  if (!asked.name.empty() && asked.name != entry.name)
    input_error(study.place("system.name"),
                fmt::format("the system of {} is '{}' (got {}); leave the name out",
                            quote(asked.file.string(), most_of_a_path), entry.name, quote(asked.name)));
  return entry;
}

}  // namespace rattleback
