#pragma once
// The subcommands. Each subcommand adds itself to the command line and has a callback that stores the exit code.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "rattleback/engine/run.hpp"
#include "rattleback/measure/order.hpp"

namespace rattleback::program {

enum ExitCode { exit_done = 0, exit_runtime = 1, exit_different = 1, exit_input = 2, exit_failed_trajectories = 3 };

struct ExitCodeText {
  int code;
  const char* text;
};
inline constexpr ExitCodeText exit_codes[] = {{exit_done, "done"},
                                              {exit_runtime, "run-time failure (diff and compare: not identical)"},
                                              {exit_input, "bad input or usage, nothing written"},
                                              {exit_failed_trajectories, "done, but some trajectories failed"}};

/// Type names of options. The help shows these names, and the shells use them for completion. An option without such a
/// name has a number as value, or a text that may be a file.
namespace value {
inline constexpr const char* file = "FILE";
inline constexpr const char* folder = "DIR";
inline constexpr const char* isas = "ISAS";  ///< comma-separated
inline constexpr const char* backend = "BACKEND";
inline constexpr const char* backends = "BACKENDS";  ///< comma-separated
inline constexpr const char* entry = "SYSTEM|METHOD";
inline constexpr const char* assignment = "KEY=VALUE";
}  // namespace value

void add_new(CLI::App& app, int& exit_code);
void add_run(CLI::App& app, int& exit_code);
void add_resume(CLI::App& app, int& exit_code);
void add_check(CLI::App& app, int& exit_code);
void add_list(CLI::App& app, int& exit_code);
void add_describe(CLI::App& app, int& exit_code);
void add_diff(CLI::App& app, int& exit_code);
void add_compare(CLI::App& app, int& exit_code);
void add_completion(CLI::App& app, int& exit_code);
void add_man(CLI::App& app, int& exit_code);
void add_plot(CLI::App& app, int& exit_code);
void add_order(CLI::App& app, int& exit_code);
void add_bench(CLI::App& app, int& exit_code);
void add_selftest(CLI::App& app, int& exit_code);
void add_cite(CLI::App& app, int& exit_code);
void add_report(CLI::App& app, int& exit_code);
void add_export(CLI::App& app, int& exit_code);
void add_import(CLI::App& app, int& exit_code);
void add_compile(CLI::App& app, int& exit_code);
void add_cache(CLI::App& app, int& exit_code);
void add_merge(CLI::App& app, int& exit_code);
void add_status(CLI::App& app, int& exit_code);
void add_job(CLI::App& app, int& exit_code);

/// Prints "rattleback: MESSAGE" to stderr, always as one line.
void say(std::string_view message);

// Checks of options. The messages follow the name of the option.

/// Accepts whole numbers from 1.
[[nodiscard]] CLI::Validator from_one();
/// Accepts finite numbers that are not negative.
[[nodiscard]] CLI::Validator not_negative();
/// Accepts finite numbers.
[[nodiscard]] CLI::Validator finite();
/// Rejects the empty text, because the user must have meant another value.
[[nodiscard]] CLI::Validator not_empty();

/// Adds an option, or a positional argument, whose value is the name of a file.
template <class Files>
CLI::Option* add_file(CLI::App& command, const std::string& name, Files& files, const std::string& text) {
  return command.add_option(name, files, text)->type_name(value::file)->check(not_empty());
}

/// Returns the default result file of `run`.
[[nodiscard]] std::filesystem::path default_output(const std::filesystem::path& study);

/// Adds the option --stale, with its default.
void add_stale_option(CLI::App& command, double& seconds);

/// A study file and overrides. Every command that reads a study has these options.
struct StudyArguments {
  std::string file;
  std::vector<std::string> overrides;
  void add_to(CLI::App& command);
  /// Returns the study of the file. Throws Error(input).
  [[nodiscard]] Problem resolve() const;
};

/// Lets a command tell what is compiled: lines on stderr, without --quiet if the command has this option. Warnings come
/// in any case.
void report_kernels(CLI::App& command);
/// Adds the option --kernels, and reports. The policy holds before the command begins.
void add_kernel_policy(CLI::App& command);

/// The backend, the number of threads and the policy of kernels. Every command that integrates has these options.
struct BackendArguments {
  std::string backend = "auto";
  unsigned threads = 0;
  void add_to(CLI::App& command);
  [[nodiscard]] RunOptions options() const;
};

/// The reference of errors. `order` and `bench --work-precision` have these options.
struct ReferenceArguments {
  Reference reference;
  void add_to(CLI::App& command);
  [[nodiscard]] bool given() const {
    return reference.exact || !reference.result.empty() || reference.step || reference.stages;
  }
};

/// The report file, the plot, and what is printed. `order` and `bench` have these options.
struct ReportArguments {
  std::string output, plot;
  bool quiet = false, json = false;

  /// The words of the help in which the commands differ.
  struct Words {
    const char* content;  ///< what the report has: "table"
    const char* formats;  ///< extensions of the report file: ".csv or .json"
    const char* against;  ///< horizontal axis of the plot: "steps"
  };
  void add_to(CLI::App& command, const Words& words);
};

/// What is printed of a comparison. `diff` and `compare` have these options.
struct DiffOutputArguments {
  bool json = false, quiet = false;
  void add_to(CLI::App& command);
};

}  // namespace rattleback::program
