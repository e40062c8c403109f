#pragma once
// Prints a comparison of two results as text or JSON.

#include <string>

#include <nlohmann/json.hpp>

#include "rattleback/results/diff.hpp"

namespace rattleback::program {

/// Returns a note on the studies, one line per dataset, and one summary line.
std::string to_text(const DiffReport& report, const std::string& first, const std::string& second);

/// Returns an object with the keys of docs/commands/compare.md.
nlohmann::ordered_json to_json(const DiffReport& report, const std::string& first, const std::string& second);

}  // namespace rattleback::program
