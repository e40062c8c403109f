// The CUDA backend: a tile's state stays on the device; between samples the compiled kernels run the time loop; observables
// are reduced there in the same tree as on the host.

#include <algorithm>

#include <cuda_runtime.h>

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

/// Reference values of a chunk's observables at the initial sample.
__global__ void __launch_bounds__(chunk_size)
    reference_kernel(const double* values, const double* numbers, int observables, double* references) {
  const std::size_t i = std::size_t(blockIdx.x) * chunk_size + threadIdx.x;  // block = chunk x observable
  const double number = numbers[blockIdx.x % observables];
  references[i] = number == number ? number : values[i];
}

/// Moments of one (chunk, observable) per block, in the tree of reduction.hpp.
__global__ void __launch_bounds__(chunk_size) reduce_kernel(const double* values, const double* references,
                                                            int observables, std::int64_t chunks, Moments* moments) {
  __shared__ Moments node[chunk_size];
  const int lane = threadIdx.x;
  const std::size_t i = std::size_t(blockIdx.x) * chunk_size + lane;
  node[lane] = moments_of(values[i], references[i]);
  for (int s = chunk_size / 2; s > 0; s /= 2) {
    __syncthreads();
    if (lane < s) node[lane] = combine(node[lane], node[lane + s]);
  }
  if (lane == 0) {
    const std::int64_t chunk = blockIdx.x / observables, observable = blockIdx.x % observables;
    moments[observable * chunks + chunk] = node[0];
  }
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

class CudaBackend final : public Backend {
 public:
  CudaBackend() {
    check(cudaGetDeviceProperties(&properties_, 0), "query of the device");
    check(cudaStreamCreate(&stream_), "creation of a stream");
  }
  ~CudaBackend() override { cudaStreamDestroy(stream_); }

  std::string name() const override { return "cuda"; }
  std::string device() const override { return properties_.name; }
  unsigned threads() const override { return 1; }
  bool treats(const Study& study) const override {
    return Catalogue::instance().cuda_pair(study.system_entry(), study.method_entry(), study.method.stages) != nullptr;
  }
  std::uint64_t tile_bytes() const override {
    return std::min<std::uint64_t>(properties_.totalGlobalMem / 8, std::uint64_t{512} << 20);
  }

  void begin(const Plan& plan, Tile& tile) override {
    plan_ = &plan;
    tile_ = &tile;
    pair_ = Catalogue::instance().cuda_pair(*plan.system, *plan.method, plan.stages);
    const std::size_t observables = plan.codes.size();
    arguments_ = plan.arguments;
    arguments_.chunks = state_.upload(tile.data.data(), tile.data.size(), stream_);
    codes_.upload(plan.codes.data(), observables, stream_);
    numbers_.upload(plan.references.data(), observables, stream_);
    recorded_.upload(tile.recorded.data(), tile.recorded.size(), stream_);
    references_.reserve(tile.chunks() * observables * chunk_size);
    values_.reserve(tile.chunks() * observables * chunk_size);
  }

  bool run(const Segment& segment, SegmentOutput& output, Control& control) override {
    const std::size_t chunks = tile_->chunks(), observables = plan_->codes.size(), samples = segment.steps.size();
    const std::size_t per_sample = chunks * observables, record_size = tile_->recorded.size() * plan_->state_rows;
    output.moments.resize(samples * per_sample);
    output.values.resize(plan_->keep_values ? samples * per_sample * chunk_size : 0);
    output.records.resize(samples * record_size);
    moments_.reserve(samples * per_sample);
    records_.reserve(samples * record_size);
    for (std::size_t s = 0; s < samples; ++s) {
      if (!advance(segment.steps[s], control)) return false;
      if (observables > 0) {
        pair_->observe(arguments_, static_cast<std::int64_t>(chunks), codes_.get(), static_cast<int>(observables),
                       values_.get(), stream_);
        if (s == 0 && segment.starts_at_initial)
          reference_kernel<<<static_cast<unsigned>(per_sample), chunk_size, 0, stream_>>>(
              values_.get(), numbers_.get(), static_cast<int>(observables), references_.get());
        reduce_kernel<<<static_cast<unsigned>(per_sample), chunk_size, 0, stream_>>>(
            values_.get(), references_.get(), static_cast<int>(observables), static_cast<std::int64_t>(chunks),
            moments_.get() + s * per_sample);
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
    }
    check(cudaMemcpyAsync(output.moments.data(), moments_.get(), output.moments.size() * sizeof(Moments),
                          cudaMemcpyDeviceToHost, stream_),
          "copy of moments");
    check(cudaMemcpyAsync(output.records.data(), records_.get(), output.records.size() * sizeof(double),
                          cudaMemcpyDeviceToHost, stream_),
          "copy of trajectories");
    synchronise();
    return true;
  }

  void end(Tile& tile) override {
    check(cudaMemcpyAsync(tile.data.data(), state_.get(), tile.data.size() * sizeof(double), cudaMemcpyDeviceToHost,
                          stream_),
          "copy of the state");
    synchronise();
  }

 private:
  void synchronise() { check(cudaStreamSynchronize(stream_), "execution"); }

  /// `steps` steps of all trajectories, in pieces so that a stop is noticed; at most a few pieces are in flight.
  bool advance(std::int64_t steps, Control& control) {
    const bool varying = arguments_.layout.steps_per_sample >= 0;
    while (steps > 0) {
      if (control.stopped()) return false;
      arguments_.steps = varying ? steps : std::min(steps, steps_per_call);
      steps -= arguments_.steps;
      const auto advance = arguments_.layout.tangent >= 0 ? pair_->advance_tangent : pair_->advance;
      advance(arguments_, static_cast<std::int64_t>(tile_->chunks()), stream_);
      control.trajectory_steps += static_cast<std::uint64_t>(arguments_.steps) * tile_->count;
      if (++in_flight_ % 4 == 0) {
        synchronise();
        if (control.tick) control.tick();
      }
    }
    return true;
  }

  cudaDeviceProp properties_{};
  cudaStream_t stream_ = nullptr;
  const Plan* plan_ = nullptr;
  Tile* tile_ = nullptr;
  const CompiledCudaPair* pair_ = nullptr;
  KernelArguments arguments_{};
  std::uint64_t in_flight_ = 0;
  DeviceArray<double> state_, values_, references_, numbers_, records_;
  DeviceArray<ObservableCode> codes_;
  DeviceArray<std::uint32_t> recorded_;
  DeviceArray<Moments> moments_;
};

}  // namespace

std::unique_ptr<Backend> make_cuda_backend(std::string& reason) {
  int devices = 0;
  const cudaError_t code = cudaGetDeviceCount(&devices);
  if (code != cudaSuccess || devices == 0) {
    reason = std::string("no CUDA device: ") + (code != cudaSuccess ? cudaGetErrorString(code) : "none is installed");
    return nullptr;
  }
  return std::make_unique<CudaBackend>();
}

}  // namespace rattleback
