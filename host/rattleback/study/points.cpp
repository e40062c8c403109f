#include "rattleback/study/points.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>

#include <fmt/format.h>
#include <Eigen/Eigenvalues>
#include <Eigen/SVD>

#include "rattleback/base/message.hpp"
#include "rattleback/base/mutex.hpp"
#include "rattleback/base/parallel.hpp"
#include "rattleback/base/random.hpp"
#include "rattleback/kernels/kernels.hpp"
#include "rattleback/study/grid.hpp"
#include "rattleback/study/parts.hpp"

namespace rattleback {

void Point::complete(const SystemEntry& system, const Ensemble& ensemble, const Study& study, const InitialData& data,
                     bool in_space) {
  q = data.q;
  v = data.v;
  p = data.p;
  lambda = data.lambda;
  if (q.size() != static_cast<std::size_t>(system.elements)) {
    q.resize(static_cast<std::size_t>(system.elements));
    point_functions(system).expand(data.q.data(), q.data());
  }
  v.resize(static_cast<std::size_t>(system.n));
  p.resize(static_cast<std::size_t>(system.n));
  lambda.resize(static_cast<std::size_t>(system.m));
  report = point_functions(system).prepare({data.parameters.data(), study.time.start},
                                           {q.data(), v.data(), p.data(), lambda.data()},
                                           {ensemble.from_momentum(), ensemble.multiplier_given(),
                                            study.ensemble.project, ensemble.in_space(), in_space, data.step});
}

namespace {

std::string at_axes(const Ensemble& ensemble, const InitialData& data) {
  std::string text;
  for (std::size_t i = 0; i < data.axes.size(); ++i)
    text += fmt::format("{}{} = {}", i == 0 ? "" : ", ", ensemble.axis_names()[i], data.axes[i]);
  return text.empty() ? "" : " (" + text + ")";
}

/// Returns the derivative of v with respect to p, which is the inverse of the mass matrix.
Eigen::MatrixXd inverse_mass(const SystemEntry& system, SystemAt place, const Point& point) {
  const auto velocity = [&](const Eigen::VectorXd& p) {
    Eigen::VectorXd v(system.n);
    point_functions(system).velocity(place, point.q.data(), p.data(), v.data());
    return v;
  };
  const Eigen::VectorXd at_rest = velocity(Eigen::VectorXd::Zero(system.n));
  Eigen::MatrixXd inverse(system.n, system.n);
  for (int i = 0; i < system.n; ++i) inverse.col(i) = velocity(Eigen::VectorXd::Unit(system.n, i)) - at_rest;
  return inverse;
}

bool all_finite(const std::vector<double>& numbers) {
  return std::ranges::all_of(numbers, [](double x) { return std::isfinite(x); });
}

/// Returns why a point does not determine the multiplier.
std::string why_undetermined(const SystemEntry& system, SystemAt place, const Point& point) {
  const Eigen::MatrixXd inverse = inverse_mass(system, place, point);
  if (!inverse.allFinite())
    return "does not determine the multiplier (the mass matrix is singular there); choose another state";
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> forms(system.m, system.n);
  point_functions(system).forms(place, point.q.data(), point.v.data(), forms.data());
  if (!forms.allFinite()) return "is not finite (the system is singular there); choose another state";
  const Eigen::VectorXd values = Eigen::JacobiSVD<Eigen::MatrixXd>(forms).singularValues();
  const double smallest = values[system.m - 1], largest = values[0];
  if (smallest > 1e-6 * largest) {
    const double least = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(inverse).eigenvalues()[0];
    if (!(least > 0.0))
      return "does not determine the multiplier (the mass matrix is not positive definite there); choose other "
             "parameters or another state";
    return "does not determine the multiplier (it exceeds the range of floating-point numbers there); choose smaller "
           "parameters or another state";
  }
  return fmt::format(
      "has dependent constraints (the smallest singular value of their derivative is {:.3g}, the largest {:.3g}); "
      "choose another state",
      smallest, largest);
}

/// Returns why a completed point cannot start a trajectory; empty for a valid point. `v` is memory for a velocity.
std::string fault_of(const Study& study, const SystemEntry& system, const std::vector<double>& parameters,
                     const Point& point, bool as_they_are, std::vector<double>& v) {
  const PrepareReport& report = point.report;
  if (!(report.defect <= group_tolerance)) {
    if (study.ensemble.project)
      return "has no rotation matrix near its q (determinant not positive); give a rotation vector in its place";
    return fmt::format(
        "has a q that is not an element of the configuration space ({}; up to {:.0e} would be round-off); give a "
        "rotation vector in place of the matrix, or let [ensemble] project = true move it to the nearest rotation",
        std::isfinite(report.defect) ? fmt::format("R^T R differs from 1 by {:.3g}", report.defect)
                                     : "a rotation matrix whose determinant is not positive",
        group_tolerance);
  }
  if (!study.ensemble.project && !as_they_are && !(report.residual <= report.tolerance))
    return fmt::format(
        "is off the constraint (residual {:.3g}, round-off would be {:.3g}); correct it, or let "
        "[ensemble] project = true move the {} onto the constraint",
        report.residual, report.tolerance,
        system.constraint == ConstraintKind::velocity ? "velocity" : "position and the velocity");
  if (!report.projected_ok)
    return "cannot be projected onto the constraint (Newton does not converge); give a state nearer to it";
  if (report.other_part >= 0)
    return fmt::format(
        "has L_{}[{}] = {:.10g} by `lagrangian`, and {:.10g} by `mass_matrix`, `vector_potential` and `potential`: the "
        "header "
        "of the system states two Lagrangians; correct the parts, or the members that state their zeros",
        report.other_part < system.n ? "v" : "q", report.other_part % system.n, report.by_lagrangian, report.by_parts);
  if (report.bent_momentum >= 0)
    return fmt::format(
        "shows that `lagrangian` is not quadratic in the velocities: L_v[{}] is {:.10g}, and would be {:.10g}; state "
        "`static constexpr bool quadratic = false` in the header of the system, or give `velocity(q, p)`",
        report.bent_momentum, report.by_lagrangian, report.by_parts);
  if (report.other_velocity >= 0)
    return fmt::format(
        "shows that `velocity(q, p)` does not belong to `lagrangian`: it gives v[{0}] = {2:.10g} for the momentum of "
        "v[{0}] = {1:.10g}; correct one of them in the header of the system",
        report.other_velocity, report.by_lagrangian, report.by_parts);
  v.resize(point.v.size());
  const SystemAt place{parameters.data(), study.time.start};
  point_functions(system).velocity(place, point.q.data(), point.p.data(), v.data());
  if (all_finite(point.p) && !all_finite(v))
    return "does not determine its velocity (the mass matrix is singular there, or a leading minor of it is 0); choose "
           "another state, or other coordinates";
  if (all_finite(point.q) && all_finite(point.v) && !all_finite(point.p))
    return "does not determine its momentum (the derivative of the Lagrangian by the velocity is not finite there); "
           "give p in place "
           "of v, or choose other parameters or another state";
  if (system.m > 0 && !report.multiplier_ok) return why_undetermined(system, place, point);
  for (const auto* part : {&point.q, &point.v, &point.p, &point.lambda})
    if (!all_finite(*part)) return "is not finite (the system is singular there); choose another state";
  return "";
}

/// Why a trajectory cannot start, and the line of the study that says so.
struct Fault {
  std::string where;
  const char* of = "";
  std::string what = {};
};

Fault fault_of_sections(const Study& study, const InitialData& data) {
  auto period = data.periods.begin();
  for (std::size_t i = 0; i < study.sections.size() && period != data.periods.end(); ++i) {
    if (!study.sections[i].every) continue;
    if (const std::string fault = fault_of_period(*period++, data.step); !fault.empty())
      return {study.sections[i].every->where, "section of trajectory",
              fmt::format("cannot be taken: section[{}].every{}", i, fault)};
  }
  return {};
}

/// Checks trajectories, and remembers the first that cannot start. Its functions are called from any thread.
class Checker {
 public:
  /// The visitors receive points with v and p in space or in the body.
  Checker(const Problem& problem, const Ensemble& ensemble, bool in_space)
      : problem_(problem), ensemble_(ensemble), in_space_(in_space && problem.system->on_group) {}

