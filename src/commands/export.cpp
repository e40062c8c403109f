// `rattleback export`: the package of figures writes the tables and arrays (python/rattleback/plot/export.py).

#include <memory>
#include <string>
#include <vector>

#include "commands/commands.hpp"
#include "output/plot_tool.hpp"
#include "rattleback/base/message.hpp"
#include "rattleback/results/result.hpp"

namespace rattleback::program {
namespace {

struct ExportArguments {
  std::string result, output;
  std::vector<std::string> tables;
  bool csv = false, parquet = false, zarr = false, quiet = false;
};

int write_export(const ExportArguments& arguments) {
  if (int{arguments.csv} + int{arguments.parquet} + int{arguments.zarr} != 1)
    input_error("export", "one form is needed; give one of --csv, --parquet and --zarr");
  (void)ResultFile(arguments.result);  // throws when the file is damaged or not a result
  std::vector<std::string> words{"--export",
                                 arguments.csv       ? "csv"
                                 : arguments.parquet ? "parquet"
                                                     : "zarr",
                                 arguments.output, arguments.result};
  words.insert(words.end(), arguments.tables.begin(), arguments.tables.end());
  return run_plot_tool(words, arguments.quiet);
}

}  // namespace

void add_export(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("export", "write a result as tables (CSV, Parquet) or arrays (Zarr)");
  auto arguments = std::make_shared<ExportArguments>();
  add_file(*command, "result", arguments->result, "result file")->required();
  command->add_flag("--csv", arguments->csv, "tables as text, which need no other package");
  command->add_flag("--parquet", arguments->parquet, "tables in columns, with the Python package pyarrow");
  command->add_flag("--zarr", arguments->zarr, "all arrays, in compressed chunks, with the Python package zarr");
  command
      ->add_option("--table", arguments->tables,
                   "statistics, trajectories, states, values or section-NAME; repeatable; default: all that there are")
      ->allow_extra_args(false)
      ->type_name("NAME")
      ->check(not_empty());
  add_file(*command, "-o,--output", arguments->output,
           "a file for one table, otherwise a folder, which must not exist; default: named after the result, in the "
           "working directory");
  command->add_flag("--quiet", arguments->quiet, "print nothing");
  command->footer(
      "Examples:\n  rattleback export chaotic.h5 --csv\n"
      "  rattleback export chaotic.h5 --parquet --table trajectories -o final.parquet\n"
      "  rattleback export chaotic.h5 --zarr");
  command->callback([arguments, &exit_code] { exit_code = write_export(*arguments); });
}

}  // namespace rattleback::program
