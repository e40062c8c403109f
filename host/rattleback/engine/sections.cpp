#include "rattleback/engine/sections.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "rattleback/base/parallel.hpp"
#include "rattleback/engine/plan.hpp"
#include "rattleback/kernels/kernels.hpp"

namespace rattleback {
namespace {

/// Chandrupatla's method on a bracket: inverse quadratic interpolation where that is safe, bisection elsewhere.
class BracketedRoot {
 public:
  BracketedRoot(double a, double fa, double b, double fb)
      : x1_(b),
        x2_(a),
        x3_(a),
        f1_(fb),
        f2_(fa),
        f3_(fa),
        resolution_(2 * std::numeric_limits<double>::epsilon() * std::abs(b)) {
    // A surface of the time that is 0 at an end of the step has another sign there in the last bits of the time: the root is that end.
    if (fa * fb > 0.0) give_up();
  }

  [[nodiscard]] double best() const { return std::abs(f2_) < std::abs(f1_) ? x2_ : x1_; }
  /// Returns by how much f changes across the bracket, NaN for a bracket that is not yet at round-off.
  [[nodiscard]] double last_change() const {
    return std::abs(x2_ - x1_) <= resolution_ ? std::abs(f1_ - f2_) : std::numeric_limits<double>::quiet_NaN();
  }
  [[nodiscard]] bool done() const {
    return f1_ == 0.0 || f2_ == 0.0 || std::abs(x2_ - x1_) <= resolution_ || evaluations_ >= 100;
  }
  [[nodiscard]] double next() const { return x1_ + t_ * (x2_ - x1_); }

  void add(double f) {
    const double x = next();
    ++evaluations_;
    if ((f < 0.0) == (f1_ < 0.0)) {
      x3_ = x1_, f3_ = f1_;
    } else {
      x3_ = x2_, f3_ = f2_;
      x2_ = x1_, f2_ = f1_;
    }
    x1_ = x, f1_ = f;
    const double least = 0.25 * resolution_ / std::max(std::abs(x2_ - x1_), resolution_);
    const double xi = (x1_ - x2_) / (x3_ - x2_), phi = (f1_ - f2_) / (f3_ - f2_);
    t_ = 0.5;
    if (phi * phi < xi && (1.0 - phi) * (1.0 - phi) < 1.0 - xi)
      t_ = f1_ / (f2_ - f1_) * f3_ / (f2_ - f3_) + (x3_ - x1_) / (x2_ - x1_) * f1_ / (f3_ - f1_) * f2_ / (f3_ - f2_);
    t_ = std::clamp(t_, least, 1.0 - least);
  }
  /// Stops the search after a failed evaluation. The best known point is the result.
  void give_up() { evaluations_ = 100; }

 private:
  double x1_, x2_, x3_, f1_, f2_, f3_;
  double t_ = 0.5, resolution_;
  int evaluations_ = 0;
};

// A sign also changes where a surface jumps or has a pole. With f the surface as a function of the part of the step, a place is a root
// where the change of f over a short interval around it
constexpr double negligible_change = 1e-8;                ///< is small beside f at the ends of the step,
constexpr double half_width = 0x1p-44;                    ///< of this interval, in steps;
constexpr double wider_half_width = 0x1p-24;              ///< or falls where the interval shrinks from this width,
constexpr double continuous_fall = 0.25;                  ///< by this factor at least (a cubic root: 1/100),
constexpr double round_off = 1e-12, of_tolerance = 64.0;  ///< or is round-off beside the terms of f.

/// The multiplier of a step has the round-off of the step divided by its length. In a shorter part of a step than this it is taken from
/// the continuous equations.
constexpr double shortest_for_multiplier = 1e-6;

}  // namespace

/// One crossing of one surface.
struct CrossingLocator::Job {
  const double* crossing;  ///< the crossing as stored by the backend
  int surface;
};

/// Up to chunk_size jobs. Each job uses one lane of a chunk.
class CrossingLocator::Batch {
 public:
  Batch(const CrossingLocator& locator, const Tile& tile, std::span<const Job> jobs)
      : locator_(locator),
        tile_(tile),
        jobs_(jobs),
        size_(jobs.size()),
        status_(jobs.size(), static_cast<double>(status_good)),
        chunk_(static_cast<std::size_t>(locator.arguments_.layout.rows) * rattleback::row_size) {}

