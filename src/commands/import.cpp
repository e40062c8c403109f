// `rattleback import`: the package of figures reads models of other programs (python/rattleback/plot/importing.py).

#include <memory>
#include <string>

#include "commands/commands.hpp"
#include "output/plot_tool.hpp"

namespace rattleback::program {

void add_import(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("import", "write the study of a model in URDF or MJCF");
  struct Arguments {
    std::string model, output;
    bool quiet = false;
  };
  auto arguments = std::make_shared<Arguments>();
  command->add_option("model", arguments->model, "a robot (URDF) or a model of MuJoCo (MJCF)")
      ->required()
      ->type_name(value::file)
      ->check(not_empty());
  command
      ->add_option("-o,--output", arguments->output,
                   "study file, which must not exist; default: named after the model, in the working directory")
      ->type_name(value::file)
      ->check(not_empty());
  command->add_flag("--quiet", arguments->quiet, "print nothing");
  command->footer("Examples:\n  rattleback import arm.urdf\n  rattleback import pendulum.xml -o pendulum.toml");
  command->callback([arguments, &exit_code] {
    exit_code = run_plot_tool({"--import", arguments->output, arguments->model}, arguments->quiet);
  });
}

}  // namespace rattleback::program
