#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "commands/commands.hpp"
#include "output/output.hpp"
#include "output/terminal.hpp"
#include "rattleback/base/message.hpp"
#include "rattleback/measure/estimate.hpp"
#include "rattleback/study/options.hpp"

namespace rattleback::program {
namespace {

std::string in_words(double seconds) {
  if (seconds < 120) return fmt::format("{:.2g} s", seconds);
  if (seconds < 7200) return fmt::format("{:.2g} min", seconds / 60);
  if (seconds < 172800) return fmt::format("{:.2g} h", seconds / 3600);
  if (seconds < 365.25 * 86400) return fmt::format("{:.3g} days", seconds / 86400);
  return fmt::format("{:.3g} years", seconds / (365.25 * 86400));
}

std::string summary_of(const Estimate& estimate) {
  std::string text = fmt::format(
      "checked {} of {} initial states{}{}; a run takes {:.4g} trajectory-steps, {:.3g} MiB of "
      "memory for trajectories and {:.3g} MiB of disk",
      estimate.checked, estimate.trajectories, estimate.checked < estimate.trajectories ? " (run checks all)" : "",
      estimate.left_out > 0 ? fmt::format(", of which ensemble.where leaves out {}", estimate.left_out) : "",
      estimate.trajectory_steps, estimate.memory / 0x1p20, estimate.disk / 0x1p20);
  if (!estimate.fault.empty()) return fmt::format("{}; its time is unknown: {}", text, estimate.fault);
  text += fmt::format(
      ", about {} in all, of which its steps take {} at the {:.3g} trajectory-steps per second that copies of "
      "trajectory "
      "{} make on {}, {} threads",
      in_words(estimate.seconds), in_words(estimate.step_seconds), estimate.rate, estimate.measured, estimate.device,
      estimate.threads);
  if (estimate.preparation >= 0.5)
    text += fmt::format("; compiling its kernels took {} now, and later runs find them compiled",
                        in_words(estimate.preparation));
  return text;
}

}  // namespace

void add_check(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("check", "validate a study and print it with all defaults filled in");
  auto arguments = std::make_shared<StudyArguments>();
  arguments->add_to(*command);
  add_kernel_policy(*command);
  command->footer("Examples:\n  rattleback check examples/chaotic.toml --set system.variant=contact");
  command->callback([arguments, &exit_code] {
    const Interrupt interrupt;
    const Problem problem = arguments->resolve();
    check_space(problem, default_output(arguments->file));
    RunOptions options;
    options.stop = interrupt.token();
    const Estimate found = estimate(problem, options);
    if (!problem.warning.empty()) say(problem.warning);
    say(summary_of(found));
    if (!found.failures.empty())
      say(fmt::format(
          "copies of trajectory {} fail before the end{}, so that a run whose trajectories do not fail takes longer",
          found.measured, in_brackets(found.failures)));
    print_stdout_lines(problem.study.to_toml());
    exit_code = exit_done;
  });
}

}  // namespace rattleback::program
