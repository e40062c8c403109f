#include "rattleback/base/json.hpp"

#include <fmt/format.h>

#include "rattleback/base/message.hpp"

namespace rattleback {

std::string json_text(const Json& json, int indent) {
  // Outside of texts, JSON is printable ASCII with line breaks.
  return escape_unprintable(json.dump(indent, ' ', false, Json::error_handler_t::replace), [](char32_t c) {
    constexpr char32_t plane = 0x10000;
    if (c == '\n') return std::string("\n");
    const auto code = static_cast<unsigned>(c);
    if (c < plane) return fmt::format("\\u{:04x}", code);
    return fmt::format("\\u{:04x}\\u{:04x}", 0xd800 + ((code - plane) >> 10), 0xdc00 + ((code - plane) & 0x3ff));
  });
}

Json parse_json(std::string_view text) {
  constexpr int deepest = 100;
  bool deep = false;
  const auto limit = [&deep](int depth, Json::parse_event_t, Json&) {
    deep = deep || depth > deepest;
    return depth <= deepest;
  };
  Json json = Json::parse(text, limit, false);
  return deep ? Json(Json::value_t::discarded) : json;
}

}  // namespace rattleback
