// The CUDA backend. The state of a tile stays on the device. Compiled kernels run the time loop between samples.
// Observables are reduced on the device, in the same tree as on the host.

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

#include "rattleback/base/error.hpp"
#include "rattleback/engine/backend.hpp"
#include "rattleback/engine/device_memory.hpp"
#include "rattleback/engine/device_start.hpp"
#include "rattleback/engine/launches.hpp"
#include "rattleback/engine/plan.hpp"
#include "rattleback/kernels/module.hpp"
#include "rattleback/study/problem.hpp"

namespace rattleback {
namespace {

class CudaBackend final : public Backend {
 public:
  explicit CudaBackend(int device) : device_(device) {
    use_device();
    check(cudaGetDeviceProperties(&properties_, device_), "query of the device");
    check(cudaStreamCreate(&stream_), "creation of a stream");
  }
  ~CudaBackend() override {
    // These calls fail when the device is lost. The errors are ignored.
    (void)cudaSetDevice(device_);
    (void)cudaStreamDestroy(stream_);
  }

  std::string name() const override { return "cuda"; }
  std::string device() const override { return properties_.name; }
  std::string driver() const override {
    const auto words = [](int version) {
      return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
    };
    int driver = 0, runtime = 0;
    check(cudaDriverGetVersion(&driver), "query of the driver");
    check(cudaRuntimeGetVersion(&runtime), "query of the runtime");
    return "CUDA driver " + words(driver) + ", runtime " + words(runtime);
  }
  unsigned threads() const override { return 1; }
  void prepare(std::span<const Problem> problems) override {
    use_device();
    std::vector<Unit> units;  // these are compiled side by side
    bool starts = false;
    for (const Problem& problem : problems) {
      for (Unit& unit : units_of(problem, Isa::scalar)) units.push_back(std::move(unit));
      const std::vector<Unit> wanted = wanted_units_of_start(problem, Isa::scalar);
      if (wanted.empty() || !may_start_on_device(problem)) continue;
      units.insert(units.end(), wanted.begin(), wanted.end());
      starts = true;
    }
    if (problems.size() > 1 || starts) try {
        (void)Kernels::instance().images(units, architecture_of(device_));
      } catch (const Error&) {
        // A header of a user need not compile for initial states, and a pack need not have them; the host makes them then. What the
        // steps need is asked for again below.
        if (!starts) throw;
      }
    for (const Problem& problem : problems) module_of(units_of(problem, Isa::scalar));
  }
  std::vector<KernelRecord> records(const Problem& problem, bool with_start) override {
    std::vector<Unit> units = units_of(problem, Isa::scalar);
    if (with_start) std::ranges::move(units_of_start(problem, Isa::scalar), std::back_inserter(units));
    return Kernels::instance().records(units, architecture_of(device_));
  }
  std::uint64_t tile_bytes() const override {
    return std::min<std::uint64_t>(properties_.totalGlobalMem / 8, std::uint64_t{512} << 20);
  }

  void begin(const Plan& plan, Tile& tile) override {
    use_device();
    state_.upload(tile.data.data(), tile.data.size(), stream_);
    begin_with_state(plan, tile);
  }

  bool starts(const Problem& problem) override {
    use_device();
    return may_start_on_device(problem) && !starts_of(units_of_start(problem, Isa::scalar)).empty();
  }
  FoundPoints find_points(const StartProgram& program, const Range& range, std::uint64_t most) override {
    use_device();
    return DeviceStart(starts_of(program.units), stream_).find(program, range, most);
  }
  void begin_at_start(const Plan& plan, Tile& tile, const TileStart& start) override {
    use_device();
    DeviceStart(starts_of(start.program->units), stream_).fill(plan, tile, start, state_.reserve(tile.data.size()));
    begin_with_state(plan, tile);
    if (plan.arguments.surfaces.count == 0) return;
    module_->surfaces(arguments_, static_cast<std::int64_t>(tile.chunks()), stream_);
    if (start.stops.count > 0)
      check(launch_stops(stream_, tile.chunks(), state_.get(), tile.rows, plan.arguments.layout.status, start.stops),
            "launch of the kernel of stops");
  }

