#pragma once
// One run of a study: integrates tiles one after the other, reduces and writes their output, and writes checkpoints. While a tile is
// integrated, another thread fills the next one with initial states, and one writes the tiles before and the output so far.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rattleback/base/floating_point.hpp"
#include "rattleback/base/in_order.hpp"
#include "rattleback/base/mutex.hpp"
#include "rattleback/engine/backend.hpp"
#include "rattleback/engine/ensemble_statistics.hpp"
#include "rattleback/engine/run.hpp"
#include "rattleback/engine/sections.hpp"
#include "rattleback/engine/stop_start.hpp"
#include "rattleback/engine/timed_sink.hpp"
#include "rattleback/results/result.hpp"
#include "rattleback/study/derivatives.hpp"
#include "rattleback/study/ensemble.hpp"
#include "rattleback/study/fates.hpp"
#include "rattleback/study/points.hpp"

namespace rattleback {

class CheckpointReader;
class FileSink;
struct RunFiles;

/// The times and the step counts of the samples.
struct SampleGrid {
  std::vector<double> time;
  /// Steps of the interval before each sample; 0 for the first sample, and 0 where the number of steps varies.
  std::vector<std::int64_t> steps;
  std::vector<std::int64_t> before;  ///< number of steps of all earlier intervals
};

/// Memory that is free to be used again, by the same run or by the next one.
struct Buffers {
  std::vector<Tile> tiles;
  std::vector<RoundOutput> outputs;
};

/// Position of a run. All earlier output is in the result, the statistics, or the tile.
struct Position {
  std::uint64_t first = 0;   ///< first trajectory of the tile
  bool filled = false;       ///< the tile has its initial states
  std::uint64_t sample = 0;  ///< next sample of the tile
  std::int64_t step = 0;     ///< steps done towards this sample
};

/// A tile on its way through a run. What is said of the result changes under the lock of the run.
struct TileInWork {
  Tile tile;
  /// The initial states, as the result has them, until they are written.
  struct Initial {
    std::vector<double> q, v, p, lambda;
    std::vector<std::vector<double>> axes;
  } initial;
  bool filled = true;  ///< the tile has its initial states; if not, the backend makes them
  bool begun = false;  ///< the result has the initial states
  /// Samples [first, first + samples) of the tile.
  struct Output {
    std::uint64_t first = 0, samples = 0;
    RoundOutput numbers;
  };
  std::deque<Output> outputs;      ///< that are not in the result yet
  Position end;                    ///< of a tile that is integrated
  std::uint64_t steps_before = 0;  ///< steps of all trajectories before this tile,
  std::uint64_t steps_after = 0;   ///< and with it
};

class Runner {
 public:
  /// `files` and `file` are for a run into a file. `from` is for a run that continues. With `part` the run is of these
  /// trajectories alone: arrays with an entry per trajectory have entries for them, and in place of statistics the file
  /// has what the statistics of the whole ensemble need.
  Runner(const Problem& problem, ResultSink& sink, const RunOptions& options, Backend& backend, Buffers& buffers,
         const RunFiles* files = nullptr, FileSink* file = nullptr, const CheckpointReader* from = nullptr,
         const std::optional<Range>& part = {});

  /// Runs to the end and commits the result. Call this once. After a failure a run into a file leaves a checkpoint.
  Summary operator()();
  ~Runner() { cancelled_ = true; }  // next_ is destroyed first, and waits for its thread
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  [[nodiscard]] static double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

  /// Pieces of work that wait for the writer: starts of tiles, rounds of output, and ends of tiles. They bound the memory of the output.
  static constexpr std::size_t most_waiting = 8;
  /// Tiles in host memory: one that is written, one that is integrated, and one that is prepared.
  static constexpr std::size_t most_tiles = 3;

  /// Counts of numbers in q, in v and p, and in lambda.
  struct Widths {
    std::uint64_t elements, n, m;
  };
  [[nodiscard]] Widths widths() const;

  // Integration, defined in runner.cpp.

