#pragma once
// Tests this machine: compares every compiled kernel on a backend, bit by bit, with one thread of the processor without
// packs.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace rattleback {

struct SelftestOptions {
  std::string backend = "auto";  ///< the backend to test
  std::string match;  ///< a regular expression; kernels whose names have a match are tested; empty: two of each method
  double seconds = 1.0;  ///< least integration time per kernel; a kernel runs again until then
  std::function<void(std::size_t done, std::size_t all)> progress = {};
  std::function<bool()> stop = {};  ///< called between kernels
};

struct SelftestKernel {
  std::string name;
  /// Paths of datasets whose bits differ from the processor's, or the text of an error; empty for a good kernel.
  std::string fault;
  std::uint64_t trajectory_steps = 0;  ///< steps on the backend
  double seconds = 0.0;                ///< integration time on the backend
};

struct SelftestReport {
  std::string backend, device, driver;
  std::vector<SelftestKernel> kernels;
  double fma_rate = 0.0;   ///< floating-point operations per second of fused multiply-adds; each multiply-add counts 2
  double copy_rate = 0.0;  ///< bytes per second, read plus written
  std::string digest;      ///< of the results of all kernels on the processor; the backend must give the same

  [[nodiscard]] std::uint64_t faults() const;
  /// Returns one line for results: "passed, 120 kernels, digest ..".
  [[nodiscard]] std::string outcome() const;
};

/// Runs the test. Throws Error(input) when the backend is missing or no kernel matches.
SelftestReport selftest(const SelftestOptions& options);

}  // namespace rattleback
