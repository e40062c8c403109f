/* The standard streams for the objects of HDF5, which name them so (python/CMakeLists.txt). */
#include <stdio.h>

__attribute__((visibility("hidden"))) FILE *rattleback_stdin, *rattleback_stdout, *rattleback_stderr;

__attribute__((constructor)) static void set(void) {
  rattleback_stdin = stdin;
  rattleback_stdout = stdout;
  rattleback_stderr = stderr;
}
