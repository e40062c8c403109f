#include "rattleback/result_file.hpp"

#include <cerrno>
#include <cstring>
#include <sstream>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "rattleback/scratch.hpp"

namespace rattleback {
namespace {

using hdf5::Handle;
using Type = ResultSink::Type;

hid_t file_type(Type type) {
  switch (type) {
    case Type::f64:
      return H5T_IEEE_F64LE;
    case Type::u32:
      return H5T_STD_U32LE;
    case Type::u64:
      return H5T_STD_U64LE;
  }
  return H5I_INVALID_HID;
}

std::vector<hsize_t> dimensions(const Shape& shape) { return {shape.begin(), shape.end()}; }

std::vector<hsize_t> dimensions(const Handle& dataset) {
  const Handle space(H5Dget_space(dataset.get()), H5Sclose);
  std::vector<hsize_t> extent(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space.get())));
  H5Sget_simple_extent_dims(space.get(), extent.data(), nullptr);
  return extent;
}

}  // namespace

hid_t memory_type(ResultSink::Type type) {
  switch (type) {
    case ResultSink::Type::f64:
      return H5T_NATIVE_DOUBLE;
    case ResultSink::Type::u32:
      return H5T_NATIVE_UINT32;
    case ResultSink::Type::u64:
      return H5T_NATIVE_UINT64;
  }
  return H5I_INVALID_HID;
}

std::filesystem::path FileSink::part_of(const std::filesystem::path& file) {
  std::filesystem::path part = file;
  return part += ".part";
}

FileSink::FileSink(const std::filesystem::path& file) : file_(file), part_(part_of(file)) {
  hdf5::silence_errors();
  std::error_code code;
  if (std::filesystem::is_directory(file, code))
    throw Error(Error::Kind::input,
                file.string() + ": cannot write the result (it is a directory); choose another with -o");
  lock();
  open_part(true);
}

FileSink::FileSink(const std::filesystem::path& file, const std::string& layout)
    : file_(file), part_(part_of(file)), damaged_(part_) {
  hdf5::silence_errors();
  damaged_ += ".damaged";
  std::istringstream lines(layout);
  std::string path;
  for (std::uint64_t address = 0; lines >> path >> address;) old_addresses_[path] = address;
  if (!std::filesystem::exists(damaged_)) {
    if (!std::filesystem::exists(part_))
      throw Error(Error::Kind::input, part_.string() + ": the unfinished result is gone; run the study again");
    lock();
    open_part(false);
    bool complete = static_cast<bool>(id_);
    for (const auto& [name, address] : old_addresses_)
      complete = complete && H5Oexists_by_name(id_.get(), name.c_str(), H5P_DEFAULT) > 0;
    if (complete) {
      keep_ = true;
      old_addresses_.clear();
      return;
    }
    id_.reset();
    close(lock_);
    std::filesystem::rename(part_, damaged_);
  }
  old_ = open(damaged_.c_str(), O_RDONLY | O_CLOEXEC);
  lock();
  open_part(true);
  keep_ = true;
}

FileSink::~FileSink() {
  if (failed_) {
    // HDF5 crashes when it closes a file it could not write
    for (auto& [path, dataset] : datasets_) dataset.abandon();
    id_.abandon();
  }
  datasets_.clear();
  id_.reset();
  std::error_code code;
  if (!committed_ && !keep_) std::filesystem::remove(part_, code);
  if (lock_ >= 0) close(lock_);
  if (old_ >= 0) close(old_);
}

