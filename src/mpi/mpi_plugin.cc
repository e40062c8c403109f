// The plugin for MPI: librattleback_mpi.so.

#include "mpi/mpi_plugin.hpp"

#include <mpi.h>

namespace {

constexpr int tag = 1;

int begin(int* rank, int* size) {
  int provided = 0;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) return 1;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  return MPI_Comm_rank(MPI_COMM_WORLD, rank) != MPI_SUCCESS || MPI_Comm_size(MPI_COMM_WORLD, size) != MPI_SUCCESS;
}

int send(int to, const void* data, std::uint64_t bytes) {
  return MPI_Send(data, static_cast<int>(bytes), MPI_BYTE, to, tag, MPI_COMM_WORLD) != MPI_SUCCESS;
}

int poll(int* from) {
  int waits = 0;
  MPI_Status status;
  if (MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &waits, &status) != MPI_SUCCESS) return 1;
  *from = waits != 0 ? status.MPI_SOURCE : -1;
  return 0;
}

int receive(int from, void* data, std::uint64_t bytes) {
  return MPI_Recv(data, static_cast<int>(bytes), MPI_BYTE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS;
}

int end() { return MPI_Finalize() != MPI_SUCCESS; }

}  // namespace

extern "C" const RattlebackMpi* rattleback_mpi() {
  static constexpr RattlebackMpi functions{begin, send, poll, receive, end};
  return &functions;
}
