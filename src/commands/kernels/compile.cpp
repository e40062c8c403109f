#include <algorithm>
#include <iterator>
#include <memory>
#include <sstream>

#include <fmt/format.h>

#include "commands/commands.hpp"
#include "output/output.hpp"
#include "output/terminal.hpp"
#include "rattleback/base/message.hpp"
#include "rattleback/engine/plan.hpp"
#include "rattleback/engine/start.hpp"
#include "rattleback/kernels/kernels.hpp"
#include "rattleback/kernels/nvrtc.hpp"
#include "rattleback/kernels/store.hpp"
#include "rattleback/measure/kernel_case.hpp"
#include "rattleback/study/chunk_points.hpp"

namespace rattleback::program {
namespace {

struct CompileArguments {
  std::vector<std::string> studies, overrides;
  std::string isas, catalogue, pack, cuda;
  unsigned jobs = 0;
  bool bench = false, tangent = false, quiet = false;
};

/// Returns the instruction sets of a list: "all", or names separated by commas; the widest of this machine when empty.
std::vector<Isa> read_isas(const std::string& list) {
  if (list.empty()) return {best_isa()};
  if (list == "none") return {};
  if (list == "all") return {all_isas().begin(), all_isas().end()};
  std::vector<std::string> known;
  for (const Isa isa : all_isas()) known.emplace_back(to_string(isa));
  std::vector<Isa> isas;
  std::istringstream words(list);
  for (std::string word; std::getline(words, word, ',');) {
    const auto found = std::ranges::find(known, word);
    if (found == known.end())
      input_error("--isa", fmt::format("unknown instruction set {} (known: all, none, {}){}", quote(word), join(known),
                                       did_you_mean(word, known)));
    isas.push_back(all_isas()[static_cast<std::size_t>(found - known.begin())]);
  }
  return isas;
}

/// Adds the units that `run` needs on any backend for the CPU, with these instruction sets.
void add_study(std::vector<Unit>& units, const Problem& problem, const std::vector<Isa>& isas, bool bench) {
  for (const Isa isa : isas) {
    for (const Unit& unit : units_of(problem, isa)) units.push_back(unit);
    if (problem.surfaces.count > 0) std::ranges::move(units_of_sections(problem, isa), std::back_inserter(units));
    if (needs_start_kernel(problem)) std::ranges::move(units_of_start(problem, isa), std::back_inserter(units));
  }
  // The kernels of a header of the user are compared with those without packs (engine/verify.hpp).
  if (!problem.study.system.file.empty())
    for (const Unit& unit : units_of(problem, Isa::scalar)) units.push_back(unit);
  if (bench) units.push_back({UnitKind::counted, problem.system, problem.method, problem.key, Isa::scalar});
}

void add_catalogue(std::vector<Unit>& units, const CompileArguments& arguments, const std::vector<Isa>& isas) {
  const std::vector<KernelCase> cases = kernel_cases_that_match(arguments.catalogue, "--catalogue");
  if (cases.empty())
    input_error("--catalogue", fmt::format("no kernel of the catalogue matches {}; names are like {}",
                                           quote(arguments.catalogue), kernel_cases().at(0).name()));
  StudyCode tangents;
  tangents.tangents = true;
  for (const KernelCase& kernel : cases) {
    for (const Isa isa : isas) {
      units.push_back({UnitKind::advance, kernel.system, kernel.method, kernel.key, isa});
      units.push_back({UnitKind::samples, kernel.system, kernel.method, kernel.key, isa});
      if (arguments.tangent) {
        units.push_back({UnitKind::tangent, kernel.system, kernel.method, kernel.key, isa});
        units.push_back({UnitKind::samples, kernel.system, kernel.method, kernel.key, isa, tangents});
      }
    }
    if (arguments.bench) units.push_back({UnitKind::counted, kernel.system, kernel.method, kernel.key, Isa::scalar});
  }
}

/// Returns the CUDA architectures of a list, "sm_80,sm_90". Throws Error(input) for other words.
std::vector<std::string> read_architectures(const std::string& list) {
  std::vector<std::string> architectures;
  std::istringstream words(list);
  for (std::string word; std::getline(words, word, ',');) {
    (void)Nvrtc::instance().target(word);
    architectures.push_back(word);
  }
  return architectures;
}

int compile_kernels(const CompileArguments& arguments) {
  const Interrupt interrupt;
  if (arguments.studies.empty() && arguments.catalogue.empty())
    input_error("compile", "nothing is named; name studies, or kernels of the catalogue with --catalogue REGEX");
  if (arguments.studies.empty() && !arguments.overrides.empty())
    input_error("--set", "changes studies, and none is named; name a study, or leave --set out");
  const std::vector<Isa> isas = read_isas(arguments.isas);
  std::vector<Unit> units;
  std::vector<Unit> device_units;  // the instruction set does not matter for a GPU
  for (const std::string& study : arguments.studies) {
    const Problem problem = Problem::load(study, arguments.overrides);
    add_study(units, problem, isas, arguments.bench);
    for (const Unit& unit : units_of(problem, Isa::scalar)) device_units.push_back(unit);
    if (needs_start_kernel(problem) && may_start_on_device(problem))
      std::ranges::move(units_of_start(problem, Isa::scalar), std::back_inserter(device_units));
  }
  if (!arguments.catalogue.empty()) add_catalogue(units, arguments, isas);
  std::vector<Unit> of_catalogue;
  if (!arguments.catalogue.empty()) add_catalogue(of_catalogue, arguments, {Isa::scalar});
  std::ranges::copy_if(of_catalogue, std::back_inserter(device_units),
                       [](const Unit& unit) { return unit.kind != UnitKind::counted; });

  const Kernels::Made made = Kernels::instance().compile(units, arguments.pack, arguments.jobs, device_units,
                                                         read_architectures(arguments.cuda));
  if (arguments.quiet) return exit_done;
  const std::size_t all = made.compiled + made.found;
  print_stdout("{} kernel{}: {} compiled now, {} there before\n", all, all == 1 ? "" : "s", made.compiled, made.found);
  if (const auto cache = Store::default_folder(); !cache.empty()) print_stdout("cache: {}\n", cache.string());
  if (!arguments.pack.empty()) {
    const std::filesystem::path pack = std::filesystem::absolute(arguments.pack).lexically_normal();
    print_stdout("pack: {}, {} copied; to use it: export RATTLEBACK_KERNEL_PATH={}\n", pack.string(), made.copied,
                 pack.string());
  }
  return exit_done;
}

}  // namespace

void add_compile(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("compile", "compile the kernels that studies need, before they run");
  auto arguments = std::make_shared<CompileArguments>();
  add_file(*command, "study", arguments->studies, "study files (TOML)");
  command->add_option("--set", arguments->overrides, "override a key of the studies, for example method.stages=4")
      ->allow_extra_args(false)
      ->type_name(value::assignment);
  command
      ->add_option(
          "--isa", arguments->isas,
          "instruction sets, separated by commas, or all, or none; also those that this machine cannot run; default: "
          "the widest of this machine")
      ->type_name(value::isas)
      ->check(not_empty());
  command
      ->add_option("--cuda", arguments->cuda,
                   "architectures of GPUs, separated by commas: sm_90; no GPU is needed here")
      ->type_name("ARCHITECTURES")
      ->check(not_empty());
  command
      ->add_option("--catalogue", arguments->catalogue,
                   "also the kernels of the catalogue whose names contain this regular expression")
      ->type_name("REGEX")
      ->check(not_empty());
  command->add_flag("--tangent", arguments->tangent,
                    "with --catalogue: also the loops that the observable lyapunov needs");
  command->add_flag("--bench", arguments->bench, "also the loops that count operations, for bench");
  command->add_option("--jobs", arguments->jobs, "kernels compiled at a time; default: one per usable processor")
      ->check(from_one());
  command->add_option("--pack", arguments->pack, "copy the kernels into this folder, for other machines")
      ->type_name(value::folder)
      ->check(not_empty());
  command->add_flag("--quiet", arguments->quiet, "no lines about kernels, no summary");
  report_kernels(*command);
  command->footer(
      "Examples:\n  rattleback compile examples/chaotic.toml\n"
      "  rattleback compile examples/*.toml --isa all --pack kernels\n"
      "  rattleback compile --catalogue '^chaotic_contact' --jobs 4");
  command->callback([arguments, &exit_code] { exit_code = compile_kernels(*arguments); });
}

}  // namespace rattleback::program
