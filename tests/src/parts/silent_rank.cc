// A plugin that acts as MPI with two ranks. This process is rank 0. Rank 1 announces a part, sends a piece of the file, and is silent
// from then on.

#include <cstring>

#include "mpi/mpi_plugin.hpp"

namespace {

int announcements = 0, pieces = 0;

int begin(int* rank, int* size) {
  *rank = 0;
  *size = 2;
  return 0;
}
int send(int, RattlebackMessage, const void*, std::uint64_t) { return 1; }
int poll(int* from) {
  *from = announcements == 0 ? 1 : -1;
  return 0;
}
int receive(int, RattlebackMessage kind, void* data, std::uint64_t bytes, double) {
  if (kind == rattleback_piece) {
    std::memset(data, 0, bytes);
    return ++pieces > 1;
  }
  ++announcements;
  const std::uint64_t part_and_bytes[2] = {2, std::uint64_t{3} << 26};  // three pieces
  std::memcpy(data, part_and_bytes, bytes);
  return 0;
}
int end() { return 0; }

}  // namespace

extern "C" const RattlebackMpi* rattleback_mpi() {
  static constexpr RattlebackMpi functions{begin, send, poll, receive, end};
  return &functions;
}
