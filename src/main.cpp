#include <cstdio>
#include <exception>

#include <fmt/format.h>

#include "commands.hpp"
#include "rattleback/error.hpp"
#include "rattleback/version.hpp"

using namespace rattleback;
using namespace rattleback::program;

namespace {

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

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("rattleback: ensembles of constrained mechanical systems with structure-preserving integrators",
               "rattleback");
  app.set_help_flag("-h,--help", "print this help, or that of a command");
  app.set_version_flag("--version", version_text, "print version, build and devices");
  app.require_subcommand(1);
  app.footer(exit_code_text());
  int exit_code = exit_done;
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
  try {
    app.parse(argc, argv);
    return exit_code;
  } catch (const CLI::Success& success) {
    return app.exit(success);  // --help, --version
  } catch (const CLI::ParseError& error) {
    app.exit(error);
    return exit_input;
  } catch (const Error& error) {
    fmt::print(stderr, "rattleback: {}\n", error.what());
    return error.kind() == Error::Kind::input ? exit_input : exit_runtime;
  } catch (const std::exception& error) {
    fmt::print(stderr, "rattleback: {}\n", error.what());
    return exit_runtime;
  }
}
