// Runner: the initial states of a tile.

#include <algorithm>
#include <optional>

#include "rattleback/base/floating_point.hpp"
#include "rattleback/base/parallel.hpp"
#include "rattleback/engine/runner.hpp"
#include "rattleback/engine/start.hpp"
#include "rattleback/kernels/kernels.hpp"
#include "rattleback/loop/exponents.hpp"
#include "rattleback/study/points.hpp"

namespace rattleback {
namespace {

/// A backend makes the initial states unless it leaves more than one in so many of them to the host.
constexpr std::uint64_t most_alone = 16;
/// To prepare a state takes about as long as 20 steps. With more steps than these all states are checked before the first step, which adds
/// less than a twentieth. With fewer steps each tile is checked when it is filled: a faulty state is found later, but within the time
/// that 20 such checks take.
constexpr std::uint64_t few_steps = 400;

/// The rows that are 1 where tangent vectors start: the diagonal of the columns, and the squares of the norms.
std::vector<int> rows_of_ones(const ChunkLayout& rows) {
  std::vector<int> ones;
  for (int j = 0; j < rows.tangents; ++j) {
    if (rows.columns >= 0) ones.push_back(column_row(rows, j, j));
    if (rows.tangent_square >= 0) ones.push_back(rows.tangent_square + j * rows.tangent_rows);
  }
  return ones;
}

}  // namespace

void Runner::check() {
  tile_size_ = tile_trajectories();
  if (may_prepare_together(problem_, ensemble_) && backend_.starts(problem_) && check_on_backend()) return;
  if (const auto& steps = study_.time.steps; !resumed_ && steps && !ensemble_.step_varies() && *steps <= few_steps) {
    stop_before_start();
    check_ensemble(problem_, ensemble_);
    total_steps_ = range_.count() * *steps;
    return;
  }
  PointSample points{};
  spend(summary_.phases.prepare,
        [&] { points = check_points(problem_, ensemble_, threads_, start_kernel_, [this] { stop_before_start(); }); });
  total_steps_ = steps_of(points);
}

bool Runner::check_on_backend() {
  start_program_ = ChunkPoints(problem_, ensemble_, {nullptr, best_isa()}, method_.in_space).program();
  StartProgram checked = *start_program_;
  checked.arguments.options.in_space = false;  // the check has v and p in the body
  std::optional<PointSample> points;
  spend(summary_.phases.prepare, [&] {
    points = check_found_points(
        problem_, ensemble_, threads_,
        [&] { return backend_.find_points(checked, range_, range_.count() / most_alone); },
        [&](std::uint64_t, const InitialData&, const Point*) { stop_before_start(); });
  });
  if (!points) {
    start_program_.reset();
    return false;
  }
  total_steps_ = steps_of(*points);
  return true;
}

std::uint64_t Runner::steps_of(const PointSample& points) const {
  return points.steps + (ensemble_.step_varies() ? 0 : points.left_out * *study_.time.steps);
}

void Runner::begin_at_start() {
  const auto begun = Clock::now();
  TileInWork& work = *work_;
  const StartLayout& from = start_program_->arguments.layout;
  const ChunkLayout& rows = plan_.arguments.layout;
  TileStart start;
  start.program = &*start_program_;
  const auto copy = [&](int row, int width, int to) {
    for (int i = 0; i < width; ++i) start.rows.push_back({start_program_->point + row + i, to + i});
  };
  const auto copy_state = [&](int to) {
    copy(from.q, system_.elements, to + rows.q);
    copy(from.p, system_.n, to + rows.p);
    copy(from.lambda, system_.m, to + rows.lambda);
  };
  copy_state(0);
  if (rows.step >= 0) copy(from.step, 1, rows.step);
  if (plan_.by_density()) {
    copy_state(rows.orbit);
    for (const int row : {ClockRow::time, ClockRow::shown})
      start.constants.push_back({rows.clock + row, study_.time.start});
  }
  for (std::size_t i = 0; i < system_.parameters.size(); ++i)
    if (const int row = row_of_parameter(plan_.arguments, i); row >= 0)
      copy(from.parameters + static_cast<int>(i), 1, row);
  if (rows.last_step >= 0) {  // as for a single point
    const int row = rows.last_step + system_.m;
    copy(from.v, system_.n, row);
    copy(from.q, system_.elements, row + system_.n);
    copy(from.p, system_.n, row + system_.n + system_.elements);
  }
  if (rows.tangent >= 0) {
    for (int j = 0; j < rows.tangents; ++j)
      copy(from.rows + j * plan_.state_rows, plan_.state_rows, rows.tangent + j * rows.tangent_rows);
    for (const int row : rows_of_ones(rows)) start.constants.push_back({row, 1.0});
  }
  start.stops = stop_starts();
  for (std::vector<double>& axis : work.initial.axes) start.axes.push_back(axis.data());
  const auto keep = [&](int row, int width, std::vector<double>& to) {
    if (!to.empty()) start.kept.push_back({start_program_->point + row, width, to.data()});
  };
  keep(from.q, system_.elements, work.initial.q);
  keep(from.v, system_.n, work.initial.v);
  keep(from.p, system_.n, work.initial.p);
  keep(from.lambda, system_.m, work.initial.lambda);
  start.fill_alone = [&](std::span<const std::uint64_t> alone) { fill_alone(work, alone); };
  backend_.begin_at_start(plan_, work.tile, start);
  summary_.phases.prepare += seconds_since(begun);
}

void Runner::fill_alone(TileInWork& work, std::span<const std::uint64_t> alone) const {
  constexpr std::uint64_t together = 256;
  parallel_for((alone.size() + together - 1) / together, threads_, [&](std::uint64_t b) {
    Ensemble::Evaluator evaluate(ensemble_);
    Point point;
    for (const std::uint64_t k : alone.subspan(b * together, std::min(together, alone.size() - b * together))) {
      for (int row = 0; row < work.tile.rows; ++row) work.tile.at(k, row) = 0.0;
      const InitialData& data = evaluate(work.tile.first + k);
      if (data.taken) point.complete(system_, ensemble_, study_, data, method_.in_space);
      fill(work, k, data, data.taken ? &point : nullptr);
    }
  });
}

void Runner::begin_filling(TileInWork& work) const {
  const auto [elements, n, m] = widths();
  const std::uint64_t kept = study_.output.initial_state ? work.tile.count : 0;
  work.initial.q.assign(kept * elements, nan);  // a point that is left out has no state
  for (auto* part : {&work.initial.v, &work.initial.p}) part->assign(kept * n, nan);
  work.initial.lambda.assign(kept * m, nan);
  work.initial.axes.assign(ensemble_.axis_names().size(), std::vector<double>(work.tile.count));
}

void Runner::fill(TileInWork& work) const {
  const Range range{work.tile.first, work.tile.first + work.tile.count};
  check_range(problem_, ensemble_, range, threads_, start_kernel_, method_.in_space, [this, &work] {
    std::shared_ptr<StartDerivatives> derivatives;
    if (!problem_.derivatives.empty()) derivatives = std::make_shared<StartDerivatives>(problem_, ensemble_);
    PointVisitors visitors;
    visitors.point = [this, &work, derivatives](std::uint64_t trajectory, const InitialData& data, const Point* point) {
      stop_filling();
      const std::uint64_t k = trajectory - work.tile.first;
      fill(work, k, data, point);
      if (derivatives && point != nullptr)
        put_derivatives(work.tile, k, (*derivatives)(data, *point, method_.in_space));
    };
    visitors.chunk = [this, &work](ChunkPoints& points) {
      stop_filling();
      fill(work, points);
    };
    return visitors;
  });
}

void Runner::stop_filling() const {
  if (cancelled_) throw Error(Error::Kind::runtime, "the tile is no longer wanted");
}

void Runner::fill(TileInWork& work, ChunkPoints& points) const {
  Tile& tile = work.tile;
  TileInWork::Initial& initial = work.initial;
  const ChunkLayout& rows = plan_.arguments.layout;
  const std::uint64_t first = points.first() - tile.first, count = points.count();
  double* chunk = tile.chunk(first / chunk_size);
  for (std::size_t i = 0; i < initial.axes.size(); ++i)
    std::copy_n(points.axis(i), count, initial.axes[i].begin() + static_cast<std::ptrdiff_t>(first));
  const auto put = [&](const double* from, int row) { std::copy_n(from, count, chunk + row * row_size); };
  // A state goes into rows of the tile, and into the arrays of the result where these keep it.
  const auto put_part = [&](auto part, int width, int row, std::vector<double>& all) {
    for (int i = 0; i < width; ++i) {
      const double* from = (points.*part)(i);
      if (row >= 0) put(from, row + i);
      if (!study_.output.initial_state) continue;
      double* to = all.data() + first * static_cast<std::uint64_t>(width) + i;
      for (std::uint64_t k = 0; k < count; ++k) to[k * static_cast<std::uint64_t>(width)] = from[k];
    }
  };
  put_part(&ChunkPoints::q, system_.elements, rows.q, initial.q);
  put_part(&ChunkPoints::v, system_.n, -1, initial.v);
  put_part(&ChunkPoints::p, system_.n, rows.p, initial.p);
  put_part(&ChunkPoints::lambda, system_.m, rows.lambda, initial.lambda);
  if (rows.step >= 0) {
    put(points.step(), rows.step);
    for (std::uint64_t k = 0; k < count && rows.steps_per_sample >= 0; ++k)
      if (points.kind(k) == ChunkPoints::Kind::good)
        chunk[rows.steps_per_sample * row_size + k] = static_cast<double>(problem_.steps_per_sample(points.step()[k]));
  }
  if (plan_.by_density()) {
    for (int row = 0; row < plan_.step_rows; ++row) put(chunk + row * row_size, rows.orbit + row);
    for (const int row : {ClockRow::time, ClockRow::shown})
      std::fill_n(chunk + (rows.clock + row) * row_size, count, study_.time.start);
  }
  for (std::size_t i = 0; i < system_.parameters.size(); ++i)
    if (const int row = row_of_parameter(plan_.arguments, i); row >= 0) put(points.parameter(i), row);
  if (rows.last_step >= 0) {  // as for a single point
    const int row = rows.last_step + system_.m;
    for (int i = 0; i < system_.n; ++i) put(points.v(i), row + i);
    for (int i = 0; i < system_.elements; ++i) put(points.q(i), row + system_.n + i);
    for (int i = 0; i < system_.n; ++i) put(points.p(i), row + system_.n + system_.elements + i);
  }
  if (rows.tangent >= 0 && start_kernel_->tangents != nullptr) {
    points.find_tangents();
    for (int i = 0; i < rows.tangents * plan_.state_rows; ++i)
      put(points.tangent(i), rows.tangent + i / plan_.state_rows * rows.tangent_rows + i % plan_.state_rows);
    for (const int row : rows_of_ones(rows)) std::fill_n(chunk + row * row_size, count, 1.0);
  }
  for (std::uint64_t k = 0; k < count && rows.tangent >= 0 && start_kernel_->tangents == nullptr; ++k) {
    if (points.kind(k) != ChunkPoints::Kind::good) continue;
    const auto gather = [k](const auto& row_of, int width) {
      std::vector<double> x;
      for (int i = 0; i < width; ++i) x.push_back(row_of(i)[k]);
      return x;
    };
    put_tangents(tile, first + k,
                 gather([&](int i) { return points.parameter(static_cast<std::size_t>(i)); },
                        static_cast<int>(system_.parameters.size())),
                 gather([&](int i) { return points.q(i); }, system_.elements),
                 gather([&](int i) { return points.v(i); }, system_.n),
                 gather([&](int i) { return points.p(i); }, system_.n));
  }
  if (points.all_good()) return;
  for (std::uint64_t k = 0; k < count; ++k) {
    if (points.kind(k) == ChunkPoints::Kind::good) continue;
    for (int row = 0; row < rows.rows; ++row) chunk[row * row_size + k] = 0.0;
    for (auto* part : {&initial.q, &initial.v, &initial.p, &initial.lambda}) {
      const auto width = static_cast<std::ptrdiff_t>(part->size() / tile.count);
      std::fill_n(part->begin() + static_cast<std::ptrdiff_t>(first + k) * width, width, nan);
    }
    if (points.kind(k) == ChunkPoints::Kind::left_out) leave_out(tile, first + k);
  }
}

void Runner::fill(TileInWork& work, std::uint64_t k, const InitialData& data, const Point* point) const {
  Tile& tile = work.tile;
  TileInWork::Initial& initial = work.initial;
  const ChunkLayout& rows = plan_.arguments.layout;
  for (std::size_t i = 0; i < data.axes.size(); ++i) initial.axes[i][k] = data.axes[i];
  if (point == nullptr) return leave_out(tile, k);
  const bool keep = study_.output.initial_state;
  const auto copy = [&](const std::vector<double>& x, std::vector<double>& all) {
    if (keep) std::ranges::copy(x, all.begin() + static_cast<std::ptrdiff_t>(k * x.size()));
  };
  const auto put = [&](const std::vector<double>& x, int row) {
    for (const double number : x) tile.at(k, row++) = number;
  };
  put(point->q, rows.q);
  put(point->p, rows.p);
  put(point->lambda, rows.lambda);
  copy(point->q, initial.q);
  copy(point->v, initial.v);
  copy(point->p, initial.p);
  copy(point->lambda, initial.lambda);
  if (rows.step >= 0) {
    tile.at(k, rows.step) = data.step;
    if (rows.steps_per_sample >= 0)
      tile.at(k, rows.steps_per_sample) = static_cast<double>(problem_.steps_per_sample(data.step));
  }
  if (plan_.by_density()) {
    for (int row = 0; row < plan_.step_rows; ++row) tile.at(k, rows.orbit + row) = tile.at(k, row);
    for (const int row : {ClockRow::time, ClockRow::shown}) tile.at(k, rows.clock + row) = study_.time.start;
    if (!data.orbit.empty()) {
      const auto states = static_cast<std::size_t>(plan_.state_rows);
      for (std::size_t row = 0; row < states; ++row) tile.at(k, rows.orbit + static_cast<int>(row)) = data.orbit[row];
      tile.at(k, rows.clock + ClockRow::time) = data.orbit[states];
      tile.at(k, rows.clock + ClockRow::rounding) = data.orbit[states + 1];
      tile.at(k, rows.clock + ClockRow::density) = data.orbit[states + 2];
      tile.at(k, rows.clock + ClockRow::error) = data.orbit[states + 3];
    }
  }
  for (std::size_t i = 0; i < data.parameters.size(); ++i)
    if (const int row = row_of_parameter(plan_.arguments, i); row >= 0) tile.at(k, row) = data.parameters[i];
  if (rows.last_step >= 0) {  // without a last step, gamma is 0 and the velocity comes from the state
    int row = rows.last_step + system_.m;
    for (const auto* part : {&point->v, &point->q, &point->p})
      for (const double x : *part) tile.at(k, row++) = x;
  }
  if (rows.tangent >= 0) put_tangents(tile, k, data.parameters, point->q, point->v, point->p);
}

void Runner::put_tangents(Tile& tile, std::uint64_t k, const std::vector<double>& parameters,
                          const std::vector<double>& q, const std::vector<double>& v,
                          const std::vector<double>& p) const {
  const ChunkLayout& rows = plan_.arguments.layout;
  const auto width = static_cast<std::size_t>(plan_.state_rows);
  std::vector<double> tangents(width * static_cast<std::size_t>(rows.tangents));
  point_functions(system_).tangents({parameters.data(), study_.time.start}, q.data(), v.data(), p.data(),
                                    method_.in_space, rows.tangent_square >= 0, rows.tangents, tangents.data());
  for (int j = 0; j < rows.tangents; ++j) {
    for (std::size_t i = 0; i < width; ++i)
      tile.at(k, rows.tangent + j * rows.tangent_rows + static_cast<int>(i)) =
          tangents[static_cast<std::size_t>(j) * width + i];
  }
  for (const int row : rows_of_ones(rows)) tile.at(k, row) = 1.0;
}

void Runner::end_filling(TileInWork& work) const {
  Tile& tile = work.tile;
  list_recorded(tile);
  if (!work.filled) return;
  for (std::uint64_t k = tile.count; k < tile.chunks() * chunk_size; ++k)
    tile.at(k, plan_.arguments.layout.status) = status_padding;
  if (!locate_) return;
  const StopStarts stops = stop_starts();
  parallel_for(tile.chunks(), threads_, [&](std::uint64_t c) {
    double* chunk = tile.chunk(c);
    locate_->evaluate(chunk);
    if (stops.count == 0) return;
    for (std::uint64_t k = c * chunk_size; k < std::min(tile.count, (c + 1) * chunk_size); ++k)
      stops.set(chunk + k % chunk_size);
  });
}

void Runner::leave_out(Tile& tile, std::uint64_t k) const {
  const ChunkLayout& rows = plan_.arguments.layout;
  tile.at(k, rows.status) = status_left_out;
  for (int row = 0; row < plan_.step_rows; ++row) tile.at(k, row) = nan;
}

StopStarts Runner::stop_starts() const {
  const Surfaces& surfaces = plan_.arguments.surfaces;
  const int first = surfaces.count - plan_.stops;
  StopStarts stops{plan_.stops, plan_.arguments.layout.surfaces + first, plan_.beyond};
  for (int s = 0; s < plan_.stops; ++s) {
    const Study::Stop& stop = study_.stops[static_cast<std::size_t>(s)];
    stops.crossings[s] = static_cast<double>(stop.count.value_or(1));
    stops.direction[s] = stop.section.empty() ? surfaces.direction[first + s] : 0;
  }
  return stops;
}

}  // namespace rattleback
