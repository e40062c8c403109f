#include "rattleback/kernels/compiler.hpp"

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <map>

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rattleback/base/error.hpp"
#include "rattleback/base/message.hpp"
#include "rattleback/base/mutex.hpp"
#include "rattleback/kernels/process.hpp"

namespace rattleback {
namespace {

namespace fs = std::filesystem;

constexpr const char* compiler_variable = "RATTLEBACK_CXX";

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

bool is_program(const fs::path& path) {
  struct stat status{};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && access(path.c_str(), X_OK) == 0;
}

/// Returns the absolute path of a command, as a shell finds it; empty when there is none.
fs::path program_of(const std::string& command) {
  std::error_code code;
  if (command.find('/') != std::string::npos)
    return is_program(command) ? fs::absolute(command, code).lexically_normal() : fs::path{};
  const std::string list = environment("PATH");
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(':', begin), list.size());
    const std::string folder = list.substr(begin, end - begin);
    const fs::path candidate = fs::absolute((folder.empty() ? fs::path(".") : fs::path(folder)) / command, code);
    if (is_program(candidate)) return candidate.lexically_normal();
    begin = end + 1;
  }
  return {};
}

/// Returns what a program prints. The output is kept in memory.
std::string output_of(std::vector<std::string> arguments, const std::function<bool()>& cancelled, Finished& finished) {
  const int file = memfd_create("rattleback", MFD_CLOEXEC);
  finished = run_process({.arguments = std::move(arguments), .output_file = file, .cancelled = cancelled});
  std::string text(1 << 16, '\0');
  const ssize_t got = file < 0 ? 0 : pread(file, text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  if (file >= 0) close(file);
  return text;
}

/// A program and what it is, or why it is of no use.
struct Candidate {
  std::optional<Compiler> compiler;
  std::string fault;
};

Candidate ask(const fs::path& path, const std::function<bool()>& cancelled) {
  constexpr auto patience = std::chrono::seconds(10);
  const auto end = std::chrono::steady_clock::now() + patience;
  bool interrupted = false;
  const auto stop = [&] {
    interrupted = cancelled && cancelled();
    return interrupted || std::chrono::steady_clock::now() > end;
  };
  Finished finished;
  const std::string text = output_of({path.string(), "-v"}, stop, finished);
  if (interrupted) throw Error(Error::Kind::runtime, "interrupted");
  if (finished.how == Finished::How::cancelled)
    return {{}, fmt::format("'{} -v' does not end within {} s", path.string(), patience.count())};
  if (!finished.succeeded()) return {{}, fmt::format("'{} -v' fails ({})", path.string(), to_string(finished))};
  auto compiler = parse_version(text);
  if (!compiler) return {{}, fmt::format("{} is neither GCC nor clang", path.string())};
  const int least = compiler->clang ? least_clang : least_gcc;
  if (compiler->major < least) return {{}, fmt::format("{} is too old: {}", path.string(), compiler->version)};
  return {std::move(compiler), ""};
}

/// Asks a program once per process, or as often as several threads begin to ask at the same time.
Candidate candidate(const std::string& command, const std::function<bool()>& cancelled) {
  static Mutex mutex;
  static std::map<std::string, Candidate> known;
  const fs::path path = program_of(command);
  if (path.empty()) return {{}, fmt::format("there is no program {}", quote(command, most_of_a_path))};
  const auto look = [&]() -> std::optional<Candidate> {
    const std::lock_guard lock(mutex);
    const auto found = known.find(path.string());
    return found == known.end() ? std::nullopt : std::optional(found->second);
  };
  std::optional<Candidate> result = look();
  if (!result) {
    result = ask(path, cancelled);
    const std::lock_guard lock(mutex);
    known.emplace(path.string(), *result);
  }
  if (result->compiler) {
    result->compiler->command = command;
    result->compiler->path = path.string();
  }
  return *result;
}

std::string wanted() { return fmt::format("GCC {} or clang {}, or newer", least_gcc, least_clang); }

}  // namespace

std::optional<Compiler> parse_version(std::string_view text) {
  Compiler compiler;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    line = line.substr(0, line.find_last_not_of(" \r") + 1);  // GCC ends the line of its version with a blank
    begin = end + 1;
    constexpr std::string_view target = "Target: ", gcc = "gcc version ", clang = "clang version ";
    if (line.starts_with(target)) compiler.target = line.substr(target.size());
    if (!compiler.version.empty()) continue;
    const std::size_t place = line.find(clang);  // a vendor's name may stand before
    compiler.clang = place != std::string_view::npos;
    if (!compiler.clang && !line.starts_with(gcc)) continue;
    const std::string_view number = line.substr(compiler.clang ? place + clang.size() : gcc.size());
    const auto read = std::from_chars(number.data(), number.data() + number.size(), compiler.major);
    if (read.ec == std::errc{}) compiler.version = line;
  }
  if (compiler.version.empty() || compiler.target.empty()) return {};
  return compiler;
}

std::vector<std::string> usual_compilers() {
  return {
#ifdef RATTLEBACK_CXX_COMPILER
      RATTLEBACK_CXX_COMPILER,
#endif
      "g++", "c++", "clang++"};
}

Compiler find_compiler(const std::vector<std::string>& commands, const std::function<bool()>& cancelled) {
  if (const std::string named = environment(compiler_variable); !named.empty()) {
    Candidate found = candidate(named, cancelled);
    if (found.compiler) return *found.compiler;
    input_error(compiler_variable,
                fmt::format("{}; name a C++ compiler ({}), or unset the variable", found.fault, wanted()));
  }
  std::string faults;
  for (const std::string& command : commands) {
    Candidate found = candidate(command, cancelled);
    if (found.compiler) return *found.compiler;
    if (!program_of(command).empty()) faults += "; " + found.fault;
  }
  input_error("",
              fmt::format("a kernel must be compiled, and there is no C++ compiler ({}{}); install one: apt install "
                          "g++; or name one by {}; or compile elsewhere: rattleback compile STUDY --pack DIR, and set "
                          "RATTLEBACK_KERNEL_PATH to a copy of DIR; for Python the wheel rattleback-ensembles-kernels "
                          "has the kernels of the examples",
                          wanted(), faults, compiler_variable));
}

}  // namespace rattleback
