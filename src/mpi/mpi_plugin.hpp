#pragma once
// What the program asks of MPI. The implementation is in a plugin, because MPI has no common binary interface.

#include <cstdint>

extern "C" {

/// Messages of one kind arrive in the order in which a rank sends them.
enum RattlebackMessage { rattleback_announcement = 1, rattleback_piece = 2 };

/// Functions of the plugin. Each returns 0 on success. All calls come from one thread. There is no collective call between `begin`
/// and `end`, so no call waits for a rank that is lost.
struct RattlebackMpi {
  int (*begin)(int* rank, int* size);
  /// Sends bytes to a rank, at most 2^30 of them. Returns when the bytes are on their way or received.
  int (*send)(int to, RattlebackMessage kind, const void* data, std::uint64_t bytes);
  /// Tells whether an announcement waits: `from` is its rank, or -1.
  int (*poll)(int* from);
  /// Receives the next message of this kind from a rank, which has `bytes` bytes. Fails when the rank is silent for `seconds`.
  int (*receive)(int from, RattlebackMessage kind, void* data, std::uint64_t bytes, double seconds);
  /// Ends MPI.
  int (*end)();
};

/// The entry point of the plugin.
const RattlebackMpi* rattleback_mpi();
}
