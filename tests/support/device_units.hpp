#pragma once
// Units for NVRTC, as text, and the headers that they include.

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "rattleback/kernels/nvrtc.hpp"

namespace rattleback::tests {

/// All headers of the kernels, by the names by which they are included.
inline const HeaderTexts& kernel_headers() {
  static const HeaderTexts headers = [] {
    const std::filesystem::path folder = RATTLEBACK_KERNEL_FOLDER;
    HeaderTexts texts;
    for (const auto& file : std::filesystem::recursive_directory_iterator(folder)) {
      if (!file.is_regular_file()) continue;
      std::ifstream in(file.path(), std::ios::binary);
      texts[std::filesystem::relative(file.path(), folder).string()] =
          std::string(std::istreambuf_iterator<char>(in), {});
    }
    return texts;
  }();
  return headers;
}

/// A system and a method: their headers below systems/ and methods/, and their types over T, and over T and S.
struct DeviceUnit {
  const char *system_header, *system, *method_header, *method;

  /// `kernels` is RB_DEVICE_ADVANCE, RB_DEVICE_TANGENT or RB_DEVICE_SAMPLES. `formulas` is the name of a type in
  /// namespace rattleback, which `declarations` declare.
  [[nodiscard]] std::string text(const std::string& kernels, const std::string& formulas = "NoFormulas",
                                 const std::string& declarations = "") const {
    const bool samples = kernels == "RB_DEVICE_SAMPLES", surfaces = !samples && formulas != "NoFormulas";
    const std::string follows = "RB_DEVICE_SURFACES(rattleback::UnitSystem, rattleback::" + formulas + ")\n";
    return std::string("#define RATTLEBACK_ISA cuda\n#include \"rattleback/loop/device.cuh\"\n") +
           "#include \"rattleback/systems/" + system_header + "\"\n#include \"rattleback/methods/" + method_header +
           "\"\nnamespace rattleback {\ntemplate <class T>\nusing UnitSystem = " + system +
           ";\nstruct UnitMethod {\n  template <class T, class S>\n  using of = " + method + ";\n};\n" + declarations +
           "\n}\n" + kernels + "(rattleback::UnitSystem, " + (samples ? "" : "rattleback::UnitMethod, ") +
           (kernels == "RB_DEVICE_TANGENT" ? "rattleback::CarryTangent, " : "") + "rattleback::" + formulas + ")\n" +
           (surfaces ? follows : "");
  }
};

}  // namespace rattleback::tests
