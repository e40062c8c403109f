#include <memory>

#include <fmt/format.h>

#include "commands/commands.hpp"
#include "output/diff_output.hpp"

namespace rattleback::program {

void DiffOutputArguments::add_to(CLI::App& command) {
  command.add_flag("--json", json, "as one JSON object");
  command.add_flag("--quiet", quiet, "the exit code alone: 0 identical, 1 different");
}

void add_diff(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("diff", "compare two results bit by bit");
  struct Arguments {
    std::string first, second;
    DiffOutputArguments output;
  };
  auto arguments = std::make_shared<Arguments>();
  command->add_option("first", arguments->first, "a result")->required()->type_name(value::file)->check(not_empty());
  command->add_option("second", arguments->second, "another result")
      ->required()
      ->type_name(value::file)
      ->check(not_empty());
  arguments->output.add_to(*command);
  command->footer("Examples:\n  rattleback diff gpu.h5 cpu.h5");
  command->callback([arguments, &exit_code] {
    const DiffReport report = diff(ResultFile(arguments->first), ResultFile(arguments->second));
    if (arguments->output.json) {
      fmt::print("{}\n", to_json(report, arguments->first, arguments->second).dump(2));
    } else if (!arguments->output.quiet) {
      fmt::print("{}", to_text(report, arguments->first, arguments->second));
    }
    exit_code = report.identical() ? exit_done : exit_different;
  });
}

}  // namespace rattleback::program
