#include "rattleback/results/diff.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <set>
#include <sstream>

#include "rattleback/base/floating_point.hpp"
#include "rattleback/results/compressed.hpp"

namespace rattleback {
namespace {

using DiffStatus = DatasetDiff::Status;

/// Values in one block of a dataset: 8 MiB.
constexpr std::uint64_t diff_block = std::uint64_t{1} << 20;

std::uint64_t size_of(const Shape& shape) {
  std::uint64_t size = 1;
  for (const std::uint64_t n : shape) size *= n;
  return size;
}

/// Calls visit(offset, count) for blocks of a dataset in row-major order. Each block has at most diff_block values.
template <class Visit>
void for_each_block(const Shape& shape, Visit visit) {
  Shape offset(shape.size(), 0), count = shape;
  if (size_of(shape) <= diff_block) {
    if (size_of(shape) > 0) visit(offset, count);
    return;
  }
  // Indices before `split` advance one by one. Index `split` advances in pieces. Later indices are taken as a whole.
  std::size_t split = shape.size() - 1;
  std::uint64_t row = 1;
  for (; row * shape[split] <= diff_block; --split) row *= shape[split];
  std::fill_n(count.begin(), split, 1);
  for (;;) {
    count[split] = std::min(diff_block / row, shape[split] - offset[split]);
    visit(offset, count);
    offset[split] += count[split];
    for (std::size_t d = split; offset[d] == shape[d]; ++offset[--d]) {
      if (d == 0) return;
      offset[d] = 0;
    }
  }
}

/// Returns the position of a double in the order of all doubles. 0 and -0 have the same position.
std::int64_t position(double x) {
  const auto bits = std::bit_cast<std::int64_t>(x);
  return bits >= 0 ? bits : std::numeric_limits<std::int64_t>::min() - bits;
}

void measure(double a, double b, DatasetDiff& result) {
  if (std::isnan(a) || std::isnan(b)) {
    ++result.nan;
    return;
  }
  const std::int64_t low = position(std::min(a, b)), high = position(std::max(a, b));
  result.ulps = std::max(result.ulps, static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low));
  result.absolute = std::max(result.absolute, std::abs(a - b));
}

void measure(std::uint64_t a, std::uint64_t b, DatasetDiff& result) {
  const std::uint64_t distance = a < b ? b - a : a - b;
  result.ulps = std::max(result.ulps, distance);
  result.absolute = std::max(result.absolute, static_cast<double>(distance));
}

class Comparison {
 public:
  Comparison(const ResultFile& first, const ResultFile& second, const std::stop_token& stop)
      : first_(first), second_(second), stop_(stop) {}

  [[nodiscard]] DatasetDiff dataset(const std::string& path) {
    DatasetDiff result;
    result.path = path;
    result.first = entry(first_, path);
    result.second = entry(second_, path);
    if (!result.second) {
      result.status = DiffStatus::only_first;
    } else if (!result.first) {
      result.status = DiffStatus::only_second;
    } else if (result.first->type != result.second->type) {
      result.status = DiffStatus::type;
    } else if (result.first->shape != result.second->shape) {
      result.status = DiffStatus::shape;
    } else {
      switch (result.first->type) {
        case ResultSink::Type::f64:
          compare<double>(result.first->shape, result);
          break;
        case ResultSink::Type::u32:
          compare<std::uint32_t>(result.first->shape, result);
          break;
        case ResultSink::Type::u64:
          compare<std::uint64_t>(result.first->shape, result);
          break;
      }
    }
    return result;
  }

 private:
  static std::optional<ResultFile::Entry> entry(const ResultFile& file, const std::string& path) {
    const auto found = file.datasets().find(path);
    return found == file.datasets().end() ? std::nullopt : std::optional(found->second);
  }

  template <class T>
  void compare(const Shape& shape, DatasetDiff& result) {
    using Number = std::conditional_t<std::is_integral_v<T>, std::uint64_t, double>;
    result.values = size_of(shape);
    std::vector<T> a(std::min(result.values, diff_block)), b(a.size());
    for_each_block(shape, [&](const Shape& offset, const Shape& count) {
      if (stop_.stop_requested()) throw Error(Error::Kind::runtime, "interrupted");
      first_.read(result.path, offset, count, a.data());
      second_.read(result.path, offset, count, b.data());
      const std::uint64_t size = size_of(count);
      if (std::memcmp(a.data(), b.data(), size * sizeof(T)) == 0) return;
      for (std::uint64_t i = 0; i < size; ++i) {
        // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): bits count, so that NaN equals itself and 0 is not -0
        if (std::memcmp(&a[i], &b[i], sizeof(T)) == 0) continue;
        if (result.differing++ == 0) result.at = first_difference(result.path, offset, count, i, a[i], b[i]);
        measure(Number{a[i]}, Number{b[i]}, result);
      }
    });
    if (result.differing > 0) result.status = DiffStatus::values;
  }