  void run(const Round& round, RoundOutput& output, Control& control) override {
    use_device();
    const std::size_t chunks = tile_->chunks(), observables = plan_->codes.size(), pairs = plan_->pairs.size();
    const std::size_t samples = round.samples(), per_sample = chunks * observables,
                      record_size = tile_->recorded.size() * plan_->state_rows;
    output.moments.resize(samples * per_sample);
    output.co_moments.resize(samples * chunks * pairs);
    output.values.resize(plan_->keep_values ? samples * per_sample * chunk_size : 0);
    output.records.resize(samples * record_size);
    output.clear();
    moments_.reserve(samples * per_sample);
    co_moments_.reserve(samples * chunks * pairs);
    records_.reserve(samples * record_size);
    std::size_t s = 0;
    for (const Stretch& stretch : round.stretches) {
      advance(stretch, output, control);
      if (!stretch.observe) continue;
      if (observables > 0 || arguments_.parasitic_limit > 0.0)
        module_->observe(arguments_, static_cast<std::int64_t>(chunks), codes_.get(), static_cast<int>(observables),
                         values_.get(), stream_);
      if (observables > 0) {
        if (s == 0 && round.starts_at_initial)
          check(launch_references(stream_, per_sample, arguments_, values_.get(), numbers_.get(),
                                  static_cast<int>(observables)),
                "launch of the kernel of references");
        for (std::size_t code = 0; code < observables; ++code)
          if (plan_->codes[code].kind == ObservableCode::error_derivative)
            check(launch_error_derivatives(stream_, chunks, arguments_, values_.get(), static_cast<int>(observables),
                                           plan_->codes[code].index / max_derivatives, static_cast<int>(code)),
                  "launch of the kernel of derivatives");
        check(launch_statistics(stream_, per_sample, arguments_, values_.get(), static_cast<int>(observables),
                                static_cast<std::int64_t>(chunks), moments_.get() + s * per_sample),
              "launch of the kernel of statistics");
        for (const LineFit& fit : plan_->line_fits)
          if (const double weight = fit.weight[round.first_sample + s]; weight == weight)
            check(launch_fits(stream_, chunks, arguments_, values_.get(), static_cast<int>(observables), fit.observable,
                              fit.squared, weight, fit.row),
                  "launch of the kernel of fits");
        if (pairs > 0)
          check(launch_correlations(stream_, values_.get(), static_cast<int>(observables), pairs_.get(),
                                    static_cast<int>(pairs), static_cast<std::int64_t>(chunks),
                                    co_moments_.get() + s * chunks * pairs),
                "launch of the kernel of correlations");
        if (plan_->keep_values)
          check(cudaMemcpyAsync(output.values.data() + s * per_sample * chunk_size, values_.get(),
                                per_sample * chunk_size * sizeof(double), cudaMemcpyDeviceToHost, stream_),
                "copy of values");
      }
      if (record_size > 0) {
        check(launch_records(stream_, state_.get(), tile_->rows, plan_->state_rows, recorded_.get(),
                             static_cast<int>(tile_->recorded.size()), records_.get() + s * record_size),
              "launch of the kernel of records");
      }
      ++s;
    }
    download(output.moments, moments_);
    download(output.co_moments, co_moments_);
    download(output.records, records_);
    synchronise();
  }

  void fetch(Tile& tile) override {
    use_device();
    for (const RowRange& rows : rows_to_fetch(*plan_)) copy_rows(tile, rows);
    synchronise();
  }
  void fetch_counts(Tile& tile) override {
    use_device();
    for (const RowRange& rows : rows_of_counts(*plan_)) copy_rows(tile, rows);
    synchronise();
  }

  double measure_peak_flops() override {
    use_device();
    constexpr unsigned threads = 256;
    const unsigned blocks = static_cast<unsigned>(properties_.multiProcessorCount) * 8;
    values_.reserve(std::size_t(blocks) * threads);
    double peak = 0.0;
    int good = 0;
    for (std::int64_t rounds = 1 << 10; good < 5;) {
      synchronise();
      const auto start = std::chrono::steady_clock::now();
      check(launch_fma(stream_, blocks, threads, rounds, values_.get()), "launch of a kernel");
      synchronise();
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      peak = std::max(peak, 2.0 * fma_chains * double(rounds) * blocks * threads / seconds);
      if (seconds < 0.02) {
        rounds *= 2;
      } else {
        ++good;
      }
    }
    return peak;
  }

