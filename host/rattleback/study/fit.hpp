#pragma once
// Least-squares fits over the sample times.

#include <string>
#include <vector>

#include "rattleback/study/statistics.hpp"
#include "rattleback/study/study.hpp"

namespace rattleback {

/// The abscissas of a fit: the sample times in [from, to], or their logarithms for a power law.
struct FitTimes {
  FitTimes(const Fit& fit, const std::vector<double>& times);

  std::vector<double> weight;  ///< per sample of the run: abscissa minus `mean`; NaN outside [from, to]
  double count = 0.0;          ///< number of samples in the fit
  double mean = 0.0;           ///< mean abscissa
  double squares = 0.0;        ///< sum of weight^2
};

/// The two parameters of a fit. The covariance is that of the two estimates; the curve at time t has the error
/// sqrt(first.error^2 + 2 t covariance + t^2 second.error^2) where the model is a line.
struct FitEstimate {
  ValueWithError first, second;  ///< intercept and slope, or amplitude and exponent or rate
  double covariance = std::numeric_limits<double>::quiet_NaN();
  double count = 0.0;  ///< number of trajectories
  std::string fault;   ///< why a parameter or an error is not finite; empty where the fit knows no reason
};
/// Names of the two parameters of a model.
struct FitNames {
  const char *first, *second;
};
[[nodiscard]] FitNames names_of(Fit::Model model);

/// Returns intercept and slope of the least-squares line y = first + second x through the samples of the fit.
struct Line {
  double intercept, slope;
};
[[nodiscard]] Line line_through(const FitTimes& times, const std::vector<double>& y);
/// The same from the running sums of one trajectory: sum y and sum weight y.
[[nodiscard]] Line line_from_sums(const FitTimes& times, double sum, double weighted);

/// Returns amplitude and exponent, or amplitude and rate, of a model that is not linear: the line through log y. The
/// parameters are NaN where some y is not positive.
[[nodiscard]] Line curve_through(const FitTimes& times, const std::vector<double>& y);

/// Returns the first sample of the fit without a logarithm, where y is not a positive finite number; y.size() without one.
[[nodiscard]] std::size_t first_without_logarithm(const FitTimes& times, const std::vector<double>& y);

/// Returns the fit to the ensemble's mean from the joint moments of the intercepts (x) and slopes (y) of single
/// trajectories: their means. The errors are exact for every autocorrelation.
[[nodiscard]] FitEstimate estimate_of_lines(const CoMoments& lines);
/// Returns the estimate with errors from independent estimates of each block: their scatter, as in scatter_error.
[[nodiscard]] FitEstimate with_scatter(FitEstimate whole, const std::vector<Line>& blocks);
/// Returns the estimate with errors from estimates that leave out one block each.
[[nodiscard]] FitEstimate with_jackknife(FitEstimate whole, const std::vector<Line>& without);

}  // namespace rattleback
