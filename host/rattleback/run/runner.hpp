#pragma once
// One run of a study: its tiles integrated one after the other, their output reduced and written, checkpoints in between.

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rattleback/backend/backend.hpp"
#include "rattleback/problem/ensemble.hpp"
#include "rattleback/result/result.hpp"
#include "rattleback/run/run.hpp"
#include "rattleback/run/sections.hpp"
#include "rattleback/statistics/statistics.hpp"

namespace rattleback {

class CheckpointReader;
class FileSink;
struct RunFiles;

/// Where in time the samples are.
struct SampleGrid {
  std::vector<double> time;
  /// Of the interval before each sample; 0 for the first; unknown (0) where they vary.
  std::vector<std::int64_t> steps;
  std::vector<std::int64_t> before;  ///< the sum of those of earlier intervals
};

/// What one run may take over from the one before it.
struct Buffers {
  Tile tile;
  SegmentOutput output, computed;
};

/// How far a run is: everything before this is in the result, the statistics, or the tile.
struct Position {
  std::uint64_t first = 0;   ///< trajectory of the tile
  bool filled = false;       ///< the tile's initial states are in the result
  std::uint64_t sample = 0;  ///< the next one of the tile
  std::int64_t step = 0;     ///< steps towards it
};

class Runner {
 public:
  /// `files` and `file` belong to a run into a file, `from` to one that goes on.
  Runner(const Problem& problem, ResultSink& sink, const RunOptions& options, Backend& backend, Buffers& buffers,
         const RunFiles* files = nullptr, FileSink* file = nullptr, const CheckpointReader* from = nullptr);

  /// Runs to the end and commits the result; once. What fails leaves a checkpoint where the result is a file.
  Summary operator()();

 private:
  using Clock = std::chrono::steady_clock;
  [[nodiscard]] static double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

  /// Numbers of q, of v and p, of lambda.
  struct Widths {
    std::uint64_t elements, n, m;
  };
  [[nodiscard]] Widths widths() const;

  // Integration (runner.cpp)

  /// Trajectories of a tile, whole chunks: those asked for, or as many as fit the backend.
  [[nodiscard]] std::uint64_t tile_trajectories() const;
  /// Takes the tile at the position, or what is left of it, to the end, or makes it smaller.
  void run_tile();
  /// Takes the tile from the position to its last sample. The output of each segment waits for the next one.
  void integrate_tile();
  /// Makes the tile at the position, which is at its beginning, half as large. False where it is one chunk.
  bool halve_tile();
  /// Does the work, adds its time to that of the integration, and returns it.
  template <class Work>
  double integrate(Work work);
  /// Makes room for the tile at the position and lists which of its trajectories are recorded.
  void set_up_tile();
  /// The next stretches, as long as the budget of steps and the memory for samples allow; moves the position on.
  Segment next_segment(Position& at);
  /// Sets the steps of the next segment by the time that the last one took.
  void adapt_budget(std::int64_t done, double seconds);
  /// Puts the output that waits where it belongs, which may be while the next segment is computed. What may fail comes
  /// first, what cannot be done twice last.
  void absorb();
  /// An observable's values in sample s of the segment, one per lane of the chunk.
  [[nodiscard]] const double* values_at(std::uint64_t s, std::uint64_t chunk, std::uint64_t observable) const;
  /// Evaluates the initial states of a tile into its rows and into the result.
  void fill(Tile& tile);
  void report_progress();

  // Results (runner_output.cpp)