  /// Returns the number of trajectories of a tile in whole chunks: the requested number, or as many as fit the backend.
  [[nodiscard]] std::uint64_t tile_trajectories() const;
  /// Integrates the tile at the position to the end, or makes the tile smaller when memory is short.
  void run_tile();
  /// Takes the tile at the position, with initial states, and begins to prepare the next one.
  void take_tile();
  /// Integrates the tile from the position to the last sample.
  void integrate_tile();
  /// Whether the end of a tile needs more of it than counts (Backend::fetch_counts).
  [[nodiscard]] bool end_needs_states() const;
  /// Halves the tile at the position. The tile must be at the first sample. Returns false for a tile of one chunk.
  bool halve_tile();
  /// Does the work and adds the time to the time of the integration. Returns the time of the work in seconds.
  template <class Work>
  double integrate(Work work);
  /// Does the work of the writer and adds its time to a phase, but for what the work writes.
  template <class Work>
  void spend(double& phase, Work work) {
    const double written = summary_.phases.write;
    const auto start = Clock::now();
    work();
    phase += seconds_since(start) - (summary_.phases.write - written);
  }
  /// Does what waits for the preparation of tiles or for the writer, and adds the time of the calling thread.
  template <class Work>
  void await(Work work) {
    const auto start = Clock::now();
    work();
    summary_.phases.wait += seconds_since(start);
  }
  /// Makes the tile that begins with a trajectory, with room for its states.
  [[nodiscard]] std::shared_ptr<TileInWork> make_tile(std::uint64_t first);
  /// Lists the recorded trajectories of a tile.
  void list_recorded(Tile& tile) const;
  struct Prepared {
    std::shared_ptr<TileInWork> work;
    double seconds;  ///< that it took
  };
  /// Begins to prepare the tile from a trajectory on.
  void prepare_next(std::uint64_t first);
  /// Makes a tile with initial states, in any thread, once the memory of an earlier tile is free.
  [[nodiscard]] Prepared prepare(std::uint64_t first);
  /// Returns the next stretches, within the budget of steps and the memory for samples. Advances the position `at`.
  Round next_round(Position& at);
  /// Says so where trajectories whose steps follow a density wait for each other much of the time.
  void warn_of_waiting() const;
  /// Sets the number of steps of the next round from the time of the last round.
  void adapt_budget(std::int64_t done, double seconds);
  /// Gives the output of a round to the writer.
  void hand_over(TileInWork::Output output);
  /// Gives a piece of work to the writer.
  void add(std::function<void()> work) {
    await([&] { writer_.add(std::move(work)); });
  }
  /// Moves the first waiting output of a tile to the result and the statistics. Operations that may fail come first, and operations
  /// that must not be repeated come last.
  void absorb(TileInWork& work);
  /// Goes back to the first tile that is not written, after a failure of the writer: to its beginning, or to what is computed of it.
  void go_back();
  /// Checks the initial states, unless the run is so short that they are checked when tiles are filled with them. A run that goes on
  /// checks them first.
  void check();
  /// Has the backend find which points it can prepare, and checks the others. Returns false where these are too many.
  bool check_on_backend();
  /// Returns the steps of all trajectories, also of those that are left out where the step does not vary.
  [[nodiscard]] std::uint64_t steps_of(const PointSample& points) const;
  /// These fill a tile with initial states: all trajectories, which are checked, or from any thread one by one or chunk by chunk.
  void begin_filling(TileInWork& work) const;
  void fill(TileInWork& work) const;
  void fill(TileInWork& work, std::uint64_t k, const InitialData& data, const Point* point) const;
  /// Fills the chunk of a tile with points that packs have prepared, but for those that are to be prepared alone.
  void fill(TileInWork& work, ChunkPoints& points) const;
  void end_filling(TileInWork& work) const;
  /// Throws where the tile that is filled is no longer wanted.
  void stop_filling() const;
  /// Fills trajectories of a tile that a backend leaves to the host.
  void fill_alone(TileInWork& work, std::span<const std::uint64_t> alone) const;
  /// Begins the tile at the position on the backend, which makes its initial states.
  void begin_at_start();
  /// Gives the beginning of the tile at the position to the writer.
  void hand_over_start();
  /// Sets the initial tangent vectors of trajectory k of a tile.
  void put_tangents(Tile& tile, std::uint64_t k, const std::vector<double>& parameters, const std::vector<double>& q,
                    const std::vector<double>& v, const std::vector<double>& p) const;
  /// Sets the derivatives that trajectory k of a tile starts with.
  void put_derivatives(Tile& tile, std::uint64_t k, const std::vector<StartDerivative>& derivatives) const;
  /// Sets the rows of a trajectory that the condition of the ensemble leaves out.
  void leave_out(Tile& tile, std::uint64_t k) const;
  /// Returns what sets the rows of stops.
  [[nodiscard]] StopStarts stop_starts() const;
  void report_progress();

