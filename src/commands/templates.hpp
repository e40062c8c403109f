#pragma once
// The studies that `rattleback new` writes. Their texts are the files of the folder `templates`, which the build puts into the program. The
// tests check and run each of them.

#include <string_view>

namespace rattleback::templates {

const char* pendulum();
const char* own_system();
const char* nonholonomic();
const char* driven();
const char* sweep();
const char* sections();

struct StudyTemplate {
  std::string_view name, summary;
  const char* (*text)();
  std::string_view figure = "",
                   options = "";  ///< kind and options of the figure to look at first; default: against the time
};

inline constexpr StudyTemplate all[] = {
    {"pendulum", "an ensemble of pendulums: a system of the catalogue, and the energy error", pendulum},
    {"own-system", "a system of your own: a Lagrangian as a formula", own_system},
    {"nonholonomic", "a constraint on velocities: blades on a slope", nonholonomic, "animate ",
     " --components x,y --equal --trail 800 --frames 48 --rate 10"},
    {"driven", "friction and a drive, seen once a period", driven},
    {"sweep", "two axes, random initial states and groups: statistics over parameters", sweep},
    {"sections", "a Poincare section: where orbits cross a surface", sections, "section ",
     " --components \"q[1],p[1]\""},
};

}  // namespace rattleback::templates
