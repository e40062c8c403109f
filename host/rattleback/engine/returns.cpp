#include "rattleback/engine/returns.hpp"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "rattleback/engine/stops.hpp"

namespace rattleback {

using Type = ResultSink::Type;

MomentsInOrder::MomentsInOrder(const IsaFunctions& functions) : functions_(functions) {
  chunk_.fill(std::numeric_limits<double>::quiet_NaN());
}

void MomentsInOrder::add(double number) {
  chunk_[size_++] = number;
  if (size_ < chunk_size) return;
  tree_.push(reduced());
  size_ = 0;
  chunk_.fill(std::numeric_limits<double>::quiet_NaN());
}

Moments MomentsInOrder::operator()() const {
  ChunkTree<Moments> tree = tree_;
  if (size_ > 0 || tree.pushed() == 0) tree.push(reduced());
  return tree.result();
}

Moments MomentsInOrder::reduced() const {
  static constexpr std::array<double, chunk_size> no_references{};
  return functions_.reduce(chunk_.data(), no_references.data());
}

ReturnStatistics::ReturnStatistics(const Study::Section& section, const IsaFunctions& functions)
    : section_(section),
      returns_(*section.returns),
      moments_(functions),
      counts_(returns_.histogram ? returns_.histogram->bins + 2 : 0) {}

void ReturnStatistics::add(std::span<const double> times) {
  std::vector<double> returned;
  for (const double time : times)
    if (!std::isnan(time)) returned.push_back(time);
  for (const double time : returned) moments_.add(time);
  if (returns_.histogram) count_into(*returns_.histogram, returned.data(), returned.size(), counts_.data());
  if (!returns_.quantiles.empty()) times_.insert(times_.end(), returned.begin(), returned.end());
}

void ReturnStatistics::write(ResultSink& sink) const {
  const std::string group = "/sections/" + section_.name + "/returns/";
  const Moments moments = moments_();
  const auto count = static_cast<std::uint64_t>(moments.count);
  sink.create(group + "count", Type::u64, {1});
  sink.write(group + "count", {0}, {1}, &count);
  const auto number = [&](const std::string& name, double value) {
    sink.create(group + name, Type::f64, {1});
    sink.write(group + name, {0}, {1}, &value);
  };
  for (const std::string& name : returns_.statistics) {
    number(name, statistic_of(moments, name));
    if (has_error(name)) number(name + "_error", error_of(moments, name));
  }
  const std::vector<ValueWithError> quantiles = quantiles_of(times_, returns_.quantiles);
  for (std::size_t l = 0; l < quantiles.size(); ++l) {
    const std::string name = fmt::format("quantile_{}", returns_.quantiles[l]);
    number(name, quantiles[l].value);
    number(name + "_error", quantiles[l].error);
  }
  if (!returns_.histogram) return;
  const std::uint64_t bins = returns_.histogram->bins, outside[] = {counts_.front(), counts_.back()};
  const std::vector<double> edges = Bins(*returns_.histogram).edges();
  sink.create(group + "histogram", Type::u64, {bins});
  sink.write(group + "histogram", {0}, {bins}, counts_.data() + 1);
  sink.create(group + "histogram_outside", Type::u64, {2});
  sink.write(group + "histogram_outside", {0}, {2}, outside);
  sink.create(group + "histogram_edges", Type::f64, {bins + 1});
  sink.write(group + "histogram_edges", {0}, {bins + 1}, edges.data());
}

}  // namespace rattleback
