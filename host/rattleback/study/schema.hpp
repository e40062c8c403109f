#pragma once
// The keys of a study file as JSON: a list of all, and a JSON schema, from which editors complete and check study files.

#include <string>

#include <nlohmann/json.hpp>

namespace rattleback {

/// Returns name, type, default, range or choices, and meaning of each key: "time.step", "ensemble.axes[].count". Texts are
/// Markdown.
[[nodiscard]] nlohmann::ordered_json list_keys();

/// Returns a text of Markdown without the links in parentheses.
[[nodiscard]] std::string without_links(const std::string& markdown);

/// Returns the JSON schema (draft 7) of a study file, with the systems and methods of the catalogue.
[[nodiscard]] nlohmann::ordered_json study_schema();

}  // namespace rattleback
