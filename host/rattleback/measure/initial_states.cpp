#include "rattleback/measure/initial_states.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "rattleback/base/message.hpp"
#include "rattleback/kernels/kernels.hpp"
#include "rattleback/study/catalogue.hpp"
#include "rattleback/study/problem.hpp"

namespace rattleback {
namespace {

/// Relative difference of states that count as the same.
constexpr double tolerance = 1e-9;
/// Numbers of one part of the states in memory at a time.
constexpr std::uint64_t states_in_memory = std::uint64_t{1} << 18;

struct StatesOfSide {
  const ResultFile& file;
  const Study& study;

  [[nodiscard]] std::string name() const { return file.path().string(); }
  [[nodiscard]] std::uint64_t size() const { return file.datasets().at("/final/status").shape[0]; }
  [[nodiscard]] const Shape* shape(const std::string& path) const {
    const auto found = file.datasets().find(path);
    return found == file.datasets().end() ? nullptr : &found->second.shape;
  }
  [[nodiscard]] bool in_space() const {
    const MethodEntry* method = Catalogue::instance().method(study.method.name);
    return method != nullptr && method->in_space;
  }
  /// Reads rows [first, first + count) of a dataset with one row per trajectory.
  [[nodiscard]] std::vector<double> rows(const std::string& path, std::uint64_t first, std::uint64_t count) const {
    Shape offset{first}, extent{count};
    const Shape& full = *shape(path);
    const ResultSink::Type type = file.datasets().at(path).type;
    if (type != ResultSink::Type::f64 || full.empty() || full.size() > 2 || full[0] != size())
      input_error(name(),
                  fmt::format("dataset '{}' is not of float64 with a row per trajectory; run its study again", path));
    std::uint64_t width = 1;
    if (full.size() == 2) {
      offset.push_back(0);
      extent.push_back(width = full[1]);
    }
    std::vector<double> numbers(count * width);
    file.read(path, offset, extent, numbers.data());
    return numbers;
  }
};

/// Returns the first component that differs; `width` when all agree. States that both results leave out are NaN.
std::uint64_t first_difference(const double* a, const double* b, std::uint64_t width) {
  double scale = 0.0;
  for (std::uint64_t i = 0; i < width; ++i) scale = std::max({scale, std::abs(a[i]), std::abs(b[i])});
  for (std::uint64_t i = 0; i < width; ++i)
    if (!(std::abs(a[i] - b[i]) <= tolerance * scale) && !(std::isnan(a[i]) && std::isnan(b[i]))) return i;
  return width;
}

[[noreturn]] void starts_elsewhere(const StatesOfSide& first, const StatesOfSide& second, std::uint64_t trajectory,
                                   const std::string& component, double a, double b) {
  input_error(second.name(), fmt::format("trajectory {} starts elsewhere than that of {} ({} is {} and {}); run both "
                                         "studies with the same initial states",
                                         trajectory, first.name(), component, b, a));
}

void compare_states(const StatesOfSide& first, const StatesOfSide& second) {
  const std::string parts[] = {"q", "v", "p"};
  std::uint64_t width[3] = {};
  for (int i = 0; i < 3; ++i) {
    const Shape &a = *first.shape("/initial/" + parts[i]), &b = *second.shape("/initial/" + parts[i]);
    if (a.size() != 2 || b.size() != 2 || a[1] != b[1] || a[1] == 0)
      input_error(second.name(),
                  fmt::format("its states are those of another system than the states of {} (/initial/{} "
                              "has another shape); give two results of one system",
                              first.name(), parts[i]));
    width[i] = a[1];
  }
  // The system turns velocities and momenta of the second result into the frame of the first.
  std::optional<Problem> problem;
  if (first.in_space() != second.in_space()) problem.emplace(Problem::parse(first.study.to_toml(), first.name()));
  const auto turn = problem ? point_functions(*problem->system).turn : nullptr;

  const std::uint64_t size = first.size(), block = std::max<std::uint64_t>(states_in_memory / width[0], 1);
  for (std::uint64_t begin = 0; begin < size; begin += block) {
    const std::uint64_t count = std::min(block, size - begin);
    std::vector<double> a[3], b[3];
    for (int i = 0; i < 3; ++i) {
      a[i] = first.rows("/initial/" + parts[i], begin, count);
      b[i] = second.rows("/initial/" + parts[i], begin, count);
    }
    for (std::uint64_t k = 0; k < count; ++k) {
      const auto row = [&](std::vector<double>* side, int i) { return side[i].data() + k * width[i]; };
      if (turn != nullptr) turn(row(b, 0), row(b, 1), row(b, 2), first.in_space());
      std::uint64_t at[3];
      for (int i = 0; i < 3; ++i) at[i] = first_difference(row(a, i), row(b, i), width[i]);
      const int i = at[0] < width[0] ? 0 : 1;
      if (i == 1 && (at[1] == width[1] || at[2] == width[2])) continue;
      starts_elsewhere(first, second, begin + k, fmt::format("{}[{}]", parts[i], at[i]), row(a, i)[at[i]],
                       row(b, i)[at[i]]);
    }
  }
}

std::vector<std::string> axes_of(const ResultFile& file) {
  std::vector<std::string> paths;
  for (const auto& [path, entry] : file.datasets())
    if (path.starts_with("/axes/")) paths.push_back(path);
  return paths;
}

/// Returns a text of the parts of the study that fix the initial states.
std::string text_of_ensemble(const Study& study) {
  Study part;
  part.system.name = study.system.name;
  part.system.variant = study.system.variant;
  part.ensemble = study.ensemble;
  part.directory = study.directory;
  return part.to_toml();
}

void compare_axes(const StatesOfSide& first, const StatesOfSide& second) {
  const std::vector<std::string> axes = axes_of(first.file);
  if (axes != axes_of(second.file) || text_of_ensemble(first.study) != text_of_ensemble(second.study))
    input_error(second.name(),
                fmt::format("the [ensemble] of its study is another than that of {}, and not both results "
                            "have their initial states; run both with output.initial_state = true",
                            first.name()));
  const std::uint64_t size = first.size();
  for (const std::string& path : axes)
    for (std::uint64_t begin = 0; begin < size; begin += states_in_memory) {
      const std::uint64_t count = std::min(states_in_memory, size - begin);
      const std::vector<double> a = first.rows(path, begin, count), b = second.rows(path, begin, count);
      for (std::uint64_t k = 0; k < count; ++k)
        if (first_difference(&a[k], &b[k], 1) == 0)
          starts_elsewhere(first, second, begin + k, path.substr(std::string_view("/axes/").size()), a[k], b[k]);
    }
}

}  // namespace

void check_same_start(const ResultFile& first, const Study& first_study, const ResultFile& second,
                      const Study& second_study) {
  const StatesOfSide a{first, first_study}, b{second, second_study};
  for (const StatesOfSide* side : {&a, &b})
    if (const Shape* shape = side->shape("/final/status"); shape == nullptr || shape->size() != 1 || (*shape)[0] == 0)
      input_error(side->name(), "has no status of trajectories (/final/status); give a result of `rattleback run`");
  if (a.size() != b.size())
    input_error(b.name(), fmt::format("has {} {}, and {} has {}; pairs need the same ensemble", b.size(),
                                      b.size() == 1 ? "trajectory" : "trajectories", a.name(), a.size()));
  const auto has_states = [](const StatesOfSide& side) {
    return side.shape("/initial/q") != nullptr && side.shape("/initial/v") != nullptr &&
           side.shape("/initial/p") != nullptr;
  };
  if (has_states(a) && has_states(b)) {
    compare_states(a, b);
  } else {
    compare_axes(a, b);
  }
}

}  // namespace rattleback
