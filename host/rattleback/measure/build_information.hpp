#pragma once

#include <string>
#include <utility>
#include <vector>

namespace rattleback {

/// How the library was built and what this machine offers it, as names and values in the order to print them: compiler,
/// build type, instruction sets, CUDA, processor, CUDA device. Asks for the device, which takes a moment.
std::vector<std::pair<std::string, std::string>> build_information();

}  // namespace rattleback
