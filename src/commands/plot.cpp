#include "commands/commands.hpp"
#include "output/plot_tool.hpp"

namespace rattleback::program {

void add_plot(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("plot", "draw figures of results; rattleback plot --help lists the kinds");
  // The tool handles all options, also --help.
  command->set_help_flag();
  command->prefix_command();
  command->footer("Examples:\n  rattleback plot chaotic.h5 --loglog\n  rattleback plot phase chaotic.h5 --help");
  command->callback([command, &exit_code] { exit_code = run_plot_tool(command->remaining()); });
}

}  // namespace rattleback::program
