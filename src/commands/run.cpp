#include <filesystem>

#include <fmt/format.h>

#include "commands/parts/parts.hpp"
#include "output/terminal.hpp"

namespace rattleback::program {
namespace {

struct StudyRunArguments {
  StudyArguments study;
  std::string output;
  RunArguments run;
  PartArguments parts;
};

int run_study(const StudyRunArguments& arguments) {
  const Interrupt interrupt;
  const Problem problem = arguments.study.resolve();
  const std::filesystem::path output =
      arguments.output.empty() ? default_output(arguments.study.file) : std::filesystem::path(arguments.output);
  if (arguments.parts.wanted()) return run_parts(arguments.parts, arguments.run, interrupt, problem, output);
  check_space(problem, output);
  return execute(arguments.run, interrupt, output, [&](Session& session) { return session.run(problem, output); });
}

}  // namespace

std::filesystem::path default_output(const std::filesystem::path& study) {
  return study.filename().replace_extension(".h5");
}

Problem StudyArguments::resolve() const { return Problem::load(file, overrides); }

void StudyArguments::add_to(CLI::App& command) {
  add_file(command, "study", file, "study file (TOML)")->required();
  command.add_option("--set", overrides, "override a key of the study, for example time.step=0.05")
      ->allow_extra_args(false)
      ->type_name(value::assignment);
}

void BackendArguments::add_to(CLI::App& command) {
  command
      .add_option("--backend", backend,
                  "auto, cpu, cuda; or cpu:scalar, cpu:neon, cpu:avx2, cpu:avx512 (with ,threads=N), cuda:K")
      ->capture_default_str()
      ->type_name(value::backend);
  command.add_option("--threads", threads, "CPU threads; default: the processors that the process may use")
      ->check(from_one());
  add_kernel_policy(command);
}

RunOptions BackendArguments::options() const {
  RunOptions options;
  options.backend = backend;
  options.threads = threads;
  return options;
}

void add_run(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("run", "run a study and write its result");
  auto arguments = std::make_shared<StudyRunArguments>();
  arguments->study.add_to(*command);
  add_file(*command, "-o,--output", arguments->output, "result file (HDF5); default: name of the study file with .h5");
  arguments->run.add_to(*command);
  command->add_option("--tile", arguments->run.tile, "trajectories in memory at a time; default: what fits")
      ->check(from_one());
  arguments->parts.add_to(*command);
  command->footer(
      "Examples:\n  rattleback run examples/chaotic.toml\n"
      "  rattleback run examples/chaotic.toml --backend cpu --set time.step=0.05 -o fine.h5\n"
      "  rattleback run examples/chaotic.toml --parts 64 --worker");
  command->callback([arguments, &exit_code] { exit_code = run_study(*arguments); });
}

}  // namespace rattleback::program
