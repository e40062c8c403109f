#include "rattleback/kernels/job.hpp"

#include <sstream>

#include <fmt/format.h>

#include "rattleback/base/message.hpp"
#include "rattleback/base/sha256.hpp"
#include "rattleback/kernels/kernel_flags.hpp"
#include "rattleback/kernels/nvrtc.hpp"

namespace rattleback {
namespace {

/// Returns the text without the #line directives of the user's files. A kernel is the same wherever its headers lie.
std::string without_paths(const std::string& text) {
  std::string rest;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with("#line ") || line.find("\"/") == std::string::npos) rest += line + "\n";
  return rest;
}

}  // namespace

std::string Job::id() const { return fmt::format("{} {} {} {}", target(), fmt::join(extra, " "), own.digest, text); }

void Job::gather() {
  WholeUnit unit = whole_unit(text, header_options());
  whole = std::move(unit.text);
  std::string all = fmt::format("interface {}\n{}{}\n", binary_interface, target(), quick ? " quick" : "");
  for (const std::string& option : extra) all += option + "\n";
  for (const OwnHeader& header : unit.own) {
    all += header.digest + "\n";
    if (header.file == own.file && header.digest != own.digest)
      input_error(
          own.file.string(),
          "has changed since the study was read (or a header that it includes, or RATTLEBACK_CXXFLAGS); begin again");
  }
  name = sha256(all + without_paths(whole));
}

void Job::choose_compiler(const std::function<bool()>& stop) {
  if (architecture.empty()) {
    program = find_compiler(usual_compilers(), stop);
    compiler = fmt::format("{} ({}, {})", program.path, program.version, program.target);
    flags = all_flags(*this, program.clang);
  } else {
    const Nvrtc& nvrtc = Nvrtc::instance();
    compiler = "NVRTC " + nvrtc.version();
    flags = all_device_flags(*this, nvrtc.target(architecture));
  }
  std::string all = fmt::format("name {}\ncompiler {}\n", name, compiler);
  for (const std::string& flag : flags) all += flag + "\n";
  key = sha256(all);
}

Job entry_job_of(const std::string& text, const std::string& type, OwnHeader own) {
  constexpr double seconds = 3.0;  // functions of the system, compiled without packs
  const std::size_t qualified = type.rfind("::", type.find('<'));
  return {.text = text,
          .title = type.substr(qualified == std::string::npos ? 0 : qualified + 2) + ", functions at single points",
          .quick = true,
          .expected_seconds = seconds,
          .extra = header_options().flags,
          .own = std::move(own)};
}

Job job_of(const Unit& unit, const TestFlags& test, OwnHeader own) {
  const bool quick = unit.kind == UnitKind::counted || (test.quick_scalar && unit.isa == Isa::scalar);
  std::string text = unit.text();
  if (quick && unit.kind != UnitKind::counted) text = "#define RATTLEBACK_SMALL_CODE\n" + text;
  Job job{.text = std::move(text),
          .title = unit.title(),
          .isa = unit.isa,
          .quick = quick,
          .expected_seconds = unit.expected_seconds(),
          .extra = header_options().flags,
          .own = std::move(own)};
  job.extra.insert(job.extra.end(), test.further.begin(), test.further.end());
  return job;
}

Job device_job_of(const Unit& unit, const std::string& architecture, OwnHeader own) {
  return {.text = unit.device_text(),
          .title = unit.title(architecture),
          .expected_seconds = unit.expected_seconds(),
          .architecture = architecture,
          .extra = Nvrtc::launch_options(),
          .own = std::move(own)};
}

std::vector<std::string> all_flags(const Job& job, bool clang) {
  std::vector<std::string> flags = flags_of(job.isa, clang, job.quick);
  flags.insert(flags.end(), job.extra.begin(), job.extra.end());
  return flags;
}

std::vector<std::string> all_device_flags(const Job& job, const std::string& target) {
  std::vector<std::string> flags = Nvrtc::target_options(target);
  flags.insert(flags.end(), job.extra.begin(), job.extra.end());
  return flags;
}

}  // namespace rattleback
