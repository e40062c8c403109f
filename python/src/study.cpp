// Studies whose names are resolved.

#include <fmt/format.h>

#include <algorithm>

#include "core.hpp"
#include "rattleback/base/json.hpp"
#include "rattleback/base/message.hpp"
#include "rattleback/base/version.hpp"
#include "rattleback/engine/run.hpp"
#include "rattleback/results/scales.hpp"
#include "rattleback/study/changes.hpp"
#include "rattleback/study/citations.hpp"
#include "rattleback/study/describe.hpp"
#include "rattleback/study/ensemble.hpp"
#include "rattleback/study/options.hpp"
#include "rattleback/study/reader.hpp"
#include "rattleback/study/toml.hpp"

namespace rattleback::python {
namespace {

using Numbers = nb::ndarray<const double, nb::numpy, nb::c_contig, nb::device::cpu>;

/// The arrays of a table of states, which must outlive it.
struct Arrays {
  std::vector<Numbers> numbers;
  ~Arrays() {
    if (numbers.empty()) return;
    const nb::gil_scoped_acquire acquire;
    numbers.clear();
  }
};

std::shared_ptr<const StateTable> table_of(const std::map<std::string, Numbers>& given) {
  if (given.empty()) return nullptr;
  auto table = std::make_shared<StateTable>();
  auto owner = std::make_shared<Arrays>();
  const auto refuse = [](const std::string& name, const std::string& why) {
    input_error("initial states", fmt::format("the array {} {}", quote(name), why));
  };
  for (const auto& [name, numbers] : given) {
    const bool state = name == "q" || name == "v" || name == "p" || name == "lambda";
    if (numbers.ndim() != 1 && !(state && numbers.ndim() == 2))
      refuse(name, fmt::format("has {} dimensions; give [N{}]", numbers.ndim(), state ? ", ." : ""));
    if (!owner->numbers.empty() && numbers.shape(0) != table->rows)
      refuse(name, fmt::format("has {} rows where others have {}", numbers.shape(0), table->rows));
    owner->numbers.push_back(numbers);
    table->rows = numbers.shape(0);
    const StateTable::Block block{numbers.ndim() == 2 ? numbers.shape(1) : 1, numbers.data()};
    if (name == "q")
      table->q = block;
    else if (name == "v")
      table->v = block;
    else if (name == "p")
      table->p = block;
    else if (name == "lambda")
      table->lambda = block;
    else
      table->columns.emplace_back(name, numbers.data());
  }
  table->owner = std::move(owner);
  return table;
}

SharedProblem resolve(const std::string& text, const std::string& origin, const std::string& directory,
                      const std::map<std::string, Numbers>& states) {
  const auto table = table_of(states);
  return Call()([&] {
    Study study = read_study(text, origin, {}, {}, table != nullptr, directory);
    if (!directory.empty()) study.directory = directory;
    study.ensemble.states = table;
    auto problem = std::make_shared<const Problem>(std::move(study));
    if (table) (void)Ensemble(*problem);  // checks widths and numbers
    return problem;
  });
}

SharedProblem load(const std::filesystem::path& file) {
  return Call()([&] {
    Problem problem = Problem::load(file);
    // The study stays the same when the process changes its working directory.
    problem.study.file = std::filesystem::absolute(file);
    problem.study.directory = problem.study.file.parent_path();
    return std::make_shared<const Problem>(std::move(problem));
  });
}

/// Returns what follows for other keys of a study when those in `keys` get new values: keys to remove, and names for
/// ensemble.unused.
std::pair<std::vector<std::string>, std::vector<std::string>> consequences(const std::string& before,
                                                                           const std::string& after,
                                                                           const std::vector<std::string>& keys,
                                                                           bool listed) {
  return Call()([&] {
    Consequences found = consequences_of(parse_document(before, ""), parse_document(after, ""), keys, listed);
    return std::pair(std::move(found.dropped), std::move(found.unused));
  });
}

std::uint64_t address(const Problem& problem, const std::string& part) {
  const StateTable* table = problem.study.ensemble.states.get();
  if (table == nullptr) return 0;
  const StateTable::Block& block = part == "q"   ? table->q
                                   : part == "v" ? table->v
                                   : part == "p" ? table->p
                                                 : table->lambda;
  return reinterpret_cast<std::uint64_t>(block.values);
}

Table describe_problem(const Problem& problem) {
  return from_json(
      json_text(describe_system(problem.system->name, {problem.system}, problem.study.system.formulas.get())));
}

std::string cite_study(const std::string& toml, const std::string& version, const std::string& git,
                       const std::string& fingerprint) {
  const StudyCitations citations = toml.empty() ? StudyCitations() : Bibliography::instance().of_study(toml, "study");
  return bibtex_of(references_of(citations), {version, git, fingerprint});
}

std::string cite_entry(const std::string& name) {
  (void)describe(name);  // throws for an unknown name
  return bibtex_of(references_of(citations_of_entry(name)), {version(), git_commit(), ""});
}

}  // namespace

void bind_study(nb::module_& module) {
  nb::class_<Problem>(module, "Problem", "A study with all names resolved and all defaults set.")
      .def_prop_ro(
          "toml", [](const Problem& problem) { return problem.study.to_toml(); }, "The complete study as TOML.")
      .def_prop_ro("name", [](const Problem& problem) { return problem.study.name; })
      .def_prop_ro("system", [](const Problem& problem) { return std::string(problem.system->name); })
      .def_prop_ro("method", [](const Problem& problem) { return problem.study.method.name; })
      .def_prop_ro(
          "method_options", [](const Problem& problem) { return options_in_words(problem); },
          "The options of the method that matter, in words.")
      .def_prop_ro(
          "order", [](const Problem& problem) { return order_of(problem); }, "The order of q; 0 where it is unknown.")
      .def_prop_ro(
          "trajectories", [](const Problem& problem) { return Ensemble(problem).size(); },
          "The number of trajectories.")
      .def_prop_ro("result_bytes", [](const Problem& problem) { return result_bytes(problem); })
      .def("describe", &describe_problem, "Returns what is known of the system.")
      .def("address", &address, nb::arg("part"),
           "Returns the address of the borrowed array of a part of the state; 0 without.")
      .def_prop_ro("states_file",
                   [](const Problem& problem) {
                     const auto& states = problem.study.ensemble.states;
                     return states ? std::optional(states->file_name()) : std::nullopt;
                   })
      .def(
          "write_states",
          [](const Problem& problem, const std::filesystem::path& file) {
            const auto states = problem.study.ensemble.states;
            if (states) Call()([&] { write_states(*states, file); });
          },
          nb::arg("file"), "Writes the borrowed states into an HDF5 file.");
  module.def("resolve", &resolve, nb::arg("text"), nb::arg("origin"), nb::arg("directory"), nb::arg("states"),
             "Resolves a study from TOML, with arrays of initial states by name. Raises InputError.");
  module.def("consequences", &consequences, nb::arg("before"), nb::arg("after"), nb::arg("keys"), nb::arg("listed"),
             "Returns keys to remove and names for ensemble.unused when `keys` get new values.");
  module.def("load", &load, nb::arg("file"), "Resolves a study file. Raises InputError with FILE:LINE.");
  module.def(
      "describe", [](const std::string& name) { return from_json(json_text(describe(name))); }, nb::arg("name"),
      "Describes a system or a method of the catalogue. Raises InputError.");
  module.def(
      "list_entries",
      [](const std::string& what) {
        return from_json(json_text(
            list({what == "systems", what == "methods", what == "observables", what == "statistics", what == "keys"})));
      },
      nb::arg("what"), "Lists systems, methods, observables, statistics or keys of a study.");
  module.def(
      "scales_of", [](const std::string& path, std::size_t rank) { return scales_of(path, rank); }, nb::arg("path"),
      nb::arg("rank"), "Returns the path of the scale of each dimension of a dataset.");
  module.def("cite_study", &cite_study, nb::arg("toml"), nb::arg("version"), nb::arg("git"), nb::arg("fingerprint"),
             "Returns the references of a complete study as BibTeX.");
  module.def("cite_entry", &cite_entry, nb::arg("name"), "Returns the references of a system or a method as BibTeX.");
  module.def("version", [] { return std::string(version()); });
  module.def("git_commit", [] { return std::string(git_commit()); });
}

}  // namespace rattleback::python
