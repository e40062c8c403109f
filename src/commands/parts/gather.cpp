#include "commands/parts/gather.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include "rattleback/base/error.hpp"
#include "rattleback/base/message.hpp"

namespace rattleback::program {
namespace {

namespace fs = std::filesystem;

constexpr double alive_interval = 5.0;
constexpr unsigned end_seconds = 60;
constexpr std::uint64_t piece = std::uint64_t{1} << 26;
constexpr const char* plugin_name = "librattleback_mpi.so";

/// A message that announces a part, or tells that a rank lives: then `part` is 0.
struct Announcement {
  std::uint64_t part = 0, bytes = 0;
};

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::vector<fs::path> plugin_places() {
  const char* given = std::getenv("RATTLEBACK_MPI");
  if (given != nullptr) return {given};
  std::error_code code;
  const fs::path program = fs::read_symlink("/proc/self/exe", code).parent_path();
  return {program / plugin_name, program / ".." / RATTLEBACK_LIBRARY_FOLDER / "rattleback" / plugin_name};
}

}  // namespace

Mpi::Mpi() {
  std::string why;
  for (const fs::path& place : plugin_places()) {
    // MPI loads modules of its own, which need its symbols.
    void* library = dlopen(place.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (library == nullptr) {
      why += (why.empty() ? "" : "; ") + std::string(dlerror());
      continue;
    }
    const auto entry = reinterpret_cast<const RattlebackMpi* (*)()>(dlsym(library, "rattleback_mpi"));
    if (entry == nullptr) input_error(place.string(), "is no plugin of rattleback; correct RATTLEBACK_MPI");
    functions_ = entry();
    check(functions_->begin(&rank_, &size_));
    return;
  }
  input_error("--gather",
              fmt::format("needs the plugin for MPI, which cannot be loaded ({}); build rattleback where MPI is "
                          "installed, or use a common file system without --gather",
                          why));
}

Mpi::~Mpi() {
  alarm(end_seconds);  // MPI_Finalize may wait for a rank that is lost
  (void)functions_->end();
  alarm(0);
}

void Mpi::check(int failed) {
  if (failed != 0)
    throw Error(Error::Kind::runtime, "MPI reports a failure; the parts that are finished stay where they are");
}

void Mpi::tell_alive() {
  if (rank_ == 0 || now() - last_alive_ < alive_interval) return;
  last_alive_ = now();
  const Announcement alive;
  check(functions_->send(0, &alive, sizeof alive));
}

void Mpi::send(std::uint64_t part, const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  const Announcement announcement{part, fs::file_size(file)};
  check(functions_->send(0, &announcement, sizeof announcement));
  std::vector<char> buffer(std::min(piece, announcement.bytes));
  for (std::uint64_t done = 0; done < announcement.bytes;) {
    const std::uint64_t size = std::min<std::uint64_t>(buffer.size(), announcement.bytes - done);
    stream.read(buffer.data(), static_cast<std::streamsize>(size));
    check(functions_->send(0, buffer.data(), size));
    done += size;
  }
}

void Mpi::receive_part(int from, const PartsFolder& folder, std::uint64_t part, std::uint64_t bytes) {
  const fs::path place = folder.part_file(part), incoming = place.string() + fmt::format(".from-{}", from);
  std::ofstream stream(incoming, std::ios::binary);
  std::vector<char> buffer(std::min(piece, bytes));
  for (std::uint64_t done = 0; done < bytes;) {
    const std::uint64_t size = std::min<std::uint64_t>(buffer.size(), bytes - done);
    check(functions_->receive(from, buffer.data(), size));
    stream.write(buffer.data(), static_cast<std::streamsize>(size));
    done += size;
  }
  stream.close();
  if (!stream)
    throw Error(Error::Kind::runtime, fmt::format("{}: cannot be written (is the disk full?)", incoming.string()));
  fs::rename(incoming, place);
}

void Mpi::gather(const PartsFolder& folder, double silence_seconds, const std::function<bool()>& stop) {
  std::vector<double> heard(static_cast<std::size_t>(size_), now());
  const auto waits_for = [&](std::uint64_t part) {
    const std::uint64_t owner = (part - 1) % heard.size();
    return !folder.finished(part) && owner != 0 && now() - heard[owner] < silence_seconds;
  };
  const auto waits = [&] {
    for (std::uint64_t part = 1; part <= folder.cut().parts(); ++part)
      if (waits_for(part)) return true;
    return false;
  };
  while (!stop() && waits()) {
    int from = -1;
    check(functions_->poll(&from));
    if (from < 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      continue;
    }
    Announcement announcement;
    check(functions_->receive(from, &announcement, sizeof announcement));
    heard[static_cast<std::size_t>(from)] = now();
    if (announcement.part != 0) receive_part(from, folder, announcement.part, announcement.bytes);
  }
}

}  // namespace rattleback::program
