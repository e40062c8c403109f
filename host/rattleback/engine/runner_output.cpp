// Runner: the datasets and attributes of the result.

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "rattleback/base/fingerprint.hpp"
#include "rattleback/base/json.hpp"
#include "rattleback/base/parallel.hpp"
#include "rattleback/base/version.hpp"
#include "rattleback/engine/outcome.hpp"
#include "rattleback/engine/returns.hpp"
#include "rattleback/engine/runner.hpp"
#include "rattleback/kernels/kernels.hpp"
#include "rattleback/loop/exponents.hpp"

namespace rattleback {
namespace {

using Type = ResultSink::Type;

}  // namespace

void Runner::create_datasets() {
  const std::uint64_t size = range_.count(), samples = grid_.time.size();
  sink_.create("/time", Type::f64, {samples});
  sink_.write("/time", {0}, {samples}, grid_.time.data());
  for (const std::string& axis : ensemble_.axis_names()) sink_.create("/axes/" + axis, Type::f64, {size});
  if (study_.output.initial_state) create_state("/initial/", {size});
  if (study_.output.final_state) create_state("/final/", {size});
  if (study_.output.final_state)
    for (const DerivativeBy& by : problem_.derivatives) {
      create_state("/derivatives/" + by.name + "/", {size});
      if (plan_.stops > 0) sink_.create("/derivatives/" + by.name + "/time", Type::f64, {size});
    }
  if (plan_.by_density() && study_.output.final_state) {
    const auto [elements, n, m] = widths();
    for (const auto& [name, width] : {std::pair{"q", elements}, {"p", n}, {"lambda", m}})
      if (width > 0) sink_.create(std::string("/final/orbit/") + name, Type::f64, {size, width});
    for (const char* name : orbit_numbers) sink_.create(std::string("/final/orbit/") + name, Type::f64, {size});
  }
  sink_.create("/final/status", Type::u32, {size});
  sink_.create("/final/steps", Type::u64, {size});
  sink_.create("/final/iterations", Type::u64, {size});
  sink_.create("/final/residual", Type::f64, {size});
  if (const int tangents = plan_.arguments.layout.tangents; tangents > 0) {
    sink_.create("/final/lyapunov", Type::f64, {size});
    if (tangents > 1) sink_.create("/final/lyapunov_spectrum", Type::f64, {size, static_cast<std::uint64_t>(tangents)});
  }
  if (plan_.stops > 0) {
    sink_.create("/final/stop", Type::u32, {size});
    sink_.create("/final/time", Type::f64, {size});
  }
  if (!study_.fates.empty()) sink_.create("/final/fate", Type::u32, {size});

  recorded_ = study_.output.trajectories;
  if (study_.output.all_trajectories) {
    recorded_.resize(size);
    for (std::uint64_t k = 0; k < size; ++k) recorded_[k] = range_.first + k;
  }
  std::erase_if(recorded_, [this](std::uint64_t k) { return k < range_.first || k >= range_.last; });
  std::ranges::sort(recorded_);
  const auto repeated = std::ranges::unique(recorded_);
  recorded_.erase(repeated.begin(), repeated.end());
  if (!recorded_.empty()) {
    sink_.create("/trajectories/index", Type::u64, {recorded_.size()});
    sink_.write("/trajectories/index", {0}, {recorded_.size()}, recorded_.data());
    create_state("/trajectories/", {samples, recorded_.size()});
  }
  statistics_.create_values(sink_);
  if (whole_) statistics_.create(sink_);
}

Runner::Widths Runner::widths() const {
  return {static_cast<std::uint64_t>(system_.elements), static_cast<std::uint64_t>(system_.n),
          static_cast<std::uint64_t>(system_.m)};
}

void Runner::create_state(const std::string& group, const Shape& shape) {
  const auto [elements, n, m] = widths();
  for (const auto& [name, width] : {std::pair{"q", elements}, {"v", n}, {"p", n}, {"lambda", m}}) {
    if (width == 0) continue;
    Shape full = shape;
    full.push_back(width);
    sink_.create(group + name, Type::f64, full);
  }
}

void Runner::write_rows(const std::string& group, const std::string& name, const Tile& tile, std::uint64_t width,
                        const std::vector<double>& data) {
  if (width > 0) sink_.write(group + name, {row_of(tile), 0}, {tile.count, width}, data.data());
}

void Runner::write_state(const std::string& group, const Tile& tile, const std::vector<double>& q,
                         const std::vector<double>& v, const std::vector<double>& p,
                         const std::vector<double>& lambda) {
  const Widths width = widths();
  write_rows(group, "q", tile, width.elements, q);
  write_rows(group, "v", tile, width.n, v);
  write_rows(group, "p", tile, width.n, p);
  write_rows(group, "lambda", tile, width.m, lambda);
}

std::vector<double> Runner::parameters_of(const Tile& tile, std::uint64_t k) const {
  std::vector<double> parameters(system_.parameters.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const int row = row_of_parameter(plan_.arguments, i);
    parameters[i] = row >= 0 ? tile.at(k, row) : plan_.arguments.parameters[i];
  }
  return parameters;
}

double Runner::time_of(const Tile& tile, std::uint64_t k) const {
  if (plan_.by_density()) return tile.at(k, plan_.arguments.layout.clock + ClockRow::shown);
  return std::fma(tile.at(k, plan_.arguments.layout.steps), step_of(tile, k), study_.time.start);
}

double Runner::step_of(const Tile& tile, std::uint64_t k) const {
  const KernelArguments& a = plan_.arguments;
  return a.layout.step >= 0 ? tile.at(k, a.layout.step) : a.step;
}

void Runner::write_records(const Tile& tile, const TileInWork::Output& output) {
  const std::uint64_t records = tile.recorded.size(), samples = output.samples;
  if (records == 0 || samples == 0) return;
  const auto first_record =
      static_cast<std::uint64_t>(std::ranges::lower_bound(recorded_, tile.first) - recorded_.begin());
  const auto [elements, n, m] = widths();
  const bool shown = multiplier_from_equations(system_, method_);
  std::vector<double> q(samples * records * elements), v(samples * records * n), p(v.size()),
      lambda(samples * records * m);
  parallel_for(records, threads_, [&, elements = elements, n = n, m = m](std::uint64_t r) {
    const std::vector<double> parameters = parameters_of(tile, tile.recorded[r]);
    const double step = step_of(tile, tile.recorded[r]);
    for (std::uint64_t s = 0; s < samples; ++s) {
      const std::uint64_t i = s * records + r;
      const double* state = output.numbers.records.data() + i * static_cast<std::uint64_t>(plan_.state_rows);
      std::copy_n(state, elements, q.data() + i * elements);
      std::copy_n(state + elements, n, p.data() + i * n);
      std::copy_n(state + elements + n, m, lambda.data() + i * m);
      // the time as kernels compute it
      const double time = grid_.time[output.first + s], steps = std::rint((time - study_.time.start) / step);
      const SystemAt place{parameters.data(), plan_.by_density() ? time : std::fma(steps, step, study_.time.start)};
      velocity_of_state(system_, place, q.data() + i * elements, p.data() + i * n, method_.in_space, v.data() + i * n);
      if (shown)
        multiplier_of_state(system_, place, q.data() + i * elements, p.data() + i * n, method_.in_space,
                            lambda.data() + i * m);
    }
  });
  const auto write = [&](const std::string& name, std::uint64_t width, const std::vector<double>& data) {
    if (width > 0)
      sink_.write("/trajectories/" + name, {output.first, first_record, 0}, {samples, records, width}, data.data());
  };
  write("q", elements, q);
  write("v", n, v);
  write("p", n, p);
  write("lambda", m, lambda);
}

void Runner::begin_tile(TileInWork& work) {
  const Tile& tile = work.tile;
  for (std::size_t i = 0; i < work.initial.axes.size(); ++i)
    sink_.write("/axes/" + ensemble_.axis_names()[i], {row_of(tile)}, {tile.count}, work.initial.axes[i].data());
  if (study_.output.initial_state)
    write_state("/initial/", tile, work.initial.q, work.initial.v, work.initial.p, work.initial.lambda);
  work.initial = {};
}

void Runner::end_tile(Tile& tile) {
  const StoppedTrajectories stopped(study_, tile, crossings_.get());
  judge_stopped(tile, stopped);
  if (plan_.by_density()) end_orbits(tile);
  const ChunkLayout& rows = plan_.arguments.layout;
  std::vector<std::uint32_t> status(tile.count);
  std::vector<std::uint64_t> steps(tile.count), iterations(tile.count);
  std::vector<double> residual(tile.count);
  for (std::uint64_t c = 0; c < tile.chunks(); ++c) {
    const std::uint64_t first = c * chunk_size, count = std::min<std::uint64_t>(chunk_size, tile.count - first);
    const double* chunk = tile.chunk(c);
    const auto put = [&](int row, auto& all) {
      using Number = std::remove_reference_t<decltype(all[0])>;
      for (std::uint64_t k = 0; k < count; ++k) all[first + k] = static_cast<Number>(chunk[row * row_size + k]);
    };
    put(rows.status, status);
    put(rows.steps, steps);
    put(rows.iterations, iterations);
    put(rows.residual, residual);
  }
  sink_.write("/final/status", {row_of(tile)}, {tile.count}, status.data());
  sink_.write("/final/steps", {row_of(tile)}, {tile.count}, steps.data());
  sink_.write("/final/iterations", {row_of(tile)}, {tile.count}, iterations.data());
  sink_.write("/final/residual", {row_of(tile)}, {tile.count}, residual.data());
  if (rows.tangent >= 0) write_lyapunov(tile);
  FinalStates states;
  if (study_.output.final_state || !fates_.empty()) states = final_states(tile, stopped);
  if (study_.output.final_state) {
    write_state("/final/", tile, states.q, states.v, states.p, states.lambda);
    write_derivatives(tile, states, stopped);
  }
  std::vector<TrajectoryEnd> ends;
  if (plan_.stops > 0 || !fates_.empty()) ends = ends_of(tile, stopped);
  write_stops(tile, ends);
  write_fates(tile, states, ends);
  const TileAverages averages(plan_, tile, ends);
  averages.write(sink_, study_, row_of(tile));
  for (std::uint64_t k = 0; k < tile.count; ++k) {
    summary_.left_out += status[k] == status_left_out;
    summary_.failed += status[k] != status_good && status[k] != status_left_out;
    summary_.trajectory_steps += steps[k];
    summary_.iterations += iterations[k];
  }
  statistics_.end_tile(tile, ends, averages);
  if (crossings_) crossings_->end_tile();
}

void Runner::end_orbits(Tile& tile) {
  const ChunkLayout& rows = plan_.arguments.layout;
  const auto size = static_cast<std::uint64_t>(plan_.state_rows);
  const double sign = *study_.time.end < study_.time.start ? -1.0 : 1.0;
  std::vector<double> state(tile.count * size), time(tile.count);
  std::vector<std::vector<double>> numbers(std::size(orbit_numbers), std::vector<double>(tile.count));
  for (std::uint64_t k = 0; k < tile.count; ++k) {
    for (std::uint64_t i = 0; i < size; ++i) state[k * size + i] = tile.at(k, rows.orbit + static_cast<int>(i));
    time[k] = tile.at(k, rows.clock + ClockRow::time);
    const int rows_of_numbers[] = {ClockRow::time, ClockRow::rounding, ClockRow::density, ClockRow::error};
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i][k] = tile.at(k, rows.clock + rows_of_numbers[i]);
    const auto status = static_cast<std::uint32_t>(tile.at(k, rows.status));
    double& shown = tile.at(k, rows.clock + ClockRow::shown);
    const bool orbit_is_shown = status != status_good && status != status_left_out && sign * time[k] > sign * shown;
    end_derivatives(tile, k, orbit_is_shown);
    if (!orbit_is_shown) continue;
    for (int row = 0; row < plan_.step_rows; ++row) tile.at(k, row) = tile.at(k, rows.orbit + row);
    shown = time[k];
  }
  if (!study_.output.final_state) return;
  const auto [elements, n, m] = widths();
  std::uint64_t first = 0;
  for (const auto& [name, width] : {std::pair{"q", elements}, {"p", n}, {"lambda", m}}) {
    std::vector<double> part(tile.count * width);
    for (std::uint64_t k = 0; k < tile.count; ++k)
      std::copy_n(state.data() + k * size + first, width, part.data() + k * width);
    write_rows("/final/orbit/", name, tile, width, part);
    first += width;
  }
  for (std::size_t i = 0; i < numbers.size(); ++i)
    sink_.write(std::string("/final/orbit/") + orbit_numbers[i], {row_of(tile)}, {tile.count}, numbers[i].data());
}