  // Results, defined in runner_output.cpp.

  /// Creates all datasets except the crossings, whose number is unknown, and lists the recorded trajectories.
  void create_datasets();
  /// Creates datasets of q, v, p and lambda. Each dataset has the given shape and its own width.
  void create_state(const std::string& group, const Shape& shape);
  /// Returns the row of the tile's first trajectory in arrays with a row per trajectory.
  [[nodiscard]] std::uint64_t row_of(const Tile& tile) const { return tile.first - range_.first; }
  void write_rows(const std::string& group, const std::string& name, const Tile& tile, std::uint64_t width,
                  const std::vector<double>& data);
  void write_state(const std::string& group, const Tile& tile, const std::vector<double>& q,
                   const std::vector<double>& v, const std::vector<double>& p, const std::vector<double>& lambda);
  /// Returns the parameters of trajectory k of a tile.
  [[nodiscard]] std::vector<double> parameters_of(const Tile& tile, std::uint64_t k) const;
  /// Returns the time of the state of trajectory k of a tile.
  [[nodiscard]] double time_of(const Tile& tile, std::uint64_t k) const;
  /// Returns the step size of trajectory k of a tile.
  [[nodiscard]] double step_of(const Tile& tile, std::uint64_t k) const;
  /// Writes the states of the recorded trajectories at the samples of a round.
  void write_records(const Tile& tile, const TileInWork::Output& output);
  /// Writes the initial states of a tile.
  void begin_tile(TileInWork& work);
  /// Writes the final states and counts of a tile that is at the end. Then adds the counts to the summary, and fits and stops to
  /// the statistics.
  void end_tile(Tile& tile);
  /// Writes the orbits of a tile whose steps follow a density, from which a run can go on. Of a trajectory that failed, the last state of
  /// the orbit is what is shown.
  void end_orbits(Tile& tile);
  /// Returns what the statistics take of the end of such a trajectory, without its stop and its fate.
  [[nodiscard]] TrajectoryEnd end_by_density(const Tile& tile, std::uint64_t k) const;
  /// Makes trajectories good that a stop has ended, and those failed whose stop could not be located.
  void judge_stopped(Tile& tile, const StoppedTrajectories& stopped) const;
  /// The states of the trajectories of a tile at their ends, row by row.
  struct FinalStates {
    std::vector<double> q, v, p, lambda;
  };
  [[nodiscard]] FinalStates final_states(const Tile& tile, const StoppedTrajectories& stopped) const;
  /// Returns what the statistics take of the ends of trajectories, without their fates.
  [[nodiscard]] std::vector<TrajectoryEnd> ends_of(const Tile& tile, const StoppedTrajectories& stopped) const;
  /// Writes which stop has ended each trajectory, and the time of its end.
  void write_stops(const Tile& tile, const std::vector<TrajectoryEnd>& ends);
  /// Writes the fate of each trajectory, and adds it to the ends.
  void write_fates(const Tile& tile, const FinalStates& states, std::vector<TrajectoryEnd>& ends);
  /// Writes the Lyapunov exponents at the end, from the same function as at the samples.
  void write_lyapunov(const Tile& tile);
  /// Writes the derivatives of the final states, and beside stops those of the times at which trajectories end.
  void write_derivatives(const Tile& tile, const FinalStates& states, const StoppedTrajectories& stopped);
  /// Makes the derivatives of trajectory k, whose steps follow a density, those of the state that is shown and of its time.
  void end_derivatives(Tile& tile, std::uint64_t k, bool orbit_is_shown) const;
  /// Writes the tables of crossings.
  void write_crossings();
  /// Completes the summary. Writes the summary, the study and the version.
  void write_attributes();

