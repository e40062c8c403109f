#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

#include "commands/commands.hpp"
#include "commands/templates.hpp"
#include "output/output.hpp"
#include "rattleback/base/message.hpp"

namespace rattleback::program {
namespace {

using templates::StudyTemplate;

const StudyTemplate& find_template(const std::string& name) {
  if (const auto* found = std::ranges::find(templates::all, name, &StudyTemplate::name);
      found != std::end(templates::all))
    return *found;
  std::vector<std::string> known;
  for (const StudyTemplate& study : templates::all) known.emplace_back(study.name);
  input_error(name, fmt::format("is not a template (known: {}){}", join(known), did_you_mean(name, known)));
}

/// Writes a new file. Throws Error(input) when there is one of this name or none can be made.
void write_new(const std::filesystem::path& file, std::string_view text) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> out(std::fopen(file.c_str(), "wx"), &std::fclose);
  if (!out && errno == EEXIST) input_error(file.string(), "exists already; name another file with -o");
  if (!out) input_error(file.string(), fmt::format("cannot be written ({})", std::generic_category().message(errno)));
  if (std::fwrite(text.data(), 1, text.size(), out.get()) != text.size() || std::fflush(out.get()) != 0)
    throw std::system_error(errno, std::generic_category(), quote(file.string(), most_of_a_path));
}

}  // namespace

void add_new(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("new", "write a study to start from, or list what there is");
  struct Arguments {
    std::string name, output;
  };
  auto arguments = std::make_shared<Arguments>();
  command->add_option("template", arguments->name, "kind of study; default: list them")->check(not_empty());
  add_file(*command, "-o,--output", arguments->output, "study file; default: name of the template with .toml");
  command->footer("Examples:\n  rattleback new\n  rattleback new pendulum\n  rattleback new driven -o engine.toml");
  command->callback([arguments, &exit_code] {
    exit_code = exit_done;
    if (arguments->name.empty()) {
      if (!arguments->output.empty()) input_error("-o", "names a file for a template that is missing; name one");
      for (const StudyTemplate& study : templates::all) print_stdout("{:<14}{}\n", study.name, study.summary);
      return;
    }
    const StudyTemplate& study = find_template(arguments->name);
    const std::string file = arguments->output.empty() ? fmt::format("{}.toml", study.name) : arguments->output;
    write_new(file, study.text());
    print_stdout("study: {}\nnext: rattleback run {}\nthen: rattleback plot {}{}{}\n", file, file, study.figure,
                 default_output(file).string(), study.options);
  });
}

}  // namespace rattleback::program
