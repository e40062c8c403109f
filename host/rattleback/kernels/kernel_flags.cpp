#include "rattleback/kernels/kernel_flags.hpp"

#include <sys/stat.h>

#include "rattleback/kernels/generated_flags.hpp"
#include "rattleback/kernels/trust.hpp"

namespace rattleback {

std::vector<std::string> flags_of(Isa isa, bool clang, bool quick) {
  std::vector<std::string> all{"-std=c++20", quick ? "-O1" : "-O2", "-fvisibility=hidden", "-w"};
  const auto add = [&all](std::initializer_list<const char*> flags) {
    all.insert(all.end(), flags.begin(), flags.end());
  };
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

std::vector<Pack> builtin_packs() {
  std::vector<Pack> packs;
  const std::filesystem::path file = file_of_library(), folder = file.parent_path();
  struct stat status{};
  if (file.empty() || stat(file.c_str(), &status) != 0) return packs;
  std::error_code code;
  for (const char* place : {"kernels", RATTLEBACK_LIBRARY_FOLDER "/rattleback/kernels"})
    if (std::filesystem::is_directory(folder / place, code)) packs.push_back({folder / place, status.st_uid});
  return packs;
}

}  // namespace rattleback
