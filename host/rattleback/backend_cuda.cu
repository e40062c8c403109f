// The CUDA backend: a tile's state stays on the device; between samples the compiled kernels run the time loop; observables
// are reduced there in the same tree as on the host.

#include <algorithm>
#include <chrono>

#include <cuda_runtime.h>
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>

#include "rattleback/backend.hpp"
#include "rattleback/error.hpp"
#include "rattleback/study.hpp"

namespace rattleback {
namespace {

void check(cudaError_t code, const char* what) {
  if (code != cudaSuccess)
    throw Error(Error::Kind::runtime, std::string("CUDA: ") + what + " failed (" + cudaGetErrorString(code) + ")");
}

/// Device memory of N objects that grows when it must.
template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* reserve(std::size_t size) {
    if (size > capacity_) {
      cudaFree(data_);
      data_ = nullptr;
      capacity_ = 0;
      check(cudaMalloc(&data_, size * sizeof(T)), "allocation of device memory");
      capacity_ = size;
    }
    return data_;
  }
  T* upload(const T* host, std::size_t size, cudaStream_t stream) {
    reserve(size);
    check(cudaMemcpyAsync(data_, host, size * sizeof(T), cudaMemcpyHostToDevice, stream), "copy to the device");
    return data_;
  }
  T* get() const { return data_; }

 private:
  T* data_ = nullptr;
  std::size_t capacity_ = 0;
};

/// The row of references of one (chunk, observable) per block.
__device__ double* reference_row(const KernelArguments& a, int observables) {
  const std::size_t chunk = blockIdx.x / observables, observable = blockIdx.x % observables;
  return a.chunks + (chunk * a.layout.rows + a.layout.references + observable) * chunk_size;
}

/// Reference values of a chunk's observables at the initial sample.
__global__ void __launch_bounds__(chunk_size)
    reference_kernel(const __grid_constant__ KernelArguments arguments, const double* values, const double* numbers,
                     int observables) {
  const double number = numbers[blockIdx.x % observables];
  reference_row(arguments, observables)[threadIdx.x] =
      number == number ? number : values[std::size_t(blockIdx.x) * chunk_size + threadIdx.x];
}

/// The tree of reduction.hpp over a block; the result in node[0] of its first thread.
template <class Node>
__device__ void reduce_block(Node* node) {
  const int lane = threadIdx.x;
  for (int s = chunk_size / 2; s > 0; s /= 2) {
    __syncthreads();
    if (lane < s) node[lane] = combine(node[lane], node[lane + s]);
  }
}

/// Moments of one (chunk, observable) per block.
__global__ void __launch_bounds__(chunk_size)
    reduce_kernel(const __grid_constant__ KernelArguments arguments, const double* values, int observables,
                  std::int64_t chunks, Moments* moments) {
  __shared__ Moments node[chunk_size];
  const int lane = threadIdx.x;
  node[lane] =
      moments_of(values[std::size_t(blockIdx.x) * chunk_size + lane], reference_row(arguments, observables)[lane]);
  reduce_block(node);
  if (lane == 0) {
    const std::int64_t chunk = blockIdx.x / observables, observable = blockIdx.x % observables;
    moments[observable * chunks + chunk] = node[0];
  }
}

struct Pair {
  int x, y;
};

/// Joint moments of one (chunk, pair of observables) per block.
__global__ void __launch_bounds__(chunk_size) co_reduce_kernel(const double* values, int observables, const Pair* pairs,
                                                               int count, std::int64_t chunks, CoMoments* moments) {
  __shared__ CoMoments node[chunk_size];
  const int lane = threadIdx.x;
  const std::int64_t chunk = blockIdx.x / count, pair = blockIdx.x % count;
  const double* of_chunk = values + chunk * observables * chunk_size;
  node[lane] = co_moments_of(of_chunk[pairs[pair].x * chunk_size + lane], of_chunk[pairs[pair].y * chunk_size + lane]);
  reduce_block(node);
  if (lane == 0) moments[pair * chunks + chunk] = node[0];
}

/// Number of waiting crossings of every lane.
__global__ void __launch_bounds__(chunk_size)
    count_kernel(const __grid_constant__ KernelArguments arguments, int* counts) {
  const std::size_t chunk = blockIdx.x;
  counts[chunk * chunk_size + threadIdx.x] = static_cast<int>(
      arguments.chunks[(chunk * arguments.layout.rows + arguments.layout.crossings) * chunk_size + threadIdx.x]);
}

/// Moves the waiting crossings of every lane to where the scan of the counts says, and empties the slots.
__global__ void __launch_bounds__(chunk_size)
    gather_kernel(const __grid_constant__ KernelArguments arguments, const int* counts, const int* positions,
                  int slot_rows, double* crossings) {
  const std::size_t chunk = blockIdx.x, k = chunk * chunk_size + threadIdx.x;
  double* rows = arguments.chunks + chunk * arguments.layout.rows * chunk_size + threadIdx.x;
  for (int i = 0; i < counts[k]; ++i) {
    double* crossing = crossings + std::size_t(positions[k] + i) * (slot_rows + 1);
    crossing[0] = static_cast<double>(k);
    for (int row = 0; row < slot_rows; ++row)
      crossing[1 + row] = rows[(arguments.layout.slots + i * slot_rows + row) * chunk_size];
  }
  rows[arguments.layout.crossings * chunk_size] = 0.0;
}

/// State rows of the recorded trajectories, one thread each.
__global__ void record_kernel(const double* chunks, int rows, int state_rows, const std::uint32_t* recorded, int count,
                              double* records) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= count) return;
  const std::uint32_t k = recorded[r];
  const double* chunk = chunks + std::size_t(k / chunk_size) * rows * chunk_size;
  for (int row = 0; row < state_rows; ++row)
    records[std::size_t(r) * state_rows + row] = chunk[row * chunk_size + k % chunk_size];
}