  /// Locates all jobs. Writes the rows of the jobs, with section -1 where the surface of a section changes its sign without a root,
  /// and the time of each crossing from the start of its step.
  void run(double* rows, double* times) {
    const KernelArguments& plan = locator_.plan_.arguments;
    // Steps that follow a density have a place of three numbers: the time before the step, and the part of the step with the crossing.
    std::vector<double> from(jobs_.size(), 0.0);
    for (int i = 0; i < count(); ++i) {
      size_[i] = plan.layout.step >= 0 ? tile_.at(trajectory(i), plan.layout.step) : plan.step;
      if (!locator_.plan_.by_density()) continue;
      from[i] = jobs_[i].crossing[3];
      size_[i] = jobs_[i].crossing[4];
    }
    const std::vector<double> g0 = values_at(from), g1 = values_at(size_);
    std::vector<BracketedRoot> roots;
    for (int i = 0; i < count(); ++i) roots.emplace_back(from[i], g0[i], size_[i], g1[i]);
    std::vector<double> trial(jobs_.size());
    while (!std::ranges::all_of(roots, &BracketedRoot::done)) {
      for (int i = 0; i < count(); ++i) trial[i] = roots[i].done() ? 0.0 : roots[i].next();
      const std::vector<double> g = values_at(trial);
      for (int i = 0; i < count(); ++i) {
        if (roots[i].done()) continue;
        if (failed(i)) {
          roots[i].give_up();
        } else {
          roots[i].add(g[i]);
        }
      }
    }
    for (int i = 0; i < count(); ++i) trial[i] = roots[i].best();
    const std::vector<bool> jumps = find_jumps(roots, trial, g0, g1);
    step(trial);
    for (int i = 0; i < count(); ++i) {
      const bool grows = std::abs(g0[i]) < std::abs(g1[i]) ? g1[i] > 0.0 : g0[i] < 0.0;  // along the step
      const bool is_section = !locator_.is_stop(jobs_[i].surface);  // a stop also ends trajectories at a jump
      write(i, trial[i], grows == (size_[i] > 0.0) ? 1.0 : -1.0, jumps[i] && is_section, rows);
      times[i] = std::abs(trial[i]);
    }
    if (locator_.varied_ != nullptr) derive(trial, jumps, rows);
  }

 private:
  double* row(int r) { return chunk_.data() + r * rattleback::row_size; }
  [[nodiscard]] std::uint64_t trajectory(int i) const { return static_cast<std::uint64_t>(jobs_[i].crossing[0]); }
  [[nodiscard]] int count() const { return static_cast<int>(jobs_.size()); }
  /// The time of the state before the crossing.
  [[nodiscard]] double time_before(int i) const {
    return locator_.plan_.by_density() ? jobs_[i].crossing[2] : locator_.start_ + jobs_[i].crossing[2] * size_[i];
  }
  /// The state before the step.
  [[nodiscard]] const double* state_before(int i) const {
    return jobs_[i].crossing + 2 + locator_.plan_.place_numbers();
  }
  double value(int i) { return row(locator_.arguments_.layout.surfaces + jobs_[i].surface)[i]; }
  std::vector<double> values() {
    std::vector<double> g(jobs_.size());
    for (int i = 0; i < count(); ++i) g[i] = value(i);
    return g;
  }
  /// Returns the surfaces after steps of the given sizes; keeps the status of steps that fail.
  std::vector<double> values_at(const std::vector<double>& sizes) {
    step(sizes);
    for (int i = 0; i < count(); ++i)
      if (!failed(i)) status_[i] = row(locator_.arguments_.layout.status)[i];
    return values();
  }
  [[nodiscard]] bool failed(int i) const { return status_[i] != static_cast<double>(status_good); }

