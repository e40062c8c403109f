#include "rattleback/kernels/nvrtc.hpp"

#include <cxxabi.h>
#include <dlfcn.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <future>
#include <memory>
#include <mutex>
#include <sstream>
#include <system_error>
#include <thread>
#include <utility>

#include "rattleback/base/error.hpp"
#include "rattleback/base/message.hpp"
#include "rattleback/kernels/ptx.hpp"
#include "rattleback/kernels/standard.hpp"

namespace rattleback {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& message) { throw Error(Error::Kind::runtime, message); }
/// Refuses a machine without an NVRTC that serves, as one without a C++ compiler is refused.
[[noreturn]] void refuse(const std::string& message) { throw Error(Error::Kind::input, message); }

std::string setting(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// The file itself, or the libraries in a folder and in its folders for libraries, the newest first.
std::vector<fs::path> libraries_in(const fs::path& place) {
  std::error_code error;
  if (fs::is_regular_file(place, error)) return {place};
  std::vector<fs::path> found;
  for (const char* folder : {"", "lib64", "lib"}) {
    for (const auto& file : fs::directory_iterator(place / folder, error)) {
      const std::string name = file.path().filename().string();
      // libnvrtc.so, libnvrtc.so.13; not libnvrtc-builtins.so, libnvrtc.alt.so
      if (name.starts_with("libnvrtc.so")) found.push_back(file.path());
    }
  }
  std::ranges::sort(found, [](const fs::path& a, const fs::path& b) { return a.filename() > b.filename(); });
  return found;
}

/// The folders in which the packages nvidia-cuda-nvrtc of python3 have the library.
std::vector<fs::path> python_folders() {
  constexpr const char* question = "python3 -c 'import sys; print(\"\\n\".join(sys.path))' 2>/dev/null";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> answer(popen(question, "r"), pclose);
  std::string text;
  char buffer[4096];
  while (answer != nullptr && std::fgets(buffer, sizeof buffer, answer.get()) != nullptr) text += buffer;
  std::vector<fs::path> folders;
  for (std::size_t at = 0, end = 0; (end = text.find('\n', at)) != text.npos; at = end + 1) {
    if (end == at) continue;  // the present folder
    std::error_code error;
    for (const auto& package : fs::directory_iterator(fs::path(text.substr(at, end - at)) / "nvidia", error))
      folders.push_back(package.path() / "lib");
  }
  return folders;
}

constexpr const char* remedy =
    "install it with `python3 -m pip install nvidia-cuda-nvrtc` or with the CUDA toolkit (apt: nvidia-cuda-toolkit), "
    "or "
    "name the library in RATTLEBACK_NVRTC";

/// Opens the first of the files that the loader takes; `why` gets what it says of others.
void* open_first(const std::vector<fs::path>& files, fs::path& opened, std::string& why) {
  for (const fs::path& file : files) {
    if (void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      opened = file;
      return library;
    }
    if (const char* said = dlerror(); why.empty() && file.has_parent_path() && said != nullptr) why = said;
  }
  return nullptr;
}

/// The number of an architecture, 90 of sm_90 or compute_90.
int number_of(std::string_view architecture) {
  const std::string_view digits = architecture.substr(std::min(architecture.find('_') + 1, architecture.size()));
  int number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool prefix = architecture.starts_with("sm_") || architecture.starts_with("compute_");
  if (!prefix || error != std::errc{} || end != digits.data() + digits.size())
    input_error("architecture", quote(architecture) + " is not the architecture of a GPU; example: sm_90");
  return number;
}

/// Returns whether images are PTX in any case.
bool wants_ptx() { return setting("RATTLEBACK_CUDA_IMAGE") == "ptx"; }

std::string capability(int number) { return std::to_string(number / 10) + "." + std::to_string(number % 10); }

/// Calls `f` with each line of a text until `f` returns true.
template <class F>
void for_lines(std::string_view text, const F& f) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (f(text.substr(at, end - at))) return;
    at = end + 1;
  }
}

/// A function of std that a unit calls and standard.hpp does not define, found in the log or in PTX:
/// "std::sin(double)".
std::string undefined_function(std::string_view text) {
  std::string found;
  for_lines(text, [&](std::string_view line) {
    const std::size_t begin = line.find("_ZSt");
    if (begin == line.npos || line.find("extern") == line.npos) return false;
    const std::string name(line.substr(begin, line.find_first_of("'( \t", begin) - begin));
    const std::unique_ptr<char, void (*)(void*)> plain(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, nullptr),
                                                       std::free);
    found = plain != nullptr ? plain.get() : name;
    return true;
  });
  return found;
}

/// The first error of a log, without the lines that follow it.
std::string first_error(std::string_view log) {
  std::string found(log.substr(0, log.find('\n')));
  for_lines(log, [&](std::string_view line) {
    if (line.find("error") == line.npos) return false;
    found = line;
    return true;
  });
  return found;
}

}  // namespace

