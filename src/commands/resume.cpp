#include "output/terminal.hpp"

namespace rattleback::program {

void add_resume(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("resume", "go on with an interrupted run from its last checkpoint");
  struct Arguments {
    std::string result;
    RunArguments run;
  };
  auto arguments = std::make_shared<Arguments>();
  add_file(*command, "result", arguments->result, "the result file that the interrupted run was to write")->required();
  arguments->run.add_to(*command);
  command->footer("Examples:\n  rattleback resume chaotic.h5");
  command->callback([arguments, &exit_code] {
    const Interrupt interrupt;
    exit_code = execute(arguments->run, interrupt, arguments->result,
                        [&](Session& session) { return session.resume(arguments->result); });
  });
}

}  // namespace rattleback::program
