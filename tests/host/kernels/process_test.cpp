// A program runs with the arguments and the environment that it is given, and nothing of it outlives its caller.

#include "rattleback/kernels/process.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>
#include <vector>

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compile_testing.hpp"
#include "rattleback/base/probe.hpp"

namespace rattleback::tests {
namespace {

using How = Finished::How;

class ProcessTest : public CompileTest {
 protected:
  [[nodiscard]] Finished run(const fs::path& program, std::vector<std::string> arguments = {}) const {
    arguments.insert(arguments.begin(), program.string());
    return run_process({.arguments = arguments, .output = directory / "output"});
  }
  /// A program that writes its number and that of a child into files and then sleeps.
  [[nodiscard]] fs::path sleeper(const std::string& end) const {
    const std::string here = directory.string();
    return script("sleeper", "sleep 1000 &\necho $! > " + here + "/child\necho $$ > " + here + "/leader\n" + end);
  }
  [[nodiscard]] bool sleeps() const { return number_in("child") > 0 && number_in("leader") > 0; }
};

TEST_F(ProcessTest, GivesArgumentsAndTakesOutput) {
  const fs::path program = script("program", "for a in \"$@\"; do echo \"<$a>\"; done; echo error >&2; cat; exit 7");
  const Finished finished = run(program, {"a b", "$HOME", "*", ""});
  EXPECT_EQ(finished.how, How::exited);
  EXPECT_EQ(finished.value, 7);
  EXPECT_FALSE(finished.succeeded());
  EXPECT_EQ(to_string(finished), "exit status 7");
  EXPECT_EQ(text_of(directory / "output"), "<a b>\n<$HOME>\n<*>\n<>\nerror\n");
  EXPECT_TRUE(run("/bin/true").succeeded());
  EXPECT_EQ(text_of(directory / "output"), "");
  EXPECT_TRUE(run_process({.arguments = {"/bin/echo"}}).succeeded());
}

// What another library does at a fork, such as OpenBLAS, which waits for its threads there.
std::atomic<bool> watches_forks = false;
std::atomic<int> forks = 0, at_once = 0, most_at_once = 0;
void at_fork() {
  if (!watches_forks) return;
  ++forks;
  const int now = ++at_once;
  if (now > most_at_once) most_at_once = now;
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  --at_once;
}

TEST_F(ProcessTest, OneThreadForksAtATime) {
  ASSERT_EQ(pthread_atfork(at_fork, nullptr, nullptr), 0);
  watches_forks = true;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([] {
      EXPECT_TRUE(run_process({.arguments = {"/bin/true"}}).succeeded());
      EXPECT_TRUE(comes_back("/dev/null", [] {}));
    });
  for (std::thread& thread : threads) thread.join();
  watches_forks = false;
  EXPECT_EQ(forks, 6);
  EXPECT_EQ(most_at_once, 1);
}

TEST_F(ProcessTest, GivesAnEnvironment) {
  const Variable language("LC_ALL", "de_DE.UTF-8"), colour("CLICOLOR_FORCE", "1"), own("RATTLEBACK_TEST", "a b");
  const Variable temporary("TMPDIR", "/somewhere");
  ASSERT_TRUE(run("/usr/bin/env").succeeded());
  const std::string inherited = "\n" + text_of(directory / "output");
  for (const char* line : {"\nLC_ALL=C\n", "\nRATTLEBACK_TEST=a b\n", "\nTMPDIR=/somewhere\n"})
    EXPECT_NE(inherited.find(line), std::string::npos) << inherited;
  EXPECT_EQ(inherited.find("CLICOLOR_FORCE"), std::string::npos);
  EXPECT_EQ(inherited.find("de_DE"), std::string::npos);
  ASSERT_TRUE(
      run_process({.arguments = {"/usr/bin/env"}, .output = directory / "output", .temporary = "/here"}).succeeded());
  const std::string given = "\n" + text_of(directory / "output");
  EXPECT_NE(given.find("\nTMPDIR=/here\n"), std::string::npos) << given;
  EXPECT_EQ(given.find("/somewhere"), std::string::npos);
}

TEST_F(ProcessTest, TellsHowAProgramEnds) {
  const Finished absent = run(directory / "absent");
  EXPECT_EQ(absent.how, How::not_started);
  EXPECT_EQ(to_string(absent), "No such file or directory");
  write("text", "no program");
  EXPECT_EQ(to_string(run(directory / "text")), "Permission denied");
  const Finished killed = run(script("killed", "kill -KILL $$"));
  EXPECT_EQ(killed.how, How::signalled);
  EXPECT_EQ(to_string(killed), "signal 9 (Killed)");
  const auto no_output = [] { (void)run_process({.arguments = {"/bin/true"}, .output = "/proc/absent"}); };
  EXPECT_NE(message_of(no_output, Error::Kind::runtime).find("/proc/absent: cannot be written"), std::string::npos);
}

TEST_F(ProcessTest, DoesNotInheritBlockedOrIgnoredSignals) {
  sigset_t term, before;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &term, &before);
  const auto pipe_before = std::signal(SIGPIPE, SIG_IGN), child_before = std::signal(SIGCHLD, SIG_IGN);
  EXPECT_EQ(to_string(run(script("term", "kill -TERM $$; sleep 5"))), "signal 15 (Terminated)");
  EXPECT_EQ(to_string(run(script("pipe", "kill -PIPE $$; sleep 5"))), "signal 13 (Broken pipe)");
  EXPECT_EQ(to_string(run(script("status", "exit 3"))), "exit status 3");
  std::signal(SIGCHLD, child_before);
  std::signal(SIGPIPE, pipe_before);
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, &before, &after);
  EXPECT_EQ(sigismember(&after, SIGTERM), 1);
  EXPECT_EQ(sigismember(&after, SIGINT), 0);
}