/// Independent chains of fused multiply-adds, as many in flight as hide their latency.
constexpr int fma_chains = 8;
__global__ void fma_kernel(std::int64_t rounds, double* results) {
  double x[fma_chains];
#pragma unroll
  for (int i = 0; i < fma_chains; ++i) x[i] = threadIdx.x + i;
  for (std::int64_t round = 0; round < rounds; ++round) {
#pragma unroll
    for (int i = 0; i < fma_chains; ++i) x[i] = __fma_rn(x[i], 0.5, 1.0);
  }
  double sum = 0.0;
#pragma unroll
  for (int i = 0; i < fma_chains; ++i) sum += x[i];
  results[std::size_t(blockIdx.x) * blockDim.x + threadIdx.x] = sum;  // the chains are used
}

class CudaBackend final : public Backend {
 public:
  explicit CudaBackend(int device) : device_(device) {
    use_device();
    check(cudaGetDeviceProperties(&properties_, device_), "query of the device");
    check(cudaStreamCreate(&stream_), "creation of a stream");
  }
  ~CudaBackend() override {
    cudaSetDevice(device_);
    cudaStreamDestroy(stream_);
  }

  std::string name() const override { return "cuda"; }
  std::string device() const override {
#ifdef RATTLEBACK_CUDA_QUICK
    return std::string(properties_.name) + " (kernels not optimised)";
#else
    return properties_.name;
#endif
  }
  unsigned threads() const override { return 1; }
  bool treats(const Study& study) const override {
    return Catalogue::instance().cuda_pair(study.system_entry(), study.method_entry(), study.method_key()) != nullptr;
  }
  std::uint64_t tile_bytes() const override {
    return std::min<std::uint64_t>(properties_.totalGlobalMem / 8, std::uint64_t{512} << 20);
  }

  void begin(const Plan& plan, Tile& tile) override {
    use_device();
    plan_ = &plan;
    tile_ = &tile;
    pair_ = Catalogue::instance().cuda_pair(*plan.system, *plan.method, plan.key);
    advance_ = plan.arguments.layout.tangent >= 0  ? pair_->advance_tangent
               : plan.arguments.surfaces.count > 0 ? pair_->advance_sections
                                                   : pair_->advance;
    const std::size_t observables = plan.codes.size();
    arguments_ = plan.arguments;
    arguments_.chunks = state_.upload(tile.data.data(), tile.data.size(), stream_);
    codes_.upload(plan.codes.data(), observables, stream_);
    numbers_.upload(plan.references.data(), observables, stream_);
    recorded_.upload(tile.recorded.data(), tile.recorded.size(), stream_);
    std::vector<Pair> pairs;
    for (const auto& [x, y] : plan.pairs) pairs.push_back({x, y});
    pairs_.upload(pairs.data(), pairs.size(), stream_);
    synchronise();  // `pairs` goes
    values_.reserve(tile.chunks() * observables * chunk_size);
  }