const Nvrtc& Nvrtc::instance() {
  // Never destroyed: threads of interrupted compilations may outlive main.
  static const auto* const nvrtc = new Nvrtc([] {
    if (const std::string named = setting("RATTLEBACK_NVRTC"); !named.empty()) {
      const fs::path places[] = {named};
      return Nvrtc(places);
    }
    std::vector<fs::path> places = usual_places();
    try {
      return Nvrtc(places);
    } catch (const Error&) {
      // to start python3 takes longer than all the rest
      const std::vector<fs::path> packages = python_folders();
      if (packages.empty()) throw;
      places.insert(places.end(), packages.begin(), packages.end());
      return Nvrtc(places);
    }
  }());
  return *nvrtc;
}

std::vector<fs::path> Nvrtc::usual_places() {
  std::vector<fs::path> places;
  for (const char* variable : {"CONDA_PREFIX", "CUDA_HOME", "CUDA_PATH"})
    if (const std::string folder = setting(variable); !folder.empty()) places.emplace_back(folder);
  places.emplace_back("/usr/local/cuda");
  for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"}) places.emplace_back(name);
  return places;
}

Nvrtc::Nvrtc(std::span<const fs::path> places) {
  std::vector<fs::path> files;
  for (const fs::path& place : places) {
    const std::vector<fs::path> found = libraries_in(place);
    files.insert(files.end(), found.begin(), found.end());
    // a bare name is for the loader
    if (found.empty() && !place.has_parent_path() && place.string().starts_with("lib")) files.push_back(place);
  }
  std::string why;
  fs::path file;
  library_ = open_first(files, file, why);
  const std::string where = places.size() == 1 ? " in " + quote(places[0].string(), most_of_a_path) : "";
  if (library_ == nullptr)
    refuse("kernels for a GPU need NVIDIA's compiler library NVRTC, which " +
           (why.empty() ? "was not found" + where : "cannot be opened (" + why + ")") + "; " + remedy);
  open(file);
}

void Nvrtc::open(const fs::path& file) {
  Dl_info information{};
  const auto find = [&](auto& function, const char* name) {
    void* symbol = dlsym(library_, name);
    if (symbol == nullptr) refuse(file.string() + " is not NVRTC (it has no " + name + "); " + remedy);
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(symbol);
    if (dladdr(symbol, &information) != 0 && information.dli_fname != nullptr) path_ = information.dli_fname;
  };
  find(call_.version, "nvrtcVersion");
  int major = 0, minor = 0;
  call_.version(&major, &minor);
  version_ = std::to_string(major) + "." + std::to_string(minor);
  if (major < 12) refuse("NVRTC " + version_ + " (" + path_ + ") is too old, 12.0 or newer is needed; " + remedy);
  find(call_.architecture_count, "nvrtcGetNumSupportedArchs");
  find(call_.architectures, "nvrtcGetSupportedArchs");
  find(call_.create, "nvrtcCreateProgram");
  find(call_.destroy, "nvrtcDestroyProgram");
  find(call_.compile, "nvrtcCompileProgram");
  find(call_.log_size, "nvrtcGetProgramLogSize");
  find(call_.log, "nvrtcGetProgramLog");
  find(call_.ptx_size, "nvrtcGetPTXSize");
  find(call_.ptx, "nvrtcGetPTX");
  find(call_.cubin_size, "nvrtcGetCUBINSize");
  find(call_.cubin, "nvrtcGetCUBIN");
  find(call_.text_of, "nvrtcGetErrorString");
  int count = 0;
  call_.architecture_count(&count);
  architectures_.resize(static_cast<std::size_t>(count));
  call_.architectures(architectures_.data());
  std::ranges::sort(architectures_);
}

std::string Nvrtc::target(std::string_view architecture) const {
  const int wanted = number_of(architecture);
  const auto above = std::ranges::upper_bound(architectures_, wanted);
  if (above == architectures_.begin())
    refuse("NVRTC " + version_ + " (" + path_ + ") has no code for GPUs of compute capability " + capability(wanted) +
           ", the oldest is " + capability(architectures_.front()) + "; use an older NVRTC, see RATTLEBACK_NVRTC");
  const int newest = *std::prev(above);
  const bool virtual_only = newest != wanted || architecture.starts_with("compute_") || wants_ptx();
  return (virtual_only ? "compute_" : "sm_") + std::to_string(newest);
}

bool Nvrtc::serves(std::string_view target, std::string_view architecture) {
  if (target.starts_with("compute_")) return number_of(target) <= number_of(architecture);
  return target == architecture && !wants_ptx();
}

std::vector<std::string> Nvrtc::target_options(std::string_view target) {
  return {"--gpu-architecture=" + std::string(target), "--std=c++20", "--device-as-default-execution-space",
          "--fmad=false", "--no-source-include"};
}

