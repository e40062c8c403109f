// EnsembleStatistics: the datasets of the result.

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "rattleback/base/parallel.hpp"
#include "rattleback/engine/ensemble_statistics.hpp"
#include "rattleback/results/scales.hpp"
#include "rattleback/study/observables.hpp"

namespace rattleback {
namespace {

using Type = ResultSink::Type;

/// A warning needs so many values: of a few, one always carries much.
constexpr double warning_count = 32.0;
/// The share of an mse that one trajectory may carry.
constexpr double warning_share = 0.1;

std::uint64_t product(const Shape& shape) {
  std::uint64_t size = 1;
  for (const std::uint64_t extent : shape) size *= extent;
  return size;
}

template <class Values>
void write_all(ResultSink& sink, const std::string& path, const Shape& shape, const Values& values) {
  sink.write(path, Shape(shape.size(), 0), shape, values.data());
}

/// Writes values, and their errors beside them.
void write_estimates(ResultSink& sink, const std::string& path, const Shape& shape,
                     const std::vector<ValueWithError>& estimates, bool errors = true) {
  std::vector<double> numbers;
  for (const ValueWithError& estimate : estimates) numbers.push_back(estimate.value);
  write_all(sink, path, shape, numbers);
  if (!errors) return;
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = estimates[i].error;
  write_all(sink, path + "_error", shape, numbers);
}

bool has_effective_number(const Observable& observable) {
  return std::ranges::any_of(observable.statistics, [](const std::string& s) { return s == "mse" || s == "rms"; });
}

std::string quantile_name(double level) { return fmt::format("quantile_{}", level); }

}  // namespace

template <class Node>
std::vector<Node> EnsembleStatistics::blocks_of(const Trees<Node>& trees, std::uint64_t set_series, Cell cell) const {
  std::vector<Node> blocks(groups_.blocks());
  const std::uint64_t first = cell == whole ? 0 : static_cast<std::uint64_t>(cell),
                      end = cell == whole ? groups_.cells() : first + 1;
  for (std::uint64_t c = first; c < end; ++c)
    for (std::uint64_t b = 0; b < groups_.blocks(); ++b) {
      const ChunkTree<Node>& tree = trees.sets[(set_series * groups_.cells() + c) * groups_.blocks() + b];
      if (tree.pushed() > 0) blocks[b] = combine(blocks[b], tree.result());
    }
  return blocks;
}

template <class Node>
Node EnsembleStatistics::node_of(const Trees<Node>& trees, std::uint64_t series, std::uint64_t set_series,
                                 Cell cell) const {
  if (cell == whole) return trees.all[series].result();
  Node node;
  for (const Node& block : blocks_of(trees, set_series, cell)) node = combine(node, block);
  return node;
}

template <class Node, class Of, class Error>
ValueWithError EnsembleStatistics::estimate(const Node& node, const std::vector<Node>& blocks, Of of,
                                            Error error) const {
  if (!groups_.randomised()) return {of(node), error(node)};
  std::vector<double> values;
  for (const Node& block : blocks) values.push_back(of(block));
  return {of(node), scatter_error(values)};
}

template <class Node, class Of, class Error>
ValueWithError EnsembleStatistics::estimate(const Trees<Node>& trees, std::uint64_t series, std::uint64_t set_series,
                                            Cell cell, Of of, Error error) const {
  std::vector<Node> blocks;
  if (groups_.randomised()) blocks = blocks_of(trees, set_series, cell);
  return estimate(node_of(trees, series, set_series, cell), blocks, of, error);
}

std::vector<EnsembleStatistics::Parts> EnsembleStatistics::parts() const {
  std::vector<Parts> parts{{"", {}, {whole}}};
  if (groups_.shape().empty()) return parts;
  Parts& groups = parts.emplace_back("/groups", groups_.shape(), std::vector<Cell>{});
  for (std::uint64_t c = 0; c < groups_.cells(); ++c) groups.cells.push_back(static_cast<Cell>(c));
  return parts;
}

void EnsembleStatistics::create_values(ResultSink& sink) const {
  averages_.create_values(sink, range_.count());
  for (const Observable& observable : study_.observables)
    if (observable.values)
      sink.create("/observables/" + observable.name + "/values", Type::f64, {samples(), range_.count()});
  for (const Plan::Derivative& derivative : plan_.derivatives)
    if (const Observable& observable = study_.observables[derivative.observable]; observable.values)
      sink.create("/observables/" + observable.name + "/values_by_" + problem_.derivatives[derivative.by].name,
                  Type::f64, {samples(), range_.count()});
}

void EnsembleStatistics::create(ResultSink& sink) const {
  stops_.create(sink);
  fates_.create(sink);
  for (const Parts& part : parts()) create_part(sink, part);
  for (std::size_t i = 0; i < groups_.shape().size(); ++i) {
    const std::string path = "/groups/axes/" + study_.ensemble.group_by[i];
    sink.create(path, Type::f64, {groups_.shape()[i]});
    sink.attribute(path, group_dimension, std::uint64_t{i});
  }
  for (const Observable& observable : study_.observables) {
    const std::string group = "/observables/" + observable.name + "/";
    if (!observable.histogram) continue;
    sink.create(group + "histogram", Type::u64, {samples(), observable.histogram->bins});
    sink.create(group + "histogram_outside", Type::u64, {samples(), 2});
    sink.create(group + "histogram_edges", Type::f64, {observable.histogram->bins + 1});
  }
  const std::uint64_t size = plan_.components.size();
  if (size == 0) return;
  for (const char* name : {"/state/mean", "/state/mean_error"}) sink.create(name, Type::f64, {samples(), size});
  for (const char* name : {"/state/covariance", "/state/covariance_error"})
    sink.create(name, Type::f64, {samples(), size, size});
}

void EnsembleStatistics::create_part(ResultSink& sink, const Parts& parts) const {
  Shape shape = parts.shape;
  shape.push_back(samples());
  const auto create = [&](const std::string& path, bool error = true) {
    sink.create(path, Type::f64, shape);
    if (error) sink.create(path + "_error", Type::f64, shape);
  };
  for (const Observable& observable : study_.observables) {
    const std::string group = parts.root + "/observables/" + observable.name + "/";
    for (const char* name : {"count", "missing"}) sink.create(group + name, Type::u64, shape);
    for (const std::string& statistic : observable.statistics) create(group + statistic, has_error(statistic));
    if (has_effective_number(observable)) create(group + "effective_number", false);
    for (const double level : observable.quantiles) create(group + quantile_name(level));
    for (const std::string& other : observable.correlation) create(fmt::format("{}correlation_{}", group, other));
  }
  for (const Plan::Derivative& derivative : plan_.derivatives) {
    const Observable& observable = study_.observables[derivative.observable];
    const std::string group = parts.root + "/observables/" + observable.name + "/";
    for (const std::string& statistic : observable.statistics)
      if (derivative.of_statistics && has_derivative(statistic))
        create(group + statistic + "_by_" + problem_.derivatives[derivative.by].name, statistic != "std");
    if (derivative.of_statistics && parts.shape.empty())
      create(group + "concentration_by_" + problem_.derivatives[derivative.by].name, false);
  }
  const Shape of_fit = parts.shape.empty() ? Shape{1} : parts.shape;
  for (const Fit& fit : study_.fits) {
    const std::string group = parts.root + "/fits/" + fit.name + "/";
    const auto [first, second] = names_of(fit.model);
    for (const std::string name : {first, second})
      for (const char* suffix : {"", "_error"}) sink.create(group + name + suffix, Type::f64, of_fit);
    sink.create(group + "covariance", Type::f64, of_fit);
    sink.create(group + "count", Type::u64, of_fit);
  }
}

void EnsembleStatistics::write(ResultSink& sink, const std::function<void(const std::string&)>& warn) const {
  for (const Parts& part : parts()) {
    for (std::size_t o = 0; o < study_.observables.size(); ++o) {
      write_observable(sink, part, o);
      write_correlations(sink, part, o);
      write_derivatives(sink, part, o);
      if (!study_.observables[o].quantiles.empty()) write_quantiles(sink, part, o);
    }
    for (std::size_t f = 0; f < study_.fits.size(); ++f) write_fit(sink, part, f, warn);
  }
  for (std::size_t i = 0; i < groups_.shape().size(); ++i)
    write_all(sink, "/groups/axes/" + study_.ensemble.group_by[i], {groups_.shape()[i]},
              ensemble_.axis_values(groups_.axis(i)));
  for (std::size_t o = 0; o < study_.observables.size(); ++o) {
    if (study_.observables[o].histogram) write_histogram(sink, o);
    if (warn && has_effective_number(study_.observables[o])) warn_of_few(o, warn);
  }
  write_covariance(sink);
  write_concentration(sink, warn);
  stops_.write(sink, range_.count(), functions_, warn);
  fates_.write(sink);
  averages_.write(sink, functions_);
  if (!warn) return;
  for (const auto& [observable, count] : missing())
    warn(fmt::format("observable '{}' was not finite in {} {}; {} missing", observable, count,
                     count == 1 ? "value" : "values", count == 1 ? "it counts as" : "they count as"));
  warn_of_missing_derivatives(warn);
}

void EnsembleStatistics::write_observable(ResultSink& sink, const Parts& parts, std::size_t o) const {
  const Observable& observable = study_.observables[o];
  const std::string group = parts.root + "/observables/" + observable.name + "/";
  Shape shape = parts.shape;
  shape.push_back(samples());
  std::vector<Moments> nodes(product(shape));
  std::vector<std::vector<Moments>> blocks(nodes.size());
  parallel_for(nodes.size(), threads_, [&](std::uint64_t i) {
    const std::uint64_t series = i % samples() * observables() + o;
    const Cell cell = parts.cells[i / samples()];
    nodes[i] = node_of(moments_, series, series, cell);
    if (groups_.randomised()) blocks[i] = blocks_of(moments_, series, cell);
  });
  std::vector<std::uint64_t> count, missing;
  for (const Moments& node : nodes) {
    count.push_back(static_cast<std::uint64_t>(node.count));
    missing.push_back(static_cast<std::uint64_t>(node.missing));
  }
  write_all(sink, group + "count", shape, count);
  write_all(sink, group + "missing", shape, missing);
  for (const std::string& name : observable.statistics) {
    std::vector<ValueWithError> estimates;
    for (std::size_t i = 0; i < nodes.size(); ++i)
      estimates.push_back(estimate(
          nodes[i], blocks[i], [&](const Moments& m) { return statistic_of(m, name); },
          [&](const Moments& m) { return error_of(m, name); }));
    write_estimates(sink, group + name, shape, estimates, has_error(name));
  }
  if (!has_effective_number(observable)) return;
  std::vector<double> effective;
  for (const Moments& node : nodes) effective.push_back(effective_number(node));
  write_all(sink, group + "effective_number", shape, effective);
}

void EnsembleStatistics::write_correlations(ResultSink& sink, const Parts& parts, std::size_t o) const {
  std::uint64_t pair = 0;
  for (std::size_t before = 0; before < o; ++before) pair += study_.observables[before].correlation.size();
  Shape shape = parts.shape;
  shape.push_back(samples());
  for (const std::string& other : study_.observables[o].correlation) {
    std::vector<ValueWithError> estimates(product(shape));
    parallel_for(estimates.size(), threads_, [&](std::uint64_t i) {
      const std::uint64_t s = i % samples();
      estimates[i] = estimate(co_moments_, s * plan_.pairs.size() + pair, s * set_pairs() + pair,
                              parts.cells[i / samples()], correlation_of, correlation_error);
    });
    write_estimates(sink, parts.root + "/observables/" + study_.observables[o].name + "/correlation_" + other, shape,
                    estimates);
    ++pair;
  }
}

void EnsembleStatistics::write_derivatives(ResultSink& sink, const Parts& parts, std::size_t o) const {
  const Observable& observable = study_.observables[o];
  Shape shape = parts.shape;
  shape.push_back(samples());
  for (const Plan::Derivative& derivative : plan_.derivatives) {
    if (derivative.observable != o || !derivative.of_statistics) continue;
    const auto pair = static_cast<std::uint64_t>(derivative.pair);
    const std::string by = "_by_" + problem_.derivatives[derivative.by].name;
    for (const std::string& statistic : observable.statistics) {
      if (!has_derivative(statistic)) continue;
      std::vector<ValueWithError> estimates(product(shape));
      parallel_for(estimates.size(), threads_, [&](std::uint64_t i) {
        const std::uint64_t s = i % samples(), x = s * observables() + o;
        const Cell cell = parts.cells[i / samples()];
        if (statistic == "std") {
          const CoMoments joint = node_of(co_moments_, s * plan_.pairs.size() + pair, s * set_pairs() + pair, cell);
          estimates[i].value = covariance_of(joint) / statistic_of(node_of(moments_, x, x, cell), "std");
          return;
        }
        const int code = statistic == "mean" ? derivative.code : derivative.error_code;
        const std::uint64_t of = s * observables() + static_cast<std::uint64_t>(code);
        estimates[i] = estimate(
            moments_, of, of, cell, [](const Moments& m) { return statistic_of(m, "mean"); },
            [](const Moments& m) { return error_of(m, "mean"); });
        if (statistic != "rms") return;
        const double twice = 2.0 * statistic_of(node_of(moments_, x, x, cell), "rms");
        estimates[i] = {estimates[i].value / twice, estimates[i].error / twice};
      });
      write_estimates(sink, fmt::format("{}/observables/{}/{}{}", parts.root, observable.name, statistic, by), shape,
                      estimates, statistic != "std");
    }
  }
}

void EnsembleStatistics::write_quantiles(ResultSink& sink, const Parts& parts, std::size_t o) const {
  const std::vector<double>& levels = study_.observables[o].quantiles;
  Shape shape = parts.shape;
  shape.push_back(samples());
  std::vector<std::vector<ValueWithError>> estimates(levels.size(), std::vector<ValueWithError>(product(shape)));
  parallel_for(samples(), threads_, [&](std::uint64_t s) {
    const std::vector<double> values = values_->read(s * quantile_observables_ + series_[o]);
    // The values of each block of each part; blocks are estimates of their own only in randomised ensembles.
    const std::uint64_t blocks = groups_.randomised() ? groups_.blocks() : 1;
    std::vector<std::vector<std::vector<double>>> of_cell(parts.cells.size(), std::vector<std::vector<double>>(blocks));
    for (std::uint64_t k = 0; k < values.size(); ++k)
      of_cell[parts.cells[0] == whole ? 0 : groups_.cell_of(k)][blocks > 1 ? groups_.block_of(k) : 0].push_back(
          values[k]);
    for (std::size_t c = 0; c < of_cell.size(); ++c) {
      const std::vector<ValueWithError> found = groups_.randomised()
                                                    ? quantiles_of_blocks(std::move(of_cell[c]), levels)
                                                    : quantiles_of(std::move(of_cell[c][0]), levels);
      for (std::size_t l = 0; l < levels.size(); ++l) estimates[l][c * samples() + s] = found[l];
    }
  });
  for (std::size_t l = 0; l < levels.size(); ++l)
    write_estimates(sink, parts.root + "/observables/" + study_.observables[o].name + "/" + quantile_name(levels[l]),
                    shape, estimates[l]);
}

FitEstimate EnsembleStatistics::estimate_of_line(std::uint64_t line, Cell cell) const {
  FitEstimate found = estimate_of_lines(node_of(lines_, line, line, cell));
  if (!groups_.randomised()) return found;
  std::vector<Line> blocks;
  for (const CoMoments& block : blocks_of(lines_, line, cell)) {
    const FitEstimate of_block = estimate_of_lines(block);
    blocks.push_back({of_block.first.value, of_block.second.value});
    if (block.count == 0.0 && found.fault.empty()) found.fault = "a randomisation has no trajectory in the fit";
  }
  return with_scatter(found, blocks);
}

FitEstimate EnsembleStatistics::estimate_of_curve(std::size_t f, Cell cell) const {
  const Fit& fit = study_.fits[f];
  const FitTimes times(fit, times_);
  const auto o = static_cast<std::uint64_t>(std::ranges::find(study_.observables, fit.observable, &Observable::name) -
                                            study_.observables.begin());
  const auto mean = [&](const Moments& m) { return statistic_of(m, fit.statistic); };
  FitEstimate found;
  std::vector<double> y(samples());
  std::vector<std::vector<double>> of_block(groups_.blocks(), y);
  double count = std::numeric_limits<double>::infinity();
  for (std::uint64_t s = 0; s < samples(); ++s) {
    if (std::isnan(times.weight[s])) continue;
    const std::uint64_t series = s * observables() + o;
    const Moments node = node_of(moments_, series, series, cell);
    y[s] = mean(node);
    count = std::min(count, node.count);
    const std::vector<Moments> blocks = blocks_of(moments_, series, cell);
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      if (groups_.randomised()) {
        of_block[b][s] = mean(blocks[b]);
        continue;
      }
      Moments others;
      for (std::size_t other = 0; other < blocks.size(); ++other)
        if (other != b) others = combine(others, blocks[other]);
      of_block[b][s] = mean(others);
    }
  }
  const Line curve = curve_through(times, y);
  found.first.value = curve.intercept;
  found.second.value = curve.slope;
  found.count = count;
  const auto note = [&](const std::vector<double>& of_samples, const char* of) {
    const std::size_t s = first_without_logarithm(times, of_samples);
    if (s == of_samples.size() || !found.fault.empty()) return;
    const std::string what = std::isnan(of_samples[s]) ? "no trajectory counts"
                                                       : fmt::format("the {} of '{}' is {:.6g}", fit.statistic,
                                                                     fit.observable, of_samples[s]);
    found.fault = fmt::format(
        "{}{} at time {:.6g}, and the model needs numbers above 0; change from and to, or take model = \"line\"", of,
        what, times_[s]);
  };
  note(y, "");
  for (const std::vector<double>& block : of_block)
    note(block, groups_.randomised() ? "in one randomisation " : "without one block of trajectories ");
  std::vector<Line> curves;
  for (const std::vector<double>& block : of_block) curves.push_back(curve_through(times, block));
  return groups_.randomised() ? with_scatter(found, curves) : with_jackknife(found, curves);
}

