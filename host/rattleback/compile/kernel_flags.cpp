#include "rattleback/compile/kernel_flags.hpp"

#include "rattleback/compile/generated_flags.hpp"

namespace rattleback {

std::vector<std::string> flags_of(Isa isa, bool clang, bool quick) {
  std::vector<std::string> all{"-std=c++20", quick ? "-O1" : "-O2", "-fvisibility=hidden", "-w"};
  const auto add = [&all](std::initializer_list<const char*> flags) { all.insert(all.end(), flags.begin(), flags.end()); };
  add(flags::kernel_flags);
  if (!clang) add(flags::gnu_flags);
  switch (isa) {
    case Isa::scalar:
      add(flags::flags_scalar);
      break;
#if defined(__x86_64__)
    case Isa::avx2:
      add(flags::flags_avx2);
      if (!clang) add(flags::gnu_flags_avx2);
      break;
    case Isa::avx512:
      add(flags::flags_avx512);
      if (!clang) add(flags::gnu_flags_avx512);
      break;
#elif defined(__aarch64__)
    case Isa::neon:
      add(flags::flags_neon);
      break;
#endif
    default:
      break;
  }
  return all;
}

std::vector<std::filesystem::path> builtin_packs() {
  std::vector<std::filesystem::path> packs;
  std::error_code code;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", code).parent_path();
  for (const auto& folder : {program / "kernels", program.parent_path() / RATTLEBACK_LIBRARY_FOLDER / "rattleback" / "kernels",
                             std::filesystem::path(RATTLEBACK_PACK_FOLDER)})
    if (!folder.empty() && std::filesystem::is_directory(folder, code)) packs.push_back(folder);
  return packs;
}

}  // namespace rattleback
