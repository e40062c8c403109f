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

void NumberStatistics::add(std::span<const double> numbers) {
  std::vector<double> known;
  for (const double number : numbers)
    if (!std::isnan(number)) known.push_back(number);
  for (const double number : known) moments_.add(number);
  if (histogram_) count_into(*histogram_, known.data(), known.size(), counts_.data());
  if (!levels_.empty()) numbers_.insert(numbers_.end(), known.begin(), known.end());
}

void NumberStatistics::write(ResultSink& sink) const {
  const Moments moments = moments_();
  const auto count = static_cast<std::uint64_t>(moments.count);
  sink.create(group_ + "count", Type::u64, {1});
  sink.write(group_ + "count", {0}, {1}, &count);
  const auto number = [&](const std::string& name, double value) {
    sink.create(group_ + name, Type::f64, {1});
    sink.write(group_ + name, {0}, {1}, &value);
  };
  for (const std::string& name : statistics_) {
    number(name, statistic_of(moments, name));
    if (has_error(name)) number(name + "_error", error_of(moments, name));
  }
  const std::vector<ValueWithError> quantiles = quantiles_of(numbers_, levels_);
  for (std::size_t l = 0; l < quantiles.size(); ++l) {
    const std::string name = fmt::format("quantile_{}", levels_[l]);
    number(name, quantiles[l].value);
    number(name + "_error", quantiles[l].error);
  }
  if (!histogram_) return;
  const std::uint64_t bins = histogram_->bins, outside[] = {counts_.front(), counts_.back()};
  const std::vector<double> edges = Bins(*histogram_).edges();
  sink.create(group_ + "histogram", Type::u64, {bins});
  sink.write(group_ + "histogram", {0}, {bins}, counts_.data() + 1);
  sink.create(group_ + "histogram_outside", Type::u64, {2});
  sink.write(group_ + "histogram_outside", {0}, {2}, outside);
  sink.create(group_ + "histogram_edges", Type::f64, {bins + 1});
  sink.write(group_ + "histogram_edges", {0}, {bins + 1}, edges.data());
}

}  // namespace rattleback
