#include "rattleback/base/probe.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rattleback/base/error.hpp"
#include "rattleback/base/fork.hpp"

namespace rattleback {
namespace {

/// Makes the calling process end silently when the process crashes, hangs, or outlives the parent.
void guard(pid_t parent, unsigned seconds) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  prctl(PR_SET_DUMPABLE, 0);  // this prevents a core file
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM, SIGXCPU}) std::signal(signal, SIG_DFL);
  sigset_t alarm_only;
  sigemptyset(&alarm_only);
  sigaddset(&alarm_only, SIGALRM);
  pthread_sigmask(SIG_UNBLOCK, &alarm_only, nullptr);
  const rlimit cpu{seconds, seconds};
  setrlimit(RLIMIT_CPU, &cpu);
  alarm(10 * seconds);
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  dup2(nowhere, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
}

}  // namespace

std::string why_unreadable(const std::filesystem::path& file) {
  std::error_code code;
  const auto status = std::filesystem::status(file, code);
  if (std::filesystem::is_directory(status)) return "it is a directory";
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) return "it is not a regular file";
  const int id = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (id < 0) return std::strerror(errno);
  close(id);
  return "";
}

bool comes_back(const std::filesystem::path& file, const std::function<void()>& body) {
  const auto fail = [&] {
    throw Error(Error::Kind::runtime, file.string() + ": no process can be started to read it first (" +
                                          std::strerror(errno) + "); end other processes");
  };
  std::error_code code;
  const std::uintmax_t size = std::filesystem::file_size(file, code);
  const unsigned seconds = 10 + (code ? 0 : static_cast<unsigned>(size >> 24));
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) fail();
  const pid_t parent = getpid(), child = fork_alone();
  if (child == 0) {
    guard(parent, seconds);
    try {
      body();
    } catch (...) {
    }
    const char done = 1;
    _exit(write(ends[1], &done, 1) == 1 ? 0 : 1);
  }
  const int error = errno;
  close(ends[1]);
  // The byte reports success. A parent that ignores SIGCHLD never sees the exit status.
  char done = 0;
  while (child > 0 && read(ends[0], &done, 1) < 0 && errno == EINTR) continue;
  close(ends[0]);
  while (child > 0 && waitpid(child, nullptr, 0) < 0 && errno == EINTR) continue;
  errno = error;
  if (child < 0) fail();
  return done == 1;
}

}  // namespace rattleback
