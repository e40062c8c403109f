#pragma once
// What is known of systems, methods, observables and statistics, as JSON.

#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "rattleback/study/catalogue.hpp"
#include "rattleback/study/study.hpp"

namespace rattleback {

[[nodiscard]] nlohmann::ordered_json json_of(const MethodOption& value);
/// Returns name, kind, default, range or choices, and text of each option.
[[nodiscard]] nlohmann::ordered_json json_of(std::span<const OptionInfo> options);

/// Returns parameters, observables, state and sources of all instances of a system. That of `formulas` also has its multipliers.
[[nodiscard]] nlohmann::ordered_json describe_system(const std::string& name,
                                                     const std::vector<const SystemEntry*>& instances,
                                                     const SystemFormulas* formulas = nullptr);
/// Describes a system or a method of the catalogue. Throws Error(input) with the nearest name for an unknown one.
[[nodiscard]] nlohmann::ordered_json describe(const std::string& name);

/// The parts of a list.
struct CatalogueParts {
  bool systems = false, methods = false, observables = false, statistics = false, keys = false;
};
/// Returns name, summary and more of each entry, by part.
[[nodiscard]] nlohmann::ordered_json list(const CatalogueParts& what);

}  // namespace rattleback
