// Writes the headers of systems.hpp into the folder that the command line names, with the forms of their systems; the build compiles them
// into tests.

#include <fstream>
#include <iostream>
#include <string>

#include <fmt/format.h>

#include "rattleback/language/print.hpp"
#include "rattleback/language/read.hpp"
#include "systems.hpp"

namespace {

using namespace rattleback;

/// Returns the row of a system in the list of printed_forms.hpp: its type and its form.
std::string row_of(const SystemFormulas& system, const SystemForm& form) {
  return fmt::format("  X({}, {{ConstraintKind({}), {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}})", system_type(system),
                     static_cast<int>(form.constraint), form.on_group, form.driven, form.hamiltonian_alone,
                     form.of_momentum, form.separable, form.separable_form, form.affine, form.offset,
                     form.explicit_velocity, form.lagrange_top, form.conserves_energy);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    const std::string folder = argv[1];
    std::ofstream all(folder + "/printed_systems.hpp"), forms(folder + "/printed_forms.hpp");
    all << "#pragma once\n";
    forms << "#pragma once\n#include \"printed_systems.hpp\"\n";
    std::string rows = "#define RB_PRINTED(X)";
    const auto print = [&](const WrittenSystem& written, const std::string& toml, std::ofstream& includes) {
      const SystemFormulas system = read_system_formulas(toml::parse(toml, std::string(written.identifier)));
      const PrintedSystem printed = print_system(system);
      std::ofstream(folder + '/' + written.identifier + ".hpp") << printed.header;
      includes << "#include \"" << written.identifier << ".hpp\"\n";
      rows += " \\\n" + row_of(system, printed.form);
    };
    for (const WrittenSystem& written : written_systems) print(written, std::string(written.toml), all);
    for (const WrittenSystem& written : systems_of_each_form)
      print(written, fmt::format("name = '{}'\n{}", written.identifier, written.toml), forms);
    forms << rows << '\n';
    return all.flush() && forms.flush() ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
