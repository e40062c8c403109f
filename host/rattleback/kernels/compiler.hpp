#pragma once
// The C++ compiler of the system, which compiles kernels when they are needed.

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rattleback {

struct Compiler {
  std::string command;  ///< as it was named: "g++"
  std::string path;     ///< absolute path of the program
  std::string version;  ///< in its own words: "gcc version 12.2.0 (Debian 12.2.0-14+deb12u1)"
  std::string target;   ///< "x86_64-linux-gnu"
  bool clang = false;   ///< clang, or else GCC
  int major = 0;        ///< first number of the version
};

inline constexpr int least_gcc = 11, least_clang = 14;  ///< the first versions that compile the kernels (C++20)

/// Returns the commands that are tried where RATTLEBACK_CXX is not set: g++, c++ and clang++, but first the name of the compiler
/// that built this library. It is looked for on PATH as the others are, because its folder may be gone, or anybody's, by now.
[[nodiscard]] std::vector<std::string> usual_compilers();

/// Returns the compiler to use: the one that RATTLEBACK_CXX names (a path, or a name on PATH), or else the first of
/// `commands` that works. A compiler is asked for its version once per process, and has ten seconds for the answer. Throws
/// Error(input) when RATTLEBACK_CXX names no compiler that works, or when there is none, and Error(runtime) when `cancelled`,
/// which is asked about 20 times a second meanwhile, returns true ("interrupted").
[[nodiscard]] Compiler find_compiler(const std::vector<std::string>& commands = usual_compilers(),
                                     const std::function<bool()>& cancelled = {});

/// Returns what a compiler that prints `text` for the option -v is; nothing for other compilers than GCC and clang.
[[nodiscard]] std::optional<Compiler> parse_version(std::string_view text);

/// Returns the options in RATTLEBACK_CXXFLAGS, which is split at blanks; relative folders become absolute. Only options
/// that cannot change the bits of a result are taken: folders of headers (-I, -isystem, -iquote, -idirafter), macros of
/// the user (-D, -U) without arguments, --sysroot=, --gcc-toolchain=, -g, -w, -O0, -O1 and -O2. Throws Error(input) for any other.
[[nodiscard]] std::vector<std::string> extra_flags();

/// What the environment gives to headers of the user: RATTLEBACK_CXXFLAGS, and the folders that compilers take from CPATH and
/// CPLUS_INCLUDE_PATH.
struct HeaderOptions {
  std::vector<std::string> flags;                    ///< of RATTLEBACK_CXXFLAGS, but for macros
  std::vector<std::string> macros;                   ///< "-DX=1", "-UY", in order
  std::vector<std::filesystem::path> quote_folders;  ///< for #include "..": -iquote
  std::vector<std::filesystem::path> folders;        ///< for both forms of #include, in the order of search
};
/// Throws Error(input) as extra_flags does.
[[nodiscard]] HeaderOptions header_options();

/// The files of a compilation.
struct CompileFiles {
  std::filesystem::path unit;      ///< C++ source
  std::filesystem::path object;    ///< receives the shared object
  std::filesystem::path log;       ///< receives what the compiler prints
  std::filesystem::path kept_log;  ///< receives a copy of the log of a compilation that fails; none when empty
  std::filesystem::path own = {};  ///< the header of the user that must offer what kernels need, if there is one
};

struct Compiled {
  std::vector<std::string> command;  ///< what was run
  double seconds = 0.0;
};

/// Compiles a unit to a shared object (-fPIC -shared), with `flags` and nothing else. Temporary files are in the folder
/// of the object, which is removed if this process dies meanwhile. `cancelled` is asked about 20 times a second, and ends
/// the compiler. Throws Error(input) for what the header of the user lacks (kernels/rattleback/builtin/offers.hpp), or else for the
/// first error in the source, with its file and line, and Error(runtime) when the compiler ends otherwise, or was cancelled ("interrupted"). There is then no object.
Compiled compile(const Compiler& compiler, std::span<const std::string> flags, const CompileFiles& files,
                 const std::function<bool()>& cancelled = {});

}  // namespace rattleback
