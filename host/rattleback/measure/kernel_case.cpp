#include "rattleback/measure/kernel_case.hpp"

#include <algorithm>
#include <cctype>
#include <regex>

#include <fmt/format.h>

#include "rattleback/base/message.hpp"
#include "rattleback/study/options.hpp"

namespace rattleback {

std::string KernelCase::name() const {
  std::string name = fmt::format("{}_{}", system->name, system->variant);
  for (const StructureInfo& s : system->structure) name += fmt::format("_{}{}", s.name, s.value);
  name += fmt::format("_{}", method->name);
  for_options([&](const OptionInfo& option, int value) {
    if (!has_effect(option, *system) || (option.unnamed && value == static_cast<int>(option.standard))) return;
    name += option.kind == OptionKind::choice ? fmt::format("_{}", option.choices[static_cast<std::size_t>(value)])
                                              : fmt::format("_{}{}", option.name[0], value);
  });
  for (char& letter : name)
    if (!std::isalnum(static_cast<unsigned char>(letter))) letter = '_';
  return name;
}

std::string KernelCase::method_toml() const {
  std::string text = fmt::format("[method]\nname = \"{}\"\n", method->name);
  for_options([&](const OptionInfo& option, int value) {
    if (!is_allowed(option, *system)) return;
    text += option.kind == OptionKind::choice
                ? fmt::format("{} = \"{}\"\n", option.name, option.choices[static_cast<std::size_t>(value)])
                : fmt::format("{} = {}\n", option.name, value);
  });
  return text;
}

std::vector<KernelCase> kernel_cases() {
  const Catalogue& catalogue = Catalogue::instance();
  std::vector<KernelCase> cases;
  for (const SystemEntry* system : catalogue.systems())
    for (const MethodEntry* method : catalogue.methods())
      for (const PairKey& key : catalogue.keys(*system, *method)) cases.push_back({system, method, key});
  return cases;
}

namespace {

std::string time_toml(const SystemEntry& system, const Exercise& exercise) {
  const double scale = system.time_scale;
  if (exercise.uneven)
    return fmt::format("[time]\nstep = \"{} * h\"\nend = {}\nsamples = 5\n", scale, exercise.steps * scale);
  return fmt::format("[time]\nstep = {}\nsteps = {}\nsamples = 5\n", exercise.step * scale, exercise.steps);
}

std::string ensemble_toml(const SystemEntry& system, const Exercise& exercise) {
  double width = 0.1;
  int draws = exercise.draws;
  if (system.constraint == ConstraintKind::holonomic && system.time_scale < 1.0) {
    draws = std::min(draws, 64);  // Newton's method over dual numbers is slow
    width = 0.005;                // systems with a short time scale are also small
  }
  const int elements = system.elements, n = system.n;
  std::string text = fmt::format("[ensemble]\nproject = true\ndraws = {}\naxes = [", draws);
  if (exercise.uneven) text += "{ name = \"h\", values = [0.05, 8.0, 0.1, 2.0, 0.025, 4.0] }, ";
  for (int i = 0; i < elements + n; ++i)
    text += fmt::format("{{ name = \"x{}\", distribution = \"uniform\", from = {}, to = {}, seed = 7 }}, ", i, -width,
                        width);
  text += "]\n[ensemble.initial]\nq = [";
  for (int i = 0; i < elements; ++i) text += fmt::format("\"{} + x{}\", ", system.default_q[i], i);
  const std::span<const double> rates = system.default_p.empty() ? system.default_v : system.default_p;
  text += system.default_p.empty() ? "]\nv = [" : "]\np = [";
  for (int i = 0; i < n; ++i) text += fmt::format("\"{} + x{}\", ", rates[static_cast<std::size_t>(i)], elements + i);
  return text + "]\n";
}

}  // namespace

std::vector<KernelCase> kernel_cases_that_match(const std::string& expression, std::string_view option) {
  constexpr std::size_t longest = 200;
  const auto refuse = [&](std::string_view why) { input_error(option, fmt::format("{} {}", quote(expression), why)); };
  if (expression.size() > longest)
    refuse("is too long for an expression over names of kernels; take 200 bytes at most");
  if (expression.find('{') != std::string::npos) refuse("has a '{', which no name of a kernel has; write repeats out");
  std::vector<KernelCase> cases = kernel_cases();
  // A search that goes back and forth takes times that grow exponentially. This flag of libstdc++ avoids it, while libc++ gives up.
  auto grammar = std::regex::ECMAScript;
#ifdef __GLIBCXX__
  grammar |= std::regex_constants::__polynomial;
#endif
  try {
    const std::regex pattern(expression, grammar);
    std::erase_if(cases, [&](const KernelCase& kernel) { return !std::regex_search(kernel.name(), pattern); });
  } catch (const std::regex_error&) {
    refuse("is not a regular expression");
  }
  return cases;
}

std::string study_of(const KernelCase& kernel, const Exercise& exercise) {
  const SystemEntry& system = *kernel.system;
  std::string text = fmt::format("[system]\nname = \"{}\"\n", system.name);
  if (*system.variant) text += fmt::format("variant = \"{}\"\n", system.variant);
  text += "parameters = {";
  for (const StructureInfo& s : system.structure) text += fmt::format(" {} = {}", s.name, s.value);
  text += " }\n" + kernel.method_toml() + time_toml(system, exercise) + ensemble_toml(system, exercise);
  for (const ObservableInfo& o : system.observables)
    text += fmt::format(
        "[[observable]]\nname = \"{}\"\nstatistics = [\"mean\", \"std\", \"mse\", \"rms\", \"min\", \"max\", "
        "\"maxabs\"]\nquantiles = [0.1, 0.5]\n",
        o.name);
  text += "correlation = [\"q[0]\"]\nhistogram = { from = -1, to = 1, bins = 5 }\n";  // of the last observable
  if (exercise.lyapunov)
    text +=
        "[[observable]]\nname = \"lyapunov\"\nstatistics = [\"mean\", \"std\", \"min\", \"max\"]\nquantiles = [0.5]\n";
  if (exercise.sections)
    text += fmt::format(
        "[[section]]\nsurface = \"q[0] + v[0] - {} - p[0]^2/9\"\ndirection = \"both\"\n"
        "[[section]]\nname = \"nowhere\"\nsurface = \"cos(q[0]) - 2\"\n",
        system.default_q[0]);
  return text + "[output]\ntrajectories = [0, 3]\ncovariance = [\"q\", \"p\"]\n";
}

}  // namespace rattleback
