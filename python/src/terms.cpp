// Messages of the library in the terms of Python.

#include <array>
#include <regex>
#include <utility>

#include "core.hpp"

namespace rattleback::python {

std::string in_python(std::string text) {
  // What a message of the program says, and what a caller from Python writes instead.
  static const std::array<std::pair<std::regex, const char*>, 17> terms{{
      {std::regex(R"('rattleback resume ([^']*)')"), "rattleback.resume('$1')"},
      {std::regex(R"('rattleback run STUDY --parts N --worker -o ([^']*)')"), "rattleback.parts(study, N, '$1')"},
      {std::regex(R"('rattleback list (systems|methods)' shows all)"), "rattleback.list_$1() returns all"},
      {std::regex(R"('rattleback list (systems|methods)')"), "rattleback.list_$1()"},
      {std::regex(R"(compute (\S+) with a worker, 'rattleback status [^']*' shows more)"),
       "run $1 of rattleback.parts(study, N, output)"},
      {std::regex(R"(`rattleback run`)"), "rattleback.run"},
      {std::regex(R"(see rattleback list$)"), "see rattleback.list_systems() and rattleback.list_methods()"},
      {std::regex(R"('rattleback check' prints the keys)"), "rattleback.list_keys() returns the keys"},
      {std::regex(R"(another with -o)"), "another output"},
      {std::regex(R"( with -o)"), ""},
      {std::regex(R"(; use -o )"), "; use "},
      {std::regex(R"(use --backend (\S+))"), "use backend='$1'"},
      {std::regex(R"(--set ([\w.]+)=true)"), "study['$1'] = True"},
      {std::regex(R"(--set ([\w.]+)=(\S+))"), "study['$1'] = $2"},
      {std::regex(R"(^--parts: )"), "count: "},
      {std::regex(R"(give --parts (\d+))"), "give the count $1"},
      {std::regex(R"(--(threads|tile|kernels))"), "$1"},
  }};
  for (const auto& [said, written] : terms) text = std::regex_replace(text, said, written);
  return text;
}

}  // namespace rattleback::python
