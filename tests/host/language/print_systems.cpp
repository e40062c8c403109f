// Writes the headers of systems.hpp into the folder that the command line names; the build compiles them into a test.

#include <fstream>
#include <iostream>
#include <string>

#include "rattleback/language/print.hpp"
#include "rattleback/language/read.hpp"
#include "systems.hpp"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    const std::string folder = argv[1];
    std::ofstream all(folder + "/printed_systems.hpp");
    all << "#pragma once\n";
    for (const WrittenSystem& written : written_systems) {
      const toml::table table = toml::parse(written.toml, std::string(written.identifier));
      const std::string header = rattleback::system_header(rattleback::read_system_formulas(table));
      std::ofstream(folder + '/' + written.identifier + ".hpp") << header;
      all << "#include \"" << written.identifier << ".hpp\"\n";
    }
    return all.flush() ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
