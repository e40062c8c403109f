// Runner: the tables of the crossings of surfaces of section.

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rattleback/engine/returns.hpp"
#include "rattleback/engine/runner.hpp"

namespace rattleback {
namespace {

using Type = ResultSink::Type;

}  // namespace

void Runner::write_crossings() {
  if (!crossings_) return;
  const auto [elements, n, m] = widths();
  struct Column {
    std::string name;
    std::uint64_t first, width;
    bool vector = true;
  };
  std::vector<Column> columns{{"time", CrossingRow::time, 1, false},
                              {"direction", CrossingRow::direction, 1, false},
                              {"residual", CrossingRow::residual, 1, false}};
  const auto add_state = [&, elements = elements, n = n, m = m](const std::string& group, std::uint64_t first) {
    for (const auto& [name, width] : {std::pair{"q", elements}, {"v", n}, {"p", n}, {"lambda", m}}) {
      if (width > 0) columns.push_back({group + name, first, width});
      first += width;
    }
  };
  add_state("", CrossingRow::state);
  for (std::size_t j = 0; j < problem_.derivatives.size(); ++j) {
    const std::string group = "derivatives/" + problem_.derivatives[j].name + "/";
    const auto first = static_cast<std::uint64_t>(CrossingRow::derivative(plan_, static_cast<int>(j)));
    columns.push_back({group + "time", first, 1, false});
    add_state(group, first + 1);
  }
  for (std::uint64_t i = 0; i < study_.sections.size(); ++i) {
    const std::string group = "/sections/" + study_.sections[i].name + "/";
    const std::uint64_t total = crossings_->count(i);
    sink_.create(group + "trajectory", Type::u64, {total});
    sink_.create(group + "status", Type::u32, {total});
    sink_.create(group + "index", Type::u64, {total});
    sink_.create(group + "return_time", Type::f64, {total});
    for (const Column& column : columns)
      sink_.create(group + column.name, Type::f64, column.vector ? Shape{total, column.width} : Shape{total});
    std::optional<NumberStatistics> returns;
    if (study_.sections[i].returns && whole_)
      returns.emplace(group + "returns/", *study_.sections[i].returns, functions_of(best_isa()));
    std::uint64_t written = 0;
    for (std::uint64_t t = 0; t < crossings_->tiles(); ++t) {
      const std::vector<double> rows = crossings_->sorted(t, i);
      const std::uint64_t size = locate_->row_size(), count = rows.size() / size;
      std::vector<std::uint64_t> trajectory(count), index(count);
      std::vector<std::uint32_t> status(count);
      std::vector<double> returned(count, nan);
      for (std::uint64_t k = 0; k < count; ++k) {
        trajectory[k] = static_cast<std::uint64_t>(rows[k * size + CrossingRow::trajectory]);
        status[k] = static_cast<std::uint32_t>(rows[k * size + CrossingRow::status]);
        if (k == 0 || trajectory[k] != trajectory[k - 1]) continue;  // a tile has all crossings of its trajectories
        index[k] = index[k - 1] + 1;
        returned[k] = rows[k * size + CrossingRow::time] - rows[(k - 1) * size + CrossingRow::time];
      }
      sink_.write(group + "trajectory", {written}, {count}, trajectory.data());
      sink_.write(group + "status", {written}, {count}, status.data());
      sink_.write(group + "index", {written}, {count}, index.data());
      sink_.write(group + "return_time", {written}, {count}, returned.data());
      for (const Column& column : columns) {
        std::vector<double> values(count * column.width);
        for (std::uint64_t k = 0; k < count; ++k)
          std::copy_n(rows.data() + k * size + column.first, column.width, values.data() + k * column.width);
        sink_.write(group + column.name, column.vector ? Shape{written, 0} : Shape{written},
                    column.vector ? Shape{count, column.width} : Shape{count}, values.data());
      }
      written += count;
      if (returns) returns->add(returned);
    }
    if (returns) returns->write(sink_);
  }
}

}  // namespace rattleback
