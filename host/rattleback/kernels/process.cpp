#include "rattleback/kernels/process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rattleback/base/error.hpp"
#include "rattleback/base/fork.hpp"

namespace rattleback {
namespace {

namespace fs = std::filesystem;

/// Variables that a compiled kernel and the messages of a compiler must not depend on.
constexpr std::array<std::string_view, 11> dropped = {"LC_ALL",
                                                      "LANGUAGE",
                                                      "CCC_OVERRIDE_OPTIONS",  // options for clang
                                                      "CLICOLOR_FORCE",
                                                      "GCC_COLORS",
                                                      "GCC_EXTRA_DIAGNOSTIC_OUTPUT",
                                                      "MAKEFLAGS",
                                                      "MFLAGS",
                                                      "DEPENDENCIES_OUTPUT",  // a file that GCC would write
                                                      "TMPDIR",
                                                      "SUNPRO_DEPENDENCIES"};

std::vector<std::string> environment_of(const Command& command) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text = *entry, name = text.substr(0, text.find('='));
    const bool keeps = name == "TMPDIR" && command.temporary.empty();
    if (keeps || std::ranges::find(dropped, name) == dropped.end()) result.emplace_back(text);
  }
  result.emplace_back("LC_ALL=C");
  if (!command.temporary.empty()) result.push_back("TMPDIR=" + command.temporary.string());
  return result;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

/// The files of a supervisor besides the standard ones.
constexpr int link_place = 3, output_place = 4;

/// All that posix_spawn needs. It is made before fork, because a child of a process with threads may do little.
class Launch {
 public:
  explicit Launch(const Command& command)
      : arguments_(command.arguments),
        environment_(environment_of(command)),
        argv_(pointers(arguments_)),
        envp_(pointers(environment_)) {
    posix_spawn_file_actions_init(&files_);
    posix_spawn_file_actions_addopen(&files_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files_, output_place, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files_, output_place, STDERR_FILENO);
    posix_spawnattr_init(&attributes_);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~Launch() {
    posix_spawn_file_actions_destroy(&files_);
    posix_spawnattr_destroy(&attributes_);
  }
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;

  /// Starts the program as the leader of a new process group. Returns 0 or an error number.
  int operator()(pid_t& program) const {
    return posix_spawn(&program, argv_[0], &files_, &attributes_, argv_.data(), envp_.data());
  }

 private:
  std::vector<std::string> arguments_, environment_;
  std::vector<char*> argv_, envp_;
  posix_spawn_file_actions_t files_{};
  posix_spawnattr_t attributes_{};
};

/// What the parent says through the link.
enum class Wish { none, cancel, orphaned };

Wish wish_of(int link) {
  pollfd item{link, POLLIN, 0};
  if (poll(&item, 1, 0) <= 0) return Wish::none;
  char byte = 0;
  return recv(link, &byte, 1, MSG_DONTWAIT) == 1 ? Wish::cancel : Wish::orphaned;
}

/// Ends a process group and waits until it is gone. Its processes are children of the caller, or become so when their
/// parents end.
void end_group(pid_t group) {
  constexpr timespec a_moment{0, 1'000'000};
  for (int attempt = 0; attempt < 1000; ++attempt) {  // a process may hang in a dead file system
    kill(-group, SIGKILL);
    pid_t ended = 0;
    while ((ended = waitpid(-group, nullptr, WNOHANG)) > 0) continue;
    if (ended < 0) return;
    nanosleep(&a_moment, nullptr);
  }
}

/// The process between: starts the program as the leader of a process group and tells its end through `link`. All signals
/// are blocked. When the other end of `link` is closed, the parent is gone.
[[noreturn]] void supervise(const Launch& launch, const fs::path& remove_if_orphaned, int link, int output) {
  setpgid(0, 0);  // a signal to the group of the parent does not reach this process
  const int link_copy = fcntl(link, F_DUPFD_CLOEXEC, 10), output_copy = fcntl(output, F_DUPFD_CLOEXEC, 10);
  dup3(link_copy, link_place, O_CLOEXEC);
  dup3(output_copy, output_place, O_CLOEXEC);
  // Links of other supervisors must not stay open here. An older kernel has no such call; its links end one by one.
  (void)syscall(SYS_close_range, static_cast<unsigned>(output_place + 1), ~0u, 0u);
  std::signal(SIGCHLD, SIG_DFL);
  prctl(PR_SET_CHILD_SUBREAPER, 1);

  Finished finished;
  pid_t program = 0;
  if (const int error = launch(program)) {
    finished = {Finished::How::not_started, error};
  } else {
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    constexpr timespec a_moment{0, 50'000'000};
    Wish wish = Wish::none;
    siginfo_t info{};
    // The program stays a zombie, so its number stays that of the group.
    while (waitid(P_PID, static_cast<id_t>(program), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0 &&
           (wish = wish_of(link_place)) == Wish::none)
      sigtimedwait(&child, nullptr, &a_moment);
    if (wish != Wish::none) {
      finished = {Finished::How::cancelled, 0};
    } else {
      finished = {info.si_code == CLD_EXITED ? Finished::How::exited : Finished::How::signalled, info.si_status};
    }
    end_group(program);
    std::error_code code;
    if (wish == Wish::orphaned && !remove_if_orphaned.empty()) fs::remove_all(remove_if_orphaned, code);
  }
  _exit(send(link_place, &finished, sizeof finished, MSG_NOSIGNAL) == sizeof finished ? 0 : 1);
}

/// Returns an open file that receives the output of a command. The caller closes it.
int open_output(const Command& command) {
  int file = -1;
  if (command.output.empty() && command.output_file >= 0) {
    file = fcntl(command.output_file, F_DUPFD_CLOEXEC, 0);
  } else {
    const fs::path path = command.output.empty() ? fs::path("/dev/null") : command.output;
    file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  }
  if (file < 0)
    throw Error(Error::Kind::runtime,
                fmt::format("{}: cannot be written ({})", command.output.string(), std::strerror(errno)));
  return file;
}

/// Starts a supervisor. Returns its number, or -1 with errno. The caller closes both ends of the link and the output.
pid_t start_supervisor(const Command& command, const int (&ends)[2], int output) {
  const Launch launch(command);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t supervisor = fork_alone();
  if (supervisor == 0) {
    close(ends[0]);
    supervise(launch, command.remove_if_orphaned, ends[1], output);
  }
  const int error = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return supervisor;
}

}  // namespace

Finished run_process(const Command& command) {
  const int output = open_output(command);
  int ends[2] = {-1, -1};
  const bool linked = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0;
  const pid_t supervisor = linked ? start_supervisor(command, ends, output) : -1;
  const int error = errno;
  close(output);
  if (linked) close(ends[1]);
  if (supervisor < 0) {
    if (linked) close(ends[0]);
    throw Error(Error::Kind::runtime, fmt::format("{}: no process can be started ({}); end other processes",
                                                  command.arguments.at(0), std::strerror(error)));
  }

  pollfd item{ends[0], POLLIN, 0};
  for (bool asked = false; poll(&item, 1, 50) <= 0;) {
    if (asked || !command.cancelled || !command.cancelled()) continue;
    asked = true;
    (void)send(ends[0], "c", 1, MSG_NOSIGNAL);
  }
  Finished finished{Finished::How::signalled, SIGKILL};  // somebody has killed the supervisor
  Finished told;
  if (recv(ends[0], &told, sizeof told, MSG_WAITALL) == sizeof told) finished = told;
  close(ends[0]);
  while (waitpid(supervisor, nullptr, 0) < 0 && errno == EINTR) continue;
  return finished;
}

std::string to_string(const Finished& finished) {
  switch (finished.how) {
    case Finished::How::exited:
      return fmt::format("exit status {}", finished.value);
    case Finished::How::signalled:
      return fmt::format("signal {} ({})", finished.value, strsignal(finished.value));
    case Finished::How::not_started:
      return std::strerror(finished.value);
    case Finished::How::cancelled:
      break;
  }
  return "interrupted";
}

}  // namespace rattleback
