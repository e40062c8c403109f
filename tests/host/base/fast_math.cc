// A library with -ffast-math. GCC before 13 gives such a library a constructor that turns on flush-to-zero for the thread that
// loads the library.
extern "C" int a_library_with_fast_math() { return 1; }
