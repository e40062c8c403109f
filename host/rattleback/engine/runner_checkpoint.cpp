// Runner: checkpoints, and the restart from a checkpoint.

#include <algorithm>

#include "rattleback/base/mark.hpp"
#include "rattleback/base/message.hpp"
#include "rattleback/base/version.hpp"
#include "rattleback/engine/runner.hpp"
#include "rattleback/engine/tree_files.hpp"
#include "rattleback/results/checkpoint.hpp"

namespace rattleback {
namespace {

/// Largest share of the run time for checkpoints, even when a study wants frequent checkpoints.
constexpr double checkpoint_share = 0.02;

/// Version of the layout of a checkpoint.
constexpr std::uint64_t checkpoint_format = 8;

}  // namespace

void Runner::stop_before_start() const {
  if (!options_.stop.stop_requested()) return;
  throw Error(Error::Kind::runtime,
              resumed_ ? "interrupted; 'rattleback resume " + files_->result.string() + "' continues it"
                       : "interrupted; nothing was written");
}

void Runner::stop_or_checkpoint() {
  if (options_.stop.stop_requested()) {
    writer_.finish();
    interrupted_ = true;
    if (!file_ && options_.rescue)
      if (const std::filesystem::path file = options_.rescue(); !file.empty()) move_into_file(file);
    if (!file_) throw Error(Error::Kind::runtime, "interrupted; nothing was written");
    save_checkpoint();
    throw Error(Error::Kind::runtime, "interrupted; 'rattleback resume " + files_->result.string() + "' continues it");
  }
  if (!file_) return;
  const Study::Checkpoint& wanted = study_.output.checkpoint;
  const double since = seconds_since(last_checkpoint_);
  const bool due =
      (wanted.steps > 0 && steps_since_checkpoint_ >= wanted.steps) || (wanted.seconds > 0 && since >= wanted.seconds);
  if (due && since >= checkpoint_seconds_ / checkpoint_share) try_checkpoint();
}

void Runner::try_checkpoint() {
  const auto start = Clock::now();
  await([this] { writer_.finish(); });
  if (states_ == States::backend) backend_.fetch(work_->tile);  // a failure of the device ends the run here
  try {
    write_checkpoint();
  } catch (const Error& error) {
    if (error.kind() != Error::Kind::runtime) throw;
    if (options_.warn) options_.warn(std::string("no checkpoint: ") + error.what() + "; the run goes on");
  }
  last_checkpoint_ = Clock::now();
  checkpoint_seconds_ = seconds_since(start);
  steps_since_checkpoint_ = 0;
}

std::string Runner::rescue() {
  try {
    writer_.finish();
  } catch (const std::exception&) {  // the one that ends the run, in most cases
  }
  try {
    go_back();
    if (states_ != States::nowhere) save_checkpoint();
  } catch (const std::exception&) {
  }
  if (std::error_code code; !std::filesystem::exists(files_->checkpoint, code)) return "nothing could be saved";
  return "'rattleback resume " + files_->result.string() + "' continues it from the last checkpoint";
}

void Runner::save_checkpoint() {
  if (states_ == States::backend) backend_.fetch(work_->tile);
  write_checkpoint();
}

void Runner::move_into_file(const std::filesystem::path& file) {
  const auto* const memory = dynamic_cast<const MemorySink*>(&target_);
  if (memory == nullptr) return;
  rescue_files_ = std::make_shared<RunFiles>(check_output(file, study_.inputs()));
  rescue_sink_ = std::make_shared<FileSink>(rescue_files_->result, new_run());
  rescue_files_->remove_scratch();
  rescue_sink_->adopt(*memory);
  rescue_sink_->reserve();
  statistics_.move_to_file(rescue_files_->values, rescue_sink_->run());
  if (crossings_) crossings_->file().move_to(rescue_files_->crossings, rescue_sink_->run());
  input_digest_ = ensemble_.file_digest();
  files_ = rescue_files_.get();
  file_ = rescue_sink_.get();
}

void Runner::write_checkpoint() {
  statistics_.sync();
  if (crossings_) crossings_->file().sync();
  file_->sync();
  CheckpointWriter out(files_->checkpoint, file_->run());
  out.text("study", study_.to_toml());
  out.text("version", std::string(version()));
  out.text("git", std::string(git_commit()));
  out.put(file_->contents());
  // What the writer could not write, after a failure.
  TileInWork::Output waiting;
  if (position_.filled)
    for (const TileInWork::Output& output : work_->outputs) {
      if (waiting.samples == 0) waiting.first = output.first;
      waiting.samples += output.samples;
      waiting.numbers.append(output.numbers);
    }
  const bool waits = position_.filled && !work_->outputs.empty();
  out.put("/position", std::vector<std::uint64_t>{
                           checkpoint_format, input_digest_, tile_size_, position_.first, position_.filled,
                           position_.sample, static_cast<std::uint64_t>(position_.step), waits, waiting.first,
                           waiting.samples, control_.trajectory_steps, summary_.trajectory_steps, summary_.iterations,
                           summary_.failed, range_.first, range_.last, whole_, summary_.left_out});
  std::vector<double> seconds;
  for (const auto& [name, phase] : Phases::all) seconds.push_back(summary_.phases.*phase);
  out.put("/seconds", seconds);
  statistics_.save(out);
  if (crossings_) {
    out.put("/crossings", crossings_->position());
    out.put("/crossings_written", crossings_->file().written());
  }
  if (position_.filled) out.put("/tile", persistent_rows());
  if (waits) {
    out.put("/pending/moments", numbers_of(waiting.numbers.moments));
    out.put("/pending/co_moments", numbers_of(waiting.numbers.co_moments));
    out.put("/pending/values", waiting.numbers.values);
    out.put("/pending/records", waiting.numbers.records);
    out.put("/pending/crossings", waiting.numbers.crossings);
  }
  out.commit();
  file_->settle();
}

void Runner::restore(const CheckpointReader& in) {
  const std::vector<std::uint64_t> at = in.counts("/position");
  if (at.size() != 18 || at[0] != checkpoint_format)
    input_error(files_->checkpoint.string(),
                "was written by another version of rattleback; finish it with version " + in.text("version"));
  if (whole_ != (at[16] != 0) || (!whole_ && Range{at[14], at[15]} != range_))
    input_error(files_->checkpoint.string(), "belongs to an interrupted part of an ensemble; a worker continues it");
  if (at[1] != input_digest_)
    input_error(study_.ensemble.file.string(),
                "has changed since the run began (its other trajectories would start elsewhere); restore it");
  tile_size_ = at[2];
  position_ = {at[3], at[4] != 0, at[5], static_cast<std::int64_t>(at[6])};
  control_.trajectory_steps = at[10];
  summary_.trajectory_steps = at[11];
  summary_.iterations = at[12];
  summary_.failed = at[13];
  summary_.left_out = at[17];
  const std::vector<double> seconds = in.numbers("/seconds");
  for (std::size_t i = 0; i < Phases::count; ++i) summary_.phases.*Phases::all[i].second += seconds.at(i);
  summary_.wall_seconds = summary_.phases.integrate;
  statistics_.restore(in);
  if (crossings_) {
    crossings_->restore(in.counts("/crossings"));
    crossings_->file().restore(in.counts("/crossings_written"));
  }
  if (!position_.filled) return;
  work_ = make_tile(position_.first);
  list_recorded(work_->tile);
  work_->begun = work_->filled = true;
  work_->steps_before = control_.trajectory_steps;
  restore_rows(in.numbers("/tile"));
  statistics_.restore_references(work_->tile);
  tiles_.push_back(work_);
  if (at[7] == 0) return;
  TileInWork::Output waiting{at[8], at[9], {}};
  waiting.numbers.moments = objects_of<Moments>(in.numbers("/pending/moments"));
  waiting.numbers.co_moments = objects_of<CoMoments>(in.numbers("/pending/co_moments"));
  waiting.numbers.values = in.numbers("/pending/values");
  waiting.numbers.records = in.numbers("/pending/records");
  waiting.numbers.crossings = in.numbers("/pending/crossings");
  work_->outputs.push_back(std::move(waiting));
}

std::vector<double> Runner::persistent_rows() const {
  const std::size_t kept = static_cast<std::size_t>(plan_.arguments.layout.persistent) * row_size;
  std::vector<double> rows;
  rows.reserve(work_->tile.chunks() * kept);
  for (std::uint64_t c = 0; c < work_->tile.chunks(); ++c)
    rows.insert(rows.end(), work_->tile.chunk(c), work_->tile.chunk(c) + kept);
  return rows;
}

void Runner::restore_rows(const std::vector<double>& rows) {
  const std::size_t kept = static_cast<std::size_t>(plan_.arguments.layout.persistent) * row_size;
  for (std::uint64_t c = 0; c < work_->tile.chunks(); ++c)
    std::copy_n(rows.data() + c * kept, kept, work_->tile.chunk(c));
}

}  // namespace rattleback
