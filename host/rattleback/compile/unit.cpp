#include "rattleback/compile/unit.hpp"

#include <fmt/format.h>

namespace rattleback {
namespace {

/// Returns the value that decides the step: options without effect on R^n have their first value there.
int effective(const OptionInfo& option, int value, const SystemEntry& system) {
  if (option.scope == OptionScope::all || system.turn != nullptr) return value;
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
      type.replace(at, name.size(),
                   option.kind == OptionKind::choice ? option.types[static_cast<std::size_t>(value)]
                                                     : std::to_string(value));
  }
  return type;
}

std::string include(std::string_view header) { return fmt::format("#include \"{}\"\n", header); }

/// Returns the header of a system, or the line that includes it.
std::string header_of(const SystemSource& source) {
  if (source.text == nullptr) return include(source.header);
  std::string text = source.text;
  constexpr std::string_view once = "#pragma once\n";
  if (const std::size_t at = text.find(once); at != std::string::npos) text.erase(at, once.size());
  return text;
}

std::string chosen_system(const SystemSource& source) {
  return fmt::format("template <class T>\nusing ChosenSystem = {};\n", source.type);
}

std::string chosen_method(const SystemEntry& system, const MethodEntry& method, const PairKey& key) {
  return fmt::format("struct ChosenMethod {{\n  template <class T, class System>\n  using of = {};\n}};\n",
                     step_type(system, method, key));
}

}  // namespace

std::string Unit::text() const {
  const bool counts = kind == UnitKind::counted, samples = kind == UnitKind::samples;
  std::string text = fmt::format("#define RATTLEBACK_ISA {}\n", counts ? "counted" : to_string(isa));
  if (counts) text += "#define RATTLEBACK_SMALL_CODE\n";
  text += include(counts ? "rattleback/loop/count.hpp" : "rattleback/loop/instantiate.hpp");
  text += header_of(system->source_text);
  if (!samples) text += include(method->header);
  text += "\nRB_NAMESPACE_BEGIN\n\n" + chosen_system(system->source_text);
  if (!samples)
    text += chosen_method(*system, *method, key) +
            fmt::format("static_assert(Takes<ChosenMethod, ChosenSystem<double>>, \"the step of {} does not take the "
                        "system\");\n",
                        method->name);
  text += "\nRB_NAMESPACE_END\n\n";
  const auto function = [](const char* field, const char* name, const char* arguments) {
    return fmt::format(".{} = rattleback::{}<{}>", field, name, arguments);
  };
  const char *pair = "rattleback::ChosenSystem, rattleback::ChosenMethod", *only = "rattleback::ChosenSystem";
  switch (kind) {
    case UnitKind::advance:
      return text + "RB_EXPORT(" + function("advance", "advance_chunk", pair) + ")\n";
    case UnitKind::tangent:
      return text + "RB_EXPORT(" + function("advance_tangent", "advance_chunk_with_tangent", pair) + ")\n";
    case UnitKind::samples:
      return text + "RB_EXPORT(" + function("observe", "observe_chunk", only) + ",\n          " +
             function("surfaces", "surfaces_chunk", only) + ")\n";
    case UnitKind::counted:
      return text + "RB_EXPORT(" + function("count", "count_chunk", pair) + ")\n";
  }
  return text;
}

std::string Unit::device_text() const {
  return "#define RATTLEBACK_ISA cuda\n" + include("rattleback/loop/device.cuh") + header_of(system->source_text) +
         include(method->header) + "\nRB_NAMESPACE_BEGIN\n\n" + chosen_system(system->source_text) +
         chosen_method(*system, *method, key) + "\nRB_NAMESPACE_END\n\n" +
         (kind == UnitKind::tangent ? "RB_DEVICE_TANGENT" : "RB_DEVICE_PAIR") +
         "(rattleback::ChosenSystem, rattleback::ChosenMethod)\n";
}

std::string Unit::title(const std::string& target) const {
  std::string title = system->name;
  if (*system->variant != '\0') title += fmt::format(" ({})", system->variant);
  for (const StructureInfo& s : system->structure) title += fmt::format(", {} = {}", s.name, s.value);
  if (kind == UnitKind::samples) {
    title += ", observables";
  } else {
    title += fmt::format(", {}", method->name);
    const int* next = key.value;
    for (const OptionInfo& option : method->options) {
      if (!option.compiled) continue;
      const int value = *next++;
      if (option.scope != OptionScope::all && system->turn == nullptr) continue;
      if (option.kind == OptionKind::choice) {
        title += fmt::format(", {} {}", option.name, option.choices[static_cast<std::size_t>(value)]);
      } else if (option.name == std::string_view("stages")) {
        title += fmt::format(", {} stage{}", value, value == 1 ? "" : "s");
      } else {
        title += fmt::format(", {} = {}", option.name, value);
      }
    }
    if (kind == UnitKind::tangent) title += ", tangent";
    if (kind == UnitKind::counted) return title + ", counting";
  }
  return title + ", " + (target.empty() ? title_of(isa) : target);
}

std::string entry_text(const SystemSource& source) {
  return "#define RATTLEBACK_ISA user\n#define RATTLEBACK_SMALL_CODE\n" + include("rattleback/loop/instantiate.hpp") +
         include("rattleback/loop/describe.hpp") + include("rattleback/builtin/takes.hpp") + header_of(source) +
         "\nRB_NAMESPACE_BEGIN\n\n" + chosen_system(source) +
         "const SystemEntry& chosen_entry() {\n  return describe<ChosenSystem>({}, "
         "methods_that_take<ChosenSystem<double>>());\n}\n\nRB_NAMESPACE_END\n\n"
         "RB_EXPORT(.describe = rattleback::chosen_entry)\n";
}

}  // namespace rattleback
