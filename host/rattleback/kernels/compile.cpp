#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

#include "rattleback/base/error.hpp"
#include "rattleback/base/message.hpp"
#include "rattleback/kernels/compiler.hpp"
#include "rattleback/kernels/process.hpp"

namespace rattleback {
namespace {

namespace fs = std::filesystem;

/// The first error that a compiler has printed.
struct FirstError {
  std::string where, what;  ///< "own.hpp:12:5", or the name of a program; the message
  std::string needs;        ///< the first sentence about what a header lacks
};

/// The header that has these sentences, and how they begin.
constexpr std::string_view offers = "rattleback/builtin/offers.hpp:", sentence = "a system needs ";

/// Reads "WHERE: error: WHAT" and "WHERE: fatal error: WHAT". Returns also the last line, for a log without an error.
FirstError first_error(const fs::path& log, bool clang, std::string& last) {
  std::ifstream lines(log);
  FirstError first;
  for (std::string line; std::getline(lines, line);) {
    if (line.find_first_not_of(" \t\r") != std::string::npos) last = line;
    if (line.starts_with(offers)) {
      const std::size_t place = line.find(sentence);
      const bool whole = !clang || first.what.empty();  // clang sees no member of a class that has an error
      if (place != std::string::npos && line.find(" error: ") < place && first.needs.empty() && whole)
        first.needs = line.substr(place, line.ends_with('"') ? line.size() - place - 1 : std::string::npos);
      continue;
    }
    for (const std::string_view mark : {": error: ", ": fatal error: ", ": internal compiler error: "}) {
      const std::size_t place = line.find(mark);
      if (place == std::string::npos || !first.what.empty()) continue;
      first.where = line.substr(0, place);
      first.what = line.substr(place + mark.size());
    }
  }
  return first;
}

/// Returns whether a place names a line of a file, as errors of a source do: FILE:LINE or FILE:LINE:COLUMN.
bool is_in_a_source(const std::string& where) {
  const std::size_t colon = where.rfind(':');
  return colon != std::string::npos && colon + 1 < where.size() &&
         where.find_first_not_of("0123456789", colon + 1) == std::string::npos;
}

[[noreturn]] void fail(const Compiler& compiler, const CompileFiles& files, const Finished& finished) {
  std::string last;
  const FirstError error = first_error(files.log, compiler.clang, last);
  std::error_code code;
  fs::path log;
  if (!files.kept_log.empty()) {
    fs::copy_file(files.log, files.kept_log, fs::copy_options::overwrite_existing, code);
    if (!code) log = files.kept_log;
  }
  const std::string hint = log.empty() ? "" : fmt::format("; the whole log is {}", log.string());
  const bool in_source = finished.how == Finished::How::exited && is_in_a_source(error.where);
  if (finished.how == Finished::How::exited && !error.needs.empty() && !files.own.empty()) {
    // An error in the kernels follows from what is missing.
    const bool by_user = in_source && !error.where.starts_with("rattleback/");
    const std::string first = by_user ? fmt::format("; the compiler says first: {}: {}", error.where, error.what) : "";
    throw Error(Error::Kind::input, one_line(fmt::format("{}: {}{} ({}, {}){}", files.own.string(), error.needs, first,
                                                         compiler.command, compiler.version, hint)));
  }
  if (in_source)
    throw Error(Error::Kind::input, one_line(fmt::format("{}: {} ({}, {}){}", error.where, error.what, compiler.command,
                                                         compiler.version, hint)));
  const std::string& words = error.what.empty() ? last : error.what;
  throw Error(Error::Kind::runtime, one_line(fmt::format("{}: ends with {}{}{}{}", compiler.path, to_string(finished),
                                                         words.empty() ? "" : ": ", words, hint)));
}

}  // namespace

Compiled compile(const Compiler& compiler, std::span<const std::string> flags, const CompileFiles& files,
                 const std::function<bool()>& cancelled) {
  const fs::path folder = files.object.parent_path();
  Compiled compiled;
  compiled.command = {compiler.path};
  compiled.command.insert(compiled.command.end(), flags.begin(), flags.end());
  for (const std::string& word :
       {std::string("-fPIC"), std::string("-shared"), std::string("-o"), files.object.string(), files.unit.string()})
    compiled.command.push_back(word);
  const auto begin = std::chrono::steady_clock::now();
  const Finished finished = run_process({.arguments = compiled.command,
                                         .output = files.log,
                                         .temporary = folder,
                                         .remove_if_orphaned = folder,
                                         .cancelled = cancelled});
  compiled.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::error_code code;
  if (finished.succeeded() && fs::is_regular_file(files.object, code)) return compiled;
  fs::remove(files.object, code);
  if (finished.how == Finished::How::cancelled) throw Error(Error::Kind::runtime, "interrupted");
  fail(compiler, files, finished);
}

}  // namespace rattleback