void EnsembleStatistics::write_fit(ResultSink& sink, const Parts& parts, std::size_t f,
                                   const std::function<void(const std::string&)>& warn) const {
  const Fit& fit = study_.fits[f];
  const auto line = static_cast<std::uint64_t>(
      std::count_if(study_.fits.begin(), study_.fits.begin() + static_cast<std::ptrdiff_t>(f),
                    [](const Fit& before) { return before.model == Fit::Model::line; }));
  std::vector<FitEstimate> estimates(parts.cells.size());
  parallel_for(estimates.size(), threads_, [&](std::uint64_t c) {
    estimates[c] =
        fit.model == Fit::Model::line ? estimate_of_line(line, parts.cells[c]) : estimate_of_curve(f, parts.cells[c]);
  });
  if (warn) warn_of_lacking(fit, parts, estimates, warn);
  const Shape shape = parts.shape.empty() ? Shape{1} : parts.shape;
  const std::string group = parts.root + "/fits/" + fit.name + "/";
  const auto [first, second] = names_of(fit.model);
  std::vector<ValueWithError> of_first, of_second;
  std::vector<double> covariance;
  std::vector<std::uint64_t> count;
  for (const FitEstimate& estimate : estimates) {
    of_first.push_back(estimate.first);
    of_second.push_back(estimate.second);
    covariance.push_back(estimate.covariance);
    count.push_back(static_cast<std::uint64_t>(estimate.count));
  }
  write_estimates(sink, group + first, shape, of_first);
  write_estimates(sink, group + second, shape, of_second);
  write_all(sink, group + "covariance", shape, covariance);
  write_all(sink, group + "count", shape, count);
  sink.attribute(group + "count", "observable", fit.observable);
  sink.attribute(group + "count", "statistic", fit.statistic);
  sink.attribute(group + "count", "model", std::string(fit_models[static_cast<int>(fit.model)]));
  // validation has set both bounds
  sink.attribute(group + "count", "from", fit.from.value_or(0.0));
  sink.attribute(group + "count", "to", fit.to.value_or(0.0));
}

