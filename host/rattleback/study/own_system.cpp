#include "rattleback/study/own_system.hpp"

#include <algorithm>
#include <deque>
#include <map>

#include <fmt/format.h>

#include "rattleback/base/message.hpp"
#include "rattleback/base/mutex.hpp"
#include "rattleback/kernels/compiler.hpp"
#include "rattleback/kernels/kernels.hpp"
#include "rattleback/kernels/sources.hpp"
#include "rattleback/language/print.hpp"

namespace rattleback {
namespace {

/// What a study says of a system besides its functions. It lives as long as the process, like the entries of the catalogue.
struct Described {
  SystemFormulas formulas;
  std::vector<ParameterInfo> parameters;
  SystemEntry entry;
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
  static std::map<std::string, const SystemEntry*> known;  // by the header with all values, and the momentum
  const std::string header = fmt::format("{}// {}", system_header(formulas), fmt::join(formulas.p, ", "));
  {
    const std::lock_guard lock(mutex);
    if (const auto found = known.find(header); found != known.end()) return *found->second;
  }
  const SystemFormulas plain = without_values(formulas);
  const std::string text = system_header(plain), type = system_type(plain);
  const SystemEntry& compiled = Kernels::instance().system({"", type.c_str(), text.c_str()});  // not under the lock
  const std::lock_guard lock(mutex);
  const SystemEntry*& found = known[header];
  if (found != nullptr) return *found;
  Described& own = all.emplace_back(Described{formulas, {}, compiled});
  for (const auto& parameter : own.formulas.parameters)
    own.parameters.push_back({parameter.name.c_str(), parameter.value, parameter.unit.c_str(), parameter.text.c_str()});
  own.entry.summary = own.formulas.summary.c_str();
  own.entry.source = own.formulas.source.c_str();
  own.entry.parameters = own.parameters;
  own.entry.default_q = own.formulas.q;
  own.entry.default_v = own.formulas.v;
  own.entry.default_p = own.formulas.p;
  own.entry.time_scale = own.formulas.time_scale;
  return *(found = &own.entry);
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
