#include "rattleback/results/result_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "rattleback/base/fingerprint.hpp"
#include "rattleback/base/fnv.hpp"
#include "rattleback/base/mark.hpp"
#include "rattleback/base/scratch.hpp"
#include "rattleback/results/compressed.hpp"
#include "rattleback/results/run_files.hpp"
#include "rattleback/results/scales.hpp"
#include "rattleback/results/sink_data.hpp"

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

/// Returns the digest of the bytes of a file that belong to no dataset.
std::uint64_t digest_around(int file, const PartContents& contents) {
  std::map<std::uint64_t, std::uint64_t> datasets;
  for (const auto& [path, numbers] : contents)
    if (!path.empty()) datasets[numbers[0]] = numbers[0] + numbers[1];
  datasets[static_cast<std::uint64_t>(lseek(file, 0, SEEK_END))] = 0;
  Fnv1a digest;
  std::uint64_t at = 0;
  std::vector<char> buffer(1 << 16);
  for (const auto& [begin, end] : datasets) {
    while (at < begin) {
      const ssize_t got =
          pread(file, buffer.data(), std::min<std::uint64_t>(buffer.size(), begin - at), static_cast<off_t>(at));
      if (got <= 0) return 0;
      digest.add({buffer.data(), static_cast<std::size_t>(got)});
      at += static_cast<std::uint64_t>(got);
    }
    at = std::max(at, end);
  }
  return digest.value;
}

}  // namespace