void EnsembleStatistics::write_histogram(ResultSink& sink, std::size_t o) const {
  const std::uint64_t bins = counts(o) - 2;
  std::vector<std::uint64_t> inside, outside;
  for (std::uint64_t s = 0; s < samples(); ++s) {
    const auto of_sample = histograms_[o].begin() + static_cast<std::ptrdiff_t>(s * counts(o));
    inside.insert(inside.end(), of_sample + 1, of_sample + 1 + static_cast<std::ptrdiff_t>(bins));
    outside.push_back(of_sample[0]);
    outside.push_back(of_sample[static_cast<std::ptrdiff_t>(bins) + 1]);
  }
  const std::string group = "/observables/" + study_.observables[o].name + "/";
  write_all(sink, group + "histogram", {samples(), bins}, inside);
  write_all(sink, group + "histogram_outside", {samples(), 2}, outside);
  if (const auto& edges = bins_[o]) write_all(sink, group + "histogram_edges", {bins + 1}, edges->edges());
}

void EnsembleStatistics::write_covariance(ResultSink& sink) const {
  const std::uint64_t size = plan_.components.size();
  if (size == 0) return;
  std::vector<ValueWithError> mean(samples() * size), covariance(samples() * size * size);
  parallel_for(samples(), threads_, [&](std::uint64_t s) {
    std::uint64_t pair = plan_.first_covariance;
    for (std::uint64_t i = 0; i < size; ++i) {
      const std::uint64_t series = s * observables() + static_cast<std::uint64_t>(plan_.components[i]);
      mean[s * size + i] = estimate(
          moments_, series, series, whole, [](const Moments& m) { return statistic_of(m, "mean"); },
          [](const Moments& m) { return error_of(m, "mean"); });
      for (std::uint64_t j = 0; j <= i; ++j, ++pair)
        covariance[(s * size + i) * size + j] = covariance[(s * size + j) * size + i] = estimate(
            co_moments_, s * plan_.pairs.size() + pair, s * set_pairs() + pair, whole, covariance_of, covariance_error);
    }
  });
  write_estimates(sink, "/state/mean", {samples(), size}, mean);
  write_estimates(sink, "/state/covariance", {samples(), size, size}, covariance);
}

