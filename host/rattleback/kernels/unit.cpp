#include "rattleback/kernels/unit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace rattleback {
namespace {

/// Returns the value that decides the step: options without effect on a system have their first value there.
int effective(const OptionInfo& option, int value, const SystemEntry& system) {
  if (has_effect(option, system)) return value;
  return option.kind == OptionKind::choice ? 0 : static_cast<int>(option.minimum);
}

/// Returns the type of the step over T and System.
std::string step_type(const SystemEntry& system, const MethodEntry& method, const PairKey& key) {
  std::string type = method.step;
  const int* next = key.value;
  for (const OptionInfo& option : method.options) {
    if (!option.compiled) continue;
    const int value = effective(option, *next++, system);
    const std::string name = fmt::format("{{{}}}", option.name);
    for (std::size_t at; (at = type.find(name)) != std::string::npos;)
      type.replace(
          at, name.size(),
          option.kind == OptionKind::choice ? option.types[static_cast<std::size_t>(value)] : std::to_string(value));
  }
  return type;
}

std::string include(std::string_view header) { return fmt::format("#include \"{}\"\n", header); }

/// Returns the header of a system, or the line that includes it. The header of a user may take <cmath> for granted.
std::string header_of(const SystemSource& source) {
  if (source.text == nullptr) return (source.header[0] == '/' ? "#include <cmath>\n" : "") + include(source.header);
  std::string text = source.text;
  constexpr std::string_view once = "#pragma once\n";
  if (const std::size_t at = text.find(once); at != std::string::npos) text.erase(at, once.size());
  return text;
}

std::string chosen_system(const SystemSource& source) {
  return fmt::format("template <class T>\nusing ChosenSystem = InTime<{}>;\n", source.type);
}

std::string chosen_method(const SystemEntry& system, const MethodEntry& method, const PairKey& key) {
  return fmt::format("struct ChosenMethod {{\n  template <class T, class System>\n  using of = {};\n}};\n",
                     step_type(system, method, key));
}

/// Whether a unit has the steps of a method.
bool has_steps(UnitKind kind) {
  return kind != UnitKind::samples && kind != UnitKind::start && kind != UnitKind::start_tangents;
}

/// Whether samples have observables of tangent vectors or derivatives. They are code of their own, which other samples do without.
bool has_variations(const StudyCode& code) { return code.tangents || code.derivatives; }

/// Returns the type of the formulas that are part of a unit.
std::string formulas_of(const Unit& unit) {
  if (unit.kind == UnitKind::start || unit.kind == UnitKind::start_tangents) return "";
  if (unit.kind == UnitKind::samples && has_variations(unit.code)) return "rattleback::StudySamples";
  if (unit.kind == UnitKind::samples && !unit.code.observables.empty()) return "rattleback::StudyObservables";
  if (unit.kind == UnitKind::samples || unit.kind == UnitKind::counted) return "";
  if (!unit.code.density.empty() || !unit.code.averages.empty()) return "rattleback::StudyLoop";
  return unit.code.surfaces.empty() ? "" : "rattleback::StudySurfaces";
}

/// Returns the declarations of the formulas of a unit.
std::string code_of_formulas(const Unit& unit) {
  const StudyCode& code = unit.code;
  if (unit.kind == UnitKind::samples) {
    if (!has_variations(code)) return code.observables;
    return code.observables +
           fmt::format("template <class T>\nstruct StudySamples : {}<T> {{\n  static constexpr bool {} = true;\n}};\n",
                       code.observables.empty() ? "NoFormulas" : "StudyObservables",
                       code.derivatives ? "derivatives" : "tangents");
  }
  if (code.density.empty() && code.averages.empty()) return code.surfaces;
  std::string text = code.surfaces + code.density + code.averages +
                     fmt::format("template <class T>\nstruct StudyLoop : {}<T> {{\n",
                                 code.surfaces.empty() ? "NoFormulas" : "StudySurfaces");
  for (const auto& [name, formulas] : {std::pair{"Density", &code.density}, {"Averages", &code.averages}})
    if (!formulas->empty()) text += fmt::format("  template <class S>\n  using {0} = Study{0}<S>;\n", name);
  return text + "};\n";
}

/// Returns the headers and the declarations of a unit, which `loop`, a header, puts to use.
std::string body(const Unit& unit, std::string_view loop) {
  const bool steps = has_steps(unit.kind);
  std::string text = include(loop) + header_of(unit.system->source_text);
  if (steps) text += include(unit.method->header);
  text += "\nRB_NAMESPACE_BEGIN\n\n" + chosen_system(unit.system->source_text);
  if (steps) text += chosen_method(*unit.system, *unit.method, unit.key);
  if (!formulas_of(unit).empty()) text += code_of_formulas(unit);
  return text;
}

/// Whether M depends on q, as the header of a system of formulas says.
bool has_varying_mass(const SystemEntry& system) {
  const char* text = system.source_text.text;
  return text != nullptr && std::strstr(text, "mass_matrix(const Vector<S, n>& q)") != nullptr;
}
/// Loops over the entries of vectors stay loops in systems that have more coordinates than this, or more coordinates and constraints.
/// Their code would be too long for the cache of instructions, and products of matrices would take minutes and gigabytes to compile:
/// a chain of 20 rods in the plane 5 s in place of an internal error of GCC 12 at 4.7 GB. Where M varies, factors at every stage make the
/// code longer: 16 links by angles (lobatto, three stages) compile in 11 s in place of 23 s.
constexpr int most_unrolled = 16, most_unrolled_with_varying_mass = 12, most_unrolled_with_constraints = 40;
bool is_large(const SystemEntry& system) {
  if (system.m > 0) return system.n + system.m > most_unrolled_with_constraints;
  return system.n > (has_varying_mass(system) ? most_unrolled_with_varying_mass : most_unrolled);
}
std::string define_size(const SystemEntry& system) {
  return is_large(system) ? "#define RATTLEBACK_LARGE_SYSTEM\n" : "";
}

constexpr std::string_view end_of_body = "\nRB_NAMESPACE_END\n\n";
const std::string only = "rattleback::ChosenSystem", pair = only + ", rattleback::ChosenMethod";

/// The type of what goes along with the state, as one more argument.
std::string companion_of(const Unit& unit) {
  return std::string(", rattleback::") + (unit.kind == UnitKind::tangent  ? "CarryTangent"
                                          : unit.kind == UnitKind::varied ? "CarryVariations"
                                          : unit.code.by_mass             ? "CarryMassFrame"
                                                                          : "CarryFrame");
}

std::string vectors_of(const Unit& unit) {
  return fmt::format("{}, {}, {}", only, unit.code.vectors, unit.code.by_mass);
}

}  // namespace

