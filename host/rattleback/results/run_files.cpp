#include "rattleback/results/run_files.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <optional>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rattleback/base/mark.hpp"
#include "rattleback/base/message.hpp"
#include "rattleback/results/result.hpp"

namespace rattleback {
namespace {

namespace fs = std::filesystem;

fs::path with(const fs::path& file, const char* suffix) {
  fs::path result = file;
  return result += suffix;
}

constexpr const char *part_suffix = ".part", *damaged_suffix = ".part.damaged", *checkpoint_suffix = ".checkpoint",
                     *values_suffix = ".values", *crossings_suffix = ".crossings", *compressed_suffix = ".compressed",
                     *checkpoint_part_suffix = ".checkpoint.part";  // the longest suffix

const char* kind_in_words(fs::file_type type) {
  switch (type) {
    case fs::file_type::directory:
      return "a directory";
    case fs::file_type::symlink:
      return "a symbolic link";
    case fs::file_type::fifo:
      return "a FIFO";
    case fs::file_type::socket:
      return "a socket";
    default:
      return "a device node";
  }
}

/// Returns the kind of a file of this program; empty for other files. The file has a mark, or is a readable result of a
/// version without marks. Where the mark states no kind, the attributes do.
std::optional<FileKind> own_kind(const fs::path& file) {
  if (const std::optional<FileKind> stated = stated_kind(file)) return stated;
  const auto marked = run_of(file).empty() ? std::nullopt : std::optional(FileKind::result);
  try {
    const auto attributes = ResultFile(file).attributes("/");
    if (!attributes.contains("version")) return marked;
    return attributes.contains("command")            ? FileKind::order
           : attributes.contains("first_trajectory") ? FileKind::part
                                                     : FileKind::result;
  } catch (const Error&) {
    return marked;  // damaged, or without a study
  }
}

std::string foreign(const fs::path& file, FileKind kind) {
  static constexpr const char* words[] = {"a result", "a part of a result", "a table of 'rattleback order'",
                                          "a file of initial states"};
  const std::optional<FileKind> found = own_kind(file);
  if (!found) return not_ours;
  if (*found == kind) return "";
  return fmt::format("the existing file is {}, not {}, and would be lost", words[static_cast<std::size_t>(*found)],
                     words[static_cast<std::size_t>(kind)]);
}

void refuse_inputs(const fs::path& file, const fs::path& beside, std::span<const fs::path> inputs) {
  for (const fs::path& input : inputs)
    if (!input.empty() && same_file(beside, input))
      input_error(file.string(), fmt::format("cannot be written ({} is an input of this run, which it would destroy); "
                                             "choose another with -o",
                                             beside == file ? "it" : beside.string()));
}

/// Throws Error(input) unless the place `beside` is empty or has a file that a run has left.
void check_beside(const fs::path& file, const fs::path& beside) {
  std::error_code code;
  const fs::file_status status = fs::symlink_status(beside, code);
  if (!fs::exists(status)) return;
  const bool regular = fs::is_regular_file(status);
  if (regular && (fs::file_size(beside, code) == 0 || own_kind(beside))) return;
  input_error(file.string(),
              fmt::format("cannot be written ({} is in the way: it is {}); move it, or choose another "
                          "with -o",
                          beside.string(), regular ? "not a file of rattleback" : kind_in_words(status.type())));
}

/// Refuses names that promise another format than HDF5.
void check_ending(const fs::path& file) {
  static constexpr std::string_view others[] = {
      ".csv",    ".tsv", ".dat", ".txt", ".md",   ".json",  ".toml", ".yaml",    ".yml",     ".xml",   ".html", ".htm",
      ".npy",    ".npz", ".mat", ".pkl", ".xlsx", ".xls",   ".ods",  ".parquet", ".feather", ".arrow", ".zarr", ".db",
      ".sqlite", ".zip", ".gz",  ".bz2", ".xz",   ".zst",   ".tar",  ".png",     ".svg",     ".pdf",   ".jpg",  ".jpeg",
      ".gif",    ".mp4", ".bib", ".tex", ".py",   ".ipynb", ".sh",   ".hpp",     ".cpp"};
  std::string ending = file.extension().string();
  std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (std::ranges::find(others, ending) == std::end(others)) return;
  const fs::path better = fs::path(file).replace_extension(".h5");
  input_error(file.string(),
              fmt::format("cannot be written (results are HDF5, and '{}' says another format); use -o {}", ending,
                          better.string()));
}

void check_name(const fs::path& file) {
  const std::string name = file.filename().string();
  for (const char* suffix :
       {part_suffix, damaged_suffix, checkpoint_suffix, values_suffix, crossings_suffix, compressed_suffix})
    if (name.ends_with(suffix))
      input_error(file.string(), fmt::format("cannot be written (names that end in '{}' are those of runs under way); "
                                             "choose another with -o",
                                             suffix));
  const fs::path directory = file.has_parent_path() ? file.parent_path() : fs::path(".");
  const long longest = pathconf(directory.c_str(), _PC_NAME_MAX);
  if (longest > 0 && name.size() + std::strlen(checkpoint_part_suffix) > static_cast<std::size_t>(longest))
    input_error(file.string().substr(0, 60) + "..",
                fmt::format("cannot be written (the name has {} bytes, and with '{}' at its end it must not have more "
                            "than {}); choose another with -o",
                            name.size(), checkpoint_part_suffix, longest));
}

}  // namespace

RunFiles::RunFiles(const fs::path& file)
    : result(file),
      part(with(file, part_suffix)),
      damaged(with(file, damaged_suffix)),
      checkpoint(with(file, checkpoint_suffix)),
      values(with(file, values_suffix)),
      crossings(with(file, crossings_suffix)),
      compressed(with(file, compressed_suffix)) {}

bool RunFiles::interrupted() const {
  std::error_code code;
  return fs::exists(checkpoint, code) && (fs::exists(part, code) || fs::exists(damaged, code));
}

void RunFiles::remove_scratch() const {
  std::error_code code;
  for (const auto& file : {checkpoint, with(result, checkpoint_part_suffix), values, crossings, damaged})
    fs::remove(file, code);
}

fs::path followed(const fs::path& file) {
  fs::path place = file;
  std::error_code code;
  for (int links = 0; fs::is_symlink(fs::symlink_status(place, code)); ++links) {
    const fs::path target = fs::read_symlink(place, code);
    if (code || links == 40) input_error(file.string(), "cannot be written (its symbolic links lead nowhere)");
    place = target.is_absolute() ? target : place.parent_path() / target;
  }
  return place;
}

bool same_file(const fs::path& a, const fs::path& b) {
  struct stat first{}, second{};
  return stat(a.c_str(), &first) == 0 && stat(b.c_str(), &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

fs::path output_place(const fs::path& file, std::span<const fs::path> inputs,
                      const std::function<std::string(const fs::path&)>& foreign) {
  const auto refuse = [&](std::string_view why) {
    input_error(file.string(), fmt::format("cannot be written ({}); choose another with -o", why));
  };
  const fs::path place = followed(file);
  if (!place.has_filename()) refuse("it names no file");
  refuse_inputs(place, place, inputs);
  std::error_code code;
  const fs::file_status status = fs::status(place, code);
  if (!fs::exists(status)) {
    if (place.has_parent_path() && !fs::is_directory(place.parent_path(), code)) refuse("there is no such directory");
    return place;
  }
  if (!fs::is_regular_file(status)) refuse(fmt::format("it is {}", kind_in_words(status.type())));
  if (access(place.c_str(), W_OK) != 0) refuse(std::strerror(errno));
  if (const std::string why = foreign(place); !why.empty()) refuse(why);
  return place;
}

fs::path result_place(const fs::path& file, std::span<const fs::path> inputs, FileKind kind) {
  return output_place(file, inputs, [kind](const fs::path& there) { return foreign(there, kind); });
}

fs::path check_output(const fs::path& file, std::span<const fs::path> inputs, FileKind kind) {
  check_ending(file);
  const fs::path place = result_place(file, inputs, kind);
  check_name(place);
  const RunFiles files(place);
  for (const fs::path& beside : {files.part, files.damaged, files.checkpoint, with(place, checkpoint_part_suffix),
                                 files.values, files.crossings, files.compressed}) {
    refuse_inputs(place, beside, inputs);
    check_beside(place, beside);
  }
  return place;
}

}  // namespace rattleback
