#include <cstdio>
#include <cstring>
#include <unordered_map>

#include "machine.hpp"

namespace ptxcpu {
namespace {

std::unordered_map<const void*, const Kernel*>& functions() {  // by the host's function
  static std::unordered_map<const void*, const Kernel*> all;
  return all;
}

std::unordered_map<const void*, const Region*>& variables() {  // by the host's variable
  static std::unordered_map<const void*, const Region*> all;
  return all;
}

const Kernel* find_kernel(const Module& module, const char* name) {
  for (int i = 0; i < module.count; ++i)
    if (std::strcmp(module.kernels[i].name, name) == 0) return &module.kernels[i];
  return nullptr;
}

}  // namespace

std::recursive_mutex& machine() {
  static std::recursive_mutex mutex;
  return mutex;
}

void** register_module(Module& module) {
  const std::lock_guard lock(machine());
  module.relocate();
  for (const Region* r = module.regions; r->data; ++r) add_variable(*r);
  return reinterpret_cast<void**>(&module);
}

void name_function(void** handle, const void* host, const char* name) {
  const Module& module = *reinterpret_cast<const Module*>(handle);
  if (module.count == 0) return;  // of an object that the launcher did not make
  if (const Kernel* const kernel = find_kernel(module, name)) {
    functions()[host] = kernel;
    return;
  }
  std::fprintf(stderr, "ptxcpu: no kernel %s in its module\n", name);
}

void name_variable(void** handle, const void* host, const char* name) {
  const Module& module = *reinterpret_cast<const Module*>(handle);
  for (const Region* r = module.regions; r->data; ++r)
    if (std::strcmp(r->name, name) == 0) variables()[host] = r;
}

const Kernel* kernel_of(const void* host) {
  const auto at = functions().find(host);
  return at == functions().end() ? nullptr : at->second;
}

const Region* variable_of(const void* host) {
  const auto at = variables().find(host);
  return at == variables().end() ? nullptr : at->second;
}

const Kernel* load_kernel(const Module& module, const char* name) {
  const Kernel* const kernel = find_kernel(module, name);
  if (kernel) functions()[kernel] = kernel;
  return kernel;
}

bool is_loaded(const Kernel& kernel) { return kernel_of(&kernel) == &kernel; }

void unload_module(const Module& module) {
  for (int i = 0; i < module.count; ++i) functions().erase(&module.kernels[i]);
  for (const Region* r = module.regions; r->data; ++r) remove_variable(*r);
}

}  // namespace ptxcpu
