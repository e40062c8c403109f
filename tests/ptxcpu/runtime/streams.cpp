// Streams and events. With PTXCPU_DEFER=1 work waits in the stream until something waits for the work or polls the
// stream, or until the queue is full: a program that only enqueues comes to its end too.

#include <time.h>

#include <deque>
#include <memory>
#include <set>
#include <vector>

#include "state.hpp"

struct CUstream_st {
  int device;
  bool blocking;  ///< orders its work with that of the default stream
  std::deque<std::function<void()>> work;
};

/// One record of an event.
struct EventRecord {
  cudaStream_t stream;
  bool done;
  double time;  ///< s
};
struct CUevent_st {
  std::shared_ptr<EventRecord> record;  ///< the last one; null before the first
};

namespace ptxcpu {
namespace {

constexpr std::size_t queue_limit = 1024;  // tasks of a stream

std::set<cudaStream_t>& streams() {
  static std::set<cudaStream_t> all;
  return all;
}

void do_next(cudaStream_t stream) {
  const auto task = std::move(stream->work.front());
  stream->work.pop_front();
  if (lost() == cudaSuccess) task();
}

template <class Wanted>
void finish_those(Wanted&& wanted) {
  for (cudaStream_t stream : streams())
    if (wanted(*stream)) finish(stream);
}

void finish_record(EventRecord& record) {
  while (!record.done && !record.stream->work.empty()) do_next(record.stream);
}

double seconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

}  // namespace

cudaStream_t default_stream(int device) {
  static std::vector<std::unique_ptr<CUstream_st>> of_device;
  while (static_cast<int>(of_device.size()) <= device) {
    of_device.push_back(std::make_unique<CUstream_st>(CUstream_st{static_cast<int>(of_device.size()), true, {}}));
    streams().insert(of_device.back().get());
  }
  return of_device[static_cast<std::size_t>(device)].get();
}

cudaError_t stream_of(cudaStream_t handle, cudaStream_t& found) {
  if (handle == nullptr || handle == cudaStreamLegacy || handle == cudaStreamPerThread) {
    found = default_stream(current_device);
    return cudaSuccess;
  }
  if (!streams().count(handle)) return cudaErrorInvalidResourceHandle;
  found = handle;
  return cudaSuccess;
}

int device_of(cudaStream_t stream) { return stream->device; }

void enqueue(cudaStream_t stream, std::function<void()> task) {
  if (!options().defer) {
    task();
    return;
  }
  // the default stream waits for the blocking ones, and these wait for the default stream
  const cudaStream_t its_default = default_stream(stream->device);
  if (stream == its_default) {
    finish_those([&](const CUstream_st& s) { return &s != stream && s.device == stream->device && s.blocking; });
  } else if (stream->blocking) {
    finish(its_default);
  }
  if (stream->work.size() == queue_limit) do_next(stream);
  stream->work.push_back(std::move(task));
}

void finish(cudaStream_t stream) {
  while (!stream->work.empty()) do_next(stream);
}
void finish_default() {
  finish_those([](const CUstream_st& s) { return s.device == current_device && s.blocking; });
}
void finish_device() {
  finish_those([](const CUstream_st& s) { return s.device == current_device; });
}
void finish_all() {
  finish_those([](const CUstream_st&) { return true; });
}

}  // namespace ptxcpu

using namespace ptxcpu;

extern "C" {

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  const Lock lock(machine());
  if (const cudaError_t code = enter(); code != cudaSuccess) return result(code);
  *stream = new CUstream_st{current_device, (flags & cudaStreamNonBlocking) == 0, {}};
  streams().insert(*stream);
  return result(cudaSuccess);
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) { return cudaStreamCreateWithFlags(stream, 0); }
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const Lock lock(machine());
  if (const cudaError_t code = enter(); code != cudaSuccess) return result(code);
  if (!stream || !streams().count(stream)) return result(cudaErrorInvalidResourceHandle);
  finish(stream);
  streams().erase(stream);
  delete stream;
  return result(cudaSuccess);
}
cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  const Lock lock(machine());
  cudaStream_t stream = nullptr;
  if (const cudaError_t code = enter(Call::synchronise); code != cudaSuccess) return result(code);
  if (const cudaError_t code = stream_of(handle, stream); code != cudaSuccess) return result(code);
  finish(stream);
  return result(cudaSuccess);
}
cudaError_t cudaStreamQuery(cudaStream_t handle) {  // a task for every question
  const Lock lock(machine());
  cudaStream_t stream = nullptr;
  if (const cudaError_t code = enter(); code != cudaSuccess) return result(code);
  if (const cudaError_t code = stream_of(handle, stream); code != cudaSuccess) return result(code);
  if (stream->work.empty()) return result(cudaSuccess);
  do_next(stream);
  return lost() != cudaSuccess ? result(cudaSuccess) : cudaErrorNotReady;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
  *status = cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned) {
  const Lock lock(machine());
  cudaStream_t stream = nullptr;
  if (const cudaError_t code = enter(); code != cudaSuccess) return result(code);
  if (const cudaError_t code = stream_of(handle, stream); code != cudaSuccess) return result(code);
  if (const auto record = event->record) enqueue(stream, [record] { finish_record(*record); });
  return result(cudaSuccess);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  const Lock lock(machine());
  if (const cudaError_t code = enter(); code != cudaSuccess) return result(code);
  *event = new CUevent_st;
  return result(cudaSuccess);
}
cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, 0); }
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  const Lock lock(machine());
  delete event;
  return result(cudaSuccess);
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t handle) {
  const Lock lock(machine());
  cudaStream_t stream = nullptr;
  if (const cudaError_t code = enter(); code != cudaSuccess) return result(code);
  if (const cudaError_t code = stream_of(handle, stream); code != cudaSuccess) return result(code);
  const auto record = std::make_shared<EventRecord>(EventRecord{stream, false, 0.0});
  event->record = record;
  enqueue(stream, [record] {
    record->done = true;
    record->time = seconds();
  });
  return result(cudaSuccess);
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  const Lock lock(machine());
  if (const cudaError_t code = enter(Call::synchronise); code != cudaSuccess) return result(code);
  if (event->record) finish_record(*event->record);
  return result(cudaSuccess);
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  const Lock lock(machine());
  if (const cudaError_t code = enter(); code != cudaSuccess) return result(code);
  if (!event->record || event->record->done) return result(cudaSuccess);
  do_next(event->record->stream);
  return lost() != cudaSuccess ? result(cudaSuccess) : cudaErrorNotReady;
}
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t a, cudaEvent_t b) {
  const Lock lock(machine());
  if (!a->record || !b->record) return result(cudaErrorInvalidResourceHandle);
  if (!a->record->done || !b->record->done) return cudaErrorNotReady;
  *ms = static_cast<float>(1e3 * (b->record->time - a->record->time));
  return result(cudaSuccess);
}

}  // extern "C"
