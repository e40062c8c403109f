#pragma once
// A comparison of two results, for people and for programs.

#include <string>

#include <nlohmann/json.hpp>

#include "rattleback/result/diff.hpp"

namespace rattleback::program {

/// A note on the studies, one line per dataset, one line that sums up.
std::string to_text(const DiffReport& report, const std::string& first, const std::string& second);

/// The keys are those of docs/compare.md.
nlohmann::ordered_json to_json(const DiffReport& report, const std::string& first, const std::string& second);

}  // namespace rattleback::program
