#include "output/plot_tool.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "launch.hpp"
#include "rattleback/base/error.hpp"
#include "rattleback/base/message.hpp"
#include "rattleback/kernels/trust.hpp"

namespace rattleback::program {
namespace {

/// Returns the words that start $RATTLEBACK_PLOT, the tool of the launch, the installed tool near this program, or the one beside this
/// program in a build tree.
std::vector<std::string> find_tool() {
  if (const char* given = std::getenv("RATTLEBACK_PLOT")) return {given};
  if (!launch().plot_tool.empty()) return launch().plot_tool;
  const auto installed = path_from_program(RATTLEBACK_TOOL_FOLDER "/rattleback/plot");
  std::error_code code;
  return {(std::filesystem::exists(installed, code) ? installed : path_from_program("rattleback-plot")).string()};
}

}  // namespace

int run_plot_tool(const std::vector<std::string>& arguments, bool quiet) {
  std::vector<std::string> words = find_tool();
  const std::string tool = words.front();
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (quiet) posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int failed = posix_spawn(&child, tool.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (failed == 0)
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (failed == 0 && WIFEXITED(status)) return WEXITSTATUS(status);
  if (failed != 0)
    throw Error(Error::Kind::runtime,
                fmt::format("the plotting tool {} cannot be run ({}); install python3, matplotlib and h5py, or point "
                            "RATTLEBACK_PLOT to the tool",
                            tool, std::strerror(failed)));
  const int signal = WTERMSIG(status);
  const std::string why = fmt::format("the plotting tool was killed ({})", strsignal(signal));
  if (signal != SIGSEGV && signal != SIGBUS && signal != SIGABRT && signal != SIGFPE)
    throw Error(Error::Kind::runtime, why);
  // HDF5 crashes on some damaged files.
  std::string files;
  std::error_code code;
  for (const std::string& argument : arguments)
    if (std::filesystem::is_regular_file(argument, code)) files += (files.empty() ? "" : ", ") + argument;
  input_error(files, why + "; the file is damaged");
}

}  // namespace rattleback::program
