// Orders, and the time and accuracy of methods.

#include "core.hpp"
#include "rattleback/base/processors.hpp"
#include "rattleback/measure/bench.hpp"
#include "rattleback/measure/order.hpp"

namespace rattleback::python {
namespace {

Reference reference_of(const std::optional<std::filesystem::path>& result, std::optional<double> step,
                       std::optional<int> stages) {
  Reference reference;
  if (result) reference.result = *result;
  reference.step = step;
  reference.stages = stages;
  return reference;
}

nb::dict to_python(const ErrorSeries& series) {
  nb::dict all;
  all["error"] = series.error;
  all["order"] = series.order;
  all["slope"] = series.slope;
  all["points"] = series.points;
  all["above_floor"] = series.above_floor;
  return all;
}

Table order_study(const SharedProblem& problem, const std::vector<double>& steps,
                  const std::optional<std::filesystem::path>& result, std::optional<double> step,
                  std::optional<int> stages, const std::string& backend, unsigned threads, Call::Warn warn) {
  Call call({}, std::move(warn));
  const OrderReport report = call([&] {
    RunOptions options = call.options();
    options.backend = backend;
    options.threads = threads;
    return order(*problem, steps, reference_of(result, step, stages), options);
  });
  Table all;
  nb::dict variables;
  for (const VariableOrder& variable : report.variables) {
    nb::dict entry;
    entry["floor"] = variable.floor;
    entry["max"] = to_python(variable.max);
    entry["rms"] = to_python(variable.rms);
    variables[variable.name.c_str()] = entry;
  }
  all["reference"] = report.reference;
  all["steps"] = report.steps;
  all["variables"] = variables;
  all["trajectories"] = report.trajectories;
  all["failed"] = report.failed;
  all["end"] = *report.problem.study.time.end;
  return all;
}

Table compare_work(const SharedProblem& problem, const std::vector<std::pair<std::string, SharedProblem>>& given,
                   const std::vector<double>& steps, const std::optional<std::filesystem::path>& result,
                   std::optional<double> step, std::optional<int> stages, const std::string& backend, unsigned threads,
                   unsigned repetitions, Call::Warn warn) {
  Call call({}, std::move(warn));
  const WorkPrecisionReport report = call([&] {
    std::vector<Setting> settings;
    for (const auto& [label, setting] : given) settings.push_back({label, *setting});
    BenchOptions options;
    options.run = call.options();
    options.run.backend = backend;
    options.run.threads = threads;
    options.repetitions = repetitions;
    return work_precision(*problem, settings, steps, reference_of(result, step, stages), options);
  });
  nb::list runs;
  for (const WorkPrecisionRun& run : report.runs) {
    nb::dict entry, errors, rms, drifts;
    entry["label"] = run.label;
    entry["step"] = run.step;
    entry["seconds"] = run.seconds;
    for (const auto& [name, error] : run.errors) {
      errors[name.c_str()] = error.max;
      rms[name.c_str()] = error.rms;
    }
    for (const auto& [name, drift] : run.drifts) drifts[name.c_str()] = drift;
    entry["errors"] = errors;
    entry["rms"] = rms;
    entry["drifts"] = drifts;
    runs.append(entry);
  }
  Table all;
  all["reference"] = report.reference;
  all["runs"] = runs;
  all["trajectories"] = report.trajectories;
  all["failed"] = report.failed;
  all["end"] = *report.problem.study.time.end;
  return all;
}

}  // namespace

void bind_measure(nb::module_& module) {
  module.def("usable_processors", &usable_processors);
  module.def("order", &order_study, nb::arg("problem"), nb::arg("steps"), nb::arg("reference").none(),
             nb::arg("reference_step").none(), nb::arg("reference_stages").none(), nb::arg("backend"),
             nb::arg("threads"), nb::arg("warn").none(), "Errors at the end against a reference, and observed orders.");
  module.def("work_precision", &compare_work, nb::arg("problem"), nb::arg("settings"), nb::arg("steps"),
             nb::arg("reference").none(), nb::arg("reference_step").none(), nb::arg("reference_stages").none(),
             nb::arg("backend"), nb::arg("threads"), nb::arg("repetitions"), nb::arg("warn").none(),
             "Time and errors of several methods at several steps.");
}

}  // namespace rattleback::python
