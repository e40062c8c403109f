// Libraries of kernels that are loaded at run time: libraries CASE. PTX as a program gets it from NVRTC.

#include <cstdio>
#include <cstring>
#include <string>

namespace {

/// A kernel that writes factor[0] * i and adds 1 to factor[0], in the order of the threads.
std::string ptx(const std::string& instruction = "mul.rn.f64 %fd3, %fd1, %fd2;", int architecture = 90) {
  return ".version 9.0\n.target sm_" + std::to_string(architecture) + R"(
.address_size 64
.visible .global .align 8 .f64 factor = 0d4008000000000000;
.visible .entry scaled(.param .u64 scaled_x)
.maxntid 32, 1, 1
{
  .reg .b64 %rd<5>;
  .reg .b32 %r<3>;
  .reg .f64 %fd<5>;
  ld.param.u64 %rd1, [scaled_x];
  cvta.to.global.u64 %rd2, %rd1;
  mov.u32 %r1, %tid.x;
  cvt.rn.f64.u32 %fd1, %r1;
  ld.global.f64 %fd2, [factor];
  )" + instruction +
         R"(
  mul.wide.u32 %rd3, %r1, 8;
  add.s64 %rd4, %rd2, %rd3;
  st.global.f64 [%rd4], %fd3;
  add.rn.f64 %fd4, %fd2, 0d3FF0000000000000;
  st.global.f64 [factor], %fd4;
  ret;
}
)";
}

void say(const char* what, cudaError_t code) { std::printf("%s=%s\n", what, cudaGetErrorName(code)); }

cudaLibrary_t load(const std::string& code) {
  cudaLibrary_t library = nullptr;
  say("load", cudaLibraryLoadData(&library, code.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  return library;
}

void launch(cudaLibrary_t library) {
  cudaKernel_t kernel = nullptr;
  say("kernel", cudaLibraryGetKernel(&kernel, library, "scaled"));
  double* x = nullptr;
  cudaMalloc(&x, 3 * sizeof(double));
  void* arguments[] = {&x};
  say("launch", cudaLaunchKernel(kernel, dim3(1), dim3(3), arguments, 0, nullptr));
  double host[3] = {};
  say("copy", cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
  std::printf("%g %g %g\n", host[0], host[1], host[2]);
  cudaFree(x);
}

void two() {  // of the same text: each has a variable of its own
  const cudaLibrary_t a = load(ptx()), b = load(ptx());
  launch(a);
  launch(a);
  launch(b);
  void* place = nullptr;
  std::size_t size = 0;
  double factor = 0.0;
  say("variable", cudaLibraryGetGlobal(&place, &size, a, "factor"));
  cudaMemcpy(&factor, place, size, cudaMemcpyDeviceToHost);
  std::printf("%zu %g\n", size, factor);
}

void unloaded() {
  const cudaLibrary_t library = load(ptx());
  cudaKernel_t kernel = nullptr;
  cudaLibraryGetKernel(&kernel, library, "scaled");
  cudaFuncAttributes attributes{};
  say("attributes", cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel)));
  std::printf("%d\n", attributes.maxThreadsPerBlock);
  say("unknown kernel", cudaLibraryGetKernel(&kernel, library, "scale"));
  void* place = nullptr;
  say("unknown variable", cudaLibraryGetGlobal(&place, nullptr, library, "x"));
  say("unload", cudaLibraryUnload(library));
  say("kernel", cudaLibraryGetKernel(&kernel, library, "scaled"));
  void* arguments[] = {&place};
  say("launch", cudaLaunchKernel(kernel, dim3(1), dim3(1), arguments, 0, nullptr));
  say("unload", cudaLibraryUnload(library));
}

void refused() {
  load("\177ELF and machine code");
  load(ptx("mul.f64 %fd3, %fd1, %fd2;"));
}

}  // namespace

int main(int count, char** words) {
  const std::string what = count > 1 ? words[1] : "";
  if (what == "two") two();
  if (what == "unloaded") unloaded();
  if (what == "refused") refused();
  if (what == "older") launch(load(ptx("mul.rn.f64 %fd3, %fd1, %fd2;", 80)));
  if (what == "newer") load(ptx("mul.rn.f64 %fd3, %fd1, %fd2;", 100));
}