PartState examine_part(const std::filesystem::path& part, const std::string& run, const PartContents& contents) {
  const int file = open(part.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return PartState::other;
  bool data = run_of(file) == run;
  for (const auto& [path, numbers] : contents)
    data = data && (path.empty() || Ledger(std::span(numbers).subspan(2)).agrees_with(file, numbers[0]));
  const bool whole = data && contents.contains("") && contents.at("")[0] == digest_around(file, contents);
  close(file);
  return whole ? PartState::whole : data ? PartState::data : PartState::other;
}

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

FileSink::FileSink(const std::filesystem::path& file, const std::string& run, FileKind kind)
    : file_(file), part_(RunFiles(file).part), run_(run), kind_(kind) {
  const auto use = hdf5::lock();
  hdf5::silence_errors();
  lock();
  open_part(true);
}

FileSink::FileSink(const std::filesystem::path& file, const std::string& run, PartContents contents,
                   const std::filesystem::path& source, FileKind kind)
    : file_(file), part_(RunFiles(file).part), run_(run), kind_(kind), before_(std::move(contents)) {
  const auto use = hdf5::lock();
  hdf5::silence_errors();
  if (source != part_) {
    source_ = source;
    source_file_ = open(source.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  }
  lock();
  open_part(!source_.empty());
  keep_ = true;
}

FileSink::~FileSink() {
  const auto use = hdf5::lock();
  if (failed_) {
    // HDF5 crashes when closing a file after a failed write.
    for (auto& [path, array] : arrays_) array.id.abandon();
    for (auto& [path, dataset] : virtual_) dataset.id.abandon();
    id_.abandon();
  }
  arrays_.clear();
  virtual_.clear();
  id_.reset();
  std::error_code code;
  if (!committed_ && !keep_) std::filesystem::remove(part_, code);
  if (lock_ >= 0) close(lock_);
  if (source_file_ >= 0) close(source_file_);
}

/// Locks the part, so that only one run writes the result. The lock ends with the process.
void FileSink::lock() {
  const auto fail = [&](const std::string& why) {
    if (lock_ >= 0) close(std::exchange(lock_, -1));
    throw Error(Error::Kind::input, file_.string() + ": " + why);
  };
  for (bool named = false; !named;) {
    if (lock_ >= 0) close(lock_);
    lock_ = open(part_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    if (lock_ < 0)
      fail(std::string("cannot write the result (") + std::strerror(errno) + "); choose another place with -o");
    if (!lock_file(lock_))
      fail(errno == EAGAIN || errno == EACCES
               ? "another run is writing this result; wait for it, or choose another with -o"
               : std::string("cannot lock the result (") + std::strerror(errno) + "); choose another place with -o");
    // Another run may have ended meanwhile and renamed the locked file. Then the lock is tried again.
    struct stat mine{}, there{};
    named = fstat(lock_, &mine) == 0 && lstat(part_.c_str(), &there) == 0 && mine.st_dev == there.st_dev &&
            mine.st_ino == there.st_ino;
  }
}

void FileSink::open_part(bool fresh) {
  errno = 0;
  id_ = fresh ? hdf5::create_file(part_)
              : Handle(H5Fopen(part_.c_str(), H5F_ACC_RDWR, hdf5::access_for_writing().get()), H5Fclose);
  if (id_ && (!fresh || write_mark(lock_, run_, kind_))) return;
  const std::string why = errno != 0 ? std::strerror(errno) : "HDF5 cannot open a file there";
  id_.reset();
  close(std::exchange(lock_, -1));
  std::error_code code;
  if (fresh) std::filesystem::remove(part_, code);
  throw Error(Error::Kind::input,
              file_.string() + ": cannot write the result (" + why + "); choose another place with -o");
}

void FileSink::create(const std::string& path, Type type, const Shape& shape) {
  const auto use = hdf5::lock();
  Array& array = arrays_[path];
  const std::uint64_t word = bytes_of(type);
  array = {
      {}, type, shape, Ledger(static_cast<unsigned>(word)), BlockHashes(elements_of(shape) * word, fingerprint_block)};
  const auto before = before_.find(path);
  if (before != before_.end()) array.written = Ledger(std::span(before->second).subspan(2));
  if (H5Oexists_by_name(id_.get(), path.c_str(), H5P_DEFAULT) > 0) {  // the part of an interrupted run has this dataset
    array.id = Handle(H5Dopen2(id_.get(), path.c_str(), H5P_DEFAULT), H5Dclose);
    if (hdf5::shape_of(array.id) == shape) return;
    array.id.reset();
    H5Ldelete(id_.get(), path.c_str(), H5P_DEFAULT);
  }
  const Handle space(H5Screate_simple(static_cast<int>(shape.size()), dimensions(shape).data(), nullptr), H5Sclose);
  const Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  H5Pset_create_intermediate_group(links.get(), 1);
  const Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_fill_time(properties.get(), H5D_FILL_TIME_NEVER);  // the run writes every element
  H5Pset_alloc_time(properties.get(), H5D_ALLOC_TIME_EARLY);
  H5Pset_obj_track_times(properties.get(), false);
  array.id = Handle(
      H5Dcreate2(id_.get(), path.c_str(), file_type(type), space.get(), links.get(), properties.get(), H5P_DEFAULT),
      H5Dclose);
  check(static_cast<bool>(array.id), path);
  if (source_file_ >= 0 && before != before_.end()) copy_from_source(path, array);
}

void FileSink::create_virtual(const std::string& path, Type type, const Shape& shape,
                              const std::vector<VirtualBlock>& blocks) {
  const auto use = hdf5::lock();
  const auto space_of = [](const Shape& extent) {
    return Handle(H5Screate_simple(static_cast<int>(extent.size()), dimensions(extent).data(), nullptr), H5Sclose);
  };
  const Handle space = space_of(shape), links(H5Pcreate(H5P_LINK_CREATE), H5Pclose),
               properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_create_intermediate_group(links.get(), 1);
  H5Pset_obj_track_times(properties.get(), false);
  for (const VirtualBlock& block : blocks) {
    if (elements_of(block.shape) == 0) continue;
    const Handle source = space_of(block.shape);
    check(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, dimensions(block.offset).data(), nullptr,
                              dimensions(block.shape).data(), nullptr) >= 0 &&
              H5Pset_virtual(properties.get(), space.get(), block.file.c_str(), path.c_str(), source.get()) >= 0,
          path);
  }
  H5Sselect_all(space.get());
  Handle dataset(
      H5Dcreate2(id_.get(), path.c_str(), file_type(type), space.get(), links.get(), properties.get(), H5P_DEFAULT),
      H5Dclose);
  check(static_cast<bool>(dataset), path);
  virtual_[path] = {std::move(dataset), shape};
}

void FileSink::copy_from_source(const std::string& path, const Array& array) {
  const haddr_t address = H5Dget_offset(array.id.get());
  if (address == HADDR_UNDEF) return;  // the dataset is empty
  check(H5Fflush(id_.get(), H5F_SCOPE_GLOBAL) >= 0, path);
  const std::uint64_t from = before_.at(path)[0], bytes = before_.at(path)[1];
  std::vector<char> buffer(std::size_t{1} << 20);
  for (std::uint64_t done = 0; done < bytes;) {
    const std::size_t size = std::min<std::uint64_t>(buffer.size(), bytes - done);
    const ssize_t got = pread(source_file_, buffer.data(), size, static_cast<off_t>(from + done));
    if (got == 0) return;  // the source ends here
    check(got > 0 &&
              pwrite(lock_, buffer.data(), static_cast<std::size_t>(got), static_cast<off_t>(address + done)) == got,
          path);
    done += static_cast<std::uint64_t>(got);
  }
}

void FileSink::write(const std::string& path, const Shape& offset, const Shape& count, const void* numbers) {
  const auto use = hdf5::lock();
  if (elements_of(count) == 0) return;
  Array& array = arrays_.at(path);
  const Canonical canonical(array.type, numbers, elements_of(count));
  const void* data = canonical.data();
  const Handle space(H5Dget_space(array.id.get()), H5Sclose);
  const auto start = dimensions(offset), size = dimensions(count);
  const Handle memory(H5Screate_simple(static_cast<int>(size.size()), size.data(), nullptr), H5Sclose);
  check(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, size.data(), nullptr) >= 0 &&
            H5Dwrite(array.id.get(), memory_type(array.type), memory.get(), space.get(), H5P_DEFAULT, data) >= 0,
        path);
  const std::uint64_t word = bytes_of(array.type);
  for_each_run(array.shape, offset, count, [&](std::uint64_t first, std::uint64_t position, std::uint64_t length) {
    const char* const run = static_cast<const char*>(data) + position * word;
    array.written.add(first, run, length, threads_);
    if (kind_ == FileKind::result)  // no other kind has a fingerprint
      array.hashes.add(first * word, {run, length * word}, threads_);
  });
}

void FileSink::attribute(const std::string& path, const std::string& name, const Attribute& value) {
  const auto use = hdf5::lock();
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

void FileSink::adopt(const MemorySink& memory) {
  for (const std::string& path : memory.result().paths()) {
    const Dataset& dataset = memory.result().dataset(path);
    std::visit(
        [&, &shape = dataset.shape](const auto& values) {
          create(path, static_cast<Type>(dataset.values.index()), shape);
          const auto ranges = memory.written(path);
          if (ranges.empty()) return;
          write_whole(path, values.data());
          for (const auto& [first, last] : ranges) arrays_.at(path).written.add(first, &values[first], last - first);
        },
        dataset.values);
  }
}

void FileSink::write_whole(const std::string& path, const void* numbers) {
  const auto use = hdf5::lock();
  const Array& array = arrays_.at(path);
  check(H5Dwrite(array.id.get(), memory_type(array.type), H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers) >= 0, path);
}

void FileSink::compress(unsigned level, unsigned threads) {
  const auto use = hdf5::lock();
  if (level != 0 && H5Zfilter_avail(H5Z_FILTER_DEFLATE) <= 0)
    throw Error(Error::Kind::input,
                file_.string() + ": output.compression needs an HDF5 with zlib, and this one has none; leave it out");
  level_ = level;
  threads_ = threads;
}

std::string FileSink::doubt() const {
  return not_compressed_.empty() ? "" : file_.string() + " is complete, but not compressed (" + not_compressed_ + ")";
}

void FileSink::reserve() {
  const auto use = hdf5::lock();
  check(H5Fflush(id_.get(), H5F_SCOPE_GLOBAL) >= 0, "/");
  const off_t size = lseek(lock_, 0, SEEK_END);
  // Some file systems cannot reserve space. A full disk is then noticed later.
  if (size > 0 && fallocate(lock_, 0, 0, size) != 0) check(errno != ENOSPC && errno != EFBIG && errno != EDQUOT, "/");
}

void FileSink::sync() {
  const auto use = hdf5::lock();
  if (!failed_) check(H5Fflush(id_.get(), H5F_SCOPE_GLOBAL) >= 0, "/");
  check(fdatasync(lock_) == 0, "/");
  keep_ = true;
}

PartContents FileSink::contents() const {
  const auto use = hdf5::lock();
  PartContents contents;
  for (const auto& [path, array] : arrays_) {
    const haddr_t address = H5Dget_offset(array.id.get());
    if (address == HADDR_UNDEF) continue;
    std::vector<std::uint64_t>& numbers = contents[path];
    numbers = {address, H5Dget_storage_size(array.id.get())};
    std::ranges::copy(array.written.numbers(), std::back_inserter(numbers));
  }
  contents[""] = {digest_around(lock_, contents)};
  return contents;
}

void FileSink::settle() {
  if (source_file_ < 0) return;
  close(std::exchange(source_file_, -1));
  std::error_code code;
  std::filesystem::remove(source_, code);
}

void FileSink::read(const std::string& path, const Array& array, std::uint64_t first, std::string& bytes) const {
  const haddr_t address = H5Dget_offset(array.id.get());
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t got =
        pread(lock_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(address + first + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0)
      throw Error(Error::Kind::runtime, fmt::format("{}: cannot read {} for the fingerprint ({})", file_.string(), path,
                                                    got < 0 ? std::strerror(errno) : "the file is shorter"));
    done += static_cast<std::size_t>(got);
  }
}

std::string FileSink::fingerprint() {
  const auto use = hdf5::lock();
  check(H5Fflush(id_.get(), H5F_SCOPE_GLOBAL) >= 0, "/");
  Fingerprint fingerprint(fingerprint_block);
  for (const auto& [path, array] : arrays_) {
    fingerprint.begin(path, name_of(array.type), array.shape);
    const std::uint64_t bytes = elements_of(array.shape) * bytes_of(array.type), blocks = array.hashes.count();
    if (blocks == 0) {
      std::string all(bytes, '\0');
      read(path, array, 0, all);
      fingerprint.add(all.data(), all.size());
      continue;
    }
    std::vector<std::string> digits(blocks);
    parallel_for(blocks, threads_, [&, &path = path, &array = array](std::uint64_t i) {
      digits[i] = array.hashes.of(i);
      if (!digits[i].empty()) return;
      std::string block(std::min(fingerprint_block, bytes - i * fingerprint_block), '\0');
      read(path, array, i * fingerprint_block, block);
      digits[i] = sha256(block);
    });
    for (const std::string& of_block : digits) fingerprint.add_block(of_block);
  }
  return fingerprint.digits();
}

void FileSink::commit() {
  const auto use = hdf5::lock();
  std::vector<ScaledDataset> datasets;
  for (const auto& [path, array] : arrays_) datasets.push_back({path, array.id.get(), array.shape});
  for (const auto& [path, dataset] : virtual_) datasets.push_back({path, dataset.id.get(), dataset.shape});
  bool compressed = level_ != 0 && virtual_.empty() &&
                    std::ranges::any_of(arrays_, [](const auto& array) { return is_series(array.first); });
  if (compressed) {
    not_compressed_ = copy_compressed(id_.get(), datasets, RunFiles(file_).compressed, run_, kind_, level_, threads_);
    compressed = not_compressed_.empty();
  }
  if (!compressed && arrays_.contains("/time")) check(attach_scales(id_.get(), datasets), "/");
  const std::filesystem::path finished = compressed ? RunFiles(file_).compressed : part_;
  check(H5Fflush(id_.get(), H5F_SCOPE_GLOBAL) >= 0, "/");
  arrays_.clear();
  virtual_.clear();
  check(id_.reset(), "/");
  check(fdatasync(lock_) == 0, "/");
  complete_ = keep_ = true;
  const auto fail = [&](const std::string& why) {
    throw Error(Error::Kind::runtime, file_.string() + ": cannot put the finished result in place (" + why +
                                          "); it is in " + finished.string());
  };
  try {
    (void)result_place(file_, {}, kind_);  // another file may have appeared there during the run
  } catch (const Error& error) {
    fail(error.what());
  }
  std::error_code code;
  std::filesystem::rename(finished, file_, code);
  if (code) fail(code.message());
  if (compressed) std::filesystem::remove(part_, code);
  committed_ = true;
  close(std::exchange(lock_, -1));
  sync_directory_of(file_);
}

void FileSink::check(bool good, const std::string& path) {
  if (good) return;
  failed_ = true;
  const char* const why = errno == ENOSPC || errno == EDQUOT ? "the disk is full"
                          : errno == EFBIG                   ? "the file is as large as 'ulimit -f' allows"
                                                             : "HDF5 reports a failed write";
  throw Error(Error::Kind::runtime, file_.string() + ": cannot write " + path + " (" + why +
                                        "); the file that was there before is untouched");
}

std::unique_ptr<ResultSink> make_file_sink(const std::filesystem::path& file) {
  return make_file_sink(file, FileKind::result);
}

std::unique_ptr<ResultSink> make_file_sink(const std::filesystem::path& file, FileKind kind) {
  return std::make_unique<FileSink>(check_output(file, {}, kind), new_run(), kind);
}

}  // namespace rattleback