std::string Unit::text() const {
  const bool counts = kind == UnitKind::counted;
  std::string text = fmt::format("#define RATTLEBACK_ISA {}\n", counts ? "counted" : to_string(isa));
  if (counts) text += "#define RATTLEBACK_SMALL_CODE\n";
  text += define_size(*system);
  text += body(*this, counts                             ? "rattleback/loop/count.hpp"
                      : kind == UnitKind::start          ? "rattleback/loop/start.hpp"
                      : kind == UnitKind::start_tangents ? "rattleback/loop/start_tangents.hpp"
                                                         : "rattleback/loop/instantiate.hpp");
  if (has_steps(kind))
    text += fmt::format(
        "static_assert(Takes<ChosenMethod, ChosenSystem<double>>, \"the step of {} does not take the "
        "system\");\n",
        method->name);
  text += end_of_body;
  const std::string formulas = formulas_of(*this), also = formulas.empty() ? "" : ", " + formulas;
  const auto function = [](std::string_view field, std::string_view name, const std::string& arguments) {
    return fmt::format(".{} = rattleback::{}<{}>", field, name, arguments);
  };
  std::string functions;
  switch (kind) {
    case UnitKind::advance:
      functions = function("advance", "advance_chunk", pair + also);
      if (!code.surfaces.empty()) functions += ",\n          " + function("surfaces", "surfaces_chunk", only + also);
      break;
    case UnitKind::tangent:
    case UnitKind::frame:
    case UnitKind::varied:
      functions = function("advance_tangent", "advance_chunk_with", pair + companion_of(*this) + also);
      if (kind == UnitKind::varied && !code.surfaces.empty())
        functions += ",\n          " + function("vary_surfaces", "vary_surfaces_chunk", only + also);
      break;
    case UnitKind::samples:
      functions = function("observe", "observe_chunk", only + also);
      if (system->m > system->positions) functions += ",\n          " + function("guard", "guard_chunk", only);
      break;
    case UnitKind::start:
      functions = function("start", "start_chunk", only);
      break;
    case UnitKind::start_tangents:
      functions = function("start", "start_tangents_chunk", vectors_of(*this));
      break;
    case UnitKind::counted:
      functions = function("count", "count_chunk", pair);
      break;
  }
  return text + "RB_EXPORT(" + functions + ")\n";
}

