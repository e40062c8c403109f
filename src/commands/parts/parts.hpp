#pragma once
// `run` with parts: one part, a worker, or all parts and their merge.

#include <optional>
#include <string>

#include "output/terminal.hpp"

namespace rattleback::program {

/// The options of `run` for parts.
struct PartArguments {
  std::string part;         ///< K/N
  std::uint64_t parts = 0;  ///< 0: not given
  bool worker = false, gather = false;
  double stale = 0.0;

  void add_to(CLI::App& command);
  /// Returns whether the run is one of parts, by its options or as a rank among others. Throws Error(input) on options that
  /// exclude each other.
  [[nodiscard]] bool wanted() const;
};

/// Runs parts of a study. Returns the exit code.
int run_parts(const PartArguments& parts, const RunArguments& run, const Interrupt& interrupt, const Problem& problem,
              const std::filesystem::path& output);

}  // namespace rattleback::program
