#include "rattleback/base/processors.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <sched.h>

namespace rattleback {
namespace {

namespace fs = std::filesystem;

/// Returns the processors of the affinity; 0 when the system does not say.
unsigned processors_of_affinity() {
  for (int most = 1024; most <= 1 << 20; most *= 2) {  // the system refuses a set that is too small for its processors
    cpu_set_t* set = CPU_ALLOC(most);
    if (set == nullptr) return 0;
    const std::size_t bytes = CPU_ALLOC_SIZE(most);
    const bool known = sched_getaffinity(0, bytes, set) == 0;
    const int count = known ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (known) return static_cast<unsigned>(count);
  }
  return 0;
}

bool has_word(const std::string& list, std::string_view word) {
  std::istringstream words(list);
  for (std::string item; std::getline(words, item, ',');)
    if (item == word) return true;
  return false;
}

/// The group of this process in one hierarchy: version 1 has one with the controller `cpu`, version 2 is one.
std::string group_of_process(const fs::path& root, bool second) {
  std::ifstream lines(root / "proc/self/cgroup");  // NUMBER:CONTROLLERS:PATH
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':'), next = line.find(':', first + 1);
    if (next == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, next - first - 1);
    if (second ? controllers.empty() : has_word(controllers, "cpu")) return line.substr(next + 1);
  }
  return {};
}

/// Where a hierarchy is mounted, and the group that stands there.
struct Mount {
  fs::path place;
  std::string group;
};

std::vector<Mount> mounts_of(const fs::path& root, bool second) {
  std::vector<Mount> mounts;
  std::ifstream lines(root / "proc/self/mountinfo");  // ID PARENT DEVICE GROUP PLACE OPTIONS .. - TYPE SOURCE OPTIONS
  for (std::string line; std::getline(lines, line);) {
    const std::size_t separator = line.find(" - ");
    if (separator == std::string::npos) continue;
    std::istringstream before(line.substr(0, separator)), behind(line.substr(separator + 3));
    std::string id, parent, device, group, place, type, source, options;
    before >> id >> parent >> device >> group >> place;
    behind >> type >> source >> options;
    if (second ? type == "cgroup2" : type == "cgroup" && has_word(options, "cpu"))
      mounts.push_back({root / fs::path(place).relative_path(), group});
  }
  return mounts;
}

/// Returns quota / period of a group; 0 where there is no limit.
double limit_of(const fs::path& group, bool second) {
  double quota = 0.0, period = 0.0;
  if (second) {
    std::ifstream(group / "cpu.max") >> quota >> period;  // "max 100000" without a limit
  } else {
    std::ifstream(group / "cpu.cfs_quota_us") >> quota;  // -1 without a limit
    std::ifstream(group / "cpu.cfs_period_us") >> period;
  }
  return quota > 0.0 && period > 0.0 ? quota / period : 0.0;
}

}  // namespace

double processors_of_groups(const fs::path& root) {
  double least = 0.0;
  for (const bool second : {false, true}) {
    const std::string group = group_of_process(root, second);
    for (const Mount& mount : mounts_of(root, second)) {
      // The path is that of the whole hierarchy, of which a container may see a part.
      std::string below = group;
      if (mount.group != "/" && below.starts_with(mount.group)) below.erase(0, mount.group.size());
      fs::path place = fs::path(below).relative_path();
      for (bool last = false; !last; place = place.parent_path()) {
        last = place.empty();
        const double limit = limit_of(mount.place / place, second);
        if (limit > 0.0) least = least > 0.0 ? std::min(least, limit) : limit;
      }
    }
  }
  return least;
}

unsigned usable_processors() {
  unsigned count = processors_of_affinity();
  if (count == 0) count = std::max(1u, std::thread::hardware_concurrency());
  const double granted = processors_of_groups();
  if (granted > 0.0 && granted < count) count = static_cast<unsigned>(std::ceil(granted));
  return std::max(1u, count);
}

}  // namespace rattleback