std::string Unit::device_text() const {
  const std::string begin = "#define RATTLEBACK_ISA cuda\n" + define_size(*system);
  const auto starting = [&](std::string_view lanes, std::string_view function, const std::string& arguments) {
    return begin + include(lanes) + body(*this, "rattleback/loop/device_start.cuh") + std::string(end_of_body) +
           fmt::format("RB_DEVICE_START(rattleback::{}<double, {}>)\n", function, arguments);
  };
  if (kind == UnitKind::start) return starting("rattleback/loop/start.hpp", "start_lanes", only);
  if (kind == UnitKind::start_tangents)
    return starting("rattleback/loop/start_tangents.hpp", "start_tangents", vectors_of(*this));
  const std::string formulas = formulas_of(*this).empty() ? "rattleback::NoFormulas" : formulas_of(*this);
  std::string text =
      begin + body(*this, "rattleback/loop/device.cuh") + std::string(end_of_body) +
      (kind == UnitKind::samples   ? fmt::format("RB_DEVICE_SAMPLES({}, {})\n", only, formulas)
       : kind == UnitKind::advance ? fmt::format("RB_DEVICE_ADVANCE({}, {})\n", pair, formulas)
                                   : fmt::format("RB_DEVICE_TANGENT({}{}, {})\n", pair, companion_of(*this), formulas));
  if (has_steps(kind) && !code.surfaces.empty()) text += fmt::format("RB_DEVICE_SURFACES({}, {})\n", only, formulas);
  return text;
}

double Unit::expected_seconds() const {
  const bool large = is_large(*system);
  const double n = system->n, unknowns = n + system->m, rate = large ? 25.0 : 6.0,
               varying = !has_varying_mass(*system) ? 0.0
                         : large                    ? n / 4.0
                                                    : n * n / 24.0;
  if (kind == UnitKind::start_tangents) return 1.4 + n / 10.0 + varying / 2.0;
  if (!has_steps(kind)) return 0.7 + n / 20.0 + varying / 4.0;
  double stages = 1.0;
  const int* next = key.value;
  for (const OptionInfo& option : method->options) {
    if (!option.compiled) continue;
    if (option.name == std::string_view("stages")) stages = *next;
    ++next;
  }
  return 0.7 + unknowns * stages / rate + varying;
}

std::string Unit::title(const std::string& target) const {
  std::string title = system->name;
  if (*system->variant != '\0') title += fmt::format(" ({})", system->variant);
  for (const StructureInfo& s : system->structure) title += fmt::format(", {} = {}", s.name, s.value);
  if (kind == UnitKind::samples) {
    title += code.observables.empty() ? ", observables" : ", observables of the study";
    if (code.tangents) title += ", tangents";
    if (code.derivatives) title += ", derivatives";
  } else if (kind == UnitKind::start) {
    title += ", initial states";
  } else if (kind == UnitKind::start_tangents) {
    title += fmt::format(", {} initial tangent{}{}", code.vectors, code.vectors == 1 ? "" : "s",
                         code.by_mass ? " by mass" : "");
  } else {
    title += fmt::format(", {}", method->name);
    const int* next = key.value;
    for (const OptionInfo& option : method->options) {
      if (!option.compiled) continue;
      const int value = *next++;
      if (!has_effect(option, *system)) continue;
      if (option.unnamed && value == static_cast<int>(option.standard)) continue;
      if (option.kind == OptionKind::choice) {
        title += fmt::format(", {} {}", option.name, option.choices[static_cast<std::size_t>(value)]);
      } else if (option.name == std::string_view("stages")) {
        title += fmt::format(", {} stage{}", value, value == 1 ? "" : "s");
      } else {
        title += fmt::format(", {} = {}", option.name, value);
      }
    }
    if (kind == UnitKind::tangent) title += ", tangent";
    if (kind == UnitKind::frame) title += code.by_mass ? ", tangents by mass" : ", tangents";
    if (kind == UnitKind::varied) title += ", derivatives";
    if (kind == UnitKind::counted) return title + ", counting";
    if (!code.density.empty()) title += ", density";
    if (!code.averages.empty()) title += ", averages";
    if (!code.surfaces.empty()) title += ", sections";
  }
  return title + ", " + (target.empty() ? title_of(isa) : target);
}

std::string entry_text(const SystemSource& source) {
  const bool own = source.text == nullptr;
  std::string text = "#define RATTLEBACK_ISA user\n#define RATTLEBACK_SMALL_CODE\n" +
                     include("rattleback/loop/instantiate.hpp") + include("rattleback/loop/describe.hpp");
  if (own) text += include("rattleback/builtin/offers.hpp");
  text += header_of(source) + "\nRB_NAMESPACE_BEGIN\n\n" + chosen_system(source);
  // What a header lacks is said before the templates fail that need it. The observables show what is wrong in its functions.
  if (own)
    text +=
        "template struct offers::Constants<ChosenSystem<double>>;\ntemplate struct "
        "offers::Functions<ChosenSystem<double>>;\n";
  text += "const SystemEntry& chosen_entry() { return describe<ChosenSystem>(); }\n\nRB_NAMESPACE_END\n\n";
  return text + fmt::format("RB_EXPORT({}.describe = rattleback::chosen_entry)\n",
                            own ? ".observe = rattleback::observe_chunk<rattleback::ChosenSystem>, " : "");
}

}  // namespace rattleback
