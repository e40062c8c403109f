#pragma once
// The options of the emulator: environment variables PTXCPU_..., read once.

#include <cstddef>
#include <cstdint>
#include <string>

namespace ptxcpu {

/// Kinds of calls of the runtime that may be made to fail.
enum class Call { launch, malloc, free, copy, synchronise, load };
inline constexpr int call_kinds = 6;
inline constexpr const char* call_names[call_kinds] = {"launch", "malloc", "free", "copy", "synchronise", "load"};

/// The order in which the threads of a block go on.
enum class Order { forwards, backwards, random };

struct Options {
  /// RACES: 0: races are not looked for; 1: a race is a fault; 2: a race is told, and the kernel goes on.
  int races = 0;
  /// ORDER: forwards, backwards, random. SEED: of the random order.
  Order order = Order::forwards;
  std::uint64_t seed = 1;
  /// DEFER: work of a stream is done when something waits for the stream, polls it or fills its queue.
  bool defer = false;
  /// DEVICES: number of devices.
  int devices = 1;
  /// MEMORY: of a device, in MiB. Here: bytes.
  std::size_t memory = std::size_t{2048} << 20;
  /// ARCHITECTURE: compute capability of the devices, ten times the major number plus the minor number.
  int architecture = 90;
  /// EXCLUSIVE: another process has the devices: a device can be chosen, and every call that needs a context fails.
  bool exclusive = false;
  /// FAIL=KIND:N: the N-th call of a kind fails, counted from 1. FAIL=lost:N: the N-th of all calls loses the device.
  struct Failure {
    bool wanted = false, lost = false;
    Call kind = Call::launch;
    long long number = 0;
  } fail;
  /// CALLS: a file that gets the number of calls of every kind at exit; empty: none.
  std::string calls;
  /// TRACE: launches and errors are told on stderr.
  bool trace = false;
  /// ABORT: a fault of a kernel aborts the process, for a debugger.
  bool abort = false;
  /// STACK: of a thread, in KiB. Here: bytes.
  std::size_t stack = std::size_t{1024} << 10;
  /// POISON: device memory starts as NaNs.
  bool poison = true;
  /// CENSUS: a file that gets the executed instructions of every kernel at exit, by class; empty: none.
  std::string census;
  /// CACHE: a folder for the objects of libraries that are loaded at run time; empty: a folder of the build.
  std::string cache;
};

/// The options of this process. A variable or value that is not known ends the process with exit code 2.
const Options& options();

}  // namespace ptxcpu
