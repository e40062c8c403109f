// Runner: the derivatives that trajectories start with and end with.

#include <algorithm>

#include "rattleback/base/parallel.hpp"
#include "rattleback/engine/runner.hpp"
#include "rattleback/kernels/kernels.hpp"

namespace rattleback {

void Runner::write_derivatives(const Tile& tile, const FinalStates& states) {
  const ChunkLayout& rows = plan_.arguments.layout;
  const auto [elements, n, m] = widths();
  const bool shown = multiplier_from_equations(system_, method_);
  for (std::size_t j = 0; j < problem_.derivatives.size(); ++j) {
    FinalStates d{std::vector<double>(tile.count * elements, nan), std::vector<double>(tile.count * n, nan),
                  std::vector<double>(tile.count * n, nan), std::vector<double>(tile.count * m, nan)};
    const int first = rows.variation + static_cast<int>(j) * rows.variation_rows;
    parallel_for(tile.chunks(), threads_, [&, elements = elements, n = n, m = m](std::uint64_t c) {
      std::vector<double> dparameters(system_.parameters.size());
      for (std::uint64_t k = c * chunk_size; k < std::min(tile.count, (c + 1) * chunk_size); ++k) {
        if (tile.at(k, rows.status) == static_cast<double>(status_left_out)) continue;
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
        const std::vector<double> parameters = parameters_of(tile, k);
        point_functions(system_).state_derivative({parameters.data(), time_of(tile, k)},
                                                  {.q = states.q.data() + k * elements,
                                                   .p = states.p.data() + k * n,
                                                   .dq = d.q.data() + k * elements,
                                                   .dp = d.p.data() + k * n,
                                                   .dparameters = dparameters.data(),
                                                   .dtime = tile.at(k, rows.steps) * by_step},
                                                  method_.in_space, d.v.data() + k * n,
                                                  shown ? d.lambda.data() + k * m : nullptr);
      }
    });
    write_state("/derivatives/" + problem_.derivatives[j].name + "/", tile, d.q, d.v, d.p, d.lambda);
  }
}

void Runner::put_derivatives(Tile& tile, std::uint64_t k, const std::vector<StartDerivative>& derivatives) const {
  const ChunkLayout& rows = plan_.arguments.layout;
  int row = rows.variation;
  for (const StartDerivative& derivative : derivatives) {
    for (std::size_t i = 0; i < derivative.tangent.size(); ++i)
      tile.at(k, row + static_cast<int>(i)) = derivative.tangent[i];
    if (rows.seeds >= 0) {
      int seed = row + rows.seeds;
      for (const double of_parameter : derivative.parameters) tile.at(k, seed++) = of_parameter;
      tile.at(k, seed) = derivative.step;
    }
    row += rows.variation_rows;
  }
}

}  // namespace rattleback