  /// Returns for each job whether the sign of its surface changes at `places` by a jump or a pole.
  std::vector<bool> find_jumps(const std::vector<BracketedRoot>& roots, const std::vector<double>& places,
                               const std::vector<double>& g0, const std::vector<double>& g1) {
    std::vector<bool> jumps(jobs_.size());
    // false for NaN: where the surface has no value there is no root
    const auto ask = [&](const std::vector<double>& change, const std::vector<double>& bound) {
      for (int i = 0; i < count(); ++i) jumps[i] = jumps[i] && !failed(i) && !(change[i] <= bound[i]);
      return std::ranges::find(jumps, true) != jumps.end();
    };
    std::vector<double> bracket, small;
    for (int i = 0; i < count(); ++i) {
      jumps[i] = true;
      bracket.push_back(roots[i].last_change());
      small.push_back(negligible_change * std::max(std::abs(g0[i]), std::abs(g1[i])));
    }
    if (!ask(bracket, small)) return jumps;
    const std::vector<double> change = change_around(places, half_width);
    if (!ask(change, small)) return jumps;
    std::vector<double> wider = change_around(places, wider_half_width);
    for (double& x : wider) x *= continuous_fall;
    if (!ask(change, wider)) return jumps;
    ask(change, round_off_of_surfaces());
    return jumps;
  }
  /// Returns by how much the surfaces change over an interval around `places`.
  std::vector<double> change_around(const std::vector<double>& places, double half) {
    std::vector<double> from = places, to = places;
    for (int i = 0; i < count(); ++i) {
      const double first = std::min(0.0, size_[i]), last = std::max(0.0, size_[i]);  // steps may lead back in time
      from[i] = std::clamp(places[i] - half * size_[i], first, last);
      to[i] = std::clamp(places[i] + half * size_[i], first, last);
    }
    std::vector<double> change = values_at(to);
    const std::vector<double> before = values_at(from);
    for (int i = 0; i < count(); ++i) change[i] = std::abs(change[i] - before[i]);
    return change;
  }
  /// Returns the round-off of the surfaces: a part of the sum of |z dg/dz| over all numbers z of the state, at the end of the step.
  std::vector<double> round_off_of_surfaces() {
    constexpr double relative_change = 0x1p-20;
    const SystemEntry& system = *locator_.plan_.system;
    const ChunkLayout& rows = locator_.arguments_.layout;
    const std::vector<double> g = values_at(size_);
    std::vector<double> size(jobs_.size(), 0.0);
    const auto vary = [&](int r) {
      const std::vector<double> z(row(r), row(r) + count());
      for (int i = 0; i < count(); ++i)
        row(r)[i] += relative_change * std::max(std::abs(z[i]), std::abs(state_before(i)[r]));
      locator_.unit_.surfaces(locator_.arguments_, chunk_.data(), 0, count());
      for (int i = 0; i < count(); ++i) size[i] += std::abs(value(i) - g[i]) / relative_change;
      std::ranges::copy(z, row(r));
    };
    for (int k = 0; k < system.elements; ++k) vary(rows.q + k);
    for (int k = 0; k < system.n; ++k) vary(rows.p + k);
    for (int k = 0; k < system.m; ++k) vary(rows.lambda + k);
    if (rows.work >= 0) vary(rows.work);
    const double part = std::max(round_off, of_tolerance * locator_.arguments_.tolerance);
    for (double& x : size) x = std::isfinite(x) ? part * x : 0.0;
    return size;
  }

  /// Takes one step of the given size per lane from the state before the crossing (no step for size 0). Evaluates the
  /// surfaces at the new states.
  void step(const std::vector<double>& sizes) {
    set_up(sizes);
    advance(locator_.unit_.advance);
    locator_.unit_.surfaces(locator_.arguments_, chunk_.data(), 0, count());
  }
  void advance(AdvanceFunction function) {
    KernelArguments arguments = locator_.arguments_;
    arguments.surfaces.count = 0;  // this step must not note crossings
    function(arguments, chunk_.data(), 0, count());
  }
  /// Puts the states before the crossings into the chunk, from which one step of the given size is to be taken.
  void set_up(const std::vector<double>& sizes) {
    const ChunkLayout& rows = locator_.arguments_.layout;
    const Plan& plan = locator_.plan_;
    for (int i = 0; i < count(); ++i) {
      for (int r = 0; r < plan.step_rows; ++r) row(r)[i] = state_before(i)[r];
      row(rows.status)[i] = status_good;
      row(rows.steps)[i] = sizes[i] == 0.0 ? 1.0 : 0.0;
      row(rows.iterations)[i] = row(rows.residual)[i] = 0.0;
      row(rows.step)[i] = sizes[i];
      row(rows.steps_per_sample)[i] = 1.0;
      row(rows.start)[i] = time_before(i);
      for (std::size_t p = 0; p < plan.system->parameters.size(); ++p)
        if (const int to = row_of_parameter(locator_.arguments_, p); to >= 0)
          row(to)[i] = tile_.at(trajectory(i), row_of_parameter(plan.arguments, p));
    }
    for (int i = count(); i < chunk_size; ++i) row(rows.status)[i] = status_padding;
  }