void Runner::judge_stopped(Tile& tile, const StoppedTrajectories& stopped) const {
  if (plan_.stops == 0) return;
  for (std::uint64_t k = 0; k < tile.count; ++k)
    if (const double* end = stopped.row(k)) tile.at(k, plan_.arguments.layout.status) = end[CrossingRow::status];
}

Runner::FinalStates Runner::final_states(const Tile& tile, const StoppedTrajectories& stopped) const {
  const ChunkLayout& rows = plan_.arguments.layout;
  const auto [elements, n, m] = widths();
  const bool shown = multiplier_from_equations(system_, method_);
  FinalStates states{std::vector<double>(tile.count * elements), std::vector<double>(tile.count * n, nan),
                     std::vector<double>(tile.count * n), std::vector<double>(tile.count * m)};
  auto& [q, v, p, lambda] = states;
  parallel_for(tile.chunks(), threads_,
               [&, elements = elements, n = n, m = m, &q = q, &v = v, &p = p, &lambda = lambda](std::uint64_t c) {
                 for (std::uint64_t k = c * chunk_size; k < std::min(tile.count, (c + 1) * chunk_size); ++k) {
                   if (stopped.row(k) != nullptr && tile.at(k, rows.status) == static_cast<double>(status_good)) {
                     const double* state = stopped.row(k) + CrossingRow::state;
                     std::copy_n(state, elements, q.data() + k * elements);
                     std::copy_n(state + elements, n, v.data() + k * n);
                     std::copy_n(state + elements + n, n, p.data() + k * n);
                     std::copy_n(state + elements + 2 * n, m, lambda.data() + k * m);
                     continue;
                   }
                   for (std::uint64_t i = 0; i < elements; ++i)
                     q[k * elements + i] = tile.at(k, rows.q + static_cast<int>(i));
                   for (std::uint64_t i = 0; i < n; ++i) p[k * n + i] = tile.at(k, rows.p + static_cast<int>(i));
                   for (std::uint64_t i = 0; i < m; ++i)
                     lambda[k * m + i] = tile.at(k, rows.lambda + static_cast<int>(i));
                   if (tile.at(k, rows.status) == static_cast<double>(status_left_out)) continue;
                   const std::vector<double> parameters = parameters_of(tile, k);
                   const SystemAt place{parameters.data(), time_of(tile, k)};
                   velocity_of_state(system_, place, q.data() + k * elements, p.data() + k * n, method_.in_space,
                                     v.data() + k * n);
                   if (shown)
                     multiplier_of_state(system_, place, q.data() + k * elements, p.data() + k * n, method_.in_space,
                                         lambda.data() + k * m);
                 }
               });
  return states;
}

