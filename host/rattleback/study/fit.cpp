#include "rattleback/study/fit.hpp"

#include <cmath>

#include "rattleback/real/elementary.hpp"

namespace rattleback {
namespace {

/// Sets errors and covariance to `factor` times the sums of squares of the lines' deviations from their mean.
FitEstimate with_deviations(FitEstimate estimate, const std::vector<Line>& lines, double factor) {
  const double count = static_cast<double>(lines.size());
  Line mean{0.0, 0.0};
  for (const Line& line : lines) mean = {mean.intercept + line.intercept / count, mean.slope + line.slope / count};
  double largest_x = 0.0, largest_y = 0.0, xx = 0.0, xy = 0.0, yy = 0.0;
  for (const Line& line : lines) {
    largest_x = max_abs(largest_x, line.intercept - mean.intercept);
    largest_y = max_abs(largest_y, line.slope - mean.slope);
  }
  // In units whose squares neither overflow nor underflow.
  const int unit_x = static_cast<int>(exponent_of_unit(largest_x)),
            unit_y = static_cast<int>(exponent_of_unit(largest_y));
  for (const Line& line : lines) {
    const double x = std::ldexp(line.intercept - mean.intercept, -unit_x);
    const double y = std::ldexp(line.slope - mean.slope, -unit_y);
    xx += x * x, xy += x * y, yy += y * y;
  }
  estimate.first.error = std::ldexp(std::sqrt(factor * xx), unit_x);
  estimate.second.error = std::ldexp(std::sqrt(factor * yy), unit_y);
  estimate.covariance = std::ldexp(factor * xy, unit_x + unit_y);
  return estimate;
}

}  // namespace

FitTimes::FitTimes(const Fit& fit, const std::vector<double>& times)
    : weight(times.size(), std::numeric_limits<double>::quiet_NaN()) {
  const auto x = [&](std::size_t s) { return fit.model == Fit::Model::power ? log(times[s]) : times[s]; };
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
  for (const double value : y) logarithm.push_back(value > 0.0 ? log(value) : std::numeric_limits<double>::quiet_NaN());
  const Line line = line_through(times, logarithm);
  return {exp(line.intercept), line.slope};
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
  const auto error = [&](double squares, double exponent) {
    return std::ldexp(std::sqrt(factor * squares), static_cast<int>(exponent));
  };
  estimate.first.error = error(lines.sum(2, 0), lines.exponent_x);
  estimate.second.error = error(lines.sum(0, 2), lines.exponent_y);
  estimate.covariance = std::ldexp(factor * lines.sum(1, 1), static_cast<int>(lines.exponent_x + lines.exponent_y));
  return estimate;
}

FitEstimate with_scatter(FitEstimate whole, const std::vector<Line>& blocks) {
  const double count = static_cast<double>(blocks.size());
  const double student = student_factor(blocks.size() - 1);
  return with_deviations(whole, blocks, student * student / (count * (count - 1.0)));
}

FitEstimate with_jackknife(FitEstimate whole, const std::vector<Line>& without) {
  const double count = static_cast<double>(without.size());
  return with_deviations(whole, without, (count - 1.0) / count);
}

}  // namespace rattleback