  /// What one thread needs for one point after the other, and what it has found.
  struct Found {
    PointVisitor visit;
    std::optional<Ensemble::Evaluator> evaluate = {};  ///< made where a point is prepared by itself
    Point point = {};
    std::vector<double> velocity = {};
    std::uint64_t steps = 0, count = 0, left_out = 0;
    std::optional<std::uint64_t> nearest =
        {};  ///< the trajectory that is taken and nearest to the middle of the ensemble
  };

  /// Checks trajectory k by itself. Returns false when it cannot start.
  bool check(std::uint64_t k, Found& found) {
    if (!found.evaluate) found.evaluate.emplace(ensemble_);
    const InitialData& data = (*found.evaluate)(k);
    if (!data.taken) {
      leave_out(found);
      if (found.visit) found.visit(k, data, nullptr);
      return true;
    }
    take(k, data.step, found);
    found.point.complete(system_, ensemble_, study_, data, false);
    Fault fault = fault_of_sections(study_, data);
    if (fault.what.empty())
      fault = {study_.ensemble.where, "initial state of trajectory",
               fault_of(study_, system_, data.parameters, found.point, ensemble_.as_they_are(), found.velocity)};
    if (fault.what.empty()) {
      if (!found.visit) return true;
      if (in_space_) found.point.complete(system_, ensemble_, study_, data, true);
      found.visit(k, data, &found.point);
      return true;
    }
    const std::lock_guard lock(mutex_);
    if (k < first_bad_) {
      first_bad_ = k;
      where_ = fault.where;
      message_ = fmt::format("{} {}{} {}", fault.of, k, at_axes(ensemble_, data), fault.what);
    }
    return false;
  }