std::vector<TrajectoryEnd> Runner::ends_of(const Tile& tile, const StoppedTrajectories& stopped) const {
  const ChunkLayout& rows = plan_.arguments.layout;
  std::vector<TrajectoryEnd> ends(tile.count);
  for (std::uint64_t k = 0; k < tile.count; ++k) {
    const auto status = static_cast<std::uint32_t>(tile.at(k, rows.status));
    if (status == status_left_out) {  // counts at no sample
      ends[k] = {.stop = 0, .failed = true, .time = nan, .sample = 0, .beyond = 0, .fate = 0};
      continue;
    }
    const bool good = status == status_good, ended = good && stopped.row(k) != nullptr;
    if (plan_.by_density()) {
      ends[k] = end_by_density(tile, k);
      ends[k].stop = ended ? stopped.stop(k) : 0;
      if (ended) ends[k].time = stopped.row(k)[CrossingRow::time];
      continue;
    }
    const auto steps = static_cast<std::uint64_t>(tile.at(k, rows.steps));
    const std::uint64_t every = rows.steps_per_sample >= 0
                                    ? static_cast<std::uint64_t>(tile.at(k, rows.steps_per_sample))
                                    : *study_.time.sample_every;
    // The step after the last state crossed the stop or failed. A trajectory that is parasitic does not count at its last state.
    const std::uint64_t sample = status == status_parasitic ? (steps + every - 1) / every : steps / every + 1;
    ends[k] = {.stop = ended ? stopped.stop(k) : 0,
               .failed = !good,
               .time = ended ? stopped.row(k)[CrossingRow::time] : time_of(tile, k),
               .sample = std::min(sample, *study_.time.samples),
               .beyond = plan_.stops > 0 ? static_cast<std::uint32_t>(tile.at(k, plan_.beyond)) : 0,
               .fate = 0};
  }
  return ends;
}

