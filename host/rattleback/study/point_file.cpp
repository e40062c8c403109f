#include "rattleback/study/point_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "rattleback/base/message.hpp"
#include "rattleback/study/hdf5_points.hpp"
#include "rattleback/study/text_points.hpp"

namespace rattleback {

bool is_hdf5_name(const std::filesystem::path& file) {
  constexpr std::array known{".h5", ".hdf5", ".nc"};
  return std::ranges::find(known, file.extension()) != known.end();
}

Range rows_of(const Range& rows, std::uint64_t total) {
  const std::uint64_t first = std::clamp<std::uint64_t>(rows.first, 1, std::max<std::uint64_t>(total, 1));
  return {first, std::clamp(rows.last, first, std::max(total, first))};
}

double memory_bytes() {
  return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

PointFile points_of(const StateTable& table, const StateNames& names, const Range& rows) {
  PointFile points;
  points.total = table.rows;
  points.range = rows_of(rows, table.rows);
  const auto check = [&](std::string_view name, const double* values, std::uint64_t width) {
    const double* const end = values + table.rows * width;
    const double* const bad = std::find_if_not(values, end, [](double x) { return std::isfinite(x); });
    if (bad == end || !names.in_condition.empty()) return;
    input_error("", fmt::format("the array {} of initial states is not finite in row {} (got {}); correct this row",
                                name, static_cast<std::uint64_t>(bad - values) / width, *bad));
  };
  const StateTable::Block* const blocks[] = {&table.q, &table.v, &table.p, &table.lambda};
  for (const StatePart part : state_parts) {
    const StateTable::Block* const given = blocks[static_cast<std::size_t>(part)];
    if (given->width == 0) continue;
    check(name_of(part), given->values, given->width);
    PointFile::Block& target = points.block(part);
    target.width = given->width;
    target.borrowed = given->values;
  }
  for (const auto& [name, values] : table.columns) {
    if (names.ignored.contains(name)) continue;
    points.names.push_back(name);
    points.borrowed_columns.push_back(values);
  }
  return points;
}

PointFile read_points(const PointSource& source, const StateNames& names) {
  constexpr std::array texts{".csv", ".tsv", ".txt", ".dat"};
  if (is_hdf5_name(source.file)) return read_hdf5_points(source, names);
  if (std::ranges::find(texts, source.file.extension()) != texts.end()) return read_text_points(source, names);
  input_error(source.where, fmt::format("{} has an unknown format (known: .csv, .tsv, .txt, .dat, .h5, .hdf5, .nc)",
                                        quote(source.file.string(), most_of_a_path)));
}

}  // namespace rattleback
