#pragma once
// Prints paired differences of two results as text or JSON.

#include <string>

#include <nlohmann/json.hpp>

#include "rattleback/measure/paired.hpp"

namespace rattleback::program {

/// Returns one table per observable and statistic, with a row per sample.
std::string to_text(const PairedReport& report, const std::string& first, const std::string& second);

/// Returns an object with the keys of docs/commands/compare.md.
nlohmann::ordered_json to_json(const PairedReport& report, const std::string& first, const std::string& second);

}  // namespace rattleback::program
