#include "commands/parts/gather.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <limits>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include "rattleback/base/error.hpp"
#include "rattleback/base/message.hpp"
#include "rattleback/kernels/trust.hpp"

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
  return {path_from_program(plugin_name),
          path_from_program(fs::path(RATTLEBACK_LIBRARY_FOLDER "/rattleback") / plugin_name)};
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
    if (entry == nullptr) input_error(place.string(), "is not a plugin of rattleback; correct RATTLEBACK_MPI");
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
  // MPI_Finalize may wait for a rank that is lost
  std::fflush(nullptr);
  if (std::uncaught_exceptions() == 0) std::signal(SIGALRM, [](int) { _exit(0); });
  alarm(end_seconds);
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
  check(functions_->send(0, rattleback_announcement, &alive, sizeof alive));
}

void Mpi::send(std::uint64_t part, const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  const Announcement announcement{part, fs::file_size(file)};
  check(functions_->send(0, rattleback_announcement, &announcement, sizeof announcement));
  std::vector<char> buffer(std::min(piece, announcement.bytes));
  for (std::uint64_t done = 0; done < announcement.bytes;) {
    const std::uint64_t size = std::min<std::uint64_t>(buffer.size(), announcement.bytes - done);
    stream.read(buffer.data(), static_cast<std::streamsize>(size));
    check(functions_->send(0, rattleback_piece, buffer.data(), size));
    done += size;
  }
}

bool Mpi::receive_part(int from, const PartsFolder& folder, std::uint64_t part, std::uint64_t bytes,
                       double silence_seconds) {
  const fs::path place = folder.part_file(part), incoming = place.string() + fmt::format(".from-{}", from);
  std::ofstream stream(incoming, std::ios::binary);
  std::vector<char> buffer(std::min(piece, bytes));
  for (std::uint64_t done = 0; done < bytes;) {
    const std::uint64_t size = std::min<std::uint64_t>(buffer.size(), bytes - done);
    if (functions_->receive(from, rattleback_piece, buffer.data(), size, silence_seconds) != 0) {
      stream.close();
      fs::remove(incoming);
      return false;
    }
    stream.write(buffer.data(), static_cast<std::streamsize>(size));
    done += size;
  }
  stream.close();
  if (!stream)
    throw Error(Error::Kind::runtime, fmt::format("{}: cannot be written (is the disk full?)", incoming.string()));
  fs::rename(incoming, place);
  return true;
}

void Mpi::gather(const PartsFolder& folder, double silence_seconds, const std::function<bool()>& stop,
                 const std::function<void(const std::string&)>& tell) {
  constexpr double never = -std::numeric_limits<double>::infinity();
  std::vector<double> heard(static_cast<std::size_t>(size_), now());  // `never` for lost ranks
  const auto lives = [&](std::uint64_t rank) { return now() - heard[rank] < silence_seconds; };
  const auto lose = [&](std::uint64_t rank) {
    heard[rank] = never;
    tell(fmt::format("rank {} is silent: rank 0 computes its parts", rank));
  };
  const auto waits = [&] {
    bool some = false;
    for (std::uint64_t part = 1; part <= folder.cut().parts(); ++part) {
      const std::uint64_t owner = (part - 1) % heard.size();
      if (owner == 0 || heard[owner] == never || folder.finished(part)) continue;
      if (lives(owner)) {
        some = true;
      } else {
        lose(owner);
      }
    }
    return some;
  };
  while (!stop() && waits()) {
    int from = -1;
    check(functions_->poll(&from));
    if (from < 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      continue;
    }
    Announcement announcement;
    check(functions_->receive(from, rattleback_announcement, &announcement, sizeof announcement, silence_seconds));
    const auto rank = static_cast<std::size_t>(from);
    if (heard[rank] == never) continue;  // what a lost rank sends later is incomplete
    heard[rank] = now();
    if (announcement.part != 0 && !receive_part(from, folder, announcement.part, announcement.bytes, silence_seconds))
      lose(rank);
  }
}

}  // namespace rattleback::program
