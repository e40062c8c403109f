#pragma once
// The statistics of a run: everything that is reduced over the trajectories while the run goes on.

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rattleback/engine/averages.hpp"
#include "rattleback/engine/backend.hpp"
#include "rattleback/engine/concentration.hpp"
#include "rattleback/engine/fates.hpp"
#include "rattleback/engine/stops.hpp"
#include "rattleback/kernels/isa.hpp"
#include "rattleback/results/checkpoint.hpp"
#include "rattleback/results/result.hpp"
#include "rattleback/study/ensemble.hpp"
#include "rattleback/study/fit.hpp"
#include "rattleback/study/groups.hpp"
#include "rattleback/study/statistics.hpp"

namespace rattleback {

/// Statistics of the ensemble and of its groups, at all samples. The reduction tree of the ensemble has the chunks as
/// leaves (ChunkTree). The tree of a set of trajectories (Groups) has as leaves the chunks that have trajectories of the
/// set, where the other trajectories do not count.
class EnsembleStatistics {
 public:
  /// Statistics of the trajectories `range`, which begins with a chunk. `times` are those of the samples. Values for
  /// quantiles that do not fit into memory go to `file`, which belongs to the run `run`; without a name they go to an
  /// unnamed file.
  EnsembleStatistics(const Problem& problem, const Ensemble& ensemble, const Range& range, const Plan& plan,
                     std::vector<double> times, unsigned threads, const std::filesystem::path& file,
                     const std::string& run);

  /// Creates the datasets of the values that the result keeps.
  void create_values(ResultSink& sink) const;
  /// Creates all other datasets.
  void create(ResultSink& sink) const;
  /// Stores the values for quantiles, and writes the values that the result keeps. The call may fail, and may be
  /// repeated.
  void store(ResultSink& sink, const Tile& tile, const RoundOutput& output, std::uint64_t first, std::uint64_t samples);
  /// Adds the samples [first, first + samples) of a tile to the trees. Tiles come in order, and so do samples.
  void add(const Tile& tile, const RoundOutput& output, std::uint64_t first, std::uint64_t samples);
  /// Adds the fits and averages of the trajectories of a tile that is at the end, and their ends where the study has stops or fates.
  void end_tile(const Tile& tile, const std::vector<TrajectoryEnd>& ends, const TileAverages& averages);
  /// Writes all datasets, after the last tile. `warn` receives doubts about the numbers.
  void write(ResultSink& sink, const std::function<void(const std::string&)>& warn) const;
  /// Returns, per observable, how many values were not finite; only counts above 0.
  [[nodiscard]] std::map<std::string, std::uint64_t> missing() const;

  /// Writes the values to disk that are in a file.
  void sync();
  /// Gives the unnamed file of the values, if there is one, the name `file` and the run `run`.
  void move_to_file(const std::filesystem::path& file, const std::string& run);
  void save(CheckpointWriter& out) const;
  void restore(const CheckpointReader& in);
  /// Writes all that the statistics of the whole ensemble need of this range.
  void save_part(ResultSink& sink) const;
  /// Adds the range of a part, which comes next. Throws Error(input) when the file has another layout.
  void append_part(const ResultFile& part);
  /// Takes the references of the tile that the run goes on with.
  void restore_references(const Tile& tile);

 private:
  /// Trees over the ensemble, [series], and over its sets, [series][set].
  template <class Node>
  struct Trees {
    std::vector<ChunkTree<Node>> all, sets;
  };
  /// Trajectories of one set in one chunk.
  struct Members {
    std::uint64_t set;
    std::vector<std::uint8_t> lanes;
  };
  /// A part of the ensemble with statistics in the result.
  using Cell = std::int64_t;
  static constexpr Cell whole = -1;  ///< the ensemble; otherwise the index of a cell

  using Lanes = std::array<double, chunk_size>;
  /// Returns the values of the lanes of a set, and NaN in the other lanes.
  [[nodiscard]] static Lanes only(const Members& set, const double* values);
  /// Calls f(name in a file, trees) for all trees of statistics, or of constant ones.
  template <class Statistics, class F>
  static void for_each_tree(Statistics& statistics, F f);

