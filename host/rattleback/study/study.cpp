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
  Study study = *this;
  study.observables.clear();
  study.sections.clear();
  study.stops.clear();
  study.fates.clear();
  study.maps.clear();
  study.averages.clear();
  study.fits.clear();
  study.lyapunov = {};
  study.derivatives = {};
  std::ranges::move(study.ensemble.group_by, std::back_inserter(study.ensemble.unused));
  study.ensemble.group_by.clear();
  study.output = {};
  study.output.initial_state = study.output.final_state = false;
  study.time.sample_every.reset();
  study.time.samples = 1;
  std::erase_if(study.places, [](const auto& place) {
    static constexpr std::string_view dropped[] = {
        "observable", "section",           "stop",       "fate", "map", "average", "fit", "lyapunov", "derivatives",
        "output",     "ensemble.group_by", "time.sample"};
    return std::ranges::any_of(dropped, [&](std::string_view key) { return place.first.starts_with(key); });
  });
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
