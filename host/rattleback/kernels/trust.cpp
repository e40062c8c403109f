#include "rattleback/kernels/trust.hpp"

#include <string_view>

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/stat.h>

#include "rattleback/base/message.hpp"

namespace rattleback {
namespace {

bool is_ours(const struct stat& status, uid_t owner) {
  return status.st_uid == 0 || status.st_uid == geteuid() || status.st_uid == owner;
}

std::string belongs(const struct stat& status) { return fmt::format("belongs to the user {}", status.st_uid); }

constexpr std::string_view everybody = "can be written by every user";

}  // namespace

std::string fault_of_owner(const std::filesystem::path& path, uid_t owner) {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0) return {};
  if (!is_ours(status, owner)) return belongs(status);
  if ((status.st_mode & S_IWOTH) != 0) return std::string(everybody);
  if ((status.st_mode & S_IWGRP) != 0) return "can be written by its group";
  return {};
}

std::string fault_of_owner(const Entry& entry, uid_t owner) {
  if (const std::string fault = fault_of_owner(entry.folder, owner); !fault.empty()) return "its folder " + fault;
  std::vector<std::string> names{manifest_name};
  for (const StoredFile& file : entry.files) names.push_back(file.name);
  for (const std::string& name : names)
    if (const std::string fault = fault_of_owner(entry.folder / name, owner); !fault.empty())
      return fmt::format("{} {}", name, fault);
  return {};
}

std::string fault_above(const std::filesystem::path& folder, Above look, uid_t owner) {
  for (std::filesystem::path above = folder.parent_path(); !above.empty(); above = above.parent_path()) {
    struct stat status{};
    if (stat(above.c_str(), &status) == 0) {
      const std::string name = quote(above.string(), most_of_a_path);
      if (look == Above::owners && !is_ours(status, owner)) return fmt::format("{} {}", name, belongs(status));
      if ((status.st_mode & S_IWOTH) != 0 && (status.st_mode & S_ISVTX) == 0)
        return fmt::format("{} {}", name, everybody);
    }
    if (!above.has_relative_path()) break;
  }
  return {};
}

std::filesystem::path file_of_library() {
  Dl_info place{};
  link_map* object = nullptr;
  const bool known = dladdr1(reinterpret_cast<void*>(&file_of_library), &place, reinterpret_cast<void**>(&object),
                             RTLD_DL_LINKMAP) != 0;
  const bool loaded = known && object != nullptr && object->l_name != nullptr && *object->l_name != '\0';
  std::error_code code;
  std::filesystem::path file = std::filesystem::canonical(loaded ? object->l_name : "/proc/self/exe", code);
  return code ? std::filesystem::path{} : file;
}

std::filesystem::path path_from_program(const std::filesystem::path& path) {
  std::error_code code;
  const std::filesystem::path program = file_of_library();
  struct stat status{};
  const uid_t owner = stat(program.c_str(), &status) == 0 ? status.st_uid : geteuid();
  const std::filesystem::path place = (program.parent_path() / path).lexically_normal();
  const std::filesystem::path target = std::filesystem::canonical(place, code);
  if (code) return place;
  std::string fault = fault_of_owner(target, owner);
  if (!fault.empty()) fault = "it " + fault;
  if (fault.empty()) fault = fault_above(target, Above::owners, owner);
  if (!fault.empty())
    input_error(
        place.string(),
        fmt::format("is not used ({}, and it would run as a part of this program); check where it comes from", fault));
  return place;
}

}  // namespace rattleback
