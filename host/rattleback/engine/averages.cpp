#include "rattleback/engine/averages.hpp"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "rattleback/engine/returns.hpp"
#include "rattleback/loop/averages.hpp"
#include "rattleback/results/checkpoint.hpp"

namespace rattleback {
namespace {

using Type = ResultSink::Type;

constexpr double not_known = std::numeric_limits<double>::quiet_NaN(), log10_of_e = 0.4342944819032518;

std::string path_of(const Study::Average& average) { return "/averages/" + average.name + "/"; }
std::string state_path(std::size_t average) { return fmt::format("/averages/{}", average); }

}  // namespace

TileAverages::TileAverages(const Plan& plan, const Tile& tile, const std::vector<TrajectoryEnd>& ends)
    : values(static_cast<std::size_t>(plan.averages), std::vector<double>(tile.count, not_known)), digits(values) {
  const ChunkLayout& rows = plan.arguments.layout;
  for (std::size_t j = 0; j < values.size(); ++j)
    for (std::uint64_t k = 0; k < tile.count; ++k) {
      if (tile.at(k, rows.status) != 0.0 || (!ends.empty() && ends[k].stop > 0)) continue;
      const auto mean = [&](int part) {
        const int weights = rows.averages + part, sums = weights + average_sums * (static_cast<int>(j) + 1);
        return tile.at(k, sums) / tile.at(k, weights);
      };
      if (const double value = mean(0); std::isfinite(value)) values[j][k] = value;
      digits[j][k] = -log10_of_e * log(std::abs(mean(1) - mean(2)));
    }
}

void TileAverages::write(ResultSink& sink, const Study& study, std::uint64_t first) const {
  for (std::size_t j = 0; j < values.size(); ++j) {
    const std::string group = path_of(study.averages[j]);
    sink.write(group + "value", {first}, {values[j].size()}, values[j].data());
    sink.write(group + "digits", {first}, {digits[j].size()}, digits[j].data());
  }
}

void AverageStatistics::create_values(ResultSink& sink, std::uint64_t trajectories) const {
  for (const Study::Average& average : averages_)
    for (const char* name : {"value", "digits"}) sink.create(path_of(average) + name, Type::f64, {trajectories});
}

void AverageStatistics::add(const TileAverages& averages) {
  for (std::size_t j = 0; j < values_.size(); ++j)
    for (const double value : averages.values[j])
      if (!std::isnan(value)) values_[j].push_back(value);
}

void AverageStatistics::write(ResultSink& sink, const IsaFunctions& functions) const {
  for (std::size_t j = 0; j < values_.size(); ++j) {
    NumberStatistics statistics(path_of(averages_[j]), averages_[j], functions);
    statistics.add(values_[j]);
    statistics.write(sink);
  }
}

void AverageStatistics::save(StateWriter& out) const {
  for (std::size_t j = 0; j < values_.size(); ++j) out.put(state_path(j), values_[j]);
}

void AverageStatistics::restore(const StateReader& in) {
  for (std::vector<double>& values : values_) values.clear();
  append(in);
}

void AverageStatistics::append(const StateReader& in) {
  for (std::size_t j = 0; j < values_.size(); ++j) {
    const std::vector<double> values = in.numbers(state_path(j));
    values_[j].insert(values_[j].end(), values.begin(), values.end());
  }
}

}  // namespace rattleback