TEST_F(ProcessTest, EndsAllProcessesWhenCancelled) {
  const auto begin = std::chrono::steady_clock::now();
  const Finished finished = run_process({.arguments = {sleeper("sleep 1000").string()},
                                         .remove_if_orphaned = directory / "sleeper",
                                         .cancelled = [&] { return sleeps(); }});
  EXPECT_EQ(finished.how, How::cancelled);
  EXPECT_EQ(to_string(finished), "interrupted");
  EXPECT_FALSE(finished.succeeded());
  EXPECT_FALSE(runs(number_in("child")));
  EXPECT_FALSE(runs(number_in("leader")));
  EXPECT_TRUE(fs::exists(directory / "sleeper"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST_F(ProcessTest, EndsWhatAProgramLeavesBehind) {
  EXPECT_EQ(to_string(run(sleeper("exit 4"))), "exit status 4");
  ASSERT_TRUE(sleeps());
  EXPECT_FALSE(runs(number_in("child")));
}

TEST_F(ProcessTest, EndsAllProcessesAndFilesWhenTheCallerDies) {
  for (const int signal : {SIGKILL, SIGINT, SIGTERM}) {
    SCOPED_TRACE(signal);
    fs::remove(directory / "child");
    fs::remove(directory / "leader");
    const fs::path work = directory / "work", program = sleeper("sleep 1000");
    fs::create_directory(work);
    std::ofstream(work / "kernel.so") << "half";
    const pid_t caller = fork();
    if (caller == 0) {
      std::signal(signal, SIG_DFL);
      setpgid(0, 0);
      (void)run_process({.arguments = {program.string()}, .remove_if_orphaned = work});
      _exit(0);
    }
    ASSERT_TRUE(eventually([&] { return sleeps(); }));
    EXPECT_TRUE(fs::exists(work));
    kill(-caller, signal);  // a terminal sends its signal to the whole group
    int status = 0;
    ASSERT_EQ(waitpid(caller, &status, 0), caller);
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_TRUE(
        eventually([&] { return !fs::exists(work) && !runs(number_in("child")) && !runs(number_in("leader")); }));
    EXPECT_TRUE(fs::exists(program));
  }
}

TEST_F(ProcessTest, ManyThreadsRunPrograms) {
  const fs::path program = script("program", "sleep 0.05; exit $1");
  std::atomic<int> good = 0;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 16; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 4; ++i) {
        const Finished finished = run_process({.arguments = {program.string(), std::to_string(t + i)}});
        if (finished.how == How::exited && finished.value == t + i) ++good;
      }
    });
  threads.clear();
  EXPECT_EQ(good, 64);
}

}  // namespace
}  // namespace rattleback::tests
