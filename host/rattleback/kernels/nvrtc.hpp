#pragma once
// Compiles kernels for a GPU at run time with NVRTC. NVRTC is a library of its own; it needs neither a driver nor a
// GPU.

#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rattleback {

/// Headers in memory: text by the name in #include.
using HeaderTexts = std::map<std::string, std::string, std::less<>>;

/// What NVRTC made of a unit, for cudaLibraryLoadData (module.hpp).
struct DeviceImage {
  std::string bytes;  ///< machine code of one architecture, or PTX, which the driver or the emulator compiles
  bool ptx = false;
  std::string architecture;  ///< sm_90, or compute_90 of PTX
  std::string log;           ///< warnings
};

/// The library NVRTC of this machine. Functions may be called by several threads at a time.
class Nvrtc {
 public:
  /// Opens the library at the first call: $RATTLEBACK_NVRTC (a file or a folder) where it is set, else the first that is
  /// found in usual_places() or in the packages of python3. Throws Error(runtime) where it is missing, or older than
  /// version 12.
  [[nodiscard]] static const Nvrtc& instance();
  /// $CONDA_PREFIX, because an active environment goes before what the machine has, then $CUDA_HOME, $CUDA_PATH,
  /// /usr/local/cuda, and names for the loader.
  [[nodiscard]] static std::vector<std::filesystem::path> usual_places();
  /// Opens the library in one of these files or folders, and nowhere else.
  explicit Nvrtc(std::span<const std::filesystem::path> places);

  [[nodiscard]] const std::string& path() const { return path_; }
  /// As "13.0".
  [[nodiscard]] const std::string& version() const { return version_; }
  /// The compute capabilities for which it makes machine code, 10 times the major number plus the minor number,
  /// ascending.
  [[nodiscard]] const std::vector<int>& architectures() const { return architectures_; }
  /// The architecture of the image for a device of `architecture`, "sm_90": the same where NVRTC knows it;
  /// "compute_121" for a newer device, the newest that NVRTC knows, as PTX. With RATTLEBACK_CUDA_IMAGE=ptx the image is
  /// PTX in any case. Throws Error(input) where the text is no architecture, Error(runtime) where NVRTC has dropped the
  /// architecture.
  [[nodiscard]] std::string target(std::string_view architecture) const;

  /// Returns whether an image of this target may serve a device of `architecture`, as `target` would choose.
  [[nodiscard]] static bool serves(std::string_view target, std::string_view architecture);

  /// Compiles a unit (kernels/rattleback/loop/device.cuh). `name` is the unit's name in messages; `headers` has what it
  /// includes, besides those of the C++ standard library (standard.hpp). `options` come after those of
  /// target_options(). Checks the PTX (ptx.hpp). Throws Error(runtime) with the compiler's first error; the file `log`
  /// then has all of them, unless its name is empty.
  [[nodiscard]] DeviceImage compile(const std::string& unit, const std::string& name, std::string_view architecture,
                                    const HeaderTexts& headers, std::span<const std::string> options = {},
                                    const std::filesystem::path& log = {}) const;

  /// The same in a thread of its own, with Error(runtime), "interrupted", where `stop`, which is asked 20 times a second meanwhile, returns
  /// true. Nothing ends NVRTC before it is done: its thread goes on until then, or until the process ends, and the image is dropped.
  [[nodiscard]] DeviceImage compile_unless(const std::function<bool()>& stop, const std::string& unit,
                                           const std::string& name, const std::string& architecture,
                                           const std::vector<std::string>& options,
                                           const std::filesystem::path& log) const;

  /// The options that the bits and the speed depend on.
  [[nodiscard]] static std::vector<std::string> target_options(std::string_view target);
  /// The options in RATTLEBACK_NVRTCFLAGS, which is split at blanks: -DRATTLEBACK_TEAM_LANES=1, 8, 16 or 32,
  /// -DRATTLEBACK_BLOCK_THREADS=32, 64, 128 or 256 and -DRATTLEBACK_BLOCKS=1 to 32. They change launches and speed, and
  /// no bits. Throws Error(input) for any other.
  [[nodiscard]] static std::vector<std::string> launch_options();

 private:
  // the functions of nvrtc.h, by their types
  using Program = struct NvrtcProgram*;
  struct Functions {
    int (*version)(int*, int*);
    int (*architecture_count)(int*);
    int (*architectures)(int*);
    int (*create)(Program*, const char* text, const char* name, int headers, const char* const* texts,
                  const char* const* names);
    int (*destroy)(Program*);
    int (*compile)(Program, int count, const char* const* options);
    int (*log_size)(Program, std::size_t*);
    int (*log)(Program, char*);
    int (*ptx_size)(Program, std::size_t*);
    int (*ptx)(Program, char*);
    int (*cubin_size)(Program, std::size_t*);
    int (*cubin)(Program, char*);
    const char* (*text_of)(int);
  };

  void open(const std::filesystem::path& file);

  void* library_ = nullptr;  // stays open
  Functions call_{};
  std::string path_, version_;
  std::vector<int> architectures_;
};

}  // namespace rattleback
