#include "census.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>

#include "options.hpp"

namespace ptxcpu {
namespace {

constexpr const char* class_names[instruction_classes] = {  // in the order of translate/census.py
    "fma",   "add_mul", "division", "compare",  "select", "integer",     "move",
    "local", "shared",  "global",   "constant", "branch", "synchronise", "other"};

struct Sums {
  std::uint64_t threads = 0;
  std::uint64_t executed[instruction_classes] = {};  ///< by threads
  /// By warps: what some lane of a warp executes takes the time of all. Lanes that part are taken to meet again as early as
  /// possible, so a warp executes a basic block as often as the lane that comes there most often.
  std::uint64_t issued[instruction_classes] = {};
};

/// Writes the sums at exit, a line of JSON for every kernel.
struct Report {
  std::map<std::string, Sums> kernels;

  ~Report() {
    if (options().census.empty()) return;
    std::FILE* file = std::fopen(options().census.c_str(), "a");
    if (!file) {
      std::perror(options().census.c_str());
      return;
    }
    const auto put = [file](const char* name, const std::uint64_t* sums) {
      std::fprintf(file, ", \"%s\": {", name);
      for (int c = 0; c < instruction_classes; ++c)
        std::fprintf(file, "%s\"%s\": %llu", c ? ", " : "", class_names[c], static_cast<unsigned long long>(sums[c]));
      std::fprintf(file, "}");
    };
    for (const auto& [name, sums] : kernels) {
      std::fprintf(file, "{\"kernel\": \"%s\", \"threads\": %llu", name.c_str(),
                   static_cast<unsigned long long>(sums.threads));
      put("executed", sums.executed);
      put("issued", sums.issued);
      std::fprintf(file, "}\n");
    }
    std::fclose(file);
  }
} report;

}  // namespace

Census::Census(Launch& launch) : launch_(launch) {
  const std::size_t blocks = launch.kernel->block_count;
  counts_.resize(blocks * launch.lanes.size());
  for (std::size_t i = 0; i < launch.lanes.size(); ++i) launch.lanes[i].thread.counts = counts_.data() + i * blocks;
}

void Census::add_block() {
  if (counts_.empty()) return;
  const Kernel& kernel = *launch_.kernel;
  const std::size_t blocks = kernel.block_count, threads = launch_.lanes.size();
  Sums& sums = report.kernels[kernel.name];
  sums.threads += threads;
  for (std::size_t b = 0; b < blocks; ++b)
    for (std::size_t first = 0; first < threads; first += 32) {
      std::uint64_t sum = 0, most = 0;
      for (std::size_t i = first; i < std::min(first + 32, threads); ++i) {
        const std::uint64_t count = counts_[i * blocks + b];
        sum += count;
        most = std::max(most, count);
      }
      if (sum == 0) continue;
      for (int c = 0; c < instruction_classes; ++c) {
        sums.executed[c] += sum * kernel.blocks[b][c];
        sums.issued[c] += most * kernel.blocks[b][c];
      }
    }
  std::fill(counts_.begin(), counts_.end(), 0);
}

}  // namespace ptxcpu
