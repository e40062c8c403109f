// EnsembleStatistics: the reduction, and its checkpoint.

#include "rattleback/engine/ensemble_statistics.hpp"

#include <algorithm>
#include <stdexcept>
#include <variant>

#include "rattleback/base/floating_point.hpp"
#include "rattleback/base/message.hpp"
#include "rattleback/base/mutex.hpp"
#include "rattleback/base/parallel.hpp"
#include "rattleback/engine/tree_files.hpp"

namespace rattleback {
namespace {

/// The values for quantiles in the file of a part, [series][trajectory].
const std::string values_path = std::string(reduction_group) + "/values";
/// The attribute with the digest of the state in the file of a part, without the values for quantiles.
constexpr const char* digest_name = "reduction_digest";
/// How the squares of derivatives are spread, in checkpoints and in the files of parts.
constexpr const char* concentration_group = "/concentration";
/// Values that are read from a part at a time.
constexpr std::uint64_t block_values = std::uint64_t{1} << 18;

}  // namespace

EnsembleStatistics::EnsembleStatistics(const Problem& problem, const Ensemble& ensemble, const Range& range,
                                       const Plan& plan, std::vector<double> times, unsigned threads,
                                       const std::filesystem::path& file, const std::string& run)
    : problem_(problem),
      study_(problem.study),
      plan_(plan),
      ensemble_(ensemble),
      range_(range),
      functions_(functions_of(best_isa())),
      groups_(ensemble.groups()),
      times_(std::move(times)),
      threads_(threads),
      stops_(study_, samples()),
      fates_(study_, ensemble),
      averages_(study_),
      concentration_(samples() * plan_.derivatives.size()) {
  for (const Observable& observable : study_.observables) {
    series_.push_back(quantile_observables_);
    quantile_observables_ += !observable.quantiles.empty();
    bins_.emplace_back();
    if (observable.histogram) bins_.back().emplace(*observable.histogram);
    histograms_.emplace_back(samples() * counts(bins_.size() - 1));
  }
  const auto plant = [&](auto& trees, std::uint64_t series, std::uint64_t series_of_sets,
                         const std::vector<std::uint64_t>& before) {
    using Tree = std::remove_reference_t<decltype(trees.all[0])>;
    trees.all.assign(series, Tree(range_.first / chunk_size));
    for (std::uint64_t i = 0; i < series_of_sets; ++i)
      for (const std::uint64_t chunks : before) trees.sets.emplace_back(chunks);
  };
  const std::vector<std::uint64_t> before = chunks_before();
  plant(moments_, samples() * observables(), samples() * observables(), before);
  plant(co_moments_, samples() * plan_.pairs.size(), samples() * set_pairs(), before);
  plant(lines_, plan_.line_fits.size(), plan_.line_fits.size(), before);
  if (quantile_observables_ > 0)
    values_ = std::make_unique<ValueStore>(samples() * quantile_observables_, range_.count(), file, run);
}

std::vector<std::uint64_t> EnsembleStatistics::chunks_before() const {
  if (groups_.sets() == 1) return {};
  const std::uint64_t chunks = range_.first / chunk_size;
  // Every complete chunk has trajectories of all blocks of a jackknife.
  if (groups_.cells() == 1 && !groups_.randomised()) return std::vector(groups_.sets(), chunks);
  constexpr std::uint64_t batch = 1024;
  std::vector<std::uint64_t> before(groups_.sets());
  Mutex mutex;
  parallel_for((chunks + batch - 1) / batch, threads_, [&](std::uint64_t b) {
    std::vector<std::uint64_t> counts(groups_.sets()), last(groups_.sets());  // `last` is a chunk + 1 with the set
    for (std::uint64_t c = b * batch; c < std::min(chunks, (b + 1) * batch); ++c)
      for (std::uint64_t k = c * chunk_size; k < (c + 1) * chunk_size; ++k) {
        const std::uint64_t set = groups_.set_of(k);
        counts[set] += last[set] != c + 1;
        last[set] = c + 1;
      }
    const std::lock_guard lock(mutex);
    for (std::uint64_t i = 0; i < before.size(); ++i) before[i] += counts[i];
  });
  return before;
}

void EnsembleStatistics::store(ResultSink& sink, const Tile& tile, const RoundOutput& output, std::uint64_t first,
                               std::uint64_t count) {
  std::vector<double> values;  // [sample][trajectory], of one observable in the round
  const auto gather = [&](std::size_t code) {
    values.resize(count * tile.count);
    for (std::uint64_t s = 0; s < count; ++s)
      for (std::uint64_t k = 0; k < tile.count; k += chunk_size)
        std::copy_n(values_of(tile, output, s, k / chunk_size, code),
                    std::min<std::uint64_t>(chunk_size, tile.count - k), values.data() + s * tile.count + k);
  };
  for (std::size_t o = 0; o < study_.observables.size(); ++o) {
    const Observable& observable = study_.observables[o];
    if (observable.quantiles.empty() && !observable.values) continue;
    gather(o);
    for (std::uint64_t s = 0; s < count && !observable.quantiles.empty(); ++s)
      values_->write((first + s) * quantile_observables_ + series_[o], tile.first - range_.first,
                     values.data() + s * tile.count, tile.count);
    if (observable.values)
      sink.write("/observables/" + observable.name + "/values", {first, tile.first - range_.first}, {count, tile.count},
                 values.data());
    for (const Plan::Derivative& derivative : plan_.derivatives) {
      if (derivative.observable != o || !observable.values) continue;
      gather(static_cast<std::size_t>(derivative.code));
      sink.write("/observables/" + observable.name + "/values_by_" + problem_.derivatives[derivative.by].name,
                 {first, tile.first - range_.first}, {count, tile.count}, values.data());
    }
  }
}

void EnsembleStatistics::add(const Tile& tile, const RoundOutput& output, std::uint64_t first, std::uint64_t count) {
  const std::uint64_t chunks = tile.chunks(), pairs = plan_.pairs.size();
  const std::vector<std::vector<Members>> members = members_of(tile);
  if (first == 0 && groups_.sets() > 1) set_references(tile, output);
  parallel_for(count, threads_, [&](std::uint64_t s) {
    const std::uint64_t sample = first + s;
    for (std::uint64_t o = 0; o < observables(); ++o)
      for (std::uint64_t c = 0; c < chunks; ++c)
        moments_.all[sample * observables() + o].push(output.moments[(s * observables() + o) * chunks + c]);
    for (std::uint64_t i = 0; i < pairs; ++i)
      for (std::uint64_t c = 0; c < chunks; ++c)
        co_moments_.all[sample * pairs + i].push(output.co_moments[(s * pairs + i) * chunks + c]);
    for (std::size_t o = 0; o < histograms_.size(); ++o) {
      if (!bins_[o]) continue;
      for (std::uint64_t c = 0; c < chunks; ++c)
        bins_[o]->count_into(values_of(tile, output, s, c, o), chunk_size, histograms_[o].data() + sample * counts(o));
    }
    for (std::size_t d = 0; d < plan_.derivatives.size(); ++d)
      for (std::uint64_t c = 0; c < chunks; ++c)
        concentration_.add(sample * plan_.derivatives.size() + d,
                           values_of(tile, output, s, c, static_cast<std::size_t>(plan_.derivatives[d].code)),
                           chunk_size);
    add_to_sets(tile, output, members, s, sample);
  });
}

std::vector<std::vector<EnsembleStatistics::Members>> EnsembleStatistics::members_of(const Tile& tile) const {
  std::vector<std::vector<Members>> members(groups_.sets() > 1 ? tile.chunks() : 0);
  parallel_for(members.size(), threads_, [&](std::uint64_t c) {
    for (std::uint64_t k = c * chunk_size; k < std::min(tile.count, (c + 1) * chunk_size); ++k) {
      const std::uint64_t set = groups_.set_of(tile.first + k);
      auto found = std::ranges::find(members[c], set, &Members::set);
      if (found == members[c].end()) found = members[c].insert(found, Members{set, {}});
      found->lanes.push_back(static_cast<std::uint8_t>(k % chunk_size));
    }
  });
  return members;
}

EnsembleStatistics::Lanes EnsembleStatistics::only(const Members& set, const double* values) {
  Lanes lanes;
  lanes.fill(nan);
  for (const std::uint8_t lane : set.lanes) lanes[lane] = values[lane];
  return lanes;
}

void EnsembleStatistics::add_to_sets(const Tile& tile, const RoundOutput& output,
                                     const std::vector<std::vector<Members>>& members, std::uint64_t s,
                                     std::uint64_t sample) {
  for (std::uint64_t c = 0; c < members.size(); ++c)
    for (const Members& set : members[c]) {
      for (std::uint64_t o = 0; o < observables(); ++o) {
        const Lanes x = only(set, values_of(tile, output, s, c, o));
        moments_.sets[(sample * observables() + o) * groups_.sets() + set.set].push(
            functions_.reduce(x.data(), references_.data() + (c * observables() + o) * chunk_size));
      }
      for (std::uint64_t i = 0; i < set_pairs(); ++i) {
        const auto [a, b] = plan_.pairs[i];
        const Lanes x = only(set, values_of(tile, output, s, c, static_cast<std::size_t>(a)));
        co_moments_.sets[(sample * set_pairs() + i) * groups_.sets() + set.set].push(
            functions_.co_reduce(x.data(), values_of(tile, output, s, c, static_cast<std::size_t>(b))));
      }
    }
}

void EnsembleStatistics::set_references(const Tile& tile, const RoundOutput& output) {
  references_.resize(tile.chunks() * observables() * chunk_size);
  for (std::uint64_t c = 0; c < tile.chunks(); ++c)
    for (std::uint64_t o = 0; o < observables(); ++o) {
      double* references = references_.data() + (c * observables() + o) * chunk_size;
      if (const double number = plan_.references[o]; number == number) {
        std::fill_n(references, chunk_size, number);
      } else {
        std::copy_n(values_of(tile, output, 0, c, o), chunk_size, references);
      }
    }
}

void EnsembleStatistics::restore_references(const Tile& tile) {
  if (groups_.sets() == 1) return;
  references_.clear();
  for (std::uint64_t c = 0; c < tile.chunks(); ++c)
    for (std::uint64_t o = 0; o < observables(); ++o) {
      const double* row =
          tile.chunk(c) + (static_cast<std::uint64_t>(plan_.arguments.layout.references) + o) * row_size;
      references_.insert(references_.end(), row, row + chunk_size);
    }
}

void EnsembleStatistics::end_tile(const Tile& tile, const std::vector<TrajectoryEnd>& ends,
                                  const TileAverages& averages) {
  averages_.add(averages);
  for (const TrajectoryEnd& end : ends) {
    stops_.add(end);
    fates_.add(end);
  }
  const std::vector<std::vector<Members>> members =
      lines_.sets.empty() ? std::vector<std::vector<Members>>{} : members_of(tile);
  for (std::size_t f = 0, line = 0; f < study_.fits.size(); ++f) {
    if (study_.fits[f].model != Fit::Model::line) continue;
    const FitTimes times(study_.fits[f], times_);
    for (std::uint64_t c = 0; c < tile.chunks(); ++c) {
      const double* sums = tile.chunk(c) + plan_.line_fits[line].row * row_size;
      Lanes intercept, slope;
      intercept.fill(nan);
      slope.fill(nan);
      const std::uint64_t used = std::min<std::uint64_t>(chunk_size, tile.count - c * chunk_size);
      for (std::uint64_t lane = 0; lane < used; ++lane) {
        const Line fit = line_from_sums(times, sums[lane], sums[row_size + lane]);
        intercept[lane] = fit.intercept;
        slope[lane] = fit.slope;
      }
      lines_.all[line].push(functions_.co_reduce(intercept.data(), slope.data()));
      if (members.empty()) continue;
      for (const Members& set : members[c])
        lines_.sets[line * groups_.sets() + set.set].push(
            functions_.co_reduce(only(set, intercept.data()).data(), slope.data()));
    }
    ++line;
  }
}

std::map<std::string, std::uint64_t> EnsembleStatistics::missing() const {
  std::map<std::string, std::uint64_t> missing;
  for (std::size_t o = 0; o < study_.observables.size(); ++o) {
    std::uint64_t total = 0;
    for (std::uint64_t s = 0; s < samples(); ++s)
      total += static_cast<std::uint64_t>(moments_.all[s * observables() + o].result().missing);
    if (total > 0) missing[study_.observables[o].name] = total;
  }
  return missing;
}

void EnsembleStatistics::move_to_file(const std::filesystem::path& file, const std::string& run) {
  if (values_ && values_->file()) values_->file()->move_to(file, run);
}

void EnsembleStatistics::sync() {
  if (values_ && values_->file()) values_->file()->sync();
}

template <class Statistics, class F>
void EnsembleStatistics::for_each_tree(Statistics& statistics, F f) {
  f("/trees", statistics.moments_.all);
  f("/co_trees", statistics.co_moments_.all);
  f("/line_trees", statistics.lines_.all);
  f("/set_trees", statistics.moments_.sets);
  f("/set_co_trees", statistics.co_moments_.sets);
  f("/set_line_trees", statistics.lines_.sets);
}

void EnsembleStatistics::save_state(StateWriter& out) const {
  for_each_tree(*this, [&](const char* name, const auto& trees) { put_trees(out, name, trees); });
  for (std::size_t o = 0; o < histograms_.size(); ++o)
    if (bins_[o]) out.put("/histograms/" + std::to_string(o), histograms_[o]);
  stops_.save(out);
  fates_.save(out);
  averages_.save(out);
  if (!plan_.derivatives.empty()) concentration_.save(out, concentration_group);
}

void EnsembleStatistics::save(CheckpointWriter& out) const {
  save_state(out);
  if (values_) out.put("/values", values_->memory());
  if (values_ && values_->file()) out.put("/values_written", values_->file()->written());
}

void EnsembleStatistics::restore(const CheckpointReader& in) {
  for_each_tree(*this, [&](const char* name, auto& trees) { get_trees(in, name, trees); });
  for (std::size_t o = 0; o < histograms_.size(); ++o)
    if (bins_[o]) histograms_[o] = in.counts("/histograms/" + std::to_string(o));
  stops_.restore(in);
  fates_.restore(in);
  averages_.restore(in);
  if (!plan_.derivatives.empty()) concentration_.restore(in, concentration_group);
  if (values_) values_->memory() = in.numbers("/values");
  if (values_ && values_->file()) values_->file()->restore(in.counts("/values_written"));
}

void EnsembleStatistics::save_part(ResultSink& sink) const {
  PartStateWriter out(sink);
  save_state(out);
  sink.attribute("/", digest_name, out.digest());
  if (!values_) return;
  const std::uint64_t series = samples() * quantile_observables_;
  sink.create(values_path, ResultSink::Type::f64, {series, range_.count()});
  for (std::uint64_t i = 0; i < series; ++i)
    sink.write(values_path, {i, 0}, {1, range_.count()}, values_->read(i).data());
}

void EnsembleStatistics::append_part(const ResultFile& part) {
  try {
    const PartStateReader in(part);
    for_each_tree(*this, [&](const char* name, auto& trees) {
      auto next = trees;
      get_trees(in, name, next);
      for (std::size_t i = 0; i < trees.size(); ++i) {
        if (next[i].begin() != trees[i].end()) throw std::out_of_range("other chunks");
        trees[i].append(next[i]);
      }
    });
    for (std::size_t o = 0; o < histograms_.size(); ++o) {
      if (!bins_[o]) continue;
      const std::vector<std::uint64_t> counts = in.counts("/histograms/" + std::to_string(o));
      for (std::size_t i = 0; i < histograms_[o].size(); ++i) histograms_[o][i] += counts.at(i);
    }
    stops_.append(in);
    fates_.append(in);
    averages_.append(in);
    if (!plan_.derivatives.empty()) concentration_.append(in, concentration_group);
    const auto attributes = part.attributes("/");
    const auto digest = attributes.find(digest_name);
    if (digest == attributes.end() || digest->second != Attribute(in.digest()))
      input_error(part.path().string(),
                  "is damaged (its statistics do not match their checksum); delete it, and compute the part again");
    if (!values_) return;
    const std::uint64_t series = samples() * quantile_observables_, count = part.datasets().at(values_path).shape.at(1);
    std::vector<double> values(std::min(count, block_values));
    for (std::uint64_t i = 0; i < series; ++i)
      for (std::uint64_t k = 0; k < count; k += values.size()) {
        const std::uint64_t size = std::min<std::uint64_t>(values.size(), count - k);
        part.read(values_path, {i, k}, {1, size}, values.data());
        values_->write(i, appended_values_ + k, values.data(), size);
      }
    appended_values_ += count;
  } catch (const std::logic_error&) {  // out_of_range
    input_error(part.path().string(),
                "is not a part of this study (its statistics have another layout); compute it again");
  } catch (const std::bad_variant_access&) {
    input_error(part.path().string(),
                "is not a part of this study (its statistics have other types); compute it again");
  }
}

}  // namespace rattleback