  void run(const Segment& segment, SegmentOutput& output, Control& control) override {
    use_device();
    const std::size_t chunks = tile_->chunks(), observables = plan_->codes.size(), pairs = plan_->pairs.size();
    const std::size_t samples = segment.samples(), per_sample = chunks * observables,
                      record_size = tile_->recorded.size() * plan_->state_rows;
    output.moments.resize(samples * per_sample);
    output.co_moments.resize(samples * chunks * pairs);
    output.values.resize(plan_->keep_values ? samples * per_sample * chunk_size : 0);
    output.records.resize(samples * record_size);
    output.crossings.clear();
    moments_.reserve(samples * per_sample);
    co_moments_.reserve(samples * chunks * pairs);
    records_.reserve(samples * record_size);
    std::size_t s = 0;
    for (const Stretch& stretch : segment.stretches) {
      advance(stretch, output, control);
      if (!stretch.observe) continue;
      if (observables > 0) {
        pair_->observe(arguments_, static_cast<std::int64_t>(chunks), codes_.get(), static_cast<int>(observables),
                       values_.get(), stream_);
        if (s == 0 && segment.starts_at_initial)
          reference_kernel<<<static_cast<unsigned>(per_sample), chunk_size, 0, stream_>>>(
              arguments_, values_.get(), numbers_.get(), static_cast<int>(observables));
        reduce_kernel<<<static_cast<unsigned>(per_sample), chunk_size, 0, stream_>>>(
            arguments_, values_.get(), static_cast<int>(observables), static_cast<std::int64_t>(chunks),
            moments_.get() + s * per_sample);
        if (pairs > 0)
          co_reduce_kernel<<<static_cast<unsigned>(chunks * pairs), chunk_size, 0, stream_>>>(
              values_.get(), static_cast<int>(observables), pairs_.get(), static_cast<int>(pairs),
              static_cast<std::int64_t>(chunks), co_moments_.get() + s * chunks * pairs);
        if (plan_->keep_values)
          check(cudaMemcpyAsync(output.values.data() + s * per_sample * chunk_size, values_.get(),
                                per_sample * chunk_size * sizeof(double), cudaMemcpyDeviceToHost, stream_),
                "copy of values");
      }
      if (record_size > 0) {
        const int count = static_cast<int>(tile_->recorded.size());
        record_kernel<<<(count + 127) / 128, 128, 0, stream_>>>(
            state_.get(), tile_->rows, plan_->state_rows, recorded_.get(), count, records_.get() + s * record_size);
      }
      check(cudaGetLastError(), "launch");
      ++s;
    }
    download(output.moments, moments_);
    download(output.co_moments, co_moments_);
    download(output.records, records_);
    synchronise();
  }

  void fetch(Tile& tile) override {
    use_device();
    check(cudaMemcpyAsync(tile.data.data(), state_.get(), tile.data.size() * sizeof(double), cudaMemcpyDeviceToHost,
                          stream_),
          "copy of the state");
    synchronise();
  }