  // Checkpoints, defined in runner_checkpoint.cpp.

  /// Throws Error(runtime) after a stop request, while nothing is computed yet.
  void stop_before_start() const;
  /// Called between two rounds. Ends the run after a stop request, or saves a checkpoint when one is due.
  void stop_or_checkpoint();
  /// Saves a checkpoint. A disk too full for a checkpoint does not end the run, because the result has reserved space.
  void try_checkpoint();
  /// Saves a checkpoint after a failure, if possible. Returns advice for the user.
  std::string rescue();
  void save_checkpoint();
  /// Saves a checkpoint of a tile in host memory.
  void write_checkpoint();
  /// Makes this run in memory a run into a file.
  void move_into_file(const std::filesystem::path& file);
  /// Restores the state of a checkpoint, whose tile becomes the one at the position. Throws Error(input) when the checkpoint has another layout or a file of
  /// initial states has changed.
  void restore(const CheckpointReader& in);
  /// Returns the rows of the tile that belong into a checkpoint, chunk by chunk.
  [[nodiscard]] std::vector<double> persistent_rows() const;
  void restore_rows(const std::vector<double>& rows);

  FloatingPointScope environment_;  ///< of the calling thread, for all that follows
  const Problem& problem_;
  const Study& study_;
  ResultSink& target_;
  TimedSink sink_;  ///< the target, with a clock
  const RunOptions& options_;
  Backend& backend_;
  Buffers& buffers_;
  const RunFiles* files_;
  FileSink* file_;
  const SystemEntry& system_;
  const MethodEntry& method_;
  bool whole_;    ///< the run is of all trajectories
  bool resumed_;  ///< it goes on from a checkpoint
  Ensemble ensemble_;
  std::optional<StartKernel> start_kernel_;
  std::optional<StartProgram> start_program_;  ///< where the backend makes the initial states
  Range range_;                                ///< the trajectories of the run
  std::uint64_t input_digest_ = 0;             ///< of the file of initial states, for checkpoints
  unsigned threads_;

  Plan plan_;
  SampleGrid grid_;
  EnsembleStatistics statistics_;
  Fates fates_;
  std::uint64_t tile_size_ = 0, total_steps_ = 0;
  std::vector<std::uint64_t> recorded_;

  Position position_;
  /// The place of the tile's states at the position. The states are nowhere while the backend computes and after a
  /// failed computation.
  enum class States { host, backend, nowhere } states_ = States::host;
  bool halved_ = false;                ///< tiles have become smaller, and the user was told
  std::int64_t longest_interval_ = 0;  // longest interval of the tile in steps, where the steps vary
  std::int64_t budget_ = 64;           // steps of a round
  std::int64_t calls_ = 0;  // calls that the last interval took, where steps follow a density; 0 when none is known
  std::uint64_t taken_ = 0, possible_ = 0;  // steps of this process (RoundOutput)
  bool reached_ = false;                    // all trajectories have reached the time of the next sample

  std::unique_ptr<CrossingLocator> locate_;
  std::unique_ptr<CrossingStore> crossings_;

  Control control_;
  Summary summary_;
  Clock::time_point start_ = Clock::now(), last_checkpoint_ = start_;
  std::uint64_t steps_since_checkpoint_ = 0;
  double checkpoint_seconds_ = 0.0;  ///< seconds that the last checkpoint took
  bool interrupted_ = false;
  std::shared_ptr<RunFiles> rescue_files_;  ///< of a run in memory that has moved into a file
  std::shared_ptr<FileSink> rescue_sink_;

  std::shared_ptr<TileInWork> work_;               ///< the tile at the position
  Mutex mutex_;                                    ///< of the buffers, and of what follows
  std::deque<std::shared_ptr<TileInWork>> tiles_;  ///< those that are not all in the result, in order
  std::atomic<bool> cancelled_{false};             ///< the tile that is prepared is no longer wanted
  InOrder writer_{most_waiting,
                  [this] { report_progress(); }};  ///< begins and ends tiles, and absorbs their output in between
  std::future<Prepared> next_;                     ///< the tile after the position's; its thread uses all members above
};

}  // namespace rattleback