  DeviceKernels kernels(const Problem& problem) override {
    use_device();
    return {module_of(units_of(problem, Isa::scalar)).figures(), properties_.maxThreadsPerMultiProcessor};
  }

  double measure_copy_rate() override {
    use_device();
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "query of the memory");
    const std::size_t count = std::min<std::size_t>(std::size_t{1} << 29, free / 4) / sizeof(double);
    DeviceArray<double> from, to;
    from.reserve(count);
    to.reserve(count);
    double best = 0.0;
    for (int repetition = 0; repetition < 6; ++repetition) {  // the first repetition warms up
      synchronise();
      const auto start = std::chrono::steady_clock::now();
      check(cudaMemcpyAsync(to.get(), from.get(), count * sizeof(double), cudaMemcpyDeviceToDevice, stream_),
            "copy on the device");
      synchronise();
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
      if (repetition > 0) best = std::max(best, 2.0 * count * sizeof(double) / seconds.count());
    }
    return best;
  }

 private:
  /// Begins a tile whose state is on the device.
  void begin_with_state(const Plan& plan, Tile& tile) {
    plan_ = &plan;
    tile_ = &tile;
    module_ = &module_of(units_of(plan, Isa::scalar));
    advance_ = plan.carries() ? &CudaModule::advance_tangent : &CudaModule::advance;
    const std::size_t observables = plan.codes.size();
    arguments_ = plan.arguments;
    arguments_.chunks = state_.get();
    codes_.upload(plan.codes.data(), observables, stream_);
    numbers_.upload(plan.references.data(), observables, stream_);
    recorded_.upload(tile.recorded.data(), tile.recorded.size(), stream_);
    std::vector<Pair> pairs;
    for (const auto& [x, y] : plan.pairs) pairs.push_back({x, y});
    pairs_.upload(pairs.data(), pairs.size(), stream_);
    synchronise();  // the upload must end before `pairs` is destroyed
    values_.reserve(tile.chunks() * observables * chunk_size);
  }

  /// Returns the kernels of units, and loads them if need be.
  const CudaModule& module_of(const std::vector<Unit>& units) {
    std::string text;
    for (const Unit& unit : units) text += unit.device_text();
    std::unique_ptr<CudaModule>& module = modules_[text];
    if (!module) module = std::make_unique<CudaModule>(Kernels::instance().images(units, architecture_of(device_)));
    return *module;
  }

  /// Returns the kernels that prepare initial points; none where one is not there.
  std::vector<const StartModule*> starts_of(const std::vector<Unit>& units) {
    std::vector<const StartModule*> modules;
    for (const Unit& unit : units) {
      std::unique_ptr<StartModule>& start = starts_[unit.device_text()];
      try {
        if (!start)
          if (const std::string image = Kernels::instance().find_image(unit, architecture_of(device_)); !image.empty())
            start = std::make_unique<StartModule>(image);
      } catch (const Error&) {  // no compiler is here, and kernels of a pack need none
      }
      if (!start) return {};
      modules.push_back(start.get());
    }
    return modules;
  }

  /// Selects the device for the calling thread. Each call may come from another thread.
  void use_device() { check(cudaSetDevice(device_), "choice of the device"); }
  void synchronise() { check(cudaStreamSynchronize(stream_), "execution"); }

  template <class T>
  void download(std::vector<T>& host, const DeviceArray<T>& device) {
    check(cudaMemcpyAsync(host.data(), device.get(), host.size() * sizeof(T), cudaMemcpyDeviceToHost, stream_),
          "copy of results");
  }

  void copy_rows(Tile& tile, const RowRange& rows) {
    const std::size_t pitch = std::size_t(tile.rows) * row_size * sizeof(double);
    check(cudaMemcpy2DAsync(tile.data.data() + rows.first * row_size, pitch, state_.get() + rows.first * row_size,
                            pitch, std::size_t(rows.end - rows.first) * row_size * sizeof(double), tile.chunks(),
                            cudaMemcpyDeviceToHost, stream_),
          "copy of the state");
  }

