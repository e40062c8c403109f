#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <new>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "commands/commands.hpp"
#include "launch.hpp"
#include "output/output.hpp"
#include "rattleback/base/error.hpp"
#include "rattleback/base/floating_point.hpp"
#include "rattleback/base/message.hpp"
#include "rattleback/base/version.hpp"
#include "rattleback/language/model.hpp"
#include "rattleback/measure/build_information.hpp"

namespace rattleback::program {
namespace {

Launch current;

std::string version_text() {
  std::string text = fmt::format("rattleback {} ({})", version(), git_commit());
  for (const auto& [name, value] : build_information()) text += fmt::format("\n{:<18}{}", name + ":", value);
  return text;
}

std::string exit_code_text() {
  std::string text;
  for (const ExitCodeText& code : exit_codes)
    text += fmt::format("{}{} {}", text.empty() ? "Exit codes: " : "; ", code.code, code.text);
  return text + ".";
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

/// Says which studies the working directory has.
std::string studies_here() {
  std::vector<std::string> files;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(".", ignored))
    if (entry.path().extension() == ".toml" && entry.path().filename() != "pyproject.toml")
      files.push_back(entry.path().filename().string());
  if (files.empty()) return "this folder has none, and 'rattleback new' writes one to start from";
  std::ranges::sort(files);
  constexpr std::size_t most = 5;
  const std::string more = files.size() > most ? fmt::format(" and {} more", files.size() - most) : "";
  files.resize(std::min(files.size(), most));
  return fmt::format("this folder has {}{}", join(files), more);
}

/// Returns one line about a fault that CLI11 finds. The first word that does not begin with '-' names the command.
std::string usage_message(const CLI::ParseError& error, const CLI::App& app, std::span<char* const> words) {
  const std::vector<std::string> names = command_names(app);
  const auto word = std::ranges::find_if(words, [](const char* text) { return *text != '-'; });
  const bool known = word != words.end() && std::ranges::find(names, *word) != names.end();
  std::string text = error.what();
  if (text == "study is required") text += "; " + studies_here();
  if (words.empty()) text = fmt::format("no command is given (known: {})", join(names));
  if (word != words.end() && !known)
    text = fmt::format("unknown command {} (known: {}){}", quote(*word), join(names), did_you_mean(*word, names));
  return fmt::format("{}; 'rattleback {}--help' shows what there is", text, known ? std::string(*word) + " " : "");
}

/// Returns the words of the command line, where `help` stands for `--help` and `help COMMAND` for `COMMAND --help`.
std::vector<char*> words_of(int argc, char** argv, const CLI::App& app) {
  static char option[] = "--help";
  std::vector<char*> words(argv, argv + argc);
  if (words.size() < 2 || words.size() > 3 || words[1] != std::string_view("help")) return words;
  words.erase(words.begin() + 1);
  const std::vector<std::string> names = command_names(app);
  if (words.size() == 1 || std::ranges::find(names, words[1]) != names.end()) words.push_back(option);
  return words;
}

/// Returns the exit code. Printed text may still be in a buffer.
int run_program(int argc, char** argv) {
  CLI::App app("rattleback: ensembles of constrained mechanical systems with structure-preserving integrators",
               "rattleback");
  app.set_help_flag("-h,--help", "print this help, or that of a command");
  app.set_version_flag("--version", version_text, "print version, build and devices");
  app.require_subcommand(1);
  app.footer(exit_code_text());
  int exit_code = exit_done;
  add_new(app, exit_code);
  add_run(app, exit_code);
  add_resume(app, exit_code);
  add_check(app, exit_code);
  add_list(app, exit_code);
  add_describe(app, exit_code);
  add_diff(app, exit_code);
  add_compare(app, exit_code);
  add_completion(app, exit_code);
  add_man(app, exit_code);
  add_plot(app, exit_code);
  add_order(app, exit_code);
  add_bench(app, exit_code);
  add_selftest(app, exit_code);
  add_cite(app, exit_code);
  add_report(app, exit_code);
  add_export(app, exit_code);
  add_import(app, exit_code);
  add_compile(app, exit_code);
  add_cache(app, exit_code);
  add_merge(app, exit_code);
  add_status(app, exit_code);
  add_job(app, exit_code);
  const std::vector<char*> words = words_of(argc, argv, app);
  try {
    app.parse(static_cast<int>(words.size()), words.data());
    return exit_code;
  } catch (const CLI::Success& success) {
    return app.exit(success);  // --help and --version end here
  } catch (const CLI::ParseError& error) {
    say(usage_message(error, app, std::span(words).subspan(std::min<std::size_t>(words.size(), 1))));
    return exit_input;
  } catch (const FormulaError& error) {
    say(error.what());
    if (!error.excerpt().empty()) print_stderr("{}\n", error.excerpt());
    return exit_input;
  } catch (const Error& error) {
    say(error.what());
    return error.kind() == Error::Kind::input ? exit_input : exit_runtime;
  } catch (const std::bad_alloc&) {
    say("memory ran out; take a smaller ensemble, fewer samples or a smaller --tile, or allow the program more memory");
    return exit_runtime;
  } catch (const std::system_error& error) {
    errno = error.code().value();
    if (std::ferror(stdout) == 0) say(error.what());  // otherwise finish_stdout() prints the message
    return exit_runtime;
  } catch (const std::exception& error) {
    say(error.what());
    return exit_runtime;
  }
}

}  // namespace

const Launch& launch() { return current; }

int run_command_line(int argc, char** argv, Launch started) {
  current = std::move(started);
  const FloatingPointScope environment;
  prepare_streams();
  // Results have a lock of their own, and files that are only read need none; locks fail on some file systems of clusters.
  unsetenv("HDF5_USE_FILE_LOCKING");
  const int code = run_program(argc, argv);
  return finish_stdout() || code != exit_done ? code : exit_runtime;
}

}  // namespace rattleback::program
