#include "rattleback/points.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>

#include <fmt/format.h>
#include <Eigen/SVD>

#include "rattleback/error.hpp"
#include "rattleback/parallel.hpp"

namespace rattleback {

Point::Point(const SystemEntry& system, const Ensemble& ensemble, bool project, const InitialData& data, bool in_space)
    : q(data.q), v(data.v), p(data.p), lambda(data.lambda) {
  if (q.size() != static_cast<std::size_t>(system.elements)) {
    q.resize(static_cast<std::size_t>(system.elements));
    system.expand(data.q.data(), q.data());
  }
  v.resize(static_cast<std::size_t>(system.n));
  p.resize(static_cast<std::size_t>(system.n));
  lambda.resize(static_cast<std::size_t>(system.m));
  report =
      system.prepare(data.parameters.data(), {q.data(), v.data(), p.data(), lambda.data()},
                     {ensemble.from_momentum(), ensemble.multiplier_given(), project, ensemble.in_space(), in_space});
}

namespace {

std::string at_axes(const Ensemble& ensemble, const InitialData& data) {
  std::string text;
  for (std::size_t i = 0; i < data.axes.size(); ++i)
    text += fmt::format("{}{} = {}", i == 0 ? "" : ", ", ensemble.axis_names()[i], data.axes[i]);
  return text.empty() ? "" : " (" + text + ")";
}

/// What is wrong with a point that does not determine the multiplier.
std::string why_undetermined(const SystemEntry& system, const std::vector<double>& parameters, const Point& point) {
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> forms(system.m, system.n);
  system.forms(parameters.data(), point.q.data(), point.v.data(), forms.data());
  if (!forms.allFinite()) return "is not finite (the system is singular there); choose another state";
  const Eigen::VectorXd values = Eigen::JacobiSVD<Eigen::MatrixXd>(forms).singularValues();
  const double smallest = values[system.m - 1], largest = values[0];
  if (smallest > 1e-6 * largest)
    return "does not determine the multiplier (the mass matrix is singular there); choose another state";
  return fmt::format(
      "has dependent constraints (the smallest singular value of their derivative is {:.3g}, the largest {:.3g}); "
      "choose another state",
      smallest, largest);
}

/// Why a completed point cannot start a trajectory; empty when it can.
std::string fault_of(const Study& study, const SystemEntry& system, const std::vector<double>& parameters,
                     const Point& point) {
  const PrepareReport& report = point.report;
  if (!(report.defect <= group_tolerance)) {
    if (study.ensemble.project)
      return "has no rotation matrix near its q (determinant not positive); give a rotation vector in its place";
    return fmt::format(
        "has a q that is no element of the configuration space ({}; up to {:.0e} would be round-off); give a "
        "rotation vector in place of the matrix, or let [ensemble] project = true move it to the nearest rotation",
        std::isfinite(report.defect) ? fmt::format("R^T R differs from 1 by {:.3g}", report.defect)
                                     : "a rotation matrix whose determinant is not positive",
        group_tolerance);
  }
  if (!study.ensemble.project && !(report.residual <= report.tolerance))
    return fmt::format(
        "is off the constraint (residual {:.3g}, round-off would be {:.3g}); correct it, or let "
        "[ensemble] project = true move the {} onto the constraint",
        report.residual, report.tolerance,
        system.constraint == ConstraintKind::holonomic ? "position and the velocity" : "velocity");
  if (!report.projected_ok)
    return "cannot be projected onto the constraint (Newton does not converge); give a state nearer to it";
  if (system.m > 0 && !report.multiplier_ok) return why_undetermined(system, parameters, point);
  for (const auto* part : {&point.q, &point.v, &point.p, &point.lambda})
    for (const double x : *part)
      if (!std::isfinite(x)) return "is not finite (the system is singular there); choose another state";
  return "";
}

}  // namespace

std::uint64_t check_points(const Study& study, const Ensemble& ensemble, unsigned threads) {
  const SystemEntry& system = study.system_entry();
  constexpr std::uint64_t block = 4096;
  std::mutex mutex;
  std::atomic<std::uint64_t> steps{0};
  std::uint64_t first_bad = std::numeric_limits<std::uint64_t>::max();
  std::string message;
  parallel_for((ensemble.size() + block - 1) / block, threads, [&](std::uint64_t b) {
    Ensemble::Evaluator evaluate(ensemble);
    const std::uint64_t end = std::min(ensemble.size(), (b + 1) * block);
    for (std::uint64_t k = b * block; k < end; ++k) {
      const InitialData& data = evaluate(k);
      steps += ensemble.step_varies() ? study.steps_per_sample(data.step) * *study.time.samples : *study.time.steps;
      const std::string fault =
          fault_of(study, system, data.parameters, Point(system, ensemble, study.ensemble.project, data, false));
      if (fault.empty()) continue;
      const std::lock_guard lock(mutex);
      if (k < first_bad) {
        first_bad = k;
        message = fmt::format("initial state of trajectory {}{} {}", k, at_axes(ensemble, data), fault);
      }
      return;
    }
  });
  if (message.empty()) return steps;
  const std::string& where = study.ensemble.where;
  throw Error(Error::Kind::input, where.empty() ? message : where + ": " + message);
}

}  // namespace rattleback