  /// Creates all datasets but those of crossings, whose number is not known yet, and lists the recorded trajectories.
  void create_datasets();
  /// Datasets of q, v, p and lambda, each of the shape given and its own width.
  void create_state(const std::string& group, const Shape& shape);
  void write_rows(const std::string& group, const std::string& name, const Tile& tile, std::uint64_t width,
                  const std::vector<double>& data);
  void write_state(const std::string& group, const Tile& tile, const std::vector<double>& q,
                   const std::vector<double>& v, const std::vector<double>& p, const std::vector<double>& lambda);
  /// The parameters of trajectory k of a tile.
  [[nodiscard]] std::vector<double> parameters_of(const Tile& tile, std::uint64_t k) const;
  /// The states of the recorded trajectories at the samples of a segment.
  void write_records(const Tile& tile, std::uint64_t first_sample, std::uint64_t samples);
  /// The tile's final states and counts; adds the counts to the summary.
  void write_final(const Tile& tile);
  /// The exponents at the end, by the same function as at the samples.
  void write_lyapunov(const Tile& tile);
  void write_statistics();
  /// Says how many values of an observable were not finite, where there are any; `missing` is per sample.
  void note_missing(const std::string& observable, const std::vector<std::uint64_t>& missing);
  /// Of observable `o` of the study.
  void write_histogram(const std::string& group, std::uint64_t o);
  void write_covariance();
  void write_crossings();
  /// Completes the summary and writes it with the study and the version.
  void write_attributes();

  // Checkpoints (runner_checkpoint.cpp)

  /// Between two segments: ends the run when that is asked for, or saves a checkpoint when one is due.
  void stop_or_checkpoint();
  /// The space of the result is taken: a disk too full for a checkpoint is no reason to stop.
  void try_checkpoint();
  /// After a failure: saves what there is, if that is possible. Returns what to do.
  std::string rescue();
  void save_checkpoint();
  /// The same for a tile that is on the host.
  void write_checkpoint();
  /// Takes over what a checkpoint holds. Throws Error(input) where its layout is another or a file of initial states has
  /// changed since.
  void restore(const CheckpointReader& in);
  /// Changes when a file that the initial states come from does.
  [[nodiscard]] std::uint64_t input_hash() const;
  /// The rows of the tile that a checkpoint keeps, chunk by chunk.
  [[nodiscard]] std::vector<double> persistent_rows() const;
  void restore_rows(const std::vector<double>& rows);

  const Problem& problem_;
  const Study& study_;
  ResultSink& sink_;
  const RunOptions& options_;
  Backend& backend_;
  Tile& tile_;
  SegmentOutput &output_, &computed_;
  const RunFiles* files_;
  FileSink* file_;
  const SystemEntry& system_;
  const MethodEntry& method_;
  Ensemble ensemble_;
  unsigned threads_;

  Plan plan_;
  SampleGrid grid_;
  std::uint64_t tile_size_ = 0, total_steps_ = 0;
  std::vector<std::uint64_t> recorded_;
  std::uint64_t quantile_observables_ = 0;
  std::vector<std::uint64_t> series_;  // of an observable among those with quantiles

  Position position_;
  /// Where the tile's states at the position are: not anywhere while the backend computes, nor after it has failed.
  enum class States { host, backend, nowhere } states_ = States::host;
  bool halved_ = false;   ///< tiles have become smaller, and the user knows
  bool pending_ = false;  // output_ holds samples [pending_first_, + pending_samples_) that are not in the result yet
  std::uint64_t pending_first_ = 0, pending_samples_ = 0;
  std::int64_t longest_interval_ = 0;  // of the tile, in steps, where they vary
  std::int64_t budget_ = 64;           // steps of a segment

  std::vector<ChunkTree<Moments>> trees_;       // [sample][observable]
  std::vector<ChunkTree<CoMoments>> co_trees_;  // [sample][pair]
  std::vector<std::uint64_t> bins_;             // per observable of the study, with the two outside; 0 without
  std::vector<std::vector<std::uint64_t>> histograms_;
  std::unique_ptr<ValueStore> values_;
  std::unique_ptr<CrossingLocator> locate_;
  std::unique_ptr<CrossingStore> crossings_;

  Control control_;
  Summary summary_;
  Clock::time_point start_ = Clock::now(), last_checkpoint_ = start_;
  std::uint64_t steps_since_checkpoint_ = 0;
  double checkpoint_seconds_ = 0.0;  ///< that the last one took
  bool interrupted_ = false;
};

}  // namespace rattleback
