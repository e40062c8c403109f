#include "rattleback/statistics/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <stdexcept>

namespace rattleback {

namespace {

constexpr StatisticEntry table[] = {
    {"mean", "sum x / c", [](const Moments& m) { return m.mean; }},
    {"std", "sqrt(sum (x - mean)^2 / c): the standard deviation of the population",
     [](const Moments& m) { return std::sqrt(m.squares / m.count); }},
    {"mse", "sum (x - r)^2 / c", [](const Moments& m) { return m.error_squares / m.count; }},
    {"rms", "sqrt(mse)", [](const Moments& m) { return std::sqrt(m.error_squares / m.count); }},
    {"min", "the smallest x", [](const Moments& m) { return m.minimum; }},
    {"max", "the largest x", [](const Moments& m) { return m.maximum; }},
    {"maxabs", "max abs(x - r)", [](const Moments& m) { return m.error_maximum; }},
};

}  // namespace

std::span<const StatisticEntry> statistics() { return table; }

const StatisticEntry* find_statistic(std::string_view name) {
  const auto found = std::ranges::find(table, name, [](const StatisticEntry& s) { return std::string_view(s.name); });
  return found == std::end(table) ? nullptr : found;
}

std::vector<std::string> statistic_names() {
  std::vector<std::string> names;
  for (const StatisticEntry& statistic : table) names.emplace_back(statistic.name);
  return names;
}

double statistic_of(const Moments& moments, const std::string& name) {
  const StatisticEntry* statistic = find_statistic(name);
  if (!statistic) throw std::logic_error("no statistic '" + name + "'");  // validation accepted the name
  return moments.count == 0.0 ? std::numeric_limits<double>::quiet_NaN() : statistic->of(moments);
}

double covariance_of(const CoMoments& m) {
  return m.count == 0.0 ? std::numeric_limits<double>::quiet_NaN() : m.xy / m.count;
}

double correlation_of(const CoMoments& m) {
  const double scale = std::sqrt(m.xx) * std::sqrt(m.yy);
  return scale > 0.0 ? m.xy / scale : std::numeric_limits<double>::quiet_NaN();
}

void count_into(const Histogram& histogram, const double* values, std::uint64_t size, std::uint64_t* counts) {
  const double scale = static_cast<double>(histogram.bins) / (histogram.to - histogram.from);
  for (std::uint64_t i = 0; i < size; ++i) {
    const double x = values[i];
    if (!std::isfinite(x)) continue;
    if (x < histogram.from) {
      ++counts[0];
    } else if (x > histogram.to) {
      ++counts[1 + histogram.bins];
    } else {
      const auto bin = static_cast<std::uint64_t>((x - histogram.from) * scale);
      ++counts[1 + std::min(bin, histogram.bins - 1)];
    }
  }
}

ValueStore::ValueStore(std::uint64_t series, std::uint64_t trajectories, const std::filesystem::path& file,
                       const std::string& run)
    : trajectories_(trajectories) {
  if (file_bytes(series, trajectories) == 0) {
    memory_.resize(series * trajectories);
  } else {
    file_ = std::make_unique<ScratchFile>(file, run, "values for quantiles");
  }
}

void ValueStore::write(std::uint64_t series, std::uint64_t first, const double* values, std::uint64_t count) {
  const std::uint64_t position = series * trajectories_ + first;
  if (file_) {
    file_->write(position, values, count);
  } else {
    std::copy_n(values, count, memory_.begin() + static_cast<std::ptrdiff_t>(position));
  }
}

std::vector<double> ValueStore::quantiles(std::uint64_t series, const std::vector<double>& levels) const {
  std::vector<double> x(trajectories_);
  if (file_) {
    file_->read(series * trajectories_, x.data(), trajectories_);
  } else {
    std::copy_n(memory_.begin() + static_cast<std::ptrdiff_t>(series * trajectories_), trajectories_, x.begin());
  }
  std::erase_if(x, [](double value) { return !std::isfinite(value); });
  std::vector<double> result;
  for (const double level : levels) {
    if (x.empty()) {
      result.push_back(std::numeric_limits<double>::quiet_NaN());
      continue;
    }
    const double position = level * static_cast<double>(x.size() - 1);
    const auto below = static_cast<std::ptrdiff_t>(position);
    std::nth_element(x.begin(), x.begin() + below, x.end());
    const double lower = x[static_cast<std::size_t>(below)];
    const double fraction = position - static_cast<double>(below);
    const double upper = fraction > 0.0 ? *std::min_element(x.begin() + below + 1, x.end()) : lower;
    result.push_back(lower + fraction * (upper - lower));
  }
  return result;
}

}  // namespace rattleback
