#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "commands/commands.hpp"
#include "output/output.hpp"
#include "output/report.hpp"
#include "output/terminal.hpp"
#include "rattleback/base/message.hpp"
#include "rattleback/rattleback.hpp"
#include "rattleback/study/options.hpp"

namespace rattleback::program {
namespace {

struct BenchArguments {
  StudyArguments study;
  BackendArguments backend;
  ReferenceArguments reference;
  ReportArguments report;
  BenchOptions bench;
  bool work_precision = false;
  std::vector<double> steps;
  std::vector<int> stages;
  std::vector<std::string> variants;
};

int exit_code_of(std::uint64_t failed, std::uint64_t trajectories,
                 const std::map<std::string, std::uint64_t>& failures = {}) {
  if (failed == 0) return exit_done;
  say(fmt::format("{} of {} trajectories failed{}", failed, trajectories, in_brackets(failures)));
  say_remedies(failures);
  return exit_failed_trajectories;
}

int run_bench(const BenchArguments& arguments, const RunOptions& options) {
  if (!arguments.steps.empty() || !arguments.stages.empty() || !arguments.variants.empty() ||
      !arguments.report.plot.empty() || arguments.reference.given())
    input_error("bench", "steps, stages, variants, a reference and a plot belong to --work-precision; add it");
  const Problem problem = arguments.study.resolve();
  const Study& study = problem.study;
  ReportFile file("bench", arguments.report.output, {".csv", ".json"},
                  {arguments.study.file, arguments.reference.reference.result, study.directory / study.ensemble.file});
  BenchOptions bench_options = arguments.bench;
  bench_options.run = options;
  const BenchReport report = measure(problem, bench_options);
  const Summary& summary = report.summary;

  nlohmann::ordered_json json = report_json("bench");
  json["study"] = study.name;
  json["system"] = study.system.name;
  put_method(json, study);
  json["backend"] = summary.backend;
  json["device"] = summary.device;
  json["threads"] = summary.threads;
  json["trajectories"] = summary.trajectories;
  json["trajectory_steps"] = summary.trajectory_steps;
  json["failed"] = summary.failed;
  json["failures"] = report.failures;
  json["seconds"] = report.seconds;
  const Spread& rate = report.rate;
  json["trajectory_steps_per_second"] = {{"median", rate.median},
                                         {"min", rate.min},
                                         {"max", rate.max},
                                         {"lower_quartile", rate.lower_quartile},
                                         {"upper_quartile", rate.upper_quartile}};
  json["iterations_per_step"] = report.iterations_per_step;
  json["nanoseconds_per_step_and_core"] = report.nanoseconds;
  json["state_bytes_per_trajectory"] = report.state_bytes;
  json["state_bytes"] = report.state_bytes * summary.trajectories;
  json["flops_per_step"] = report.flops_per_step;
  json["peak_flops"] = report.peak_flops;
  json["counted_over_peak"] = report.counted_over_peak();
  json["copy_bytes_per_second"] = report.copy_rate;
  for (const KernelFigures& kernel : report.kernels.figures)
    json["kernels"].push_back({{"kernel", kernel.kernel},
                               {"lanes", kernel.lanes},
                               {"threads", kernel.threads},
                               {"registers", kernel.registers},
                               {"local_bytes", kernel.local_bytes},
                               {"shared_bytes", kernel.shared_bytes},
                               {"blocks", kernel.blocks},
                               {"occupancy", report.kernels.occupancy(kernel)}});

  std::string csv = fmt::format("# study: {}; device: {}; threads: {}\nseconds,trajectory_steps_per_second\n",
                                study.name, summary.device, summary.threads);
  for (const double seconds : report.seconds)
    csv += fmt::format("{},{}\n", csv_number(seconds),
                       csv_number(static_cast<double>(summary.trajectory_steps) / seconds));
  file.write({json, csv, {}});
  if (arguments.report.json) {
    print_stdout_json(json);
  } else {
    print_stdout("{}: {} trajectories, {} trajectory-steps, {} repetitions on {}, {} threads\n", study.name,
                 summary.trajectories, summary.trajectory_steps, report.seconds.size(), summary.device,
                 summary.threads);
    print_stdout("  trajectory-steps per second  {:.4g} (median; quartiles {:.4g} to {:.4g}, range {:.4g} to {:.4g})\n",
                 rate.median, rate.lower_quartile, rate.upper_quartile, rate.min, rate.max);
    print_stdout("  iterations per step          {:.4g}\n", report.iterations_per_step);
    print_stdout("  nanoseconds per step         {:.4g} on each {}\n", report.nanoseconds,
                 summary.backend == "cpu" ? "core" : "device");
    print_stdout("  state                        {} bytes per trajectory, {} in all\n", report.state_bytes,
                 report.state_bytes * summary.trajectories);
    print_stdout(
        "  floating-point operations    {:.4g} per step as counted in the source, {:.3g} of the {:.4g} per second of "
        "an fma loop (at most: a compiler removes some)\n",
        report.flops_per_step, report.counted_over_peak(), report.peak_flops);
    print_stdout("  memory                       {:.3g} bytes per second read and written by a copy\n",
                 report.copy_rate);
    for (const KernelFigures& kernel : report.kernels.figures)
      print_stdout(
          "  {:<29}{} registers, {} bytes of local and {} of shared memory, {} threads a trajectory, {} a block, "
          "{} blocks on a multiprocessor ({:.0f} % of its threads)\n",
          fmt::format("{} kernel", kernel.kernel), kernel.registers, kernel.local_bytes, kernel.shared_bytes,
          kernel.lanes, kernel.threads, kernel.blocks, 100.0 * report.kernels.occupancy(kernel));
  }
  return exit_code_of(summary.failed, summary.trajectories, report.failures);
}

/// Returns the method settings to compare: one for each value of --stages, then one for each --variant. Without both
/// options, the setting is the study's own.
std::vector<Setting> settings_of(const BenchArguments& arguments, const Problem& problem) {
  std::vector<Setting> settings;
  const auto add = [&](const std::string& label, const std::vector<std::string>& changes) {
    settings.push_back({label, Problem::load(arguments.study.file, arguments.study.overrides, changes)});
  };
  for (const int stages : arguments.stages)
    add(fmt::format("{} stages", stages), {fmt::format("method.stages={}", stages)});
  for (const std::string& variant : arguments.variants) {
    std::vector<std::string> changes;
    for (std::size_t begin = 0; begin < variant.size();) {
      const std::size_t end = std::min(variant.find(' ', begin), variant.size());
      if (end > begin) changes.push_back(variant.substr(begin, end - begin));
      begin = end + 1;
    }
    for (const std::string& change : changes)
      if (!change.starts_with("method."))
        input_error("--variant " + variant,
                    fmt::format("{} is not a key of the method (errors of different problems cannot be compared); "
                                "use method.KEY=VALUE",
                                quote(change)));
    add(variant, changes);
  }
  if (settings.empty()) {
    const std::string options = options_in_words(problem);
    settings.push_back({options.empty() ? "the study" : options, problem});
  }
  for (std::size_t i = 1; i < settings.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (settings[i].label == settings[k].label) input_error(settings[i].label, "appears twice; leave one out");
  return settings;
}

int run_work_precision(const BenchArguments& arguments, const RunOptions& options) {
  const Problem problem = arguments.study.resolve();
  const Study& study = problem.study;
  const std::vector<Setting> settings = settings_of(arguments, problem);
  const std::vector<Problem> runs = at_steps(study, arguments.steps, 1);
  const Plot plot("work-precision", arguments.report.plot);
  ReportFile file("work-precision", arguments.report.output, {".csv", ".json"},
                  {arguments.study.file, arguments.reference.reference.result, study.directory / study.ensemble.file});
  BenchOptions bench_options = arguments.bench;
  bench_options.run = options;
  const WorkPrecisionReport report = work_precision(
      problem, settings, runs, arguments.reference.reference, bench_options, [&](const WorkPrecisionRun& run) {
        if (!arguments.report.quiet) print_stderr("{}, step {}: {:.3g} s\n", run.label, run.step, run.seconds);
      });

  nlohmann::ordered_json json = report_json("work-precision");
  json["study"] = study.name;
  json["system"] = study.system.name;
  json["reference"] = report.reference;
  json["end"] = *study.time.end;
  json["trajectories"] = report.trajectories;
  json["failed"] = report.failed;
  const WorkPrecisionRun& first = report.runs.front();
  std::string csv = fmt::format("# study: {}; reference: {}\nlabel,step,seconds", study.name, report.reference);
  for (const auto& [name, error] : first.errors) csv += fmt::format(",{0}_max,{0}_rms", name);
  for (const auto& [name, drift] : first.drifts) csv += fmt::format(",{}_drift", name);
  csv += '\n';
  for (const WorkPrecisionRun& run : report.runs) {
    nlohmann::ordered_json entry;
    entry["label"] = run.label;
    if (const auto stages = run.method.stages()) entry["stages"] = *stages;
    entry["options"] = json_of(run.method);
    entry["step"] = run.step;
    entry["seconds"] = run.seconds;
    csv += fmt::format("\"{}\",{},{}", run.label, csv_number(run.step), csv_number(run.seconds));
    for (const auto& [name, error] : run.errors) {
      entry["errors"][name] = error.max;
      entry["rms"][name] = error.rms;
      csv += fmt::format(",{},{}", csv_number(error.max), csv_number(error.rms));
    }
    for (const auto& [name, drift] : run.drifts) {
      entry["drifts"][name] = drift;
      csv += "," + csv_number(drift);
    }
    csv += '\n';
    json["runs"].push_back(std::move(entry));
  }
  file.write({json, csv, {}});
  if (arguments.report.json) {
    print_stdout_json(json);
  } else {
    print_stdout("{}: {}, to t = {}\nreference: {}\n\n", study.name, study.system.name, *study.time.end,
                 report.reference);
    std::size_t width = 8;
    for (const Setting& setting : settings) width = std::max(width, setting.label.size());
    print_stdout("{:{}}{:>12}{:>12}", "", width, "step", "seconds");
    for (const auto& [name, error] : first.errors) print_stdout("{:>12}", name);
    for (const auto& [name, drift] : first.drifts) print_stdout("  {:>12}", "drift " + name);
    for (const WorkPrecisionRun& run : report.runs) {
      print_stdout("\n{:{}}{:>12.8g}{:>12.4g}", run.label, width, run.step, run.seconds);
      for (const auto& [name, error] : run.errors) print_stdout("{:>12.3e}", error.max);
      for (const auto& [name, drift] : run.drifts)
        print_stdout("  {:>{}.3e}", drift, std::max<std::size_t>(12, name.size() + 6));
    }
    print_stdout("\n");
  }
  plot.draw(json);
  return exit_code_of(report.failed, report.trajectories);
}

}  // namespace

void add_bench(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("bench", "measure how fast a study runs, or what its accuracy costs");
  auto arguments = std::make_shared<BenchArguments>();
  arguments->study.add_to(*command);
  command->add_option("--repetitions", arguments->bench.repetitions, "runs to measure, after one to warm up")
      ->capture_default_str()
      ->check(from_one());
  command->add_option("--seconds", arguments->bench.seconds, "repeat until the runs took this long together")
      ->check(not_negative());
  command->add_flag("--work-precision", arguments->work_precision,
                    "errors against time, for several steps and methods");
  command->add_option("--steps", arguments->steps, "steps to run, separated by commas")
      ->delimiter(',')
      ->check(finite());
  command
      ->add_option("--stages", arguments->stages,
                   "numbers of stages to compare, separated by commas, for methods with that option")
      ->delimiter(',')
      ->check(from_one());
  command
      ->add_option("--variant", arguments->variants,
                   "a method setting to compare: method.KEY=VALUE, several separated by spaces")
      ->allow_extra_args(false);
  arguments->reference.add_to(*command);
  arguments->backend.add_to(*command);
  arguments->report.add_to(*command, {.content = "numbers", .formats = ".csv or .json", .against = "seconds"});
  command->footer(
      "Examples:\n  rattleback bench examples/chaotic.toml --set time.end=100 --backend cpu --threads 1\n"
      "  rattleback bench examples/sleigh.toml --work-precision --steps 0.25,0.125,0.0625 --stages 2,3,4");
  command->callback([arguments, &exit_code] {
    const Interrupt interrupt;
    RunOptions options = arguments->backend.options();
    options.stop = interrupt.token();
    exit_code = arguments->work_precision ? run_work_precision(*arguments, options) : run_bench(*arguments, options);
  });
}

}  // namespace rattleback::program
