// Damaged files are refused, also those over which HDF5 crashes.

#include "rattleback/base/probe.hpp"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rattleback/base/hdf5.hpp"
#include "rattleback/results/result.hpp"
#include "rattleback/study/point_file.hpp"

namespace rattleback {
namespace {

namespace fs = std::filesystem;
using hdf5::Handle;

class Probe : public testing::Test {
 protected:
  Probe() {
    std::string name = (fs::temp_directory_path() / "rattleback-test-XXXXXX").string();
    directory = mkdtemp(name.data());
    file = directory / "states.h5";
  }
  ~Probe() override { fs::remove_all(directory); }

  /// q and p of 20 trajectories, in the oldest format; `rows` are declared and, if few, written. An attribute of the root
  /// may be a list, which no result has.
  void write_states(hsize_t rows = 20, bool chunked = true, bool list_of_numbers = false) const {
    const Handle id(H5Fcreate(file.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
    const hsize_t extent[] = {rows, 3}, chunk[] = {5, 3};
    for (const char* name : {"q", "p"}) {
      const Handle space(H5Screate_simple(2, extent, nullptr), H5Sclose);
      const Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
      if (chunked) H5Pset_chunk(properties.get(), 2, chunk);
      const Handle dataset(
          H5Dcreate2(id.get(), name, H5T_IEEE_F64LE, space.get(), H5P_DEFAULT, properties.get(), H5P_DEFAULT),
          H5Dclose);
      const std::vector<double> values(60, 0.5);
      const hsize_t written[] = {std::min<hsize_t>(rows, 20), 3};
      const Handle memory(H5Screate_simple(2, written, nullptr), H5Sclose);
      const hsize_t start[] = {0, 0};
      H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start, nullptr, written, nullptr);
      if (rows <= 20 || chunked)
        H5Dwrite(dataset.get(), H5T_NATIVE_DOUBLE, memory.get(), space.get(), H5P_DEFAULT, values.data());
    }
    const Handle text(H5Tcopy(H5T_C_S1), H5Tclose), scalar(H5Screate(H5S_SCALAR), H5Sclose);
    H5Tset_size(text.get(), 8);
    const Handle study(H5Acreate2(id.get(), "study", text.get(), scalar.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    H5Awrite(study.get(), text.get(), "[study]");
    if (!list_of_numbers) return;
    const hsize_t many[] = {1000};
    const Handle list(H5Screate_simple(1, many, nullptr), H5Sclose);
    const Handle numbers(H5Acreate2(id.get(), "numbers", H5T_IEEE_F64LE, list.get(), H5P_DEFAULT, H5P_DEFAULT),
                         H5Aclose);
    H5Awrite(numbers.get(), H5T_NATIVE_DOUBLE, std::vector<double>(1000, 1.0).data());
  }

  void flip(std::size_t offset, int bits) const {
    std::fstream stream(file, std::ios::binary | std::ios::in | std::ios::out);
    stream.seekg(static_cast<std::streamoff>(offset));
    const int byte = stream.get();
    stream.seekp(static_cast<std::streamoff>(offset));
    stream.put(static_cast<char>(byte ^ bits));
  }

  template <class Read>
  static std::string message_of(Read read) {
    try {
      read();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), Error::Kind::input);
      return error.what();
    }
    return "";
  }
  std::string points_message() const {
    return message_of([&] { (void)read_points({file, "", "study.toml:9"}, {}); });
  }
  std::string result_message() const {
    return message_of([&] { const ResultFile result(file); });
  }

  fs::path directory, file;
};

TEST_F(Probe, TellsWhetherACallComesBack) {
  write_states();
  EXPECT_TRUE(comes_back(file, [] {}));
  EXPECT_TRUE(comes_back(file, [] { throw std::runtime_error("refused"); }));
  EXPECT_FALSE(comes_back(file, [] { std::abort(); }));
  EXPECT_FALSE(comes_back(file, [] { raise(SIGSEGV); }));
  EXPECT_FALSE(comes_back(file, [] { _exit(0); }));
  int value = 1;
  EXPECT_TRUE(comes_back(file, [&] { value = 2; }));
  EXPECT_EQ(value, 1);
}

TEST_F(Probe, LimitsTheTimeOfTheChild) {
  write_states();
  EXPECT_TRUE(comes_back(file, [] {
    rlimit cpu{};
    getrlimit(RLIMIT_CPU, &cpu);
    if (cpu.rlim_cur > 10) std::abort();
    if (alarm(0) == 0) std::abort();
  }));
  EXPECT_FALSE(comes_back(file, [] {
    alarm(1);
    pause();
  }));
}

TEST_F(Probe, NeedsNeitherSigchldNorASingleThread) {
  write_states();
  std::atomic<bool> end = false;
  std::jthread other([&] {
    while (!end) std::vector<char>(1000).data()[0] = 1;
  });
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(comes_back(file, [] { std::vector<char>(1000).data()[0] = 1; }));
    EXPECT_FALSE(comes_back(file, [] { std::abort(); }));
  }
  std::signal(SIGCHLD, before);
  end = true;
}

TEST_F(Probe, ReadsAnIntactFile) {
  write_states(20, true, true);
  const PointFile points = read_points({file, "", ""}, {});
  EXPECT_EQ(points.rows(), 20u);
  EXPECT_EQ(points.q.values, std::vector<double>(60, 0.5));
  const ResultFile result(file);
  EXPECT_EQ(std::get<std::vector<double>>(result.read("/p").values), std::vector<double>(60, 0.5));
  // the array of numbers is not ours
  EXPECT_EQ(result.attributes("/"), (std::map<std::string, Attribute>{{"study", std::string("[study]")}}));
}

TEST_F(Probe, RefusesChunksLargerThanWritten) {
  write_states();
  const std::string bytes = [&] {
    std::ifstream stream(file, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(stream), {});
  }();
  // the layout of a dataset: version 3, chunks, rank 3, an address, then the extent of a chunk and the size of a number
  const std::string extent{5, 0, 0, 0, 3, 0, 0, 0, 8, 0, 0, 0};
  const std::size_t place = bytes.find(extent);
  ASSERT_NE(place, std::string::npos);
  flip(place + 1, 0x80);
  EXPECT_NE(points_message().find("does not hold them"), std::string::npos);
  EXPECT_NE(result_message().find("does not hold all of its dataset"), std::string::npos);
}

TEST_F(Probe, RefusesRowsThatTheFileDoesNotHold) {
  for (const hsize_t rows : {hsize_t{1} << 30, hsize_t{1} << 62})
    for (const bool chunked : {false, true}) {
      if (!chunked && rows > (hsize_t{1} << 31)) continue;  // HDF5 does not make such a file
      write_states(rows, chunked);
      const std::string points = points_message();
      EXPECT_EQ(points.find("study.toml:9: '"), 0u) << points;
      EXPECT_TRUE(points.find("does not hold them") != std::string::npos ||
                  points.find("GiB of memory") != std::string::npos)
          << points;
    }
  write_states(20, false);
  fs::resize_file(file, fs::file_size(file) - 100);
  EXPECT_NE(points_message(), "");
  EXPECT_NE(result_message(), "");
}

/// HDF5 opens whatever a file names, and would wait for a FIFO.
TEST_F(Probe, OpensNoOtherFiles) {
  ASSERT_EQ(mkfifo((directory / "pipe.h5").c_str(), 0600), 0);
  const hsize_t extent[] = {20, 3};
  const Handle space(H5Screate_simple(2, extent, nullptr), H5Sclose);
  const auto expect_refused = [&](auto change, const std::string& message) {
    write_states();
    {
      const Handle id(H5Fopen(file.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose),
          properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
      change(id, properties);
    }
    EXPECT_NE(result_message().find(message), std::string::npos) << result_message();
    EXPECT_NE(points_message(), "");
  };
  const auto dataset = [&](const Handle& id, const Handle& properties) {
    const Handle made(
        H5Dcreate2(id.get(), "v", H5T_IEEE_F64LE, space.get(), H5P_DEFAULT, properties.get(), H5P_DEFAULT), H5Dclose);
    EXPECT_TRUE(made);
  };
  expect_refused([&](const Handle& id,
                     const Handle&) { H5Lcreate_external("pipe.h5", "/v", id.get(), "v", H5P_DEFAULT, H5P_DEFAULT); },
                 "('v' is a link to another file");
  expect_refused(
      [&](const Handle& id, const Handle& properties) {
        H5Pset_external(properties.get(), (directory / "pipe.h5").c_str(), 0, 480);
        dataset(id, properties);
      },
      "it does not hold all of its dataset '/v'");
  expect_refused(
      [&](const Handle& id, const Handle& properties) {
        H5Pset_virtual(properties.get(), space.get(), "pipe.h5", "/v", space.get());
        dataset(id, properties);
      },
      "its part 'pipe.h5' is needed, and cannot be read: it is not a regular file");
  expect_refused(
      [&](const Handle& id, const Handle& properties) {
        H5Pset_virtual(properties.get(), space.get(), "../x/pipe.h5", "/v", space.get());
        dataset(id, properties);
      },
      "it takes data from '../x/pipe.h5', which is not a part beside it");
}

TEST_F(Probe, SaysWhyAFileCannotBeOpened) {
  EXPECT_EQ(points_message(), "study.toml:9: '" + file.string() + "' cannot be read (No such file or directory)");
  EXPECT_EQ(result_message(), file.string() + ": cannot be read (No such file or directory)");
  fs::create_directory(file);
  EXPECT_EQ(points_message(), "study.toml:9: '" + file.string() + "' cannot be read (it is a directory)");
  EXPECT_EQ(result_message(), file.string() + ": cannot be read (it is a directory)");
  fs::remove(file);
  ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
  EXPECT_EQ(result_message(), file.string() + ": cannot be read (it is not a regular file)");
  fs::remove(file);
  std::ofstream(file) << "x";
  fs::permissions(file, fs::perms::none);
  fs::permissions(directory, fs::perms::all);
  if (getuid() == 0) {
    ASSERT_EQ(seteuid(65534), 0);
  }
  const std::string message = result_message();
  if (getuid() == 0) {
    ASSERT_EQ(seteuid(0), 0);
  }
  EXPECT_EQ(message, file.string() + ": cannot be read (Permission denied)");
}

}  // namespace
}  // namespace rattleback