void EnsembleStatistics::warn_of_lacking(const Fit& fit, const Parts& parts, const std::vector<FitEstimate>& estimates,
                                         const std::function<void(const std::string&)>& warn) {
  const auto no_value = [](const FitEstimate& e) {
    return !std::isfinite(e.first.value) || !std::isfinite(e.second.value);
  };
  const auto no_error = [](const FitEstimate& e) {
    return !std::isfinite(e.first.error) || !std::isfinite(e.second.error);
  };
  const auto lacks = [&](const FitEstimate& e) { return no_value(e) || no_error(e); };
  const auto found = std::ranges::find_if(estimates, lacks);
  if (found == estimates.end()) return;
  const std::string groups =
      parts.shape.empty()
          ? ""
          : fmt::format(" in {} of {} groups", std::ranges::count_if(estimates, lacks), estimates.size());
  warn(fmt::format("the fit '{}' has no {}{}: {}", fit.name, no_value(*found) ? "parameters" : "errors", groups,
                   found->fault.empty() ? "they exceed the largest number" : found->fault));
}

void EnsembleStatistics::warn_of_few(std::size_t o, const std::function<void(const std::string&)>& warn) const {
  double largest = warning_share, effective = 0.0, count = 0.0, time = 0.0;
  for (std::uint64_t s = 0; s < samples(); ++s) {
    const Moments node = moments_.all[s * observables() + o].result();
    if (node.count < warning_count || !(largest_share(node) > largest)) continue;
    largest = largest_share(node);
    effective = effective_number(node);
    count = node.count;
    time = times_[s];
  }
  if (count == 0.0) return;
  warn(fmt::format(
      "the mse of '{}' rests on few trajectories: at time {:.6g} one of {} carries {:.0f} % of the sum (effective "
      "number {:.3g}); its error may be too small",
      study_.observables[o].name, time, count, 100.0 * largest, effective));
}

}  // namespace rattleback
