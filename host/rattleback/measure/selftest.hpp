#pragma once
// A test of this machine: every compiled kernel on a backend against one thread of the processor without packs, bit by bit.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace rattleback {

struct SelftestOptions {
  std::string backend = "auto";  ///< what is tested
  std::string match;             ///< a regular expression that names of kernels contain
  double seconds = 1.0;          ///< for each kernel, of integration on the backend: it is repeated as long
  std::function<void(std::size_t done, std::size_t all)> progress = {};
  std::function<bool()> stop = {};  ///< asked between kernels
};

struct SelftestKernel {
  std::string name;
  /// Paths of datasets with other bits than on the processor, or what an error said; empty where all is well.
  std::string fault;
  std::uint64_t trajectory_steps = 0;  ///< on the backend
  double seconds = 0.0;                ///< of integration on the backend
};

struct SelftestReport {
  std::string backend, device, driver;
  std::vector<SelftestKernel> kernels;
  double fma_rate = 0.0;   ///< floating-point operations per second of fused multiply-adds, each counts 2
  double copy_rate = 0.0;  ///< bytes per second, read and written
  std::string digest;      ///< of the results of all kernels on the processor, which those of the backend have to equal

  [[nodiscard]] std::uint64_t faults() const;
  /// In one line, as results tell it: "passed, 120 kernels, digest ..".
  [[nodiscard]] std::string outcome() const;
};

/// Throws Error(input) where the backend is not there, or no kernel matches.
SelftestReport selftest(const SelftestOptions& options);

}  // namespace rattleback
