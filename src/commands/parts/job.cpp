#include <filesystem>

#include <fmt/format.h>

#include "commands/commands.hpp"
#include "launch.hpp"
#include "output/output.hpp"
#include "rattleback/base/message.hpp"
#include "rattleback/parts/cut.hpp"
#include "rattleback/results/run_files.hpp"

namespace rattleback::program {
namespace {

struct JobArguments {
  StudyArguments study;
  std::string output;
  std::uint64_t parts = 0;
  bool slurm = false, mpi = false, hyperqueue = false;
};

/// Returns a word of bash, on one line. Paths and values may have any bytes: a line break among them would end a here-document,
/// and other control characters would change what a terminal shows of the script.
std::string shell_word(const std::string& text) {
  if (is_printable(text)) {
    std::string word = "'";
    for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return word + "'";
  }
  std::string word = "$'";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\'' || c == '\\') {
      word += '\\';
      word += c;
    } else if (byte >= 0x20 && byte < 0x7f) {
      word += c;
    } else {
      word += fmt::format("\\{:03o}", byte);
    }
  }
  return word + "'";
}

/// Returns the words of bash that start this program from every folder.
std::string program_words() {
  std::string words;
  for (const std::string& word : launch().program) words += (words.empty() ? "" : " ") + shell_word(word);
  return words.empty() ? shell_word(std::filesystem::read_symlink("/proc/self/exe").string()) : words;
}

/// The commands of a job, as shell text.
struct Commands {
  std::string compile, run, merge;
};

// An array of independent tasks. SIGTERM, two minutes before the time limit, makes the task save a checkpoint and queue again.
std::string slurm_script(const Commands& commands, const std::string& name, std::uint64_t parts) {
  return fmt::format(R"(#!/bin/bash
# Submit with: bash THIS_FILE [options of sbatch, such as --partition=P --time=04:00:00 --cpus-per-task=32]
set -euo pipefail
{compile}
array=$(sbatch --parsable --job-name={name} --array=1-{parts} --requeue --open-mode=append --signal=B:TERM@120 "$@" <<'TASK'
#!/bin/bash
stop() {{
  kill -TERM "$worker"
  wait "$worker"
  scontrol requeue "${{SLURM_ARRAY_JOB_ID}}_${{SLURM_ARRAY_TASK_ID}}"
  exit 0
}}
trap stop TERM
{run} --part "$SLURM_ARRAY_TASK_ID/{parts}" &
worker=$!
wait "$worker"
TASK
)
merge=$(sbatch --parsable --job-name={name} --dependency="afterany:$array" "$@" <<'TASK'
#!/bin/bash
{merge}
TASK
)
echo "jobs: parts $array, merge $merge"
)",
                     fmt::arg("compile", commands.compile), fmt::arg("run", commands.run),
                     fmt::arg("merge", commands.merge), fmt::arg("name", shell_word(name)), fmt::arg("parts", parts));
}

std::string mpi_script(const Commands& commands, std::uint64_t parts) {
  return fmt::format(R"(#!/bin/bash
# Start with: bash THIS_FILE [options of mpirun, such as -n 64]
set -euo pipefail
{compile}
mpirun "$@" {run} --parts {parts}
)",
                     fmt::arg("compile", commands.compile), fmt::arg("run", commands.run), fmt::arg("parts", parts));
}

std::string hyperqueue_script(const Commands& commands, const std::string& name, std::uint64_t parts) {
  return fmt::format(
      R"(#!/bin/bash
# Start with: bash THIS_FILE [options of hq submit, such as --cpus=32]
set -euo pipefail
{compile}
hq submit --name={name} --array 1-{parts} --crash-limit 100 --wait "$@" -- bash -c {task}
{merge}
)",
      fmt::arg("compile", commands.compile), fmt::arg("merge", commands.merge), fmt::arg("name", shell_word(name)),
      fmt::arg("parts", parts),
      fmt::arg("task", shell_word(fmt::format("exec {} --part \"$HQ_TASK_ID/{}\"", commands.run, parts))));
}

}  // namespace

void add_job(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("job", "print a script that computes a study in parts on a cluster");
  auto arguments = std::make_shared<JobArguments>();
  arguments->study.add_to(*command);
  add_file(*command, "-o,--output", arguments->output, "result file (HDF5); default: name of the study file with .h5");
  command->add_option("--parts", arguments->parts, "number of parts")->required()->check(from_one());
  command->add_flag("--slurm", arguments->slurm, "an array job of Slurm");
  command->add_flag("--mpi", arguments->mpi, "ranks of MPI");
  command->add_flag("--hyperqueue", arguments->hyperqueue, "an array job of HyperQueue");
  command->footer(
      "Examples:\n  rattleback job chaotic.toml --parts 64 --slurm > job.sh && bash job.sh --time=04:00:00");
  command->callback([arguments, &exit_code] {
    if (arguments->slurm + arguments->mpi + arguments->hyperqueue != 1)
      input_error("job", "needs one engine; give one of --slurm, --mpi, --hyperqueue");
    const Problem problem = arguments->study.resolve();
    (void)Cut(trajectories_of(problem), arguments->parts);
    const auto absolute = [](const std::filesystem::path& path) { return std::filesystem::absolute(path).string(); };
    const std::filesystem::path output =
        arguments->output.empty() ? default_output(arguments->study.file) : std::filesystem::path(arguments->output);
    (void)check_output(output, problem.study.inputs());
    const std::string program = program_words(), result = shell_word(absolute(output));
    std::string study = shell_word(absolute(arguments->study.file));
    for (const std::string& assignment : arguments->study.overrides) study += " --set=" + shell_word(assignment);
    const Commands commands{fmt::format("{} compile {}", program, study),
                            fmt::format("{} run {} -o {} --quiet", program, study, result),
                            fmt::format("{} merge {}", program, result)};
    print_stdout_bytes(arguments->slurm ? slurm_script(commands, problem.study.name, arguments->parts)
                       : arguments->mpi ? mpi_script(commands, arguments->parts)
                                        : hyperqueue_script(commands, problem.study.name, arguments->parts));
    exit_code = exit_done;
  });
}

}  // namespace rattleback::program
