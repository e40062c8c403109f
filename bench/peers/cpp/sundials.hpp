#pragma once
// What the SUNDIALS peers share.

#include <nvector/nvector_serial.h>
#include <sundials/sundials_context.h>
#include <sundials/sundials_version.h>

#include "problems.hpp"

inline std::string sundials_version() {
  char text[40];
  SUNDIALSGetVersion(text, sizeof text);
  return text;
}

/// Ends the program where a call of SUNDIALS failed.
inline void check(int flag, const char* what) {
  if (flag >= 0) return;
  std::fprintf(stderr, "%s failed with %d\n", what, flag);
  std::exit(1);
}