TrajectoryEnd Runner::end_by_density(const Tile& tile, std::uint64_t k) const {
  const ChunkLayout& rows = plan_.arguments.layout;
  const double sign = *study_.time.end < study_.time.start ? -1.0 : 1.0, shown = time_of(tile, k),
               orbit = tile.at(k, rows.clock + ClockRow::time);
  const auto status = static_cast<std::uint32_t>(tile.at(k, rows.status));
  // The first sample after the state that is shown. A trajectory that is parasitic at a sample does not count there.
  const bool at_sample = status == status_parasitic && sign * orbit <= sign * shown;
  const auto after = std::ranges::find_if(
      grid_.time, [&](double t) { return at_sample ? sign * t >= sign * shown : sign * t > sign * shown; });
  const auto sample = static_cast<std::uint64_t>(after - grid_.time.begin());
  return {.stop = 0,
          .failed = status != status_good,
          .time = shown,
          .sample = std::min(sample, *study_.time.samples),
          .beyond = plan_.stops > 0 ? static_cast<std::uint32_t>(tile.at(k, plan_.beyond)) : 0,
          .fate = 0};
}

void Runner::write_stops(const Tile& tile, const std::vector<TrajectoryEnd>& ends) {
  if (plan_.stops == 0) return;
  std::vector<std::uint32_t> stop;
  std::vector<double> time;
  for (const TrajectoryEnd& end : ends) {
    stop.push_back(end.stop);
    time.push_back(end.time);
  }
  sink_.write("/final/stop", {row_of(tile)}, {tile.count}, stop.data());
  sink_.write("/final/time", {row_of(tile)}, {tile.count}, time.data());
}

