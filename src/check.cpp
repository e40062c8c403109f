#include <memory>

#include <fmt/format.h>

#include "commands.hpp"
#include "rattleback/method_options.hpp"
#include "rattleback/run.hpp"

namespace rattleback::program {

void add_check(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("check", "validate a study and print it with all defaults filled in");
  auto arguments = std::make_shared<StudyArguments>();
  arguments->add_to(*command);
  command->footer("Examples:\n  rattleback check examples/chaotic.toml --set system.variant=contact");
  command->callback([arguments, &exit_code] {
    const Study study = Study::load(arguments->file, arguments->overrides);
    check_initial_states(study);
    if (const std::string warning = method_numbers(study).warning; !warning.empty())
      fmt::print(stderr, "rattleback: {}\n", warning);
    fmt::print("{}", study.to_toml());
    exit_code = exit_done;
  });
}

}  // namespace rattleback::program