  /// Writes the derivatives of crossings behind their states. With W the derivative of the state at a fixed size h of the last step, dt
  /// that of the time, and w the derivative by h, g = 0 gives dh = -(dg W + g_t dt) / (dg w + g_t): the crossing has the derivative
  /// W + w dh, and its time dt + dh. `jumps` are surfaces that change their sign without a root, where there are none.
  void derive(const std::vector<double>& sizes, const std::vector<bool>& jumps, double* out) {
    const Plan& plan = locator_.plan_;
    const ChunkLayout &rows = locator_.arguments_.layout, &given = plan.arguments.layout;
    const int by_size = rows.variations - 1, parameters = static_cast<int>(plan.system->parameters.size());
    const auto of = [&](int j, int at) { return row(rows.variation + j * rows.variation_rows + at); };
    set_up(sizes);
    for (int i = 0; i < count(); ++i) {
      const double* derivatives = state_before(i) + plan.step_rows;
      for (int j = 0; j < by_size; ++j, derivatives += given.variation_rows) {
        const double* state = derivatives + std::max(given.variation_orbit, 0);
        for (int r = 0; r < plan.step_rows; ++r) of(j, r)[i] = state[r];
        for (int p = 0; p < parameters; ++p)
          of(j, rows.seeds + p)[i] = given.seeds >= 0 ? derivatives[given.seeds + p] : 0.0;
        of(j, rows.seeds + parameters)[i] = 0.0;
        of(j, rows.variation_clock)[i] = given.variation_clock >= 0 ? derivatives[given.variation_clock]
                                         : given.seeds >= 0
                                             ? jobs_[i].crossing[2] * derivatives[given.seeds + parameters]
                                             : 0.0;
      }
      for (int r = 0; r < rows.variation_rows; ++r) of(by_size, r)[i] = 0.0;
      of(by_size, short_of(i, sizes[i]) ? rows.variation_clock : rows.seeds + parameters)[i] = 1.0;
    }
    advance(locator_.varied_->advance_tangent);
    locator_.varied_->vary_surfaces(locator_.arguments_, chunk_.data(), 0, count());
    for (int i = 0; i < count(); ++i) {
      const auto of_surface = [&](int j) {
        return row(rows.varied_surfaces + j * locator_.arguments_.surfaces.count + jobs_[i].surface)[i];
      };
      const bool known = !failed(i) && !jumps[i];
      for (int j = 0; j < by_size; ++j) {
        const double dh = known ? -of_surface(j) / of_surface(by_size) : std::numeric_limits<double>::quiet_NaN();
        std::vector<double> d(static_cast<std::size_t>(plan.step_rows));
        for (int r = 0; r < plan.step_rows; ++r)
          d[static_cast<std::size_t>(r)] = std::fma(of(by_size, r)[i], dh, of(j, r)[i]);
        std::vector<double> dparameters;
        for (int p = 0; p < parameters; ++p) dparameters.push_back(of(j, rows.seeds + p)[i]);
        write_derivative(i, j, short_of(i, sizes[i]), of(j, rows.variation_clock)[i] + dh, d, dparameters, out);
      }
    }
  }
  void write_derivative(int i, int j, bool at_once, double dtime, const std::vector<double>& d,
                        const std::vector<double>& dparameters, double* rows) {
    const Plan& plan = locator_.plan_;
    const SystemEntry& system = *plan.system;
    const double* crossing = rows + static_cast<std::uint64_t>(i) * locator_.row_size_;
    const double *q = crossing + CrossingRow::state, *p = q + system.elements + system.n;
    double* out = rows + static_cast<std::uint64_t>(i) * locator_.row_size_ + CrossingRow::derivative(plan, j);
    *out++ = dtime;
    double* const dq = std::copy_n(d.data(), system.elements, out) - system.elements;
    double* const dv = dq + system.elements;
    double* const dp = dv + system.n;
    double* const dlambda = dp + system.n;
    std::copy_n(d.data() + system.elements, system.n, dp);
    std::copy_n(d.data() + system.elements + system.n, system.m, dlambda);
    const std::vector<double> parameters = parameters_of(i);
    const bool by_equations = multiplier_from_equations(system, *plan.method) || (system.m > 0 && at_once);
    point_functions(system).state_derivative(
        {parameters.data(), crossing[CrossingRow::time]},
        {.q = q, .p = p, .dq = dq, .dp = dp, .dparameters = dparameters.data(), .dtime = dtime}, plan.method->in_space,
        dv, by_equations ? dlambda : nullptr);
  }
  /// Whether a step is too short for its multiplier, or for a derivative by its size.
  [[nodiscard]] bool short_of(int i, double size) const {
    return std::abs(size) < shortest_for_multiplier * std::abs(size_[i]);
  }
  std::vector<double> parameters_of(int i) {
    std::vector<double> parameters(locator_.plan_.system->parameters.size());
    for (std::size_t k = 0; k < parameters.size(); ++k) {
      const int r = row_of_parameter(locator_.arguments_, k);
      parameters[k] = r >= 0 ? row(r)[i] : locator_.plan_.arguments.parameters[k];
    }
    return parameters;
  }

