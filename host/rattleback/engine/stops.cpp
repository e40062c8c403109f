#include "rattleback/engine/stops.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

#include "rattleback/engine/returns.hpp"
#include "rattleback/results/checkpoint.hpp"

namespace rattleback {
namespace {

using Type = ResultSink::Type;

constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

/// The mean of numbers in the order of the trajectories, with its error.
ValueWithError mean_of(const std::vector<double>& numbers, const IsaFunctions& functions) {
  MomentsInOrder in_order(functions);
  for (const double number : numbers) in_order.add(number);
  const Moments moments = in_order();
  return {statistic_of(moments, "mean"), error_of(moments, "mean")};
}

std::string quantile_path(const std::string& group, double level) {
  return fmt::format("{}time_quantile_{}", group, level);
}

}  // namespace

ValueWithError share_of(std::uint64_t count, std::uint64_t all) {
  if (all == 0) return {};
  const double c = static_cast<double>(all), share = static_cast<double>(count) / c;
  return {share, count == 0 || count == all ? not_known : std::sqrt(share * (1.0 - share) / (c - 1.0))};
}

void write_with_errors(ResultSink& sink, const std::string& path, const std::vector<ValueWithError>& estimates) {
  std::vector<double> values, errors;
  for (const ValueWithError& estimate : estimates) {
    values.push_back(estimate.value);
    errors.push_back(estimate.error);
  }
  sink.write(path, {0}, {values.size()}, values.data());
  sink.write(path + "_error", {0}, {errors.size()}, errors.data());
}

StoppedTrajectories::StoppedTrajectories(const Study& study, const Tile& tile, const CrossingStore* store)
    : sections_(study.sections.size()) {
  if (study.stops.empty()) return;
  rows_.resize(tile.count);
  for (std::size_t s = 0; s < study.stops.size(); ++s) {
    const std::vector<double>& rows = crossings_.emplace_back(store->sorted(store->tiles(), sections_ + s));
    for (std::size_t i = 0; i < rows.size(); i += store->row_size())
      rows_[static_cast<std::uint64_t>(rows[i + CrossingRow::trajectory]) - tile.first] = rows.data() + i;
  }
}

std::uint32_t StoppedTrajectories::stop(std::uint64_t k) const {
  const double* end = row(k);
  return end == nullptr
             ? 0
             : static_cast<std::uint32_t>(end[CrossingRow::section]) + 1 - static_cast<std::uint32_t>(sections_);
}

StopStatistics::StopStatistics(const Study& study, std::uint64_t samples)
    : stops_(study.stops),
      samples_(samples),
      counts_(stops_.size() * samples),
      failed_(samples),
      beyond_(stops_.size()),
      times_(stops_.size()) {}

void StopStatistics::add(const TrajectoryEnd& end) {
  if (end.stop > 0) {
    ++counts_[(end.stop - 1) * samples_ + end.sample];
    times_[end.stop - 1].push_back(end.time);
  } else if (end.failed) {
    ++failed_[end.sample];
  }
  for (std::size_t s = 0; s < stops_.size(); ++s) beyond_[s] += end.beyond >> s & 1u;
}

void StopStatistics::create(ResultSink& sink) const {
  if (stops_.empty()) return;
  const auto with_error = [&](const std::string& path, std::uint64_t size) {
    sink.create(path, Type::f64, {size});
    sink.create(path + "_error", Type::f64, {size});
  };
  with_error("/stops/survival", samples_);
  for (const Study::Stop& stop : stops_) {
    const std::string group = "/stops/" + stop.name + "/";
    sink.create(group + "count", Type::u64, {samples_});
    with_error(group + "fraction", samples_);
    with_error(group + "time_mean", 1);
    for (const double level : stop.quantiles) with_error(quantile_path(group, level), 1);
  }
}

void StopStatistics::write(ResultSink& sink, std::uint64_t trajectories, const IsaFunctions& functions,
                           const std::function<void(const std::string&)>& warn) const {
  if (stops_.empty()) return;
  std::vector<std::uint64_t> good(samples_, trajectories), alive = good;
  for (std::uint64_t k = 0, failed = 0; k < samples_; ++k) {
    failed += failed_[k];
    good[k] -= failed;
    alive[k] -= failed;
  }
  for (std::size_t s = 0; s < stops_.size(); ++s) {
    const Study::Stop& stop = stops_[s];
    const std::string group = "/stops/" + stop.name + "/";
    std::vector<std::uint64_t> counts(samples_);
    std::vector<ValueWithError> fractions;
    for (std::uint64_t k = 0, ended = 0; k < samples_; ++k) {
      counts[k] = ended += counts_[s * samples_ + k];
      alive[k] -= ended;
      fractions.push_back(share_of(ended, good[k]));
    }
    sink.write(group + "count", {0}, {samples_}, counts.data());
    write_with_errors(sink, group + "fraction", fractions);
    write_with_errors(sink, group + "time_mean", {mean_of(times_[s], functions)});
    const std::vector<ValueWithError> quantiles = quantiles_of(times_[s], stop.quantiles);
    for (std::size_t l = 0; l < quantiles.size(); ++l)
      write_with_errors(sink, quantile_path(group, stop.quantiles[l]), {quantiles[l]});
    sink.attribute("/final/stop", fmt::format("stop {}", s + 1), stop.name);
    sink.attribute(group + "count", "beyond", beyond_[s]);
    if (beyond_[s] > 0 && warn)
      warn(fmt::format(
          "{} of {} trajectories start beyond the surface of stop '{}', which ends them only when they come "
          "back and cross it",
          beyond_[s], trajectories, stop.name));
  }
  std::vector<ValueWithError> survival;
  for (std::uint64_t k = 0; k < samples_; ++k) survival.push_back(share_of(alive[k], good[k]));
  write_with_errors(sink, "/stops/survival", survival);
}

void StopStatistics::save(StateWriter& out) const {
  if (stops_.empty()) return;
  out.put("/stops/counts", counts_);
  out.put("/stops/failed", failed_);
  out.put("/stops/beyond", beyond_);
  for (std::size_t s = 0; s < stops_.size(); ++s) out.put(fmt::format("/stops/times_{}", s), times_[s]);
}

void StopStatistics::restore(const StateReader& in) {
  counts_.assign(counts_.size(), 0);
  failed_.assign(failed_.size(), 0);
  beyond_.assign(beyond_.size(), 0);
  for (std::vector<double>& times : times_) times.clear();
  append(in);
}

void StopStatistics::append(const StateReader& in) {
  if (stops_.empty()) return;
  const auto add = [&](const char* path, std::vector<std::uint64_t>& to) {
    const std::vector<std::uint64_t> from = in.counts(path);
    if (from.size() != to.size()) throw std::out_of_range("other stops");
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
  };
  add("/stops/counts", counts_);
  add("/stops/failed", failed_);
  add("/stops/beyond", beyond_);
  for (std::size_t s = 0; s < stops_.size(); ++s) {
    const std::vector<double> times = in.numbers(fmt::format("/stops/times_{}", s));
    times_[s].insert(times_[s].end(), times.begin(), times.end());
  }
}

}  // namespace rattleback
