#pragma once

#include <string>
#include <utility>
#include <vector>

namespace rattleback {

/// Returns facts about the build and this machine as names and values, in the order to print: compiler, build type,
/// instruction sets, compiler and cache of kernels, CUDA, processor, CUDA device. The function asks the compiler and the
/// device, which takes a moment.
std::vector<std::pair<std::string, std::string>> build_information();

}  // namespace rattleback