void Runner::write_fates(const Tile& tile, const FinalStates& states, std::vector<TrajectoryEnd>& ends) {
  if (fates_.empty()) return;
  const auto [elements, n, m] = widths();
  std::vector<std::uint32_t> fate(tile.count);
  for (std::uint64_t k = 0; k < tile.count; ++k) {
    if (ends[k].failed) continue;
    const std::vector<double> parameters = parameters_of(tile, k);
    fate[k] = ends[k].fate = fates_({.q = states.q.data() + k * elements,
                                     .v = states.v.data() + k * n,
                                     .p = states.p.data() + k * n,
                                     .parameters = parameters.data(),
                                     .time = ends[k].time,
                                     .stop = ends[k].stop});
  }
  sink_.write("/final/fate", {row_of(tile)}, {tile.count}, fate.data());
}

void Runner::write_lyapunov(const Tile& tile) {
  const auto count = static_cast<std::uint64_t>(plan_.arguments.layout.tangents);
  std::vector<double> largest(tile.count, nan), all(tile.count * count, nan);
  for (std::uint64_t k = 0; k < tile.count; ++k) {
    if (tile.at(k, plan_.arguments.layout.status) != 0.0) continue;
    for (std::uint64_t j = 0; j < count; ++j) {
      const double exponent =
          lyapunov_exponent<double>(plan_.arguments, tile.chunk(k / chunk_size), static_cast<int>(k % chunk_size),
                                    system_.elements + system_.n, static_cast<int>(j));
      if (std::isfinite(exponent)) all[k * count + j] = exponent;
    }
    largest[k] = all[k * count];
  }
  sink_.write("/final/lyapunov", {row_of(tile)}, {tile.count}, largest.data());
  if (count > 1) sink_.write("/final/lyapunov_spectrum", {row_of(tile), 0}, {tile.count, count}, all.data());
}

