// Libraries of kernels that a program loads at run time, as PTX. The script `library` translates and compiles the PTX.

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>

#include "state.hpp"

using namespace ptxcpu;

struct CUlib_st {
  Module* module;
};

namespace {

namespace fs = std::filesystem;

// A program that has NVRTC make machine code elsewhere must have it make PTX here (host/rattleback/kernels/nvrtc.hpp).
[[maybe_unused]] const int asks_for_ptx = setenv("RATTLEBACK_CUDA_IMAGE", "ptx", 0);

std::set<cudaLibrary_t>& libraries() {  // those not unloaded
  static std::set<cudaLibrary_t> all;
  return all;
}

/// A file that is removed at the end.
struct TemporaryFile {
  std::string name = (fs::temp_directory_path() / "ptxcpu-XXXXXX").string();
  explicit TemporaryFile(std::string_view bytes) {
    const int file = mkstemp(name.data());
    if (file >= 0) close(file);
    std::ofstream(name, std::ios::binary) << bytes;
  }
  TemporaryFile(const TemporaryFile&) = delete;
  ~TemporaryFile() { (void)unlink(name.c_str()); }
};

/// The shared object of a PTX text; empty where the script failed, which has said why.
std::string compile(std::string_view ptx) {
  const TemporaryFile file(ptx);
  const std::string folder = options().cache.empty() ? PTXCPU_CACHE_FOLDER : options().cache;
  const std::string command = "'" PTXCPU_SCRIPT "' '" + file.name + "' '" + folder + "'";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> answer(popen(command.c_str(), "r"), pclose);
  char line[4096] = "";
  if (!answer || !std::fgets(line, sizeof line, answer.get())) return {};
  line[std::strcspn(line, "\n")] = '\0';
  return line;
}

/// Registers the kernels of a shared object. A copy of the object is opened, so that each library has variables of its
/// own. The copy is never closed: what runs at exit may still ask for the names of kernels.
Module* open(const std::string& object) {
  std::ifstream in(object, std::ios::binary);
  const TemporaryFile copy(std::string(std::istreambuf_iterator<char>(in), {}));
  void* const shared = dlopen(copy.name.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const symbol = shared ? dlsym(shared, "ptxcpu_library") : nullptr;
  if (!symbol) {
    std::fprintf(stderr, "ptxcpu: %s: %s; link the program with -rdynamic\n", object.c_str(), dlerror());
    return nullptr;
  }
  return reinterpret_cast<Module*>(reinterpret_cast<void** (*)(void*)>(symbol)(nullptr));
}

/// The compute capability that a PTX text is for; 0 where the text is none.
int architecture_of(const char* code) {
  const char* const target = std::strncmp(code, "\177ELF", 4) == 0 ? nullptr : std::strstr(code, ".target sm_");
  return target ? std::atoi(target + std::strlen(".target sm_")) : 0;
}

cudaError_t load(cudaLibrary_t* library, const char* code) {
  if (const cudaError_t error = enter(Call::load); error != cudaSuccess) return error;
  if (!library || !code) return cudaErrorInvalidValue;
  const int architecture = architecture_of(code);
  if (architecture == 0) {
    std::fprintf(stderr, "ptxcpu: a library is no PTX, and the emulator runs nothing else\n");
    return cudaErrorInvalidKernelImage;
  }
  if (architecture > options().architecture) return cudaErrorNoKernelImageForDevice;
  const std::string object = compile(code);
  Module* const module = object.empty() ? nullptr : open(object);
  if (!module) return cudaErrorInvalidPtx;
  *library = new CUlib_st{module};
  libraries().insert(*library);
  return cudaSuccess;
}

/// Begins a call for a library.
cudaError_t enter(cudaLibrary_t library) {
  if (const cudaError_t code = ptxcpu::enter(); code != cudaSuccess) return code;
  return libraries().contains(library) ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

cudaError_t find(cudaLibrary_t library, const char* name, cudaKernel_t* found) {
  if (const cudaError_t code = enter(library); code != cudaSuccess) return code;
  const Kernel* const kernel = load_kernel(*library->module, name);
  if (!kernel) return cudaErrorSymbolNotFound;
  *found = reinterpret_cast<cudaKernel_t>(const_cast<Kernel*>(kernel));
  return cudaSuccess;
}

cudaError_t find(cudaLibrary_t library, const char* name, void** data, size_t* bytes) {
  if (const cudaError_t code = enter(library); code != cudaSuccess) return code;
  for (const Region* r = library->module->regions; r->data; ++r)
    if (std::strcmp(r->name, name) == 0) {
      if (data) *data = r->data;
      if (bytes) *bytes = r->size;
      return cudaSuccess;
    }
  return cudaErrorSymbolNotFound;
}

cudaError_t unload(cudaLibrary_t library) {
  if (const cudaError_t code = enter(library); code != cudaSuccess) return code;
  finish_all();
  unload_module(*library->module);
  libraries().erase(library);
  delete library;
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, cudaJitOption*, void**, unsigned,
                                cudaLibraryOption*, void**, unsigned) {
  const Lock lock(machine());
  return result(load(library, static_cast<const char*>(code)));
}
cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  const Lock lock(machine());
  return result(unload(library));
}
cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
  const Lock lock(machine());
  return result(find(library, name, kernel));
}
cudaError_t cudaLibraryGetGlobal(void** data, size_t* bytes, cudaLibrary_t library, const char* name) {
  const Lock lock(machine());
  return result(find(library, name, data, bytes));
}

}  // extern "C"