  /// Advances all trajectories through a stretch, in pieces of at most steps_per_call steps, so that progress is
  /// visible. Only a few pieces are in flight at a time.
  void advance(const Stretch& stretch, RoundOutput& output, Control& control) {
    const bool guarded = arguments_.parasitic_limit > 0.0;
    arguments_.sample = stretch.interval;
    arguments_.interval_start = stretch.before;
    if (plan_->by_density()) return follow(stretch, output, control);
    for (std::int64_t at = stretch.from; at < stretch.to;) {
      const std::int64_t next = stretch.end_of_call(at, guarded);
      arguments_.target = arguments_.layout.steps_per_sample >= 0 ? next : stretch.before + next;
      do {
        (module_->*advance_)(arguments_, static_cast<std::int64_t>(tile_->chunks()), stream_);
      } while (collect_crossings(output));
      if (guarded && stretch.guards(next))
        module_->observe(arguments_, static_cast<std::int64_t>(tile_->chunks()), codes_.get(), 0, values_.get(),
                         stream_);
      control.trajectory_steps += static_cast<std::uint64_t>(next - at) * tile_->count;
      at = next;
      if (++in_flight_ % 4 == 0) {
        synchronise();
        if (control.tick) control.tick();
      }
    }
  }

  /// Takes steps that follow a density, towards the time of a stretch.
  void follow(const Stretch& stretch, RoundOutput& output, Control& control) {
    arguments_.sample_time = stretch.time;
    arguments_.target = steps_per_call;
    int* waits = most_.reserve(1);
    double* before = before_.reserve(tile_->chunks() * chunk_size);
    unsigned long long* counts = steps_.reserve(2);
    const auto look = [&] {
      check(cudaMemsetAsync(waits, 0, sizeof(int), stream_), "clearing of a counter");
      check(cudaMemsetAsync(counts, 0, 2 * sizeof(unsigned long long), stream_), "clearing of counters");
      check(launch_waiting(stream_, tile_->chunks(), arguments_, waits, before, counts),
            "launch of the kernel that looks for trajectories under way");
    };
    check(cudaMemsetAsync(before, 0, tile_->chunks() * chunk_size * sizeof(double), stream_), "clearing of counters");
    look();  // notes the steps so far
    for (std::int64_t calls = 1;; ++calls) {
      do {
        (module_->*advance_)(arguments_, static_cast<std::int64_t>(tile_->chunks()), stream_);
      } while (collect_crossings(output));
      if (arguments_.parasitic_limit > 0.0)
        module_->observe(arguments_, static_cast<std::int64_t>(tile_->chunks()), codes_.get(), 0, values_.get(),
                         stream_);
      int waiting = 0;
      unsigned long long steps[2] = {};
      look();
      check(cudaMemcpyAsync(&waiting, waits, sizeof(int), cudaMemcpyDeviceToHost, stream_), "copy of a counter");
      check(cudaMemcpyAsync(steps, counts, sizeof steps, cudaMemcpyDeviceToHost, stream_), "copy of counters");
      synchronise();
      output.taken += steps[0];
      output.possible += steps[1];
      control.trajectory_steps += steps[0];
      if (control.tick) control.tick();
      output.calls = std::max(output.calls, calls);
      output.waiting = waiting != 0;
      if (waiting == 0 || (!stretch.observe && calls >= stretch.to - stretch.from)) return;
    }
  }

  /// Moves the crossings out of the slots. Returns true when a trajectory waits because all slots are full.
  bool collect_crossings(RoundOutput& output) {
    if (arguments_.surfaces.count == 0) return false;
    const std::size_t chunks = tile_->chunks(), lanes = chunks * chunk_size;
    int* counts = counts_.reserve(lanes);
    int* positions = positions_.reserve(lanes);
    int* most = most_.reserve(1);
    check(cudaMemsetAsync(most, 0, sizeof(int), stream_), "clearing of a counter");
    check(launch_counts(stream_, chunks, arguments_, counts, most), "launch of the kernel that counts crossings");
    std::size_t bytes = 0;
    const auto sum = [&](void* scratch) {  // without scratch, the call only sets `bytes`
      check(launch_sums(stream_, scratch, bytes, counts, positions, static_cast<int>(lanes)),
            "sum of the counts of crossings");
    };
    sum(nullptr);
    sum(scratch_.reserve(std::max<std::size_t>(bytes, 1)));
    int before_last = 0, last = 0, largest = 0;
    for (const auto& [to, from] : {std::pair(&before_last, positions + lanes - 1), std::pair(&last, counts + lanes - 1),
                                   std::pair(&largest, most)})
      check(cudaMemcpyAsync(to, from, sizeof(int), cudaMemcpyDeviceToHost, stream_), "copy of counts");
    synchronise();
    const std::size_t total = static_cast<std::size_t>(before_last) + static_cast<std::size_t>(last);
    if (total == 0) return false;
    const int size = plan_->crossing_size();
    double* crossings = crossings_.reserve(total * static_cast<std::size_t>(size));
    check(launch_gathering(stream_, chunks, arguments_, counts, positions, size - 1, crossings),
          "launch of the kernel that gathers crossings");
    const std::size_t old = output.crossings.size();
    output.crossings.resize(old + total * static_cast<std::size_t>(size));
    check(cudaMemcpyAsync(output.crossings.data() + old, crossings_.get(),
                          total * static_cast<std::size_t>(size) * sizeof(double), cudaMemcpyDeviceToHost, stream_),
          "copy of crossings");
    synchronise();
    return largest == crossing_slots;
  }