void Runner::write_attributes() {
  summary_.backend = backend_.name();
  summary_.device = backend_.device();
  summary_.threads = backend_.threads();
  summary_.trajectories = range_.count();
  summary_.missing = statistics_.missing();
  for (const StatusInfo& info : status_table)
    sink_.attribute("/final/status", fmt::format("bit {}", info.bit), info.text);
  if (study_.ensemble.condition)
    sink_.attribute("/final/status", fmt::format("bit {}", static_cast<std::uint32_t>(status_left_out)),
                    std::string("left out: ensemble.where does not hold for the point"));
  if (!whole_) {
    sink_.attribute("/", "first_trajectory", range_.first);
    sink_.attribute("/", "ensemble_size", ensemble_.size());
  }
  sink_.attribute("/", "study", study_.to_toml());
  if (!system_.coordinates.empty())
    sink_.attribute("/", "coordinates", fmt::format("{}", fmt::join(system_.coordinates, " ")));
  sink_.attribute("/", "version", std::string(version()));
  sink_.attribute("/", "git", std::string(git_commit()));
  sink_.attribute("/", "backend", summary_.backend);
  sink_.attribute("/", "device", summary_.device);
  if (const std::string driver = backend_.driver(); !driver.empty()) sink_.attribute("/", "driver", driver);
  const std::string tested = kept_outcome(summary_.device, backend_.driver());
  sink_.attribute("/", "selftest", tested.empty() ? std::string("not made") : tested);
  nlohmann::ordered_json kernels = nlohmann::ordered_json::array();
  std::vector<KernelRecord> records = backend_.records(problem_, start_program_.has_value());
  if (start_kernel_ && !start_program_) {
    std::vector<Unit> units = units_of_start(problem_, start_kernel_->isa);
    if (start_kernel_->tangents == nullptr) units.resize(1);
    std::ranges::move(Kernels::instance().records(units), std::back_inserter(records));
  }
  for (const KernelRecord& record : records)
    kernels.push_back({{"kernel", record.title}, {"key", record.key}, {"compiler", record.compiler}});
  sink_.attribute("/", "kernels", json_text(kernels));
  sink_.attribute("/", "threads", std::uint64_t{summary_.threads});
  sink_.attribute("/", "wall_seconds", summary_.wall_seconds);
  sink_.attribute("/", "phases", summary_.phases.text());
  sink_.attribute("/", "trajectory_steps", summary_.trajectory_steps);
  sink_.attribute("/", "failed", summary_.failed);
  if (study_.ensemble.condition) sink_.attribute("/", "left_out", summary_.left_out);
  sink_.attribute("/", "iterations", summary_.iterations);
  if (!whole_) return;
  summary_.fingerprint = sink_.fingerprint();
  if (summary_.fingerprint.empty()) return;
  sink_.attribute("/", "fingerprint", summary_.fingerprint);
  sink_.attribute("/", "fingerprint_block", fingerprint_block);
}

}  // namespace rattleback