/// One run at a time; the lock goes with the process.
void FileSink::lock() {
  lock_ = open(part_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (lock_ < 0)
    throw Error(Error::Kind::input, file_.string() + ": cannot write the result (" + std::strerror(errno) +
                                        "); choose another place with -o");
  if (flock(lock_, LOCK_EX | LOCK_NB) == 0) return;
  close(lock_);
  throw Error(Error::Kind::input,
              file_.string() + ": another run is writing this result; wait for it, or choose another with -o");
}

void FileSink::open_part(bool fresh) {
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  // the format of HDF5 1.8 stores attributes above 64 KiB: a study may list many axis values
  H5Pset_libver_bounds(access.get(), H5F_LIBVER_V18, H5F_LIBVER_LATEST);
  H5Pset_sieve_buf_size(access.get(), 0);          // a write that succeeds has reached the system
  H5Pset_file_locking(access.get(), false, true);  // ours is held already
  id_ = Handle(fresh ? H5Fcreate(part_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get())
                     : H5Fopen(part_.c_str(), H5F_ACC_RDWR, access.get()),
               H5Fclose);
  if (id_ || !fresh) return;
  const std::string why = errno != 0 ? std::strerror(errno) : "HDF5 cannot create a file there";
  std::error_code code;
  std::filesystem::remove(part_, code);
  throw Error(Error::Kind::input,
              file_.string() + ": cannot write the result (" + why + "); choose another place with -o");
}

void FileSink::create(const std::string& path, Type type, const Shape& shape) {
  types_[path] = type;
  if (H5Oexists_by_name(id_.get(), path.c_str(), H5P_DEFAULT) > 0) {  // the part of an interrupted run has it
    Handle dataset(H5Dopen2(id_.get(), path.c_str(), H5P_DEFAULT), H5Dclose);
    if (dataset && dimensions(dataset) == dimensions(shape)) {
      datasets_[path] = std::move(dataset);
      return;
    }
    dataset.reset();
    H5Ldelete(id_.get(), path.c_str(), H5P_DEFAULT);
  }
  const Handle space(H5Screate_simple(static_cast<int>(shape.size()), dimensions(shape).data(), nullptr), H5Sclose);
  const Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  H5Pset_create_intermediate_group(links.get(), 1);
  const Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_fill_time(properties.get(), H5D_FILL_TIME_NEVER);  // every element is written
  H5Pset_alloc_time(properties.get(), H5D_ALLOC_TIME_EARLY);
  H5Pset_obj_track_times(properties.get(), false);
  Handle dataset(
      H5Dcreate2(id_.get(), path.c_str(), file_type(type), space.get(), links.get(), properties.get(), H5P_DEFAULT),
      H5Dclose);
  check(static_cast<bool>(dataset), path);
  datasets_[path] = std::move(dataset);
  if (old_ >= 0 && old_addresses_.contains(path)) copy_from_damaged(path, shape, type);
}

void FileSink::copy_from_damaged(const std::string& path, const Shape& shape, Type type) {
  const haddr_t address = H5Dget_offset(datasets_.at(path).get());
  if (address == HADDR_UNDEF) return;  // nothing in it
  check(H5Fflush(id_.get(), H5F_SCOPE_GLOBAL) >= 0, path);
  std::uint64_t bytes = type == Type::u32 ? 4 : 8;
  for (const std::uint64_t n : shape) bytes *= n;
  std::vector<char> buffer(std::size_t{1} << 20);
  for (std::uint64_t done = 0; done < bytes;) {
    const std::size_t size = std::min<std::uint64_t>(buffer.size(), bytes - done);
    const ssize_t got = pread(old_, buffer.data(), size, static_cast<off_t>(old_addresses_.at(path) + done));
    if (got == 0) return;  // the end of what was ever written
    check(got > 0 &&
              pwrite(lock_, buffer.data(), static_cast<std::size_t>(got), static_cast<off_t>(address + done)) == got,
          path);
    done += static_cast<std::uint64_t>(got);
  }
}

void FileSink::write(const std::string& path, const Shape& offset, const Shape& count, const void* data) {
  for (const std::uint64_t n : count)
    if (n == 0) return;
  const Handle& dataset = datasets_.at(path);
  const Handle space(H5Dget_space(dataset.get()), H5Sclose);
  const auto start = dimensions(offset), size = dimensions(count);
  const Handle memory(H5Screate_simple(static_cast<int>(size.size()), size.data(), nullptr), H5Sclose);
  check(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, size.data(), nullptr) >= 0 &&
            H5Dwrite(dataset.get(), memory_type(types_.at(path)), memory.get(), space.get(), H5P_DEFAULT, data) >= 0,
        path);
}

void FileSink::attribute(const std::string& path, const std::string& name, const Attribute& value) {
  const Handle object(H5Oopen(id_.get(), path.c_str(), H5P_DEFAULT), H5Oclose);
  check(static_cast<bool>(object), path);
  if (H5Aexists(object.get(), name.c_str()) > 0) H5Adelete(object.get(), name.c_str());
  if (const auto* text = std::get_if<std::string>(&value)) {
    const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(type.get(), std::max<std::size_t>(text->size(), 1));
    H5Tset_cset(type.get(), H5T_CSET_UTF8);
    write_attribute(object.get(), name, type.get(), text->c_str());
  } else if (const auto* number = std::get_if<double>(&value)) {
    write_attribute(object.get(), name, H5T_NATIVE_DOUBLE, number);
  } else {
    write_attribute(object.get(), name, H5T_NATIVE_UINT64, &std::get<std::uint64_t>(value));
  }
}

void FileSink::write_attribute(hid_t object, const std::string& name, hid_t type, const void* data) {
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const Handle attribute(H5Acreate2(object, name.c_str(), type, space.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  check(attribute && H5Awrite(attribute.get(), type, data) >= 0, name);
}

void FileSink::reserve() {
  check(H5Fflush(id_.get(), H5F_SCOPE_GLOBAL) >= 0, "/");
  const off_t size = lseek(lock_, 0, SEEK_END);
  // file systems that cannot reserve find out later
  if (size > 0 && fallocate(lock_, 0, 0, size) != 0) check(errno != ENOSPC && errno != EFBIG && errno != EDQUOT, "/");
}

void FileSink::sync() {
  if (!failed_) check(H5Fflush(id_.get(), H5F_SCOPE_GLOBAL) >= 0, "/");
  check(fdatasync(lock_) == 0, "/");
  keep_ = true;
  if (old_ < 0) return;
  close(std::exchange(old_, -1));
  std::filesystem::remove(damaged_);
}

std::string FileSink::layout() const {
  std::string text;
  for (const auto& [path, dataset] : datasets_) {
    const haddr_t address = H5Dget_offset(dataset.get());
    if (address != HADDR_UNDEF) text += path + ' ' + std::to_string(address) + '\n';
  }
  return text;
}

void FileSink::commit() {
  check(H5Fflush(id_.get(), H5F_SCOPE_GLOBAL) >= 0, "/");
  datasets_.clear();
  check(id_.reset(), "/");
  check(fdatasync(lock_) == 0, "/");
  std::error_code code;
  std::filesystem::rename(part_, file_, code);
  if (code) {
    keep_ = true;
    throw Error(Error::Kind::runtime, file_.string() + ": cannot put the finished result in place (" + code.message() +
                                          "); it is in " + part_.string());
  }
  committed_ = true;
  close(std::exchange(lock_, -1));
  sync_directory_of(file_);
}

void FileSink::check(bool good, const std::string& path) {
  if (good) return;
  failed_ = true;
  const bool full = errno == ENOSPC || errno == EFBIG || errno == EDQUOT;
  throw Error(Error::Kind::runtime, file_.string() + ": cannot write " + path + " (" +
                                        (full ? "the disk is full" : "HDF5 reports a failed write") +
                                        "); the file that was there before is untouched");
}

std::unique_ptr<ResultSink> make_file_sink(const std::filesystem::path& file) {
  return std::make_unique<FileSink>(file);
}

}  // namespace rattleback
