#pragma once
// Ranks of MPI without a common file system: each computes its share of the parts, and rank 0 gathers the files.

#include <filesystem>
#include <functional>
#include <string>

#include "mpi/mpi_plugin.hpp"
#include "rattleback/parts/folder.hpp"

namespace rattleback::program {

/// MPI in this process, from the plugin that RATTLEBACK_MPI names, or beside the program, or in its library folder.
class Mpi {
 public:
  /// Throws Error(input) without a plugin, and Error(runtime) when MPI does not start.
  Mpi();
  /// Ends MPI. A rank that is lost stops this for a minute at most.
  ~Mpi();
  Mpi(const Mpi&) = delete;
  Mpi& operator=(const Mpi&) = delete;

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }

  /// Tells rank 0 that this rank lives, now and then.
  void tell_alive();
  /// Sends a finished part to rank 0.
  void send(std::uint64_t part, const std::filesystem::path& file);
  /// Receives parts into the folder until all are there, or until the ranks of the missing ones were silent for
  /// `silence_seconds`, also in the middle of a file. The owner of part k is rank (k - 1) mod size. `tell` gets a line about each
  /// rank that is lost.
  void gather(const PartsFolder& folder, double silence_seconds, const std::function<bool()>& stop,
              const std::function<void(const std::string&)>& tell);

 private:
  /// Whether the whole file came.
  [[nodiscard]] bool receive_part(int from, const PartsFolder& folder, std::uint64_t part, std::uint64_t bytes,
                                  double silence_seconds);
  static void check(int failed);

  const RattlebackMpi* functions_ = nullptr;
  int rank_ = 0, size_ = 1;
  double last_alive_ = 0.0;
};

}  // namespace rattleback::program