  /// Returns, for each set, how many chunks before the range have trajectories of the set.
  [[nodiscard]] std::vector<std::uint64_t> chunks_before() const;
  void save_state(StateWriter& out) const;
  [[nodiscard]] std::vector<std::vector<Members>> members_of(const Tile& tile) const;
  void add_to_sets(const Tile& tile, const RoundOutput& output, const std::vector<std::vector<Members>>& members,
                   std::uint64_t s, std::uint64_t sample);
  void set_references(const Tile& tile, const RoundOutput& output);
  /// Returns an observable's values in sample s of the output, one per lane of the chunk.
  [[nodiscard]] const double* values_of(const Tile& tile, const RoundOutput& output, std::uint64_t s,
                                        std::uint64_t chunk, std::size_t observable) const {
    return output.values.data() + ((s * tile.chunks() + chunk) * observables() + observable) * chunk_size;
  }
  /// Parts with datasets of the same shape, under one group of the result: the ensemble, or all cells.
  struct Parts {
    std::string root;
    Shape shape;  ///< without the samples
    std::vector<Cell> cells;
  };
  [[nodiscard]] std::vector<Parts> parts() const;
  void create_part(ResultSink& sink, const Parts& parts) const;
  void write_observable(ResultSink& sink, const Parts& parts, std::size_t o) const;
  void write_correlations(ResultSink& sink, const Parts& parts, std::size_t o) const;
  /// Writes the derivatives of the statistics of an observable.
  void write_derivatives(ResultSink& sink, const Parts& parts, std::size_t o) const;
  void write_quantiles(ResultSink& sink, const Parts& parts, std::size_t o) const;
  void write_fit(ResultSink& sink, const Parts& parts, std::size_t f,
                 const std::function<void(const std::string&)>& warn) const;
  void write_histogram(ResultSink& sink, std::size_t o) const;
  void write_covariance(ResultSink& sink) const;
  /// Warns of a fit without finite parameters or errors in some part.
  static void warn_of_lacking(const Fit& fit, const Parts& parts, const std::vector<FitEstimate>& estimates,
                              const std::function<void(const std::string&)>& warn);
  void warn_of_few(std::size_t o, const std::function<void(const std::string&)>& warn) const;
  void warn_of_missing_derivatives(const std::function<void(const std::string&)>& warn) const;
  /// Writes how much of the sum of squares of each derivative few trajectories carry, and warns where it is much.
  void write_concentration(ResultSink& sink, const std::function<void(const std::string&)>& warn) const;
  [[nodiscard]] FitEstimate estimate_of_curve(std::size_t f, Cell cell) const;
  [[nodiscard]] FitEstimate estimate_of_line(std::uint64_t line, Cell cell) const;
  /// Returns the node of a part of the ensemble, and those of its blocks. `set_series` is the series among the sets.
  template <class Node>
  [[nodiscard]] Node node_of(const Trees<Node>& trees, std::uint64_t series, std::uint64_t set_series, Cell cell) const;
  template <class Node>
  [[nodiscard]] std::vector<Node> blocks_of(const Trees<Node>& trees, std::uint64_t set_series, Cell cell) const;
  /// Returns a statistic of a part with its error: the scatter over randomisations, otherwise error(node).
  template <class Node, class Of, class Error>
  [[nodiscard]] ValueWithError estimate(const Node& node, const std::vector<Node>& blocks, Of of, Error error) const;
  /// The same of the node of a part.
  template <class Node, class Of, class Error>
  [[nodiscard]] ValueWithError estimate(const Trees<Node>& trees, std::uint64_t series, std::uint64_t set_series,
                                        Cell cell, Of of, Error error) const;

  [[nodiscard]] std::uint64_t samples() const { return times_.size(); }
  /// Returns the number of counts of a histogram of observable `o`: its bins, and below and above; 0 without one.
  [[nodiscard]] std::uint64_t counts(std::size_t o) const { return bins_[o] ? bins_[o]->edges().size() + 1 : 0; }
  [[nodiscard]] std::uint64_t observables() const { return plan_.codes.size(); }
  /// Returns the number of pairs with joint moments of sets: those of the correlations, and those of the covariance where
  /// its errors come from sets.
  [[nodiscard]] std::uint64_t set_pairs() const {
    return groups_.randomised() ? plan_.pairs.size() : plan_.first_covariance;
  }

  const Problem& problem_;
  const Study& study_;
  const Plan& plan_;
  const Ensemble& ensemble_;
  Range range_;
  const IsaFunctions& functions_;
  const Groups& groups_;
  std::vector<double> times_;
  unsigned threads_;

  StopStatistics stops_;
  FateStatistics fates_;
  AverageStatistics averages_;
  Concentration concentration_;     ///< series [sample][derivative], of the derivatives of an observable
  Trees<Moments> moments_;          ///< series [sample][observable]
  Trees<CoMoments> co_moments_;     ///< series [sample][pair]; the sets have the first set_pairs() pairs
  Trees<CoMoments> lines_;          ///< series [fit of a line]: intercepts and slopes
  std::vector<double> references_;  ///< of the tile, [chunk][observable][lane], where there are sets

  std::vector<std::optional<Bins>> bins_;  ///< per observable of the study
  std::vector<std::vector<std::uint64_t>> histograms_;
  std::uint64_t quantile_observables_ = 0;
  std::vector<std::uint64_t> series_;  ///< index of an observable among the observables with quantiles
  std::unique_ptr<ValueStore> values_;
  std::uint64_t appended_values_ = 0;  ///< per series, of parts
};

}  // namespace rattleback