  void write(int i, double fraction, double direction, bool jump, double* rows) {
    const Plan& plan = locator_.plan_;
    const SystemEntry& system = *plan.system;
    double* out = rows + static_cast<std::uint64_t>(i) * locator_.row_size_;
    out[CrossingRow::section] = jump ? -1.0 : jobs_[i].surface;
    out[CrossingRow::trajectory] = static_cast<double>(tile_.first + trajectory(i));
    out[CrossingRow::time] = time_before(i) + fraction;
    out[CrossingRow::direction] = direction;
    out[CrossingRow::residual] = std::abs(value(i));
    out[CrossingRow::status] = status_[i];
    double* q = out + CrossingRow::state;
    double* v = q + system.elements;
    double* p = v + system.n;
    for (int k = 0; k < system.elements; ++k) q[k] = row(plan.arguments.layout.q + k)[i];
    for (int k = 0; k < system.n; ++k) p[k] = row(plan.arguments.layout.p + k)[i];
    for (int k = 0; k < system.m; ++k) p[system.n + k] = row(plan.arguments.layout.lambda + k)[i];
    const std::vector<double> parameters = parameters_of(i);
    const SystemAt place{parameters.data(), out[CrossingRow::time]};
    velocity_of_state(system, place, q, p, plan.method->in_space, v);
    if (multiplier_from_equations(system, *plan.method) || (system.m > 0 && short_of(i, fraction))) {
      std::vector<double> lambda(static_cast<std::size_t>(system.m));
      if (multiplier_of_state(system, place, q, p, plan.method->in_space, lambda.data()))
        std::ranges::copy(lambda, p + system.n);
    }
  }

  const CrossingLocator& locator_;
  const Tile& tile_;
  std::span<const Job> jobs_;
  std::vector<double> size_, status_;  ///< the step of each job; the status of the first of its steps that failed
  std::vector<double> chunk_;
};

CrossingLocator::CrossingLocator(const Plan& plan, double start, unsigned threads)
    : plan_(plan),
      start_(start),
      threads_(threads),
      row_size_(static_cast<std::uint64_t>(CrossingRow::derivative(plan, plan.arguments.layout.variations))),
      unit_(Kernels::instance().get(units_of_sections(plan, best_isa())[0])),
      varied_(plan.arguments.layout.variations > 0 ? &Kernels::instance().get(units_of_sections(plan, best_isa())[1])
                                                   : nullptr),
      arguments_(plan.arguments) {
  ChunkLayout& rows = arguments_.layout;  // starts with the rows of the plan's layout: the state, bookkeeping
  int next = rows.residual + 1;
  rows.step = next++;
  rows.steps_per_sample = next++;
  rows.start = next++;
  rows.surfaces = next;
  next += arguments_.surfaces.count;
  for (int& row : arguments_.parameter_row)
    if (row >= 0) row = next++;
  if (rows.parameters >= 0) {
    rows.parameters = next;
    next += static_cast<int>(plan.system->parameters.size()) - max_uniform_parameters;
  }
  if (varied_ != nullptr) {
    const auto parameters = static_cast<int>(plan.system->parameters.size());
    ++rows.variations;  // the last one is that by the size of the step
    rows.variation_orbit = -1;
    rows.variation_clock = plan.step_rows;
    rows.seeds = rows.variation_clock + 1;
    rows.variation_rows = rows.seeds + parameters + 1;
    rows.variation = next;
    rows.varied_surfaces = rows.variation + rows.variations * rows.variation_rows;
    next = rows.varied_surfaces + rows.variations * arguments_.surfaces.count;
  }
  rows.rounding = rows.last_step = rows.clock = rows.orbit = -1;
  rows.rows = next;
  arguments_.sample = 0;
  arguments_.target = 1;
}

std::vector<double> CrossingLocator::operator()(const Tile& tile, const std::vector<double>& crossings) const {
  const auto size = static_cast<std::size_t>(plan_.crossing_size());
  std::vector<Job> jobs;
  for (std::size_t i = 0; i < crossings.size(); i += size) {
    const auto crossed = static_cast<unsigned>(crossings[i + 1]);
    for (int s = 0; s < plan_.arguments.surfaces.count; ++s)
      if (crossed >> s & 1u) jobs.push_back({crossings.data() + i, s});
  }
  std::vector<double> rows(jobs.size() * row_size_), times(jobs.size());
  parallel_for((jobs.size() + chunk_size - 1) / chunk_size, threads_, [&](std::uint64_t b) {
    const std::size_t first = b * chunk_size, count = std::min<std::size_t>(chunk_size, jobs.size() - first);
    Batch(*this, tile, std::span(jobs).subspan(first, count))
        .run(rows.data() + first * row_size_, times.data() + first);
  });
  drop_after_stops(jobs, times, rows);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < rows.size(); i += row_size_) {
    if (rows[i + CrossingRow::section] < 0.0) continue;  // a jump, or after the end
    std::memmove(rows.data() + kept, rows.data() + i, row_size_ * sizeof(double));
    kept += row_size_;
  }
  rows.resize(kept);
  return rows;
}