  /// Checks the trajectories of a chunk whose points are prepared. Returns false when one of them cannot start.
  bool check(const ChunkPoints& points, Found& found) {
    for (std::uint64_t i = 0; i < points.count(); ++i) {
      const std::uint64_t k = points.first() + i;
      switch (points.kind(i)) {
        case ChunkPoints::Kind::good:
          take(k, points.step()[i], found);
          break;
        case ChunkPoints::Kind::left_out:
          leave_out(found);
          break;
        case ChunkPoints::Kind::alone:
          if (!check(k, found)) return false;
      }
    }
    return true;
  }

  void add(const Found& found) {
    const std::lock_guard lock(mutex_);
    sum_.count += found.count;
    sum_.left_out += found.left_out;
    sum_.steps += found.steps;
    if (found.nearest && (!sum_.one || from_middle(*found.nearest) < from_middle(*sum_.one))) sum_.one = found.nearest;
  }
  /// Throws FaultyEnsemble where a trajectory cannot start.
  [[nodiscard]] const PointSample& result() const {
    if (!message_.empty()) throw FaultyEnsemble(message_at(where_, message_));
    return sum_;
  }

 private:
  [[nodiscard]] std::uint64_t from_middle(std::uint64_t k) const { return k < middle_ ? middle_ - k : k - middle_; }
  static void leave_out(Found& found) {
    ++found.count;
    ++found.left_out;
  }
  void take(std::uint64_t k, double step, Found& found) const {
    if (!found.nearest || from_middle(k) < from_middle(*found.nearest)) found.nearest = k;
    found.steps += varies_ ? problem_.steps_per_sample(step) * *study_.time.samples : *study_.time.steps;
    ++found.count;
  }

