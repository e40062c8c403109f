// The command line of the program, for `rattleback` and `python -m rattleback`.

#include <nanobind/stl/function.h>

#include "core.hpp"
#include "launch.hpp"

namespace rattleback::python {

void bind_command_line(nb::module_& module) {
  const auto texts = [](const std::vector<nb::bytes>& words) {
    std::vector<std::string> all;
    for (const nb::bytes& word : words) all.emplace_back(word.c_str(), word.size());
    return all;
  };
  module.def(
      "command_line",
      [texts](const std::vector<nb::bytes>& words, const std::vector<nb::bytes>& program,
              const std::vector<nb::bytes>& plot_tool,
              const std::function<std::string(const std::string&, const std::string&)>& shell_file) {
        std::vector<std::string> all = texts(words);
        std::vector<char*> argv;
        for (std::string& word : all) argv.push_back(word.data());
        argv.push_back(nullptr);
        program::Launch launch{texts(program), texts(plot_tool), shell_file};
        const nb::gil_scoped_release release;
        return program::run_command_line(static_cast<int>(all.size()), argv.data(), std::move(launch));
      },
      nb::arg("words"), nb::arg("program"), nb::arg("plot_tool"), nb::arg("shell_file"),
      "Runs one command of the program in this process and returns its exit code.");
}

}  // namespace rattleback::python
