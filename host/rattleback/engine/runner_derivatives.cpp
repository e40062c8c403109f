// Runner: the derivatives that trajectories start with and end with.

#include <algorithm>

#include "rattleback/base/parallel.hpp"
#include "rattleback/engine/runner.hpp"
#include "rattleback/kernels/kernels.hpp"

namespace rattleback {

void Runner::write_derivatives(const Tile& tile, const FinalStates& states, const StoppedTrajectories& stopped) {
  const ChunkLayout& rows = plan_.arguments.layout;
  const auto [elements, n, m] = widths();
  const bool shown = multiplier_from_equations(system_, method_);
  for (std::size_t j = 0; j < problem_.derivatives.size(); ++j) {
    FinalStates d{std::vector<double>(tile.count * elements, nan), std::vector<double>(tile.count * n, nan),
                  std::vector<double>(tile.count * n, nan), std::vector<double>(tile.count * m, nan)};
    std::vector<double> time(tile.count, nan);
    const int first = rows.variation + static_cast<int>(j) * rows.variation_rows;
    parallel_for(tile.chunks(), threads_, [&, elements = elements, n = n, m = m](std::uint64_t c) {
      std::vector<double> dparameters(system_.parameters.size());
      for (std::uint64_t k = c * chunk_size; k < std::min(tile.count, (c + 1) * chunk_size); ++k) {
        if (tile.at(k, rows.status) == static_cast<double>(status_left_out)) continue;
        if (stopped.row(k) != nullptr && tile.at(k, rows.status) == static_cast<double>(status_good)) {
          const double* of_stop = stopped.row(k) + CrossingRow::derivative(plan_, static_cast<int>(j));
          time[k] = *of_stop++;
          for (const auto& [part, width] : {std::pair{&d.q, elements}, {&d.v, n}, {&d.p, n}, {&d.lambda, m}}) {
            std::copy_n(of_stop, width, part->data() + k * width);
            of_stop += width;
          }
          continue;
        }
        int row = first;
        for (std::uint64_t i = 0; i < elements; ++i) d.q[k * elements + i] = tile.at(k, row++);
        for (std::uint64_t i = 0; i < n; ++i) d.p[k * n + i] = tile.at(k, row++);
        for (std::uint64_t i = 0; i < m; ++i) d.lambda[k * m + i] = tile.at(k, row++);
        double by_step = 0.0;
        if (rows.seeds >= 0) {
          int seed = first + rows.seeds;
          for (double& of_parameter : dparameters) of_parameter = tile.at(k, seed++);
          by_step = tile.at(k, seed);
        }
        time[k] = plan_.by_density() ? tile.at(k, first + rows.variation_clock) : tile.at(k, rows.steps) * by_step;
        const std::vector<double> parameters = parameters_of(tile, k);
        point_functions(system_).state_derivative({parameters.data(), time_of(tile, k)},
                                                  {.q = states.q.data() + k * elements,
                                                   .p = states.p.data() + k * n,
                                                   .dq = d.q.data() + k * elements,
                                                   .dp = d.p.data() + k * n,
                                                   .dparameters = dparameters.data(),
                                                   .dtime = time[k]},
                                                  method_.in_space, d.v.data() + k * n,
                                                  shown ? d.lambda.data() + k * m : nullptr);
      }
    });
    const std::string group = "/derivatives/" + problem_.derivatives[j].name + "/";
    write_state(group, tile, d.q, d.v, d.p, d.lambda);
    if (plan_.stops > 0) sink_.write(group + "time", {row_of(tile)}, {tile.count}, time.data());
  }
}

void Runner::end_derivatives(Tile& tile, std::uint64_t k, bool orbit_is_shown) const {
  const ChunkLayout& rows = plan_.arguments.layout;
  for (int j = 0, first = rows.variation; j < rows.variations; ++j, first += rows.variation_rows) {
    if (!orbit_is_shown) {
      tile.at(k, first + rows.variation_clock) = 0.0;
      continue;
    }
    for (int row = 0; row < plan_.step_rows; ++row)
      tile.at(k, first + row) = tile.at(k, first + rows.variation_orbit + row);
  }
}

void Runner::put_derivatives(Tile& tile, std::uint64_t k, const std::vector<StartDerivative>& derivatives) const {
  const ChunkLayout& rows = plan_.arguments.layout;
  int row = rows.variation;
  for (const StartDerivative& derivative : derivatives) {
    for (std::size_t i = 0; i < derivative.tangent.size(); ++i) {
      const int at = row + static_cast<int>(i);
      tile.at(k, at) = derivative.tangent[i];
      if (rows.variation_orbit >= 0) tile.at(k, at + rows.variation_orbit) = derivative.tangent[i];
    }
    if (rows.seeds >= 0) {
      int seed = row + rows.seeds;
      for (const double of_parameter : derivative.parameters) tile.at(k, seed++) = of_parameter;
      tile.at(k, seed) = derivative.step;
    }
    row += rows.variation_rows;
  }
}

}  // namespace rattleback
