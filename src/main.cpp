#include <cstdio>
#include <exception>

#include <fmt/format.h>

#include "commands.hpp"
#include "rattleback/error.hpp"
#include "rattleback/version.hpp"

using namespace rattleback;
using namespace rattleback::program;

int main(int argc, char** argv) {
  CLI::App app("rattleback: ensembles of constrained mechanical systems with structure-preserving integrators",
               "rattleback");
  app.set_version_flag("--version", fmt::format("rattleback {} ({})", version(), git_commit()));
  app.require_subcommand(1);
  app.footer("Exit codes: 0 done; 1 run-time failure; 2 bad input; 3 done, but some trajectories failed.");
  int exit_code = exit_done;
  add_run(app, exit_code);
  add_check(app, exit_code);
  add_list(app, exit_code);
  add_describe(app, exit_code);
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
