#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "citing/report_page.hpp"
#include "commands/commands.hpp"
#include "output/output.hpp"
#include "output/report.hpp"

namespace rattleback::program {

void add_report(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("report", "write a page about results: statistics, figures, provenance");
  struct Arguments {
    std::vector<std::string> results;
    std::string output = "report.html";
    ReportOptions options;
    bool quiet = false;
  };
  auto arguments = std::make_shared<Arguments>();
  command->add_option("results", arguments->results, "result files")
      ->required()
      ->type_name(value::file)
      ->check(not_empty());
  command->add_option("-o,--output", arguments->output, "the page (.html), which needs no other file")
      ->capture_default_str()
      ->type_name(value::file)
      ->check(not_empty());
  command->add_option("--figures", arguments->options.figures, "most figures per result")
      ->capture_default_str()
      ->check(CLI::Range(0, 100));
  command->add_flag("--quiet", arguments->quiet, "print nothing");
  command->footer("Examples:\n  rattleback report chaotic.h5 -o report.html");
  command->callback([arguments, &exit_code] {
    ReportFile file("report", arguments->output, {".html"}, {arguments->results.begin(), arguments->results.end()});
    file.write({.json = {}, .csv = "", .hdf5 = {}, .html = report_page(arguments->results, arguments->options)});
    if (!arguments->quiet) print_stdout("report: {}\n", arguments->output);
    exit_code = exit_done;
  });
}

}  // namespace rattleback::program