void CrossingLocator::drop_after_stops(const std::vector<Job>& jobs, const std::vector<double>& times,
                                       std::vector<double>& rows) const {
  for (std::size_t begin = 0, end = 0; begin < jobs.size(); begin = end) {
    while (end < jobs.size() && jobs[end].crossing == jobs[begin].crossing) ++end;
    std::size_t stop = end;
    for (std::size_t i = begin; i < end; ++i)
      if (is_stop(jobs[i].surface) && (stop == end || times[i] < times[stop])) stop = i;
    for (std::size_t i = begin; i < end && stop != end; ++i)
      if (i != stop && (is_stop(jobs[i].surface) || times[i] > times[stop]))
        rows[i * row_size_ + CrossingRow::section] = -1.0;
  }
}

void CrossingStore::append(const std::vector<double>& rows) {
  file_.write(size_ * row_size_, rows.data(), rows.size());
  size_ += rows.size() / row_size_;
  for (std::size_t i = 0; i < rows.size(); i += row_size_) ++counts_[static_cast<std::size_t>(rows[i])];
}

std::vector<double> CrossingStore::sorted(std::uint64_t tile, std::uint64_t section) const {
  const std::uint64_t begin = tile == 0 ? 0 : tile_ends_[tile - 1],
                      end = tile < tile_ends_.size() ? tile_ends_[tile] : size_;
  std::vector<double> rows((end - begin) * row_size_);
  file_.read(begin * row_size_, rows.data(), rows.size());
  std::vector<const double*> order;
  for (std::size_t i = 0; i < rows.size(); i += row_size_)
    if (rows[i] == static_cast<double>(section)) order.push_back(rows.data() + i);
  // Crossings at the same time are ordered by their bits.
  std::ranges::sort(order, [this](const double* a, const double* b) {
    const std::pair key_a(a[CrossingRow::trajectory], a[CrossingRow::time]);
    const std::pair key_b(b[CrossingRow::trajectory], b[CrossingRow::time]);
    return key_a < key_b || (key_a == key_b && std::memcmp(a, b, row_size_ * sizeof(double)) < 0);
  });
  std::vector<double> result;
  result.reserve(order.size() * row_size_);
  for (const double* row : order) result.insert(result.end(), row, row + row_size_);
  return result;
}

std::vector<std::uint64_t> CrossingStore::position() const {
  std::vector<std::uint64_t> position{size_};
  position.insert(position.end(), counts_.begin(), counts_.end());
  position.insert(position.end(), tile_ends_.begin(), tile_ends_.end());
  return position;
}

void CrossingStore::restore(const std::vector<std::uint64_t>& position) {
  const auto tiles = position.begin() + 1 + static_cast<std::ptrdiff_t>(counts_.size());
  size_ = position[0];
  counts_.assign(position.begin() + 1, tiles);
  tile_ends_.assign(tiles, position.end());
}

}  // namespace rattleback
