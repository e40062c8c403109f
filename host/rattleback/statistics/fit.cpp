#include "rattleback/statistics/fit.hpp"

#include <cmath>

namespace rattleback {
namespace {

/// Sets errors and covariance to `factor` times the sums of squares of the lines' deviations from their mean.
FitEstimate with_deviations(FitEstimate estimate, const std::vector<Line>& lines, double factor) {
  const double count = static_cast<double>(lines.size());
  Line mean{0.0, 0.0};
  for (const Line& line : lines) mean = {mean.intercept + line.intercept / count, mean.slope + line.slope / count};
  double xx = 0.0, xy = 0.0, yy = 0.0;
  for (const Line& line : lines) {
    const double x = line.intercept - mean.intercept, y = line.slope - mean.slope;
    xx += x * x, xy += x * y, yy += y * y;
  }
  estimate.first.error = std::sqrt(factor * xx);
  estimate.second.error = std::sqrt(factor * yy);
  estimate.covariance = factor * xy;
  return estimate;
}

}  // namespace

FitTimes::FitTimes(const Fit& fit, const std::vector<double>& times)
    : weight(times.size(), std::numeric_limits<double>::quiet_NaN()) {
  const auto x = [&](std::size_t s) { return fit.model == Fit::Model::power ? std::log(times[s]) : times[s]; };
  const auto inside = [&](std::size_t s) { return *fit.from <= times[s] && times[s] <= *fit.to; };
  for (std::size_t s = 0; s < times.size(); ++s)
    if (inside(s)) mean += x(s), count += 1.0;
  mean /= count;
  for (std::size_t s = 0; s < times.size(); ++s) {
    if (!inside(s)) continue;
    weight[s] = x(s) - mean;
    squares += weight[s] * weight[s];
  }
}

FitNames names_of(Fit::Model model) {
  switch (model) {
    case Fit::Model::power:
      return {"amplitude", "exponent"};
    case Fit::Model::exponential:
      return {"amplitude", "rate"};
    case Fit::Model::line:
      break;
  }
  return {"intercept", "slope"};
}

Line line_from_sums(const FitTimes& times, double sum, double weighted) {
  const double slope = weighted / times.squares;
  return {sum / times.count - slope * times.mean, slope};
}

Line line_through(const FitTimes& times, const std::vector<double>& y) {
  double sum = 0.0, weighted = 0.0;
  for (std::size_t s = 0; s < y.size(); ++s)
    if (!std::isnan(times.weight[s])) sum += y[s], weighted += times.weight[s] * y[s];
  return line_from_sums(times, sum, weighted);
}

Line curve_through(const FitTimes& times, const std::vector<double>& y) {
  std::vector<double> logarithm;
  for (const double value : y)
    logarithm.push_back(value > 0.0 ? std::log(value) : std::numeric_limits<double>::quiet_NaN());
  const Line line = line_through(times, logarithm);
  return {std::exp(line.intercept), line.slope};
}

std::size_t first_without_logarithm(const FitTimes& times, const std::vector<double>& y) {
  std::size_t s = 0;
  while (s < y.size() && (std::isnan(times.weight[s]) || (y[s] > 0.0 && std::isfinite(y[s])))) ++s;
  return s;
}

FitEstimate estimate_of_lines(const CoMoments& lines) {
  FitEstimate estimate;
  estimate.count = lines.count;
  if (lines.count < 1.0) estimate.fault = "no trajectory has finite values at all samples of the fit";
  if (lines.count == 1.0) estimate.fault = "an error needs more than one trajectory";
  if (lines.count < 1.0) return estimate;
  estimate.first.value = lines.mean_x;
  estimate.second.value = lines.mean_y;
  if (lines.count < 2.0) return estimate;
  const double factor = 1.0 / (lines.count * (lines.count - 1.0));
  estimate.first.error = std::sqrt(factor * lines.sum(2, 0));
  estimate.second.error = std::sqrt(factor * lines.sum(0, 2));
  estimate.covariance = factor * lines.sum(1, 1);
  return estimate;
}

FitEstimate with_scatter(FitEstimate whole, const std::vector<Line>& blocks) {
  const double count = static_cast<double>(blocks.size());
  return with_deviations(whole, blocks, 1.0 / (count * (count - 1.0)));
}

FitEstimate with_jackknife(FitEstimate whole, const std::vector<Line>& without) {
  const double count = static_cast<double>(without.size());
  return with_deviations(whole, without, (count - 1.0) / count);
}

}  // namespace rattleback