  int device_;
  cudaDeviceProp properties_{};
  cudaStream_t stream_ = nullptr;
  const Plan* plan_ = nullptr;
  Tile* tile_ = nullptr;
  std::map<std::string, std::unique_ptr<CudaModule>> modules_;  ///< by the text of the units
  std::map<std::string, std::unique_ptr<StartModule>> starts_;  ///< by the text of the unit
  const CudaModule* module_ = nullptr;
  decltype(&CudaModule::advance) advance_ = nullptr;
  KernelArguments arguments_{};
  std::uint64_t in_flight_ = 0;
  DeviceArray<double> state_, values_, numbers_, records_, crossings_, before_;
  DeviceArray<unsigned long long> steps_;
  DeviceArray<int> counts_, positions_, most_;
  DeviceArray<char> scratch_;
  DeviceArray<Pair> pairs_;
  DeviceArray<CoMoments> co_moments_;
  DeviceArray<ObservableCode> codes_;
  DeviceArray<std::uint32_t> recorded_;
  DeviceArray<Moments> moments_;
};

/// Returns why a device cannot be used; empty when the device is usable. Creates a context on the device.
std::string why_unusable(int device) {
  cudaDeviceProp properties{};
  cudaError_t code = cudaSetDevice(device);
  if (code == cudaSuccess) code = cudaGetDeviceProperties(&properties, device);
  if (code == cudaSuccess) code = cudaFree(nullptr);
  if (code == cudaSuccess) code = find_launches();
  if (code == cudaSuccess) return {};
  (void)cudaGetLastError();
  std::string name = "device " + std::to_string(device);
  if (properties.major > 0) name = properties.name + (", " + name);
  if (code != cudaErrorNoKernelImageForDevice && code != cudaErrorInvalidDeviceFunction)
    return name + ": " + cudaGetErrorString(code);
  const std::string architecture = std::to_string(properties.major) + std::to_string(properties.minor);
  return name + ", has compute capability " + std::to_string(properties.major) + "." +
         std::to_string(properties.minor) + ", and this build has kernels for " + architectures_of_launches() +
         "; build with -DCMAKE_CUDA_ARCHITECTURES=" + architecture;
}

}  // namespace

std::unique_ptr<Backend> make_cuda_backend(std::string& reason, std::optional<int> device, bool* unusable) {
  int devices = 0;
  const cudaError_t code = cudaGetDeviceCount(&devices);
  if (code != cudaSuccess || devices == 0) {
    (void)cudaGetLastError();
    reason = std::string("no CUDA device: ") + (code != cudaSuccess ? cudaGetErrorString(code) : "none is installed");
    return nullptr;
  }
  if (device && (*device < 0 || *device >= devices)) {
    reason =
        "no CUDA device " + std::to_string(*device) + ": there are " + std::to_string(devices) + ", counted from 0";
    return nullptr;
  }
  std::vector<std::unique_ptr<Backend>> backends;
  for (int i = device.value_or(0); i < (device ? *device + 1 : devices); ++i) {
    const std::string why = why_unusable(i);
    if (why.empty()) {
      backends.push_back(std::make_unique<CudaBackend>(i));
    } else if (reason.empty()) {
      reason = why;
      if (unusable != nullptr) *unusable = true;
    }
  }
  if (backends.empty()) return nullptr;
  return backends.size() == 1 ? std::move(backends[0]) : make_split_backend(std::move(backends));
}

}  // namespace rattleback
