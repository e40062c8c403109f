#include "rattleback/engine/fates.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "rattleback/results/checkpoint.hpp"

namespace rattleback {
namespace {

using Type = ResultSink::Type;

constexpr unsigned in_a_number = 8, bits = 8;
constexpr std::uint32_t no_byte = 0xff;  ///< of a trajectory that failed or is left out

std::string path_of_map(const Study::Map& map) { return "/maps/" + map.name + "/"; }

const char* const numbers[] = {"boundary_dimension", "uncertainty_exponent", "basin_entropy", "boundary_basin_entropy"};

}  // namespace

void FateStatistics::Labels::add(std::uint32_t label) {
  if (size % in_a_number == 0) packed.push_back(0);
  packed.back() |= std::uint64_t{label & no_byte} << (size % in_a_number * bits);
  ++size;
}

void FateStatistics::Labels::append(const Labels& next) {
  if (size % in_a_number != 0 || next.packed.size() != (next.size + in_a_number - 1) / in_a_number)
    throw std::out_of_range("other labels");
  packed.insert(packed.end(), next.packed.begin(), next.packed.end());
  size += next.size;
}

std::uint32_t FateStatistics::Labels::operator[](std::uint64_t k) const {
  return static_cast<std::uint32_t>(packed[k / in_a_number] >> (k % in_a_number * bits)) & no_byte;
}

FateStatistics::FateStatistics(const Study& study, const Ensemble& ensemble)
    : study_(study), ensemble_(ensemble), counts_(study.fates.size() + 1) {}

bool FateStatistics::maps(const char* of) const {
  return std::ranges::find(study_.maps, of, &Study::Map::of) != study_.maps.end();
}

void FateStatistics::add(const TrajectoryEnd& end) {
  if (!end.failed) ++counts_[end.fate];
  if (maps("fate")) fates_.add(end.failed ? no_byte : end.fate);
  if (maps("stop")) stops_.add(end.failed ? no_byte : end.stop);
}

void FateStatistics::create(ResultSink& sink) const {
  if (!study_.fates.empty()) {
    sink.create("/fates/count", Type::u64, {counts_.size()});
    for (const char* name : {"/fates/fraction", "/fates/fraction_error"})
      sink.create(name, Type::f64, {counts_.size()});
  }
  for (std::size_t i = 0; i < study_.maps.size(); ++i) {
    const std::string group = path_of_map(study_.maps[i]);
    const MapAxes axes = axes_of_map(study_, i);
    sink.create(group + "labels", Type::u32, {axes.rows, axes.columns});
    sink.create(group + "row", Type::f64, {axes.rows});
    sink.create(group + "column", Type::f64, {axes.columns});
    const std::uint64_t scales = scales_of_map(axes.rows, axes.columns).size();
    for (const char* name : {"boundary", "uncertain"}) sink.create(group + name, Type::u64, {scales, 3});
    for (const char* name : numbers) sink.create(group + name, Type::f64, {1});
  }
}

void FateStatistics::write(ResultSink& sink) const {
  if (!study_.fates.empty()) {
    const std::uint64_t all = std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
    std::vector<ValueWithError> fractions;
    for (const std::uint64_t count : counts_) fractions.push_back(share_of(count, all));
    sink.write("/fates/count", {0}, {counts_.size()}, counts_.data());
    write_with_errors(sink, "/fates/fraction", fractions);
    for (std::size_t i = 0; i < study_.fates.size(); ++i)
      for (const char* path : {"/final/fate", "/fates/count"})
        sink.attribute(path, fmt::format("fate {}", i + 1), study_.fates[i].name);
  }
  for (std::size_t i = 0; i < study_.maps.size(); ++i) write_map(sink, i);
}

void FateStatistics::write_map(ResultSink& sink, std::size_t i) const {
  const Study::Map& map = study_.maps[i];
  const MapAxes axes = axes_of_map(study_, i);
  const std::string group = path_of_map(map);
  const Labels& of = map.of == "fate" ? fates_ : stops_;
  std::vector<std::uint32_t> labels(axes.rows * axes.columns);
  for (std::uint64_t r = 0; r < axes.rows; ++r)
    for (std::uint64_t c = 0; c < axes.columns; ++c) {
      const std::uint32_t label = of[axes.rows_first ? r * axes.columns + c : c * axes.rows + r];
      labels[r * axes.columns + c] = label == no_byte ? no_label : label;
    }
  sink.write(group + "labels", {0, 0}, {axes.rows, axes.columns}, labels.data());
  const auto names = ensemble_.axis_names();
  for (const auto& [dataset, name] : {std::pair{"row", axes.row}, {"column", axes.column}}) {
    const std::vector<double> values =
        ensemble_.axis_values(static_cast<std::size_t>(std::ranges::find(names, name) - names.begin()));
    sink.write(group + dataset, {0}, {values.size()}, values.data());
    sink.attribute(group + dataset, "axis", name);
  }
  sink.attribute(group + "labels", "of", map.of);
  if (map.of == "fate") {
    for (std::size_t f = 0; f < study_.fates.size(); ++f)
      sink.attribute(group + "labels", fmt::format("fate {}", f + 1), study_.fates[f].name);
  } else {
    for (std::size_t s = 0; s < study_.stops.size(); ++s)
      sink.attribute(group + "labels", fmt::format("stop {}", s + 1), study_.stops[s].name);
  }
  const LabelMap labelled{axes.rows, axes.columns, labels};
  const std::vector<MixedShare> boundary = boundary_of(labelled), uncertain = uncertain_of(labelled);
  const auto write_shares = [&](const char* name, const std::vector<MixedShare>& shares) {
    std::vector<std::uint64_t> rows;
    for (const MixedShare& share : shares) rows.insert(rows.end(), {share.scale, share.mixed, share.all});
    sink.write(group + name, {0, 0}, {shares.size(), 3}, rows.data());
  };
  write_shares("boundary", boundary);
  write_shares("uncertain", uncertain);
  const BasinEntropy entropy = entropy_of(labelled);
  const double values[] = {2.0 - slope_of(boundary), slope_of(uncertain), entropy.all, entropy.boundary};
  for (std::size_t n = 0; n < std::size(values); ++n) sink.write(group + numbers[n], {0}, {1}, &values[n]);
}

void FateStatistics::save(StateWriter& out) const {
  if (study_.fates.empty() && study_.maps.empty()) return;
  out.put("/fates/counts", counts_);
  for (const auto& [name, labels] : {std::pair{"/fates/labels", &fates_}, {"/fates/stops", &stops_}}) {
    out.put(name, labels->packed);
    out.put(std::string(name) + "_size", std::vector<std::uint64_t>{labels->size});
  }
}

void FateStatistics::restore(const StateReader& in) {
  counts_.assign(counts_.size(), 0);
  fates_ = stops_ = {};
  append(in);
}

void FateStatistics::append(const StateReader& in) {
  if (study_.fates.empty() && study_.maps.empty()) return;
  const std::vector<std::uint64_t> counts = in.counts("/fates/counts");
  if (counts.size() != counts_.size()) throw std::out_of_range("other fates");
  for (std::size_t i = 0; i < counts.size(); ++i) counts_[i] += counts[i];
  for (const auto& [name, labels] : {std::pair{"/fates/labels", &fates_}, {"/fates/stops", &stops_}}) {
    std::vector<std::uint64_t> packed = in.counts(name);  // first, as save() writes it first, for the digest of a part
    labels->append({in.counts(std::string(name) + "_size").at(0), std::move(packed)});
  }
}

}  // namespace rattleback