std::vector<std::string> Nvrtc::launch_options() {
  const std::pair<std::string_view, std::vector<int>> macros[] = {{"-DRATTLEBACK_TEAM_LANES=", {1, 8, 16, 32}},
                                                                  {"-DRATTLEBACK_BLOCK_THREADS=", {32, 64, 128, 256}},
                                                                  {"-DRATTLEBACK_BLOCKS=", {1, 2, 3, 4, 6, 8, 16, 32}}};
  std::vector<std::string> options;
  std::istringstream words(setting("RATTLEBACK_NVRTCFLAGS"));
  for (std::string word; words >> word;) {
    std::string known;
    for (const auto& [macro, values] : macros)
      for (const int value : values) {
        const std::string option = std::string(macro) + std::to_string(value);
        if (option == word) options.push_back(option);
        known += (value == values[0] ? std::string(known.empty() ? "" : "; ") + std::string(macro) : ", ") +
                 std::to_string(value);
      }
    if (options.empty() || options.back() != word)
      input_error("RATTLEBACK_NVRTCFLAGS", quote(word) + " is refused (known: " + known + ")");
  }
  return options;
}

DeviceImage Nvrtc::compile(const std::string& unit, const std::string& name, std::string_view architecture,
                           const HeaderTexts& headers, std::span<const std::string> options,
                           const fs::path& log) const {
  DeviceImage image;
  image.architecture = target(architecture);
  image.ptx = image.architecture.starts_with("compute_");

  std::vector<const char*> names, texts;
  for (const StandardHeader& header : standard_headers()) {
    names.push_back(header.name);
    texts.push_back(header.text);
  }
  for (const auto& [header, text] : headers) {
    names.push_back(header.c_str());
    texts.push_back(text.c_str());
  }
  const auto check = [&](int code, const char* what) {
    if (code != 0) fail("NVRTC " + version_ + ": " + what + " failed (" + call_.text_of(code) + ")");
  };
  Program made = nullptr;
  check(call_.create(&made, unit.c_str(), name.c_str(), static_cast<int>(names.size()), texts.data(), names.data()),
        "creation of a program");
  const auto destroy = [this](Program program) { call_.destroy(&program); };
  const std::unique_ptr<NvrtcProgram, decltype(destroy)> program(made, destroy);

  std::vector<std::string> words = target_options(image.architecture);
  words.insert(words.end(), options.begin(), options.end());
  std::vector<const char*> arguments;
  for (const std::string& word : words) arguments.push_back(word.c_str());
  const int code = call_.compile(made, static_cast<int>(arguments.size()), arguments.data());

  // the sizes of texts count the 0 at the end
  const auto read = [&](auto size_of, auto text_of, const char* what) {
    std::size_t size = 0;
    check(size_of(made, &size), what);
    std::string text(size, '\0');
    check(text_of(made, text.data()), what);
    return text;
  };
  const auto read_text = [&](auto size_of, auto text_of, const char* what) {
    std::string text = read(size_of, text_of, what);
    while (!text.empty() && text.back() == '\0') text.pop_back();
    return text;
  };
  const auto check_functions = [&](std::string_view text) {
    if (const std::string function = undefined_function(text); !function.empty())
      fail("compiling " + name + " for " + image.architecture + " failed: a kernel calls " + function +
           ", which gives other bits on a GPU than on a CPU; call rattleback's function of this name, without std::");
  };
  image.log = read_text(call_.log_size, call_.log, "query of the log");
  if (code != 0) {
    check_functions(image.log);
    std::string message = "compiling " + name + " for " + image.architecture +
                          " failed: " + (image.log.empty() ? std::string(call_.text_of(code)) : first_error(image.log));
    if (!log.empty()) {
      std::ofstream(log, std::ios::binary) << image.log;
      message += "; all messages are in " + quote(log.string(), most_of_a_path);
    }
    fail(one_line(message));
  }
  const std::string ptx = read_text(call_.ptx_size, call_.ptx, "query of the PTX");
  check_functions(ptx);
  if (const std::string fault = fault_of_ptx(ptx); !fault.empty())
    fail("compiling " + name + " for " + image.architecture + " gives PTX that could change the bits: " + fault +
         "; a kernel may not use functions that approximate");
  image.bytes = image.ptx ? ptx : read(call_.cubin_size, call_.cubin, "query of the machine code");
  return image;
}

DeviceImage Nvrtc::compile_unless(const std::function<bool()>& stop, const std::string& unit, const std::string& name,
                                  const std::string& architecture, const std::vector<std::string>& options,
                                  const fs::path& log) const {
  constexpr auto pause = std::chrono::milliseconds(50);
  std::packaged_task<DeviceImage()> task(
      [=, this] { return compile(unit, name, architecture, {}, options, log); });  // with copies of its own
  std::future<DeviceImage> image = task.get_future();
  try {
    std::thread(std::move(task)).detach();
  } catch (const std::system_error&) {  // the system has no thread left
    return compile(unit, name, architecture, {}, options, log);
  }
  do {
    if (stop && stop()) fail("interrupted");
  } while (image.wait_for(pause) != std::future_status::ready);
  return image.get();
}

}  // namespace rattleback
