// `rattleback import`: the package of figures reads models of other programs (python/rattleback/plot/importing.py).

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include <fmt/format.h>

#include "commands/commands.hpp"
#include "output/output.hpp"
#include "output/plot_tool.hpp"
#include "rattleback/base/error.hpp"
#include "rattleback/study/study.hpp"

namespace rattleback::program {
namespace {

/// A study that the program would refuse is not left behind.
void keep_if_complete(const std::filesystem::path& place, const std::string& model) {
  std::ostringstream text;
  text << std::ifstream(place).rdbuf();
  try {
    (void)Study::parse(text.str(), fmt::format("study of {}", model));
  } catch (const Error&) {
    std::error_code code;
    std::filesystem::remove(place, code);
    throw;
  }
}

}  // namespace

void add_import(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("import", "write the study of a model in URDF or MJCF");
  struct Arguments {
    std::string model, output;
    bool quiet = false;
  };
  auto arguments = std::make_shared<Arguments>();
  add_file(*command, "model", arguments->model, "a robot (URDF) or a model of MuJoCo (MJCF)")->required();
  add_file(*command, "-o,--output", arguments->output,
           "study file, which must not exist; default: named after the model, in the working directory");
  command->add_flag("--quiet", arguments->quiet, "print nothing");
  command->footer("Examples:\n  rattleback import arm.urdf\n  rattleback import pendulum.xml -o pendulum.toml");
  command->callback([arguments, &exit_code] {
    exit_code = run_plot_tool({"--import", arguments->output, arguments->model}, arguments->quiet);
    if (exit_code != 0) return;
    const std::filesystem::path place = arguments->output.empty()
                                            ? std::filesystem::path(arguments->model).stem().concat(".toml")
                                            : std::filesystem::path(arguments->output);
    keep_if_complete(place, std::filesystem::path(arguments->model).filename());
    if (!arguments->quiet) print_stdout("study: {}\nnext: rattleback run {}\n", place.string(), place.string());
  });
}

}  // namespace rattleback::program
