// The plugin for MPI: librattleback_mpi.so.

#include "mpi/mpi_plugin.hpp"

#include <chrono>
#include <thread>

#include <mpi.h>

namespace {

int begin(int* rank, int* size) {
  int provided = 0;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) return 1;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  return MPI_Comm_rank(MPI_COMM_WORLD, rank) != MPI_SUCCESS || MPI_Comm_size(MPI_COMM_WORLD, size) != MPI_SUCCESS;
}

int send(int to, RattlebackMessage kind, const void* data, std::uint64_t bytes) {
  return MPI_Send(data, static_cast<int>(bytes), MPI_BYTE, to, kind, MPI_COMM_WORLD) != MPI_SUCCESS;
}

int poll(int* from) {
  int waits = 0;
  MPI_Status status;
  if (MPI_Iprobe(MPI_ANY_SOURCE, rattleback_announcement, MPI_COMM_WORLD, &waits, &status) != MPI_SUCCESS) return 1;
  *from = waits != 0 ? status.MPI_SOURCE : -1;
  return 0;
}

int receive(int from, RattlebackMessage kind, void* data, std::uint64_t bytes, double seconds) {
  MPI_Request request;
  if (MPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, from, kind, MPI_COMM_WORLD, &request) != MPI_SUCCESS) return 1;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  for (int done = 0; std::chrono::steady_clock::now() < end;) {
    if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return 1;
    if (done != 0) return 0;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  MPI_Status status;
  int cancelled = 1;
  if (MPI_Cancel(&request) != MPI_SUCCESS || MPI_Wait(&request, &status) != MPI_SUCCESS) return 1;
  MPI_Test_cancelled(&status, &cancelled);
  return cancelled;  // 0: the message came at the last moment
}

int end() { return MPI_Finalize() != MPI_SUCCESS; }

}  // namespace

extern "C" const RattlebackMpi* rattleback_mpi() {
  static constexpr RattlebackMpi functions{begin, send, poll, receive, end};
  return &functions;
}
