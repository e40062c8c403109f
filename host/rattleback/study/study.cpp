#include "rattleback/study/study.hpp"

namespace rattleback {

std::optional<int> Study::Method::integer(std::string_view option) const {
  const auto found = options.find(option);
  if (found == options.end() || !std::holds_alternative<std::int64_t>(found->second.content)) return std::nullopt;
  return static_cast<int>(std::get<std::int64_t>(found->second.content));
}

std::vector<std::filesystem::path> Study::inputs() const {
  std::vector<std::filesystem::path> inputs{file};
  if (!ensemble.file.empty()) inputs.push_back(directory / ensemble.file);
  return inputs;
}

std::string Study::place(std::string_view key) const {
  for (;;) {
    if (const auto found = places.find(key); found != places.end()) return found->second;
    const auto cut = key.find_last_of(".[");
    if (cut == std::string_view::npos) return "";
    key = key.substr(0, cut);
  }
}

}  // namespace rattleback
