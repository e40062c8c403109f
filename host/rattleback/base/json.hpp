#pragma once
// The one reader and the one writer of JSON. Files and names may have any bytes, and neither may end a command.

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace rattleback {

using Json = nlohmann::ordered_json;

/// Returns JSON text: on one line, or with `indent` spaces per level. Bytes that are not UTF-8 become U+FFFD, and characters
/// that a terminal does not show as written become \u escapes, so that the text can be printed.
[[nodiscard]] std::string json_text(const Json& json, int indent = -1);

/// Returns what a text describes; a discarded value for a text that is no JSON or is nested deeper than 100 levels, over which
/// recursive functions would run out of stack.
[[nodiscard]] Json parse_json(std::string_view text);

}  // namespace rattleback