  /// Returns value i of a block and the meaning of the index (docs/results.md).
  template <class T>
  FirstDifference first_difference(const std::string& path, const Shape& offset, const Shape& count, std::uint64_t i,
                                   T a, T b) const {
    FirstDifference at;
    at.first = a;
    at.second = b;
    at.index = offset;
    for (std::size_t d = count.size(); d-- > 0; i /= count[d]) at.index[d] += i % count[d];
    if (at.index.empty()) return at;

    const auto in = [&path](std::string_view group) { return path.starts_with(group); };
    const auto samples = entry(first_, "/time");
    if (in("/final/") || in("/initial/") || in("/axes/") || in("/derivatives/") ||
        (in("/averages/") && (path.ends_with("/value") || path.ends_with("/digits")))) {
      at.trajectory = at.index[0];
    } else if (in("/sections/")) {
      at.crossing = at.index[0];
    } else if (path != "/trajectories/index" && samples && samples->shape.size() == 1 &&
               first_.datasets().at(path).shape[0] == samples->shape[0]) {
      at.sample = at.index[0];
      double time = 0.0;
      first_.read("/time", {*at.sample}, {1}, &time);
      at.time = time;
      if (in("/trajectories/") && at.index.size() > 1 && entry(first_, "/trajectories/index")) {
        std::uint64_t trajectory = 0;
        first_.read("/trajectories/index", {at.index[1]}, {1}, &trajectory);
        at.trajectory = trajectory;
      } else if (in("/observables/") && is_series(path) && at.index.size() > 1) {
        at.trajectory = at.index[1];
      }
    }
    return at;
  }

  const ResultFile& first_;
  const ResultFile& second_;
  const std::stop_token& stop_;
};

/// Collects the values of a study by key, as TOML.
void flatten(const toml::node& node, const std::string& key, std::map<std::string, std::string>& values) {
  const auto* array = node.as_array();
  if (const auto* table = node.as_table()) {
    for (const auto& [name, value] : *table)
      flatten(value, (key.empty() ? "" : key + ".") + std::string(name.str()), values);
  } else if (array && array->is_array_of_tables()) {
    for (std::size_t i = 0; i < array->size(); ++i)
      flatten(*array->get(i), key + "[" + std::to_string(i) + "]", values);
  } else {
    std::ostringstream text;
    node.visit([&text](const auto& value) { text << value; });
    values[key] = text.str();
  }
}

std::map<std::string, std::string> study_of(const ResultFile& file) {
  const std::string text = file.text("study");
  std::map<std::string, std::string> values;
  try {
    flatten(toml::parse(text), "", values);
  } catch (const toml::parse_error&) {
    values["study"] = text;
  }
  return values;
}

std::vector<StudyDiff> study_differences(const ResultFile& first, const ResultFile& second) {
  const auto a = study_of(first), b = study_of(second);
  std::set<std::string> keys;
  for (const auto* values : {&a, &b})
    for (const auto& [key, value] : *values) keys.insert(key);
  std::vector<StudyDiff> differences;
  for (const std::string& key : keys) {
    const auto value = [&key](const std::map<std::string, std::string>& values) {
      const auto found = values.find(key);
      return found == values.end() ? std::nullopt : std::optional(found->second);
    };
    if (value(a) != value(b)) differences.push_back({key, value(a), value(b)});
  }
  return differences;
}

}  // namespace

std::uint64_t DiffReport::differing() const {
  return static_cast<std::uint64_t>(std::ranges::count_if(
      datasets, [](const DatasetDiff& dataset) { return dataset.status != DiffStatus::identical; }));
}

DiffReport diff(const ResultFile& first, const ResultFile& second, const std::stop_token& stop) {
  const FloatingPointScope environment;
  std::set<std::string> paths;
  for (const ResultFile* file : {&first, &second})
    for (const auto& [path, entry] : file->datasets()) paths.insert(path);
  DiffReport report;
  report.study = study_differences(first, second);
  Comparison comparison(first, second, stop);
  for (const std::string& path : paths) report.datasets.push_back(comparison.dataset(path));
  return report;
}

}  // namespace rattleback
