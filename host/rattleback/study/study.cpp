#include "rattleback/study/study.hpp"

#include <algorithm>
#include <iterator>
#include <string>

namespace rattleback {

std::optional<int> Study::Method::integer(std::string_view option) const {
  const auto found = options.find(option);
  if (found == options.end() || !std::holds_alternative<std::int64_t>(found->second.content)) return std::nullopt;
  return static_cast<int>(std::get<std::int64_t>(found->second.content));
}

std::vector<Axis> components_of(const std::vector<Axis>& axes) {
  std::vector<Axis> all;
  for (const Axis& axis : axes) {
    if (!axis.dimension) all.push_back(axis);
    for (std::uint64_t i = 0; i < axis.dimension.value_or(0); ++i) {
      Axis& component = all.emplace_back(axis);
      component.name = axis.name + "[" + std::to_string(i) + "]";
      component.dimension.reset();
      component.joined = axis.draws && i > 0;
    }
  }
  return all;
}

Study Study::without_requests() const {
  Study study;
  study.name = name;
  study.system = system;
  study.method = method;
  study.time = time;
  study.ensemble = ensemble;
  study.file = file;
  study.directory = directory;
  study.time.sample_every.reset();
  study.time.samples = 1;
  std::ranges::move(study.ensemble.group_by, std::back_inserter(study.ensemble.unused));
  study.ensemble.group_by.clear();
  study.output.initial_state = study.output.final_state = false;
  for (const auto& [key, where] : places) {
    static constexpr std::string_view kept[] = {"study", "system", "method", "time", "ensemble"};
    const bool of_kept =
        std::ranges::find(kept, std::string_view(key).substr(0, key.find_first_of(".["))) != std::end(kept);
    if (of_kept && !key.starts_with("ensemble.group_by") && !key.starts_with("time.sample")) study.places[key] = where;
  }
  return study;
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