  const Problem& problem_;
  const Ensemble& ensemble_;
  const bool in_space_;  ///< and that is not the same as in the body
  const Study& study_ = problem_.study;
  const SystemEntry& system_ = *problem_.system;
  const std::uint64_t middle_ = ensemble_.size() / 2;
  const bool varies_ = ensemble_.step_varies();
  Mutex mutex_;  ///< of what follows
  PointSample sum_{};
  std::uint64_t first_bad_ = std::numeric_limits<std::uint64_t>::max();
  std::string message_, where_;
};

/// Trajectories that a thread checks before it takes others.
constexpr std::uint64_t block = 16 * chunk_size;

/// Checks trajectories which(i) for i in [0, count), until the time `end`.
PointSample check_listed(const Problem& problem, const Ensemble& ensemble, unsigned threads, std::uint64_t count,
                         const std::function<std::uint64_t(std::uint64_t)>& which,
                         std::chrono::steady_clock::time_point end, const PointVisitor& visit = {}) {
  Checker checker(problem, ensemble, false);
  parallel_for((count + block - 1) / block, threads, [&](std::uint64_t b) {
    Checker::Found found{visit};
    for (std::uint64_t i = b * block; i < std::min(count, (b + 1) * block); ++i) {
      if (i % 64 == 0 && i > 0 && std::chrono::steady_clock::now() > end) break;
      if (!checker.check(which(i), found)) break;
    }
    checker.add(found);
  });
  return checker.result();
}

/// Throws Error(input) when a trajectory whose states are to be kept is left out.
void refuse_left_out(const Study& study, const Ensemble& ensemble) {
  if (!study.ensemble.condition) return;
  Ensemble::Evaluator evaluate(ensemble);
  for (const std::uint64_t k : study.output.trajectories) {
    if (k < ensemble.range().first || k >= ensemble.range().last) continue;
    if (const InitialData& data = evaluate(k); !data.taken)
      input_error(
          study.place("output.trajectories"),
          fmt::format("trajectory {}{} is left out by ensemble.where; take another index", k, at_axes(ensemble, data)));
  }
}

}  // namespace

void check_ensemble(const Problem& problem, const Ensemble& ensemble) {
  ensemble.refuse_unused();
  refuse_left_out(problem.study, ensemble);
}

void refuse_none(const Problem& problem, const Ensemble& ensemble, std::uint64_t left_out) {
  if (left_out == ensemble.size())
    throw FaultyEnsemble(
        message_at(problem.study.place("ensemble.where"),
                   fmt::format("ensemble.where holds for none of {} points; correct it, or the axes", left_out)));
}

PointSample check_range(const Problem& problem, const Ensemble& ensemble, const Range& range, unsigned threads,
                        const std::optional<StartKernel>& kernel, bool in_space,
                        const std::function<PointVisitors()>& make_visitors) {
  Checker checker(problem, ensemble, in_space);
  // What a thread needs for a block takes about as long to make as the points of some chunks.
  const std::uint64_t chunks = (range.count() + chunk_size - 1) / chunk_size,
                      together = std::clamp<std::uint64_t>(chunks / (8 * threads), 1, 256);
  parallel_for((chunks + together - 1) / together, threads, [&](std::uint64_t b) {
    const PointVisitors visitors = make_visitors();
    std::optional<ChunkPoints> points;
    if (kernel) points.emplace(problem, ensemble, *kernel, in_space);
    Checker::Found found{visitors.point};
    bool good = true;
    for (std::uint64_t c = b * together; c < std::min(chunks, (b + 1) * together) && good; ++c) {
      const std::uint64_t first = range.first + c * chunk_size,
                          last = std::min<std::uint64_t>(first + chunk_size, range.last);
      if (points) {
        points->prepare(first, last - first);
        if (visitors.chunk) visitors.chunk(*points);
        good = checker.check(*points, found);
      }
      for (std::uint64_t k = first; k < last && good && !points; ++k) good = checker.check(k, found);
    }
    checker.add(found);
  });
  return checker.result();
}

PointSample check_points(const Problem& problem, const Ensemble& ensemble, unsigned threads,
                         const std::optional<StartKernel>& kernel, const std::function<void()>& tick) {
  check_ensemble(problem, ensemble);
  PointVisitors visitors;
  if (tick)
    visitors = {[&](std::uint64_t, const InitialData&, const Point*) { tick(); }, [&](ChunkPoints&) { tick(); }};
  const PointSample sample =
      check_range(problem, ensemble, ensemble.range(), threads, kernel, false, [&] { return visitors; });
  refuse_none(problem, ensemble, sample.left_out);
  return sample;
}

std::optional<PointSample> check_found_points(const Problem& problem, const Ensemble& ensemble, unsigned threads,
                                              const std::function<FoundPoints()>& find, const PointVisitor& visit) {
  check_ensemble(problem, ensemble);
  const FoundPoints found = find();
  if (found.too_many) return std::nullopt;
  PointSample sample = check_listed(
      problem, ensemble, threads, found.alone.size(), [&](std::uint64_t i) { return found.alone[i]; },
      std::chrono::steady_clock::time_point::max(), visit);
  sample.count = ensemble.range().count();
  sample.steps += ensemble.step_varies()
                      ? found.steps_per_sample * *problem.study.time.samples
                      : (sample.count - found.left_out - found.alone.size()) * *problem.study.time.steps;
  sample.left_out += found.left_out;
  refuse_none(problem, ensemble, sample.left_out);
  return sample;
}

PointSample check_some_points(const Problem& problem, const Ensemble& ensemble, unsigned threads) {
  check_ensemble(problem, ensemble);
  constexpr std::uint64_t most = 100'000;
  const std::uint64_t size = ensemble.size();
  (void)point_functions(*problem.system);  // the second is for points, and not for a compiler
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  if (size <= most) {
    const PointSample sample = check_listed(problem, ensemble, threads, size, [](std::uint64_t i) { return i; }, end);
    refuse_none(problem, ensemble, sample.left_out);
    return sample;
  }
  const std::vector<std::uint64_t> corners =
      problem.study.ensemble.listed() ? std::vector<std::uint64_t>{0, size - 1} : Grid(problem.study).corners();
  const std::uint64_t parts = most - corners.size();
  const auto which = [&](std::uint64_t i) {
    if (i < corners.size()) return corners[i];
    // Parts from all over the ensemble come early, in case time runs out. The factor is a prime above the number of
    // parts.
    const std::uint64_t part = (i - corners.size()) * 1'000'003 % parts;
    const auto begin_of = [&](std::uint64_t p) {
      return static_cast<std::uint64_t>(static_cast<unsigned __int128>(size) * p / parts);
    };
    const std::uint64_t begin = begin_of(part), length = begin_of(part + 1) - begin;
    return begin + static_cast<std::uint64_t>(Draw(0, 0, part).uniform() * static_cast<double>(length));
  };
  return check_listed(problem, ensemble, threads, most, which, end);
}

}  // namespace rattleback
