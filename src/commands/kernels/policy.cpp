// Where kernels may come from, and what is told about them.

#include "commands/commands.hpp"
#include "rattleback/kernels/kernels.hpp"

namespace rattleback::program {

void report_kernels(CLI::App& command) {
  command.parse_complete_callback([&command] {
    const CLI::Option* quiet = command.get_option_no_throw("--quiet");
    std::function<void(const std::string&)> report;
    if (quiet == nullptr || quiet->count() == 0) report = say;
    Kernels::instance().set_report(report, say);
  });
}

void add_kernel_policy(CLI::App& command) {
  const auto choose = [](const std::string& policy) {
    Kernels::instance().set_policy(policy == "auto"     ? KernelPolicy::automatic
                                   : policy == "cached" ? KernelPolicy::cached
                                                        : KernelPolicy::builtin);
  };
  command
      .add_option_function<std::string>("--kernels", choose,
                                        "auto compiles kernels that are missing; cached takes those of the program, of "
                                        "packs and of the cache; builtin takes those of the program and of packs")
      ->default_str("auto")
      ->check(CLI::IsMember({"auto", "cached", "builtin"}));
  report_kernels(command);
}

}  // namespace rattleback::program
