#pragma once
// The subcommands. Each adds itself to the command line; its callback stores the exit code.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "rattleback/measure/order.hpp"
#include "rattleback/run/run.hpp"

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

/// Kinds of values, as type names of options: they stand in the help and tell the shells how to complete. An option
/// without one is a number, or text that may be a file.
namespace value {
inline constexpr const char* file = "FILE";
inline constexpr const char* backend = "BACKEND";
inline constexpr const char* backends = "BACKENDS";  ///< comma-separated
inline constexpr const char* entry = "SYSTEM|METHOD";
inline constexpr const char* assignment = "KEY=VALUE";
}  // namespace value

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

/// Prints "rattleback: MESSAGE" to stderr, as one line whatever is in it.
void say(std::string_view message);

// Checks of options. Their messages follow the name of the option.

/// A whole number from 1.
[[nodiscard]] CLI::Validator from_one();
/// A finite number that is not negative.
[[nodiscard]] CLI::Validator not_negative();
/// A finite number.
[[nodiscard]] CLI::Validator finite();
/// Not the empty text: what was meant would be lost.
[[nodiscard]] CLI::Validator not_empty();

/// Where `run` writes its result unless told otherwise.
[[nodiscard]] std::filesystem::path default_output(const std::filesystem::path& study);

/// A study file and its overrides, as every command that reads one takes them.
struct StudyArguments {
  std::string file;
  std::vector<std::string> overrides;
  void add_to(CLI::App& command);
  /// The study of the file. Throws Error(input).
  [[nodiscard]] Problem resolve() const;
};

/// Throws Error(input) when this many results of the study do not fit the disk of `output`.
void check_space(const Problem& problem, const std::filesystem::path& output, std::uint64_t results = 1);
/// Where to run, as every command that integrates takes it.
struct BackendArguments {
  std::string backend = "auto";
  unsigned threads = 0;
  void add_to(CLI::App& command);
  [[nodiscard]] RunOptions options() const;
};

/// What errors are taken against, as `order` and `bench --work-precision` take it.
struct ReferenceArguments {
  Reference reference;
  void add_to(CLI::App& command);
  [[nodiscard]] bool given() const {
    return reference.exact || !reference.result.empty() || reference.step || reference.stages;
  }
};

}  // namespace rattleback::program
