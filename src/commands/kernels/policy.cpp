// Where kernels may come from, and what is told about them.

#include <memory>
#include <mutex>

#include <unistd.h>

#include "commands/commands.hpp"
#include "output/output.hpp"
#include "rattleback/kernels/kernels.hpp"

namespace rattleback::program {

namespace {

/// What is said while kernels are compiled: lines and, on a terminal, a last line that turns.
class KernelDisplay {
 public:
  void line(const std::string& text) {
    const std::lock_guard lock(mutex_);
    clear();
    say(text);
  }
  /// Draws the turning line, or removes it when `seconds` is 0.
  void turn(double seconds) {
    const std::lock_guard lock(mutex_);
    clear();
    if (seconds <= 0.0) return;
    print_stderr("{} {:.0f} s", "|/-\\"[turns_++ % 4], seconds);
    drawn_ = true;
  }

 private:
  void clear() {
    if (drawn_) print_stderr("\r\x1b[K");
    drawn_ = false;
  }
  std::mutex mutex_;
  bool drawn_ = false;
  unsigned turns_ = 0;
};

}  // namespace

void report_kernels(CLI::App& command) {
  command.parse_complete_callback([&command] {
    const CLI::Option* quiet = command.get_option_no_throw("--quiet");
    if (quiet != nullptr && quiet->count() > 0) return Kernels::instance().set_report({}, say);
    const auto display = std::make_shared<KernelDisplay>();
    std::function<void(double)> turn;
    if (isatty(STDERR_FILENO) == 1) turn = [display](double seconds) { display->turn(seconds); };
    const auto line = [display](const std::string& text) { display->line(text); };
    Kernels::instance().set_report(line, line, turn);
  });
}

void add_kernel_policy(CLI::App& command) {
  const auto choose = [](const std::string& policy) {
    Kernels::instance().set_policy(policy == "auto"     ? KernelPolicy::automatic
                                   : policy == "cached" ? KernelPolicy::cached
                                                        : KernelPolicy::builtin);
  };
  command
      .add_option_function<std::string>("--kernels", choose,
                                        "auto compiles kernels that are missing; cached takes those of the program, of "
                                        "packs and of the cache; builtin takes those of the program and of packs")
      ->default_str("auto")
      ->check(CLI::IsMember({"auto", "cached", "builtin"}));
  report_kernels(command);
}

}  // namespace rattleback::program
