#include <memory>

#include <fmt/format.h>

#include "commands/commands.hpp"
#include "output/output.hpp"
#include "output/report.hpp"
#include "output/terminal.hpp"
#include "rattleback/base/message.hpp"
#include "rattleback/engine/outcome.hpp"
#include "rattleback/measure/selftest.hpp"

namespace rattleback::program {
namespace {

struct SelftestArguments {
  SelftestOptions options;
  bool quiet = false, json = false;
};

void print_json(const SelftestReport& report, const std::string& kept) {
  nlohmann::ordered_json json = report_json("selftest");
  json["backend"] = report.backend;
  json["device"] = report.device;
  json["driver"] = report.driver;
  json["fma_flops"] = report.fma_rate;
  json["copy_bytes_per_second"] = report.copy_rate;
  json["passed"] = report.faults() == 0;
  json["digest"] = report.digest;
  json["kept_in"] = kept;
  json["kernels"] = nlohmann::ordered_json::array();
  for (const SelftestKernel& kernel : report.kernels)
    json["kernels"].push_back({{"name", kernel.name},
                               {"identical", kernel.fault.empty()},
                               {"fault", kernel.fault},
                               {"trajectory_steps", kernel.trajectory_steps},
                               {"seconds", kernel.seconds}});
  print_stdout_json(json);
}

void print_text(const SelftestReport& report, const std::string& kept) {
  print_stdout("{} on {}{}\n  fused multiply-adds  {:.4g} Gflop/s\n  copy in memory       {:.4g} GB/s\n",
               report.backend, report.device, report.driver.empty() ? "" : ", " + report.driver, report.fma_rate * 1e-9,
               report.copy_rate * 1e-9);
  std::size_t width = 6;
  for (const SelftestKernel& kernel : report.kernels) width = std::max(width, kernel.name.size());
  print_stdout("\n{:<{}}  {:>10}  against the processor\n", "kernel", width, "steps/s");
  for (const SelftestKernel& kernel : report.kernels)
    print_stdout("{:<{}}  {:>10.3g}  {}\n", kernel.name, width,
                 kernel.seconds > 0 ? static_cast<double>(kernel.trajectory_steps) / kernel.seconds : 0.0,
                 kernel.fault.empty() ? "identical" : kernel.fault);
  print_stdout("\n{}\n", report.outcome());
  if (!kept.empty()) print_stdout("recorded in {}, and in later results of this device\n", kept);
}

int selftest(SelftestArguments& arguments) {
  const Interrupt interrupt;
  arguments.options.stop = [&] { return interrupt.token().stop_requested(); };
  if (!arguments.quiet)
    arguments.options.progress = [](std::size_t done, std::size_t all) {
      if (done % 20 == 0 && done > 0) say(fmt::format("{} of {} kernels", done, all));
    };
  const SelftestReport report = rattleback::selftest(arguments.options);
  // The outcome is kept only after a test of all kernels.
  const std::string kept =
      arguments.options.match.empty() ? keep_outcome(report.device, report.driver, report.outcome()) : std::string();
  if (arguments.json) {
    print_json(report, kept);
  } else {
    print_text(report, kept);
  }
  return report.faults() == 0 ? exit_done : exit_different;
}

}  // namespace

void add_selftest(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("selftest", "run every kernel on this machine and compare it with the processor, bit by bit");
  auto arguments = std::make_shared<SelftestArguments>();
  SelftestOptions& options = arguments->options;
  command->add_option("--backend", options.backend, "what is tested: auto, cpu, cuda, cuda:K, cpu:avx2, ..")
      ->type_name(value::backend)
      ->capture_default_str();
  command->add_option("--match", options.match, "only kernels whose names contain this regular expression")
      ->check(not_empty());
  command->add_option("--seconds", options.seconds, "time for each kernel, which is repeated as long")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  add_kernel_policy(*command);
  command->add_flag("--quiet", arguments->quiet, "no progress on stderr");
  command->add_flag("--json", arguments->json, "print one JSON object");
  command->footer(
      "Examples:\n  rattleback selftest --backend cuda\n  rattleback selftest --match chaotic --seconds 0.1");
  command->callback([arguments, &exit_code] { exit_code = selftest(*arguments); });
}

}  // namespace rattleback::program
