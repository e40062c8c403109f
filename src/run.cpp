#include <chrono>
#include <cstdio>
#include <filesystem>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "rattleback/rattleback.hpp"
#include "terminal.hpp"

namespace rattleback::program {
namespace {

/// Passes everything on and keeps the last value of each statistic for the summary.
class SummarySink final : public ResultSink {
 public:
  explicit SummarySink(ResultSink& target) : target_(target) {}

  void create(const std::string& path, Type type, const Shape& shape) override { target_.create(path, type, shape); }
  void write(const std::string& path, const Shape& offset, const Shape& count, const void* data) override {
    target_.write(path, offset, count, data);
    constexpr std::string_view prefix = "/observables/";
    if (!path.starts_with(prefix) || path.ends_with("/count")) return;
    const std::string_view rest = std::string_view(path).substr(prefix.size());
    const std::size_t slash = rest.rfind('/');
    last_[std::string(rest.substr(0, slash))][std::string(rest.substr(slash + 1))] =
        static_cast<const double*>(data)[count[0] - 1];
  }
  void attribute(const std::string& path, const std::string& name, const Attribute& value) override {
    target_.attribute(path, name, value);
  }
  void commit() override { target_.commit(); }

  [[nodiscard]] const nlohmann::ordered_json& last() const { return last_; }

 private:
  ResultSink& target_;
  nlohmann::ordered_json last_ = nlohmann::ordered_json::object();
};

struct Arguments {
  StudyArguments study;
  BackendArguments backend;
  std::string output;
  std::uint64_t tile = 0;
  bool quiet = false, json = false;
};

void check_space(const Study& study, const std::filesystem::path& output) {
  const auto directory = std::filesystem::absolute(output).parent_path();
  std::error_code code;
  const auto space = std::filesystem::space(directory, code);
  const std::uint64_t needed = result_bytes(study);
  if (!code && needed > space.available)
    throw Error(
        Error::Kind::input,
        fmt::format("{}: the result needs {:.1f} GiB and the disk has {:.1f} GiB left; keep fewer trajectories, or set "
                    "[output] initial_state and final_state to false",
                    output.string(), static_cast<double>(needed) / (1 << 30),
                    static_cast<double>(space.available) / (1 << 30)));
}

int run_study(const Arguments& arguments) {
  const Interrupt interrupt;
  const Study study = Study::load(arguments.study.file, arguments.study.overrides);
  const std::filesystem::path output =
      arguments.output.empty() ? std::filesystem::path(arguments.study.file).filename().replace_extension(".h5")
                               : std::filesystem::path(arguments.output);
  check_space(study, output);

  ProgressDisplay display;
  RunOptions options = arguments.backend.options();
  options.tile = arguments.tile;
  options.stop = interrupt.token();
  if (!arguments.quiet) options.progress = [&display](const Progress& progress) { display(progress); };

  const auto file = make_file_sink(output);
  SummarySink sink(*file);
  const auto start = std::chrono::steady_clock::now();
  const Summary summary = run(study, sink, options);
  display.finish();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const double rate = static_cast<double>(summary.trajectory_steps) / std::max(summary.wall_seconds, 1e-9);

  if (arguments.json) {
    nlohmann::ordered_json json;
    json["study"] = study.name;
    json["result"] = output.string();
    json["backend"] = summary.backend;
    json["device"] = summary.device;
    json["threads"] = summary.threads;
    json["trajectories"] = summary.trajectories;
    json["trajectory_steps"] = summary.trajectory_steps;
    json["iterations"] = summary.iterations;
    json["failed"] = summary.failed;
    json["wall_seconds"] = summary.wall_seconds;
    json["total_seconds"] = seconds;
    json["trajectory_steps_per_second"] = rate;
    json["observables"] = sink.last();
    fmt::print("{}\n", json.dump(2));
  } else if (!arguments.quiet) {
    fmt::print("{}: {} trajectories, {} trajectory-steps in {:.3g} s ({:.3g} per second) on {}, {} threads\n",
               study.name, summary.trajectories, summary.trajectory_steps, summary.wall_seconds, rate, summary.device,
               summary.threads);
    for (const auto& [observable, statistics] : sink.last().items())
      for (const auto& [statistic, value] : statistics.items())
        fmt::print("  {} {}: {:.17g}\n", observable, statistic,
                   value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN());
    fmt::print("result: {}\n", output.string());
  }
  if (summary.failed == 0) return exit_done;
  fmt::print(stderr,
             "rattleback: {} of {} trajectories failed and are frozen at their last good state; see /final/status\n",
             summary.failed, summary.trajectories);
  return exit_failed_trajectories;
}

}  // namespace

void StudyArguments::add_to(CLI::App& command) {
  command.add_option("study", file, "study file (TOML)")->required();
  command.add_option("--set", overrides, "override a key of the study: KEY=VALUE, for example time.step=0.05")
      ->allow_extra_args(false);
}

void BackendArguments::add_to(CLI::App& command) {
  command.add_option("--backend", backend, "auto, cpu, cuda; or cpu:scalar, cpu:avx2, cpu:avx512 (with ,threads=N)")
      ->capture_default_str();
  command.add_option("--threads", threads, "CPU threads; default: all cores")->check(CLI::PositiveNumber);
}

RunOptions BackendArguments::options() const {
  RunOptions options;
  options.backend = backend;
  options.threads = threads;
  return options;
}

void add_run(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("run", "run a study and write its result");
  auto arguments = std::make_shared<Arguments>();
  arguments->study.add_to(*command);
  command->add_option("-o,--output", arguments->output, "result file (HDF5); default: name of the study file with .h5");
  arguments->backend.add_to(*command);
  command->add_option("--tile", arguments->tile, "trajectories in memory at a time; default: what fits")
      ->check(CLI::PositiveNumber);
  command->add_flag("--quiet", arguments->quiet, "no progress, no summary");
  command->add_flag("--json", arguments->json, "summary as one JSON object on stdout");
  command->callback([arguments, &exit_code] { exit_code = run_study(*arguments); });
}

}  // namespace rattleback::program
