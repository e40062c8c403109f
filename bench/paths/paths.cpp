// Times the paths of steps: every path that compiles for a sample of systems and sizes, in turns, on one core, with one pack of the
// widest instruction set of this processor. Prints a Markdown table. The exit code is 1 where a rival is more than 5 % faster than the
// path that the rule of the method chooses.
//
//   cmake --build --preset release --target bench_paths
//   build/release/bench/bench_paths [turns [part of a name]]

#include "paths.hpp"

#include <cstdlib>

int main(int count, char** arguments) {
  const int turns = count > 1 ? std::max(1, std::atoi(arguments[1])) : 61;
  const std::string part = count > 2 ? arguments[2] : "";
  std::vector<rattleback::Paths> rows;
  rattleback::add_lobatto(rows);
  rattleback::add_ggl(rows);
  rattleback::add_nonholonomic(rows);
  std::printf("| system | method | chosen path | ns | rivals: ns, and the time of the chosen path by theirs |\n");
  std::printf("| --- | --- | --- | --- | --- |\n");
  bool good = true;
  for (rattleback::Paths& row : rows) {
    if ((row.system + ", " + row.method).find(part) == std::string::npos) continue;
    row.take(turns);
    good = row.print() && good;
    std::fflush(stdout);
  }
  return good ? 0 : 1;
}
