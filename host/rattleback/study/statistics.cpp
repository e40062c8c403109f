#include "rattleback/study/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>

#include "rattleback/base/floating_point.hpp"

namespace rattleback {

namespace {

/// x (2^exponent)^power
double in_units(double x, double exponent, int power = 1) { return std::ldexp(x, power * static_cast<int>(exponent)); }

double std_of(const Moments& m) { return in_units(std::sqrt(m.squares / m.count), m.exponent); }
double mean_error(const Moments& m) { return in_units(std::sqrt(m.squares / (m.count * (m.count - 1.0))), m.exponent); }
double std_error(const Moments& m) {
  if (m.squares == 0.0) return 0.0;
  const double variance = m.squares / m.count;
  const double spread = std::sqrt(std::max(m.fourths / m.count - variance * variance, 0.0) / m.count);
  return in_units(spread / (2.0 * std::sqrt(variance)), m.exponent);
}
double mse_of(const Moments& m) { return in_units(m.error_mean, m.error_exponent, 2); }
double rms_of(const Moments& m) { return in_units(std::sqrt(m.error_mean), m.error_exponent); }
/// The error of the mse, in units of the moments.
double plain_mse_error(const Moments& m) { return std::sqrt(m.error_spread / (m.count * (m.count - 1.0))); }
double mse_error(const Moments& m) { return in_units(plain_mse_error(m), m.error_exponent, 2); }
double rms_error(const Moments& m) {
  return m.error_mean == 0.0 ? 0.0 : in_units(plain_mse_error(m) / (2.0 * std::sqrt(m.error_mean)), m.error_exponent);
}

constexpr StatisticEntry statistics_table[] = {
    {"mean", "sum x / c", [](const Moments& m) { return m.mean; }, mean_error},
    {"std", "sqrt(sum (x - mean)^2 / c): the standard deviation of the population", std_of, std_error},
    {"mse", "sum (x - r)^2 / c", mse_of, mse_error},
    {"rms", "sqrt(mse)", rms_of, rms_error},
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
  const double error = plain_mse_error(moments);
  return error > 0.0 ? 2.0 * (moments.error_mean / error) * (moments.error_mean / error) : nan;
}

double largest_share(const Moments& moments) {
  if (moments.count == 0.0 || moments.error_mean == 0.0) return nan;
  const double largest = in_units(moments.error_maximum, -moments.error_exponent);
  return largest / moments.error_mean * (largest / moments.count);
}

double student_factor(std::uint64_t freedom) {
  static constexpr double first[] = {nan,
                                     6.9838650996223,
                                     2.2632683437151,
                                     1.6534110875028,
                                     1.4346547073144,
                                     1.3243247153514,
                                     1.2582620278266,
                                     1.2144025652018,
                                     1.1832078920210,
                                     1.1599029491296};
  if (freedom < std::size(first)) return first[freedom];
  // The expansion in 1/freedom at 2 (Abramowitz & Stegun 26.7.5); the error is below 5e-6.
  const double x = 1.0 / static_cast<double>(freedom);
  return 1.0 + x * (1.25 + x * (1.53125 + x * (1.4296875 + x * 0.92203776041666667)));
}

double scatter_error(const std::vector<double>& x) {
  const double count = static_cast<double>(x.size());
  double mean = 0.0, largest = 0.0, squares = 0.0;
  for (const double value : x) mean += value / count;
  for (const double value : x) largest = max_abs(largest, value - mean);
  const double exponent = exponent_of_unit(largest);
  for (const double value : x) squares += square(in_units(value - mean, -exponent));
  return student_factor(x.size() - 1) * in_units(std::sqrt(squares / (count * (count - 1.0))), exponent);
}

double covariance_of(const CoMoments& m) {
  return m.count == 0.0 ? nan : in_units(m.sum(1, 1) / m.count, m.exponent_x + m.exponent_y);
}

double covariance_error(const CoMoments& m) {
  if (m.count < 2.0) return nan;
  const double covariance = m.sum(1, 1) / m.count;
  return in_units(std::sqrt(std::max(m.sum(2, 2) / m.count - covariance * covariance, 0.0) / m.count),
                  m.exponent_x + m.exponent_y);
}

double correlation_of(const CoMoments& m) {
  const double scale = std::sqrt(m.sum(2, 0)) * std::sqrt(m.sum(0, 2));
  return scale > 0.0 ? m.sum(1, 1) / scale : nan;
}

double correlation_error(const CoMoments& m) {
  const double r = correlation_of(m);
  if (m.count < 2.0 || std::isnan(r)) return nan;
  // The mean of (u w - r (u^2 + w^2) / 2)^2 for the standardised deviations u of x and w of y.
  const detail::Powers sx(std::sqrt(m.sum(2, 0) / m.count)), sy(std::sqrt(m.sum(0, 2) / m.count));
  const auto mean = [&](int i, int j) { return m.sum(i, j) / m.count / (sx.x[i] * sy.x[j]); };
  const double square =
      mean(2, 2) - r * (mean(3, 1) + mean(1, 3)) + 0.25 * r * r * (mean(4, 0) + 2.0 * mean(2, 2) + mean(0, 4));
  return std::sqrt(std::max(square, 0.0) / m.count);
}

Bins::Bins(const Histogram& histogram) : scale_(static_cast<double>(histogram.bins) / (histogram.to - histogram.from)) {
  const double from = histogram.from, to = histogram.to, bins = static_cast<double>(histogram.bins);
  const bool finite = std::isfinite(to - from);
  for (double i = 0.0; i < bins; i += 1.0)
    edges_.push_back(finite ? from + (to - from) * i / bins : from * ((bins - i) / bins) + to * (i / bins));
  edges_.push_back(to);
}

void Bins::count_into(const double* values, std::uint64_t size, std::uint64_t* counts) const {
  const std::uint64_t bins = edges_.size() - 1;
  for (std::uint64_t i = 0; i < size; ++i) {
    const double x = values[i];
    if (!std::isfinite(x)) continue;
    if (x < edges_.front()) {
      ++counts[0];
    } else if (x > edges_.back()) {
      ++counts[1 + bins];
    } else {
      // Rounding may miss the bin; the edges decide.
      const double place = (x - edges_.front()) * scale_;
      std::uint64_t bin = place < static_cast<double>(bins) ? static_cast<std::uint64_t>(place) : bins - 1;
      while (bin > 0 && x < edges_[bin]) --bin;
      while (bin + 1 < bins && x >= edges_[bin + 1]) ++bin;
      ++counts[1 + bin];
    }
  }
}

void count_into(const Histogram& histogram, const double* values, std::uint64_t size, std::uint64_t* counts) {
  Bins(histogram).count_into(values, size, counts);
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

std::vector<ValueWithError> quantiles_of_blocks(std::vector<std::vector<double>> blocks,
                                                const std::vector<double>& levels) {
  std::vector<double> all;
  for (std::vector<double>& block : blocks) {
    std::erase_if(block, [](double value) { return !std::isfinite(value); });
    std::ranges::sort(block);
    all.insert(all.end(), block.begin(), block.end());
  }
  std::ranges::sort(all);
  const double last = static_cast<double>(all.size()) - 1.0;
  const auto at = [&](double position) {
    const auto below = static_cast<std::size_t>(position);
    const double fraction = position - static_cast<double>(below);
    return fraction > 0.0 ? all[below] + fraction * (all[below + 1] - all[below]) : all[below];
  };
  // The share of the values of a block up to x; steps of 1/n have an error of their own, 1/(n sqrt(12)).
  const auto level_of = [](const std::vector<double>& block, double x) {
    if (block.empty()) return nan;
    return static_cast<double>(std::ranges::upper_bound(block, x) - block.begin()) / static_cast<double>(block.size());
  };
  const double steps = static_cast<double>(blocks.size()) / (static_cast<double>(all.size()) * std::sqrt(12.0));
  const double least = student_factor(blocks.size() - 1) * steps / std::sqrt(static_cast<double>(blocks.size()));
  std::vector<ValueWithError> result;
  for (const double level : levels) {
    ValueWithError& estimate = result.emplace_back();
    if (all.empty()) continue;
    const double position = level * last;
    estimate.value = at(position);
    std::vector<double> of_block;
    for (const std::vector<double>& block : blocks) of_block.push_back(level_of(block, estimate.value));
    const double width = 2.0 * max(scatter_error(of_block), least) * last;
    if (position - width >= 0.0 && position + width <= last)
      estimate.error = 0.25 * (at(position + width) - at(position - width));
  }
  return result;
}

}  // namespace rattleback
