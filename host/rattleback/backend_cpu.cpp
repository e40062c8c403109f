#include <fstream>
#include <limits>
#include <string>
#include <thread>

#include "rattleback/backend.hpp"
#include "rattleback/parallel.hpp"

namespace rattleback {
namespace {

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown processor";
}

class CpuBackend final : public Backend {
 public:
  CpuBackend(Isa isa, unsigned threads)
      : isa_(isa), threads_(threads > 0 ? threads : std::max(1u, std::thread::hardware_concurrency())) {}

  std::string name() const override { return "cpu"; }
  std::string device() const override { return processor_name() + " (" + to_string(isa_) + ")"; }
  unsigned threads() const override { return threads_; }
  bool treats(const Study&) const override { return true; }
  std::uint64_t tile_bytes() const override { return std::uint64_t{64} << 20; }

  void begin(const Plan& plan, Tile& tile) override {
    plan_ = &plan;
    tile_ = &tile;
    pair_ = Catalogue::instance().pair(*plan.system, *plan.method, plan.stages, isa_);
    advance_ = plan.arguments.layout.tangent >= 0 ? pair_->advance_tangent : pair_->advance;
    references_.assign(tile.chunks() * plan.codes.size() * chunk_size, 0.0);
  }

  bool run(const Segment& segment, SegmentOutput& output, Control& control) override {
    const std::uint64_t chunks = tile_->chunks(), observables = plan_->codes.size();
    const std::uint64_t samples = segment.steps.size();
    output.values.resize(samples * chunks * observables * chunk_size);
    output.moments.resize(samples * observables * chunks);
    output.records.resize(samples * tile_->recorded.size() * plan_->state_rows);

    // few chunks: split them so that every thread has work
    const int lanes = chunks >= 4 * threads_ ? chunk_size : 32;
    const std::uint64_t per_chunk = chunk_size / lanes;
    parallel_for(
        chunks * per_chunk, threads_,
        [&](std::uint64_t unit) {
          const int begin = static_cast<int>(unit % per_chunk) * lanes;
          advance(unit / per_chunk, begin, begin + lanes, segment, output, control);
        },
        control.tick);
    if (control.stopped()) return false;

    parallel_for(chunks, threads_, [&](std::uint64_t c) {
      for (std::uint64_t s = 0; s < samples; ++s)
        for (std::uint64_t o = 0; o < observables; ++o) {
          const double* values = output.values.data() + ((s * chunks + c) * observables + o) * chunk_size;
          double* references = references_.data() + (c * observables + o) * chunk_size;
          if (s == 0 && segment.starts_at_initial) set_references(plan_->references[o], values, references);
          output.moments[(s * observables + o) * chunks + c] = pair_->reduce(values, references);
        }
    });
    return true;
  }

  void end(Tile&) override {}

 private:
  /// Lanes [begin, end) of chunk c through all samples of the segment.
  void advance(std::uint64_t c, int begin, int end, const Segment& segment, SegmentOutput& output, Control& control) {
    const std::uint64_t chunks = tile_->chunks(), observables = plan_->codes.size();
    const int used =
        static_cast<int>(std::min<std::uint64_t>(end, tile_->count - c * chunk_size));  // the rest is padding
    KernelArguments arguments = plan_->arguments;
    double* chunk = tile_->chunk(c);
    const bool varying = arguments.layout.steps_per_sample >= 0;
    for (std::uint64_t s = 0; s < segment.steps.size(); ++s) {
      for (std::int64_t left = begin < used ? segment.steps[s] : 0; left > 0;) {
        if (control.stopped()) return;
        // with a varying step size every lane has its own count, taken in one call
        arguments.steps = varying ? left : std::min(left, steps_per_call);
        left -= arguments.steps;
        advance_(arguments, chunk, begin, used);
        control.trajectory_steps += static_cast<std::uint64_t>(arguments.steps) * (used - begin);
      }
      double* values = output.values.data() + (s * chunks + c) * observables * chunk_size;
      pair_->observe(arguments, chunk, begin, end, plan_->codes.data(), static_cast<int>(observables), values);
      for (std::size_t r = 0; r < tile_->recorded.size(); ++r) {
        const std::uint64_t k = tile_->recorded[r];
        const int lane = static_cast<int>(k % chunk_size);
        if (k / chunk_size != c || lane < begin || lane >= end) continue;
        double* record = output.records.data() + (s * tile_->recorded.size() + r) * plan_->state_rows;
        for (int row = 0; row < plan_->state_rows; ++row) record[row] = chunk[row * chunk_size + lane];
      }
    }
  }

  /// Padding lanes carry NaN, which counts as failed.
  static void set_references(double reference, const double* values, double* references) {
    for (int i = 0; i < chunk_size; ++i) references[i] = reference == reference ? reference : values[i];
  }

  Isa isa_;
  unsigned threads_;
  const Plan* plan_ = nullptr;
  Tile* tile_ = nullptr;
  const CompiledPair* pair_ = nullptr;
  AdvanceFunction advance_ = nullptr;
  std::vector<double> references_;
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend(Isa isa, unsigned threads) {
  return std::make_unique<CpuBackend>(isa, threads);
}

}  // namespace rattleback