  double measure_peak_flops(const Study&) override {
    use_device();
    constexpr unsigned threads = 256;
    const unsigned blocks = static_cast<unsigned>(properties_.multiProcessorCount) * 8;
    values_.reserve(std::size_t(blocks) * threads);
    double peak = 0.0;
    int good = 0;
    for (std::int64_t rounds = 1 << 10; good < 5;) {
      synchronise();
      const auto start = std::chrono::steady_clock::now();
      fma_kernel<<<blocks, threads, 0, stream_>>>(rounds, values_.get());
      check(cudaGetLastError(), "launch");
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

  double measure_copy_rate() override {
    use_device();
    constexpr std::size_t count = (std::size_t{1} << 29) / sizeof(double);
    DeviceArray<double> from, to;
    from.reserve(count);
    to.reserve(count);
    double best = 0.0;
    for (int repetition = 0; repetition < 6; ++repetition) {  // the first warms up
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
  /// The calling thread may be another every time.
  void use_device() { check(cudaSetDevice(device_), "choice of the device"); }
  void synchronise() { check(cudaStreamSynchronize(stream_), "execution"); }

  template <class T>
  void download(std::vector<T>& host, const DeviceArray<T>& device) {
    check(cudaMemcpyAsync(host.data(), device.get(), host.size() * sizeof(T), cudaMemcpyDeviceToHost, stream_),
          "copy of results");
  }

  /// All trajectories through a stretch, in pieces so that progress is seen; at most a few pieces are in flight.
  void advance(const Stretch& stretch, SegmentOutput& output, Control& control) {
    arguments_.sample = stretch.interval;
    for (std::int64_t at = stretch.from; at < stretch.to;) {
      const std::int64_t next = std::min(stretch.to, at + steps_per_call);
      arguments_.target = arguments_.layout.steps_per_sample >= 0 ? next : stretch.before + next;
      do {
        advance_(arguments_, static_cast<std::int64_t>(tile_->chunks()), stream_);
      } while (collect_crossings(output));
      control.trajectory_steps += static_cast<std::uint64_t>(next - at) * tile_->count;
      at = next;
      if (++in_flight_ % 4 == 0) {
        synchronise();
        if (control.tick) control.tick();
      }
    }
  }

  /// Takes the crossings out of their slots; true when a trajectory waits because it had no slot left.
  bool collect_crossings(SegmentOutput& output) {
    if (arguments_.surfaces.count == 0) return false;
    const std::size_t chunks = tile_->chunks(), lanes = chunks * chunk_size;
    int* counts = counts_.reserve(lanes);
    int* positions = positions_.reserve(lanes + 1);
    count_kernel<<<static_cast<unsigned>(chunks), chunk_size, 0, stream_>>>(arguments_, counts);
    const auto policy = thrust::cuda::par.on(stream_);
    thrust::exclusive_scan(policy, counts, counts + lanes, positions);
    int last[2];  // the scan and the count of the last lane
    check(cudaMemcpyAsync(&last[0], positions + lanes - 1, sizeof(int), cudaMemcpyDeviceToHost, stream_),
          "copy of counts");
    check(cudaMemcpyAsync(&last[1], counts + lanes - 1, sizeof(int), cudaMemcpyDeviceToHost, stream_),
          "copy of counts");
    synchronise();
    const std::size_t total = static_cast<std::size_t>(last[0]) + static_cast<std::size_t>(last[1]);
    if (total == 0) return false;
    const bool waits = thrust::reduce(policy, counts, counts + lanes, 0, thrust::maximum<int>()) == crossing_slots;
    const int size = plan_->crossing_size();
    gather_kernel<<<static_cast<unsigned>(chunks), chunk_size, 0, stream_>>>(
        arguments_, counts, positions, size - 1, crossings_.reserve(total * static_cast<std::size_t>(size)));
    const std::size_t old = output.crossings.size();
    output.crossings.resize(old + total * static_cast<std::size_t>(size));
    check(cudaMemcpyAsync(output.crossings.data() + old, crossings_.get(),
                          total * static_cast<std::size_t>(size) * sizeof(double), cudaMemcpyDeviceToHost, stream_),
          "copy of crossings");
    synchronise();
    return waits;
  }

  int device_;
  cudaDeviceProp properties_{};
  cudaStream_t stream_ = nullptr;
  const Plan* plan_ = nullptr;
  Tile* tile_ = nullptr;
  const CompiledCudaPair* pair_ = nullptr;
  decltype(CompiledCudaPair::advance) advance_ = nullptr;
  KernelArguments arguments_{};
  std::uint64_t in_flight_ = 0;
  DeviceArray<double> state_, values_, numbers_, records_, crossings_;
  DeviceArray<int> counts_, positions_;
  DeviceArray<Pair> pairs_;
  DeviceArray<CoMoments> co_moments_;
  DeviceArray<ObservableCode> codes_;
  DeviceArray<std::uint32_t> recorded_;
  DeviceArray<Moments> moments_;
};

}  // namespace

std::unique_ptr<Backend> make_cuda_backend(std::string& reason, std::optional<int> device) {
  int devices = 0;
  const cudaError_t code = cudaGetDeviceCount(&devices);
  if (code != cudaSuccess || devices == 0) {
    reason = std::string("no CUDA device: ") + (code != cudaSuccess ? cudaGetErrorString(code) : "none is installed");
    return nullptr;
  }
  if (device && (*device < 0 || *device >= devices)) {
    reason =
        "no CUDA device " + std::to_string(*device) + ": there are " + std::to_string(devices) + ", counted from 0";
    return nullptr;
  }
  if (device) return std::make_unique<CudaBackend>(*device);
  if (devices == 1) return std::make_unique<CudaBackend>(0);
  std::vector<std::unique_ptr<Backend>> backends;
  for (int i = 0; i < devices; ++i) backends.push_back(std::make_unique<CudaBackend>(i));
  return make_split_backend(std::move(backends));
}

}  // namespace rattleback
