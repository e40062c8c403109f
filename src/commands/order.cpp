#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "commands/commands.hpp"
#include "output/output.hpp"
#include "output/report.hpp"
#include "output/terminal.hpp"
#include "rattleback/rattleback.hpp"
#include "rattleback/study/options.hpp"

namespace rattleback::program {
namespace {

struct OrderArguments {
  StudyArguments study;
  BackendArguments backend;
  ReferenceArguments reference;
  ReportArguments report;
  std::vector<double> steps;
};

nlohmann::ordered_json json_of(const OrderReport& report) {
  nlohmann::ordered_json json = report_json("order");
  json["study"] = report.problem.study.name;
  json["system"] = report.problem.study.system.name;
  put_method(json, report.problem.study);
  json["order"] = report.problem.method->order;
  json["reference"] = report.reference;
  json["end"] = *report.problem.study.time.end;
  json["steps"] = report.steps;
  json["trajectories"] = report.trajectories;
  json["failed"] = report.failed;
  for (const VariableOrder& variable : report.variables) {
    auto& entry = json["variables"][variable.name];
    entry["floor"] = variable.floor;
    for (const auto& [measure, series] :
         {std::pair<std::string, const ErrorSeries*>{"max", &variable.max}, {"rms", &variable.rms}}) {
      entry[measure] = series->error;
      entry["order_" + measure] = series->order;  // NaN becomes null
      entry["slope_" + measure] = series->slope;
      entry["points_" + measure] = series->points;
      entry["above_floor_" + measure] = series->above_floor;
    }
  }
  return json;
}

std::string csv_of(const OrderReport& report) {
  std::string text = fmt::format("# study: {}; reference: {}\nstep", report.problem.study.name, report.reference);
  for (const VariableOrder& variable : report.variables)
    for (const char* column : {"max", "rms", "order_max", "order_rms"})
      text += fmt::format(",{}_{}", variable.name, column);
  text += '\n';
  for (std::size_t i = 0; i < report.steps.size(); ++i) {
    text += csv_number(report.steps[i]);
    for (const VariableOrder& variable : report.variables)
      for (const auto* column : {&variable.max.error, &variable.rms.error, &variable.max.order, &variable.rms.order})
        text += "," + csv_number((*column)[i]);
    text += '\n';
  }
  return text;
}

/// Prints one row per step. Each variable has an error and the order relative to the row before.
void print_table(const OrderReport& report, const ErrorSeries VariableOrder::* measure) {
  print_stdout("{:>12}", "step");
  for (const VariableOrder& variable : report.variables) print_stdout("{:>14}{:>8}", variable.name, "order");
  for (std::size_t i = 0; i < report.steps.size(); ++i) {
    print_stdout("\n{:>12.8g}", report.steps[i]);
    for (const VariableOrder& variable : report.variables) {
      const double order = (variable.*measure).order[i];
      print_stdout("{:>14.4e}{:>8}", (variable.*measure).error[i],
                   std::isnan(order) ? "" : fmt::format("{:.3f}", order));
    }
  }
  print_stdout("\n{:>12}", "slope");
  for (const VariableOrder& variable : report.variables) {
    const ErrorSeries& series = variable.*measure;
    print_stdout("{:>14}{:>8}", fmt::format("({} points)", series.points),
                 std::isnan(series.slope) ? "none" : fmt::format("{:.3f}", series.slope));
  }
  print_stdout("\n");
}

int run_order(const OrderArguments& arguments) {
  const Interrupt interrupt;
  const Problem problem = arguments.study.resolve();
  const Study& study = problem.study;
  if (!problem.warning.empty()) say(problem.warning);
  const std::vector<Problem> runs = at_steps(study, arguments.steps, 2);
  const Plot plot("order", arguments.report.plot);
  ReportFile file("order", arguments.report.output, {".h5", ".csv", ".json"},
                  {arguments.study.file, arguments.reference.reference.result, study.directory / study.ensemble.file});

  RunOptions options = arguments.backend.options();
  options.stop = interrupt.token();
  const OrderReport report =
      order(problem, runs, arguments.reference.reference, options, [&](double step, const Summary& summary) {
        if (!arguments.report.quiet) print_stderr("step {}: {:.3g} s\n", step, summary.wall_seconds);
      });
  const nlohmann::ordered_json json = json_of(report);
  file.write({json, csv_of(report), [&](ResultSink& sink) { report.write(sink); }});
  if (arguments.report.json) {
    print_stdout_json(json);
  } else {
    const std::string words = options_in_words(problem);
    print_stdout("{}: {}, {}, {}{}to t = {}\nreference: {}\n", study.name, study.system.name, study.method.name, words,
                 words.empty() ? "" : ", ", *study.time.end, report.reference);
    const bool several = report.trajectories > 1;
    print_stdout("\n{}\n", several
                               ? fmt::format("largest error of {} trajectories", report.trajectories - report.failed)
                               : "largest error");
    print_table(report, &VariableOrder::max);
    print_stdout("\nroot mean square{}\n", several ? " over the trajectories" : "");
    print_table(report, &VariableOrder::rms);
  }
  plot.draw(json);
  if (report.failed == 0) return exit_done;
  say(fmt::format("{} of {} trajectories failed at some step and are left out", report.failed, report.trajectories));
  return exit_failed_trajectories;
}

}  // namespace

void ReferenceArguments::add_to(CLI::App& command) {
  command.add_option("--reference-step", reference.step, "take errors against a run with this step")->check(finite());
  command.add_option("--reference-stages", reference.stages, "take errors against a run with this many stages")
      ->check(from_one());
  add_file(command, "--reference", reference.result, "take errors against the final states of this result (HDF5)");
  command.add_flag("--exact", reference.exact, "take errors against the exact solution of the system");
}

void ReportArguments::add_to(CLI::App& command, const Words& words) {
  add_file(command, "-o,--output", output, fmt::format("write the {} as {}", words.content, words.formats));
  add_file(command, "--plot", plot, fmt::format("draw errors against {} as .png, .svg or .pdf", words.against));
  command.add_flag("--quiet", quiet, "no progress on stderr");
  command.add_flag("--json", json, fmt::format("the {} as one JSON object on stdout", words.content));
}

void add_order(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("order", "errors and observed orders of a study for a list of steps");
  auto arguments = std::make_shared<OrderArguments>();
  arguments->study.add_to(*command);
  command->add_option("--steps", arguments->steps, "steps to run, separated by commas")
      ->required()
      ->delimiter(',')
      ->check(finite());
  arguments->reference.add_to(*command);
  arguments->backend.add_to(*command);
  arguments->report.add_to(*command, {.content = "table", .formats = ".h5, .csv or .json", .against = "steps"});
  command->footer(
      "Examples:\n  rattleback order examples/particle-order.toml --steps 0.25,0.125,0.0625 --plot order.png\n"
      "  rattleback order examples/chaotic.toml --set time.end=1 --steps 0.1,0.05,0.025 --reference-stages 5");
  command->callback([arguments, &exit_code] { exit_code = run_order(*arguments); });
}

}  // namespace rattleback::program
