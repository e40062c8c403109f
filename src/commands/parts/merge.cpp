#include <chrono>

#include "output/terminal.hpp"
#include "rattleback/parts/merge.hpp"

namespace rattleback::program {

void add_merge(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("merge", "merge the parts of a result into the bits of one run");
  struct Arguments {
    std::string result;
    unsigned threads = 0;
    bool linked = false, quiet = false, json = false;
  };
  auto arguments = std::make_shared<Arguments>();
  add_file(*command, "result", arguments->result, "the result file; its parts are in RESULT.parts")->required();
  command->add_flag("--virtual", arguments->linked,
                    "leave the data of trajectories in the parts, and refer to them; the parts must stay");
  command->add_option("--threads", arguments->threads, "CPU threads; default: the processors that the process may use")
      ->check(from_one());
  command->add_flag("--quiet", arguments->quiet, "no summary");
  command->add_flag("--json", arguments->json, "summary as one JSON object on stdout");
  command->footer("Examples:\n  rattleback merge chaotic.h5");
  command->callback([arguments, &exit_code] {
    const Interrupt interrupt;
    const auto start = std::chrono::steady_clock::now();
    const PartsFolder folder(arguments->result);
    const Summary summary = merge(folder, {.linked = arguments->linked,
                                           .threads = arguments->threads,
                                           .warn = [](const std::string& text) { say(text); },
                                           .stop = interrupt.token()});
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    exit_code = report(summary, arguments->result, seconds, arguments->quiet, arguments->json);
  });
}

}  // namespace rattleback::program
