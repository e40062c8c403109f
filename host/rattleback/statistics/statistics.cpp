#include "rattleback/statistics/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>

#include "rattleback/base/floating_point.hpp"

namespace rattleback {

namespace {

double std_of(const Moments& m) { return std::sqrt(m.squares / m.count); }
double mse_error(const Moments& m) { return std::sqrt(m.error_spread / (m.count * (m.count - 1.0))); }
double mean_error(const Moments& m) { return std::sqrt(m.squares / (m.count * (m.count - 1.0))); }
double std_error(const Moments& m) {
  if (m.squares == 0.0) return 0.0;
  const double s = std_of(m), variance = m.squares / m.count;
  return std::sqrt(std::max(m.fourths / m.count - variance * variance, 0.0) / m.count) / (2.0 * s);
}
double rms_error(const Moments& m) {
  return m.error_mean == 0.0 ? 0.0 : mse_error(m) / (2.0 * std::sqrt(m.error_mean));
}

constexpr StatisticEntry statistics_table[] = {
    {"mean", "sum x / c", [](const Moments& m) { return m.mean; }, mean_error},
    {"std", "sqrt(sum (x - mean)^2 / c): the standard deviation of the population", std_of, std_error},
    {"mse", "sum (x - r)^2 / c", [](const Moments& m) { return m.error_mean; }, mse_error},
    {"rms", "sqrt(mse)", [](const Moments& m) { return std::sqrt(m.error_mean); }, rms_error},
    {"min", "the smallest x", [](const Moments& m) { return m.minimum; }, nullptr},
    {"max", "the largest x", [](const Moments& m) { return m.maximum; }, nullptr},
    {"maxabs", "max abs(x - r)", [](const Moments& m) { return m.error_maximum; }, nullptr},
};

}  // namespace

std::span<const StatisticEntry> statistics() { return statistics_table; }

const StatisticEntry* find_statistic(std::string_view name) {
  const auto found =
      std::ranges::find(statistics_table, name, [](const StatisticEntry& s) { return std::string_view(s.name); });
  return found == std::end(statistics_table) ? nullptr : found;
}

std::vector<std::string> statistic_names() {
  std::vector<std::string> names;
  for (const StatisticEntry& statistic : statistics_table) names.emplace_back(statistic.name);
  return names;
}

namespace {

const StatisticEntry& entry_of(const std::string& name) {
  const StatisticEntry* statistic = find_statistic(name);
  if (!statistic) throw std::logic_error("no statistic '" + name + "'");  // validation accepted the name
  return *statistic;
}

}  // namespace

double statistic_of(const Moments& moments, const std::string& name) {
  return moments.count == 0.0 ? nan : entry_of(name).of(moments);
}

bool has_error(const std::string& statistic) { return entry_of(statistic).error != nullptr; }

double error_of(const Moments& moments, const std::string& statistic) {
  const StatisticEntry& entry = entry_of(statistic);
  return entry.error == nullptr || moments.count < 2.0 ? nan : entry.error(moments);
}

double effective_number(const Moments& moments) {
  if (moments.count < 2.0) return nan;
  const double error = mse_error(moments);
  return error > 0.0 ? 2.0 * (moments.error_mean / error) * (moments.error_mean / error) : nan;
}

double largest_share(const Moments& moments) {
  if (moments.count == 0.0 || moments.error_mean == 0.0) return nan;
  return moments.error_maximum / moments.error_mean * (moments.error_maximum / moments.count);
}

double scatter_error(const std::vector<double>& x) {
  const double count = static_cast<double>(x.size());
  double mean = 0.0, squares = 0.0;
  for (const double value : x) mean += value / count;
  for (const double value : x) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / (count * (count - 1.0)));
}

double covariance_of(const CoMoments& m) { return m.count == 0.0 ? nan : m.sum(1, 1) / m.count; }

double covariance_error(const CoMoments& m) {
  if (m.count < 2.0) return nan;
  const double covariance = m.sum(1, 1) / m.count;
  return std::sqrt(std::max(m.sum(2, 2) / m.count - covariance * covariance, 0.0) / m.count);
}

double correlation_of(const CoMoments& m) {
  const double scale = std::sqrt(m.sum(2, 0)) * std::sqrt(m.sum(0, 2));
  return scale > 0.0 ? m.sum(1, 1) / scale : nan;
}

double correlation_error(const CoMoments& m) {
  const double r = correlation_of(m);
  if (m.count < 2.0 || std::isnan(r)) return nan;
  // The mean of (u w - r (u^2 + w^2) / 2)^2 for the standardised deviations u of x and w of y.
  const double sx = std::sqrt(m.sum(2, 0) / m.count), sy = std::sqrt(m.sum(0, 2) / m.count);
  const auto mean = [&](int i, int j) { return m.sum(i, j) / m.count / (std::pow(sx, i) * std::pow(sy, j)); };
  const double square =
      mean(2, 2) - r * (mean(3, 1) + mean(1, 3)) + 0.25 * r * r * (mean(4, 0) + 2.0 * mean(2, 2) + mean(0, 4));
  return std::sqrt(std::max(square, 0.0) / m.count);
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

std::vector<double> ValueStore::read(std::uint64_t series) const {
  std::vector<double> x(trajectories_);
  if (file_) {
    file_->read(series * trajectories_, x.data(), trajectories_);
  } else {
    std::copy_n(memory_.begin() + static_cast<std::ptrdiff_t>(series * trajectories_), trajectories_, x.begin());
  }
  return x;
}

std::vector<ValueWithError> quantiles_of(std::vector<double> x, const std::vector<double>& levels) {
  std::erase_if(x, [](double value) { return !std::isfinite(value); });
  const double last = static_cast<double>(x.size()) - 1.0;
  // The order statistic at a position from 0 to `last`, between two of them by linear interpolation.
  const auto at = [&](double position) {
    const auto below = static_cast<std::ptrdiff_t>(position);
    std::nth_element(x.begin(), x.begin() + below, x.end());
    const double lower = x[static_cast<std::size_t>(below)];
    const double fraction = position - static_cast<double>(below);
    const double upper = fraction > 0.0 ? *std::min_element(x.begin() + below + 1, x.end()) : lower;
    return lower + fraction * (upper - lower);
  };
  std::vector<ValueWithError> result;
  for (const double level : levels) {
    ValueWithError& estimate = result.emplace_back();
    if (x.empty()) continue;
    const double position = level * last;
    estimate.value = at(position);
    // The count of values below the quantile is binomial: its interval of 95 %, in positions.
    constexpr double deviations = 1.96;
    const double width = deviations * std::sqrt(static_cast<double>(x.size()) * level * (1.0 - level));
    if (width > 0.0 && position - width >= 0.0 && position + width <= last)
      estimate.error = (at(position + width) - at(position - width)) / (2.0 * deviations);
  }
  return result;
}

}  // namespace rattleback
